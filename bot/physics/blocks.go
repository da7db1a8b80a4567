package physics

import (
	"strings"
	"sync"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// kind is what a block does to a player beyond its collision shape.
type kind uint8

// The kinds. The zero value is a block that only collides.
const (
	kindPlain kind = iota
	kindIce
	kindBlueIce
	kindSlime
	kindSoulSand
	kindHoney
	kindCobweb
	kindBerryBush
	kindPowderSnow
	kindLadder
	kindClimbable
	kindScaffolding
	kindOpenTrapdoor
	kindBubbleUp
	kindBubbleDown
	kindBed
)

// kinds lists the blocks that are not plain by their short names. Open trapdoors, bubble columns and beds are told by
// their state or the end of their name.
var kinds = map[string]kind{
	"ice": kindIce, "packed_ice": kindIce, "frosted_ice": kindIce, "blue_ice": kindBlueIce,
	"slime_block": kindSlime, "soul_sand": kindSoulSand, "honey_block": kindHoney,
	"cobweb": kindCobweb, "sweet_berry_bush": kindBerryBush, "powder_snow": kindPowderSnow,
	"ladder": kindLadder, "scaffolding": kindScaffolding, "vine": kindClimbable,
	"weeping_vines": kindClimbable, "weeping_vines_plant": kindClimbable,
	"twisting_vines": kindClimbable, "twisting_vines_plant": kindClimbable,
	"cave_vines": kindClimbable, "cave_vines_plant": kindClimbable,
}

// stateTraits is what Step needs to know about one block state, packed.
type stateTraits struct {
	kind  kind
	fluid uint8 // low 4 bits amount in eighths, then the flags below; 0 none
	solid bool  // has a collision shape
}

const (
	fluidAmount  = 0x0f
	fluidFalling = 0x10
	fluidLava    = 0x20
)

// Blocks is everything Step knows about the block states of one protocol. It is immutable and can be shared by any
// number of bots; building one takes some milliseconds.
type Blocks struct {
	reg      *registry.Registry
	features features
	states   []stateTraits
}

// features are the version differences of movement, by name.
type features struct {
	stepCandidates  bool // 1.21: a step rises to the lowest block top that helps, not by the full step height
	joinedThreshold bool // 1.21.5: small horizontal speeds vanish by their length, not per axis
}

func featuresOf(p registry.Protocol) features {
	return features{stepCandidates: p >= registry.V1_21, joinedThreshold: p >= registry.V1_21_5}
}

// NewBlocks builds the table of one registry.
func NewBlocks(reg *registry.Registry) *Blocks {
	b := &Blocks{reg: reg, features: featuresOf(reg.Protocol()), states: make([]stateTraits, reg.StateCount())}
	blocks := reg.Blocks()
	for i := range blocks {
		for s := int(blocks[i].Min); s <= int(blocks[i].Max); s++ {
			id := registry.StateID(s)
			b.states[s] = stateTraits{kindOf(reg, &blocks[i], id), packFluid(reg.Fluid(id)), len(reg.Shape(id)) > 0}
		}
	}
	return b
}

func kindOf(reg *registry.Registry, b *registry.Block, s registry.StateID) kind {
	name := strings.TrimPrefix(b.Name, "minecraft:")
	switch {
	case strings.HasSuffix(name, "_trapdoor"):
		if v, _ := reg.Prop(s, "open"); v == "true" {
			return kindOpenTrapdoor
		}
	case strings.HasSuffix(name, "_bed"):
		return kindBed
	case name == "bubble_column":
		if v, _ := reg.Prop(s, "drag"); v == "true" {
			return kindBubbleDown
		}
		return kindBubbleUp
	}
	return kinds[name]
}

func packFluid(f registry.Fluid) uint8 {
	if f.Kind == registry.NoFluid {
		return 0
	}
	v := f.Amount & fluidAmount
	if f.Falling {
		v |= fluidFalling
	}
	if f.Kind == registry.Lava {
		v |= fluidLava
	}
	return v
}

// traits returns what is known about s; a state out of range is solid and plain.
func (b *Blocks) traits(s registry.StateID) stateTraits {
	if int(s) >= len(b.states) {
		return stateTraits{solid: true}
	}
	return b.states[s]
}

// Registry returns the registry the table was built from.
func (b *Blocks) Registry() *registry.Registry { return b.reg }

// Cells is a world of block states; worldstate's views are such worlds. False says that the cell is not known.
type Cells interface {
	Block(pos geom.BlockPos) (registry.StateID, bool)
}

// World is what a player moves through. Blocks and Cells must be set.
type World struct {
	Blocks *Blocks
	Cells  Cells
	// FastLava is true where lava flows fast: in the nether.
	FastLava bool
}

// at returns the traits of a cell and whether it is known. An unknown cell is solid.
func (w *World) at(pos geom.BlockPos) (registry.StateID, stateTraits, bool) {
	s, ok := w.Cells.Block(pos)
	if !ok {
		return 0, stateTraits{solid: true}, false
	}
	return s, w.Blocks.traits(s), true
}

// loaders holds one lazily built table per known protocol, shared by every bot of the process.
var loaders = func() (f [registry.Latest - registry.First + 1]func() (*Blocks, error)) {
	for i := range f {
		f[i] = sync.OnceValues(func() (*Blocks, error) {
			reg, err := registry.Load(registry.First + registry.Protocol(i))
			if err != nil {
				return nil, err
			}
			return NewBlocks(reg), nil
		})
	}
	return f
}()

// Load returns the table of a protocol, built at the first call and shared from then on. An unknown protocol gives
// registry.ErrUnknownProtocol.
func Load(p registry.Protocol) (*Blocks, error) {
	if !p.Known() {
		_, err := registry.Load(p)
		return nil, err
	}
	return loaders[p-registry.First]()
}
