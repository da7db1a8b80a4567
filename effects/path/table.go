package path

import (
	"strings"
	"sync"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Hazard is something a walk avoids.
type Hazard uint8

// The hazards. The zero value is none.
const (
	HazardNone       Hazard = iota
	HazardLava              // hurts when touched
	HazardFire              // fire and soul fire, when touched
	HazardCampfire          // lit or not: somebody may light it
	HazardCactus            // when touched or stood on
	HazardMagma             // when stood on
	HazardBerryBush         // when walked through
	HazardWitherRose        // when touched
	HazardPowderSnow        // sinks in and freezes
	HazardCobweb            // holds
	HazardPortal            // leads to another dimension
	HazardBubbles           // a bubble column carries off
	HazardFragile           // turtle eggs, pointed dripstone: breaks or hurts under feet
	HazardTrigger           // pressure plates, tripwire: moves something elsewhere
	hazardCount
)

var hazardNames = [hazardCount]string{
	"none", "lava", "fire", "campfire", "cactus", "magma", "berry bush", "wither rose", "powder snow", "cobweb",
	"portal", "bubble column", "fragile", "trigger",
}

// String names the hazard.
func (h Hazard) String() string {
	if h >= hazardCount {
		return "invalid"
	}
	return hazardNames[h]
}

// hazards lists blocks by their short names. Pressure plates are told by the end of their name.
var hazards = map[string]Hazard{
	"lava": HazardLava, "lava_cauldron": HazardLava, "fire": HazardFire, "soul_fire": HazardFire,
	"campfire": HazardCampfire, "soul_campfire": HazardCampfire, "cactus": HazardCactus, "magma_block": HazardMagma,
	"sweet_berry_bush": HazardBerryBush, "wither_rose": HazardWitherRose, "powder_snow": HazardPowderSnow,
	"cobweb": HazardCobweb, "nether_portal": HazardPortal, "end_portal": HazardPortal, "end_gateway": HazardPortal,
	"bubble_column": HazardBubbles, "turtle_egg": HazardFragile, "sniffer_egg": HazardFragile,
	"pointed_dripstone": HazardFragile, "tripwire": HazardTrigger,
}

var climbables = map[string]bool{
	"ladder": true, "vine": true, "scaffolding": true, "weeping_vines": true, "weeping_vines_plant": true,
	"twisting_vines": true, "twisting_vines_plant": true, "cave_vines": true, "cave_vines_plant": true,
}

// flags are what a search asks about a state.
type flags uint8

const (
	flagClear flags = 1 << iota // no collision at all
	flagFull                    // the whole cell
	flagWater
	flagClimb
	flagSlow   // soul sand, honey: slow ground
	flagNoJump // honey: jumps do not reach a block
	flagSoft   // farmland: trampled by landing on it
	flagNarrow // its top is a post or a rim: nobody walks over it
)

// traits is everything a search knows about one state.
type traits struct {
	flags  flags
	hazard Hazard
	top    float32 // highest collision within the footprint of a centred player, 0 none
}

// Table is what a search knows about the states of one registry. It is immutable and may be shared.
type Table struct {
	reg    *registry.Registry
	states []traits
}

// footprint is the share of a cell that a centred player stands on.
const (
	footMin = 0.5 - geom.PlayerWidth/2
	footMax = 0.5 + geom.PlayerWidth/2
)

// NewTable builds the table of one registry; it takes some milliseconds.
func NewTable(reg *registry.Registry) *Table {
	t := &Table{reg: reg, states: make([]traits, reg.StateCount())}
	blocks := reg.Blocks()
	for i := range blocks {
		for s := int(blocks[i].Min); s <= int(blocks[i].Max); s++ {
			t.states[s] = traitsOf(reg, &blocks[i], registry.StateID(s))
		}
	}
	return t
}

func traitsOf(reg *registry.Registry, b *registry.Block, s registry.StateID) traits {
	name := strings.TrimPrefix(b.Name, "minecraft:")
	t := traits{hazard: hazards[name], top: footTop(reg.Shape(s))}
	switch shape := reg.Shape(s); {
	case name == "scaffolding": // walked through, climbed in, stood on
		t.flags, t.top = flagClear, 1
	case len(shape) == 0:
		t.flags = flagClear
	case reg.FullCube(s):
		t.flags = flagFull
	}
	if t.top > 0 && name != "scaffolding" && narrow(reg.Shape(s), float64(t.top)) {
		t.flags |= flagNarrow
	}
	if strings.HasSuffix(name, "_pressure_plate") {
		t.hazard = HazardTrigger
	}
	if reg.IsWater(s) {
		t.flags |= flagWater
	}
	if climbables[name] {
		t.flags |= flagClimb
	}
	switch name {
	case "soul_sand":
		t.flags |= flagSlow
	case "honey_block":
		t.flags |= flagSlow | flagNoJump
	case "farmland":
		t.flags |= flagSoft
	}
	return t
}

// footTop returns the highest top of the boxes that a centred player would rest on.
func footTop(shape []geom.Box) float32 {
	top := 0.0
	for _, b := range shape {
		if b.Max[0] > footMin+epsilon && b.Min[0] < footMax-epsilon && b.Max[2] > footMin+epsilon && b.Min[2] < footMax-epsilon {
			top = max(top, b.Max[1])
		}
	}
	return float32(top)
}

// narrow tells whether somewhere under a centred player there is nothing within a step below the top.
func narrow(shape []geom.Box, top float64) bool {
	for _, x := range [3]float64{footMin, 0.5, footMax} {
		for _, z := range [3]float64{footMin, 0.5, footMax} {
			held := false
			for _, b := range shape {
				held = held || b.Max[1] >= top-stepHeight && b.Min[0] <= x && x <= b.Max[0] && b.Min[2] <= z && z <= b.Max[2]
			}
			if !held {
				return true
			}
		}
	}
	return false
}

// of returns the traits of a state; one out of range is a full cube.
func (t *Table) of(s registry.StateID) traits {
	if int(s) >= len(t.states) {
		return traits{flags: flagFull, top: 1}
	}
	return t.states[s]
}

// Registry returns the registry the table was built from.
func (t *Table) Registry() *registry.Registry { return t.reg }

// loaders holds one lazily built table per known protocol, shared by every search of the process.
var loaders = func() (f [registry.Latest - registry.First + 1]func() (*Table, error)) {
	for i := range f {
		f[i] = sync.OnceValues(func() (*Table, error) {
			reg, err := registry.Load(registry.First + registry.Protocol(i))
			if err != nil {
				return nil, err
			}
			return NewTable(reg), nil
		})
	}
	return f
}()

// Load returns the table of a protocol, built at the first call and shared from then on. An unknown protocol gives
// registry.ErrUnknownProtocol.
func Load(p registry.Protocol) (*Table, error) {
	if !p.Known() {
		_, err := registry.Load(p)
		return nil, err
	}
	return loaders[p-registry.First]()
}
