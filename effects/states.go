package effects

import (
	"slices"
	"strconv"
	"strings"

	"blockworld/worldstate/registry"
)

// States compares block states. RegistryStates knows properties; ExactStates knows nothing and so compares whole ids.
type States interface {
	// Same tells whether got is want, but for the masked properties.
	Same(want, got registry.StateID, masked []string) bool
	// Landed tells whether a cell that was to stay as it was has taken the block that was to become placed elsewhere:
	// that block where another was, or one more of it. What a third party puts there is not a landing.
	Landed(before, after, placed registry.StateID) bool
}

// ExactStates compares ids only: no masks, and whatever but air appears in the other cell counts as a landing.
type ExactStates struct{}

// Same implements States.
func (ExactStates) Same(want, got registry.StateID, _ []string) bool { return want == got }

// Landed implements States.
func (ExactStates) Landed(before, after, _ registry.StateID) bool {
	return before != after && after != 0
}

// RegistryStates compares by the properties of one protocol version.
type RegistryStates struct{ Registry *registry.Registry }

// FormMask among masked properties allows the other form of a growing plant: kelp and kelp_plant count as one block.
const FormMask = "block_form"

// forms are the two forms of each growing plant; the first one names both.
var forms = [...]struct{ first, second string }{
	{"minecraft:bamboo", "minecraft:bamboo_sapling"},
	{"minecraft:kelp", "minecraft:kelp_plant"},
	{"minecraft:weeping_vines", "minecraft:weeping_vines_plant"},
	{"minecraft:twisting_vines", "minecraft:twisting_vines_plant"},
	{"minecraft:cave_vines", "minecraft:cave_vines_plant"},
	{"minecraft:big_dripleaf", "minecraft:big_dripleaf_stem"},
}

// FirstForm returns the first form of a growing plant, and any other block's own name.
func FirstForm(block string) string {
	for i := range forms {
		if forms[i].second == block {
			return forms[i].first
		}
	}
	return block
}

// HasForms tells whether a block is either form of a growing plant.
func HasForms(block string) bool {
	for i := range forms {
		if forms[i].first == block || forms[i].second == block {
			return true
		}
	}
	return false
}

// Same implements States. States of different blocks are never the same, but for the forms of one plant under FormMask.
func (s RegistryStates) Same(want, got registry.StateID, masked []string) bool {
	if want == got {
		return true
	}
	b, g := s.Registry.BlockOf(want), s.Registry.BlockOf(got)
	if len(masked) == 0 || b == nil || g == nil {
		return false
	}
	if b != g {
		return slices.Contains(masked, FormMask) && FirstForm(b.Name) == FirstForm(g.Name)
	}
	for _, p := range b.Props {
		if slices.Contains(masked, p.Name) {
			continue
		}
		x, _ := s.Registry.Prop(want, p.Name)
		y, _ := s.Registry.Prop(got, p.Name)
		if x != y {
			return false
		}
	}
	return true
}

// stacking lists the properties that count how many of a block lie in a cell.
var stacking = []string{"candles", "pickles", "eggs", "layers", "flower_amount", "segment_amount"}

// sides lists the properties of vines and multiface blocks; one going from false to true there is one more of them.
// Fences, walls and panes have the same properties but connect by themselves, so only the named blocks count.
var (
	sides      = []string{"north", "south", "east", "west", "up", "down"}
	sideBlocks = []string{"minecraft:vine", "minecraft:glow_lichen", "minecraft:sculk_vein", "minecraft:resin_clump"}
)

// Landed implements States. A fence that connects, a stair that turns its corner or a chest that pairs has not taken a
// block; a slab that became double, or a further candle, has.
func (s RegistryStates) Landed(before, after, placed registry.StateID) bool {
	if before == after {
		return false
	}
	b, a, ours := s.Registry.BlockOf(before), s.Registry.BlockOf(after), s.Registry.BlockOf(placed)
	if a == nil || ours == nil {
		return true // a state this version does not have: nothing good can be said of it
	}
	if family(a.Name) != family(ours.Name) {
		return false
	}
	if b != a {
		return true
	}
	differs := func(name string) (string, string, bool) {
		x, ok := s.Registry.Prop(before, name)
		y, _ := s.Registry.Prop(after, name)
		return x, y, ok && x != y
	}
	if _, y, changed := differs("type"); changed && y == "double" {
		return true
	}
	for _, name := range stacking {
		if x, y, changed := differs(name); changed && more(x, y) {
			return true
		}
	}
	if slices.Contains(sideBlocks, b.Name) {
		for _, name := range sides {
			if x, y, changed := differs(name); changed && x == "false" && y == "true" {
				return true
			}
		}
	}
	return false
}

// family joins the standing and the wall form of a block: one item places either.
func family(name string) string { return strings.Replace(name, "wall_", "", 1) }

func more(x, y string) bool {
	a, err1 := strconv.Atoi(x)
	b, err2 := strconv.Atoi(y)
	return err1 == nil && err2 == nil && b > a
}
