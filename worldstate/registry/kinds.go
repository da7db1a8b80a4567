package registry

import "strings"

// blockFlags are the few classes that the whole program asks for.
type blockFlags uint16

const (
	flagAir blockFlags = 1 << iota
	flagReplaceable
	flagSnow
	flagWater       // the block is water itself, with a level
	flagAlwaysWet   // the block always stands in source water
	flagLava        //
	flagNoSupport   // leaves: no face supports anything
	flagFullSupport // supports like a full cube although its collision box is lower
	flagFenceGate   // no centre support from below
)

// named lists the blocks of each class. Sources: vanilla's block tag #replaceable as of 26.1 (older versions have fewer
// of these blocks, none of another class), and the blocks whose support shape vanilla defines apart from their
// collision shape (leaves, soul sand, mud, snow).
var named = map[string]blockFlags{
	"air": flagAir | flagReplaceable, "cave_air": flagAir | flagReplaceable, "void_air": flagAir | flagReplaceable,
	"water": flagWater | flagReplaceable, "bubble_column": flagAlwaysWet | flagReplaceable, "lava": flagLava | flagReplaceable,
	"seagrass": flagAlwaysWet | flagReplaceable, "tall_seagrass": flagAlwaysWet | flagReplaceable,
	"kelp": flagAlwaysWet, "kelp_plant": flagAlwaysWet,
	"grass": flagReplaceable, "short_grass": flagReplaceable, "fern": flagReplaceable, "dead_bush": flagReplaceable,
	"tall_grass": flagReplaceable, "large_fern": flagReplaceable, "fire": flagReplaceable, "soul_fire": flagReplaceable,
	"vine": flagReplaceable, "glow_lichen": flagReplaceable, "light": flagReplaceable, "structure_void": flagReplaceable,
	"warped_roots": flagReplaceable, "nether_sprouts": flagReplaceable, "crimson_roots": flagReplaceable,
	"hanging_roots": flagReplaceable, "bush": flagReplaceable, "short_dry_grass": flagReplaceable,
	"tall_dry_grass": flagReplaceable, "resin_clump": flagReplaceable, "leaf_litter": flagReplaceable,
	"snow":      flagReplaceable | flagSnow,
	"soul_sand": flagFullSupport, "mud": flagFullSupport,
}

func flagsOf(name string) blockFlags {
	short := strings.TrimPrefix(name, namespace)
	f := named[short]
	if strings.HasSuffix(short, "_leaves") {
		f |= flagNoSupport
	}
	if strings.HasSuffix(short, "_fence_gate") {
		f |= flagFenceGate
	}
	return f
}

// is tells whether the block of s has one of these flags; false out of range.
func (r *Registry) is(s StateID, f blockFlags) bool {
	return int(s) < len(r.ofState) && r.blocks[r.ofState[s]].flags&f != 0
}

// IsAir tells whether s is air, cave air or void air. An unknown id is not air.
func (r *Registry) IsAir(s StateID) bool { return r.is(s, flagAir) }

// Replaceable tells whether a placement into this cell replaces it (vanilla's tag #replaceable; snow with one layer
// only). An item that stacks onto its own kind follows rules of its own.
func (r *Registry) Replaceable(s StateID) bool {
	if !r.is(s, flagReplaceable) {
		return false
	}
	return !r.is(s, flagSnow) || s == r.BlockOf(s).Min
}

// FluidKind is the fluid in a cell.
type FluidKind uint8

// The kinds of fluids. The zero value is none.
const (
	NoFluid FluidKind = iota
	Water
	Lava
)

// Fluid is the fluid state of a cell.
type Fluid struct {
	Kind    FluidKind
	Amount  uint8 // eighths of a full cell: 8 source or falling, 1..7 flowing, 0 none
	Source  bool
	Falling bool
}

// Fluid returns the fluid that stands in a cell of this state, the water of waterlogged blocks and of plants that always
// stand in water included.
func (r *Registry) Fluid(s StateID) Fluid {
	b := r.BlockOf(s)
	if b == nil {
		return Fluid{}
	}
	switch {
	case b.flags&flagAlwaysWet != 0:
		return Fluid{Kind: Water, Amount: 8, Source: true}
	case b.flags&flagWater != 0:
		return flowing(Water, int(s-b.Min))
	case b.flags&flagLava != 0:
		return flowing(Lava, int(s-b.Min))
	}
	if v, ok := r.Prop(s, "waterlogged"); ok && v == "true" {
		return Fluid{Kind: Water, Amount: 8, Source: true}
	}
	return Fluid{}
}

// flowing reads the property level: 0 source, 1..7 thinner and thinner, 8 and more falling.
func flowing(kind FluidKind, level int) Fluid {
	switch {
	case level == 0:
		return Fluid{Kind: kind, Amount: 8, Source: true}
	case level < 8:
		return Fluid{Kind: kind, Amount: uint8(8 - level)}
	default:
		return Fluid{Kind: kind, Amount: 8, Falling: true}
	}
}

// IsFluid tells whether the block itself is a fluid: water, lava or a bubble column. Waterlogged blocks are not.
func (r *Registry) IsFluid(s StateID) bool {
	b := r.BlockOf(s)
	return b != nil && (b.flags&(flagWater|flagLava) != 0 || b.flags&flagAlwaysWet != 0 && b.Name == namespace+"bubble_column")
}

// IsWater tells whether any water stands in the cell: water of any level, waterlogged blocks, water plants.
func (r *Registry) IsWater(s StateID) bool { return r.Fluid(s).Kind == Water }

// IsLava tells whether the block is lava of any level.
func (r *Registry) IsLava(s StateID) bool { return r.is(s, flagLava) }

// IsWaterSource tells whether the cell holds a water source: a block placed into it becomes waterlogged if it can.
func (r *Registry) IsWaterSource(s StateID) bool {
	f := r.Fluid(s)
	return f.Kind == Water && f.Source
}
