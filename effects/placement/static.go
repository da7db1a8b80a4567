package placement

import (
	"strconv"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Unplaceable returns why no surroundings whatever let a click make this state, nil if some may.
func Unplaceable(reg *registry.Registry, want registry.StateID) *Rejection {
	c := ctx{reg: reg}
	b := reg.BlockOf(want)
	if b == nil {
		return reject(UnknownBlock, "state %d does not exist in %s", want, reg.Protocol())
	}
	f := FamilyOf(b.Name)
	if rej := byFamily(f, b.Name); rej != nil {
		return rej
	}
	if _, ok := ItemFor(reg, b.Name); !ok {
		return reject(UnplaceableState, "%s has no item that places it in %s", b.Name, reg.Protocol())
	}
	if rej := c.otherHalf(want, f, b.Name); rej != nil {
		return rej
	}
	if rej := c.neverMade(want, f, b.Name); rej != nil {
		return rej
	}
	return c.needsUse(want, f, b)
}

// unplaced are the families that no click at a block makes, with the reason; %s is the block's name.
var unplaced = [...]struct {
	family Family
	code   Code
	why    string
}{
	{FamilyUnknown, UnknownBlock, "nothing is known about placing %s"},
	{Technical, UnplaceableState, "%s is made by the game only"},
	{GrownOnly, UnplaceableState, "%s only grows"},
	{BucketFluid, NeedsInteraction, "%s comes out of a bucket"},
	{FireTool, NeedsInteraction, "%s needs flint and steel"},
	{ToolSoil, NeedsInteraction, "%s is dirt worked with a hoe or shovel"},
	{CauldronFilled, NeedsInteraction, "%s is a cauldron filled by bucket or bottle"},
	{Potted, NeedsInteraction, "%s is a flower pot with a plant put in"},
	{CandleCake, NeedsInteraction, "%s is a cake with a candle put on"},
	{WaterSurface, NeedsInteraction, "%s is placed by using the item at water, not at a block"},
	{DriedGhast, UnknownBlock, "which way %s faces when placed is not known well enough"},
}

func byFamily(f Family, name string) *Rejection {
	for _, u := range unplaced {
		if u.family == f {
			return reject(u.code, u.why, name)
		}
	}
	return nil
}

// otherHalf rejects the cells that another cell's placement fills.
func (c ctx) otherHalf(s registry.StateID, f Family, name string) *Rejection {
	if c.is(s, "half", "upper") && f != Stairs && f != Trapdoor {
		return reject(UnplaceableState, "the upper half of %s is never placed alone", name)
	}
	if f == Bed && c.is(s, "part", "head") {
		return reject(UnplaceableState, "the head of %s is never placed alone", name)
	}
	return nil
}

func (c ctx) neverMade(s registry.StateID, f Family, name string) *Rejection {
	full := c.reg.FormatState(s)
	switch {
	case f == Slab && c.is(s, "type", "double") && c.is(s, "waterlogged", "true"):
		return reject(UnplaceableState, "a double slab never holds water: %s", full)
	case f == Leaves && c.is(s, "persistent", "false"):
		return reject(UnplaceableState, "placed leaves are always persistent: %s", full)
	case f == HorizSame && c.is(s, "lit", "true") && c.is(s, "waterlogged", "true"):
		return reject(UnplaceableState, "a campfire under water does not burn: %s", full)
	case f == Sapling && c.is(s, "hanging", "true"):
		return reject(UnplaceableState, "a hanging propagule only grows: %s", full)
	case f == MossCarpet && c.is(s, "bottom", "false"):
		return reject(UnplaceableState, "the climbing part of %s only grows", name)
	case name == "minecraft:tall_seagrass":
		return reject(UnplaceableState, "%s only grows from seagrass by bone meal", name)
	case c.is(s, "extended", "true"):
		return reject(UnplaceableState, "a piston is placed retracted: %s", full)
	case name == "minecraft:iron_door" || name == "minecraft:iron_trapdoor":
		if c.is(s, "open", "true") && !c.is(s, "powered", "true") {
			return reject(UnplaceableState, "only redstone opens %s", full)
		}
	case f == SignHanging && c.is(s, "attached", "false") && c.number(s, "rotation")%4 != 0:
		return reject(UnplaceableState, "a hanging sign on two chains hangs straight: %s", full)
	case f == Vine || f == Multiface:
		for _, d := range geom.Faces {
			if c.is(s, d.String(), "true") {
				return nil
			}
		}
		return reject(UnplaceableState, "%s without a side cannot exist by placing", name)
	}
	return nil
}

// needsUse rejects values that only a later use of the block gives.
func (c ctx) needsUse(s registry.StateID, f Family, b *registry.Block) *Rejection {
	for _, p := range b.Props {
		if classOf(f, b.Name, p.Name) != Settable {
			continue
		}
		v, _ := c.reg.Prop(s, p.Name)
		d, _ := c.reg.Prop(b.Default, p.Name)
		switch {
		case v == d:
			continue
		case p.Name == "open" && c.is(s, "powered", "true"):
			continue
		case f == HorizSame && p.Name == "lit" && c.is(s, "waterlogged", "true"):
			continue
		case f == Candle && p.Name == "lit" && c.is(s, "lit", "false"):
			continue
		}
		return reject(NeedsInteraction, "%s[%s=%s] needs a use of the block after placing it (placed it has %s)", b.Name, p.Name, v, d)
	}
	return nil
}

// Stages returns the ways to reach a state by several uses on one cell, each a list of states that ends with the wanted
// one: a double slab is two uses, four candles are four. A state that one use makes gives one list of one.
func Stages(reg *registry.Registry, want registry.StateID) [][]registry.StateID {
	c := ctx{reg: reg}
	f := c.family(want)
	switch f {
	case Slab:
		if c.is(want, "type", "double") {
			return [][]registry.StateID{
				{c.with(want, "type", "bottom"), want}, {c.with(want, "type", "top"), want},
			}
		}
	case SnowLayer, Candle, SeaPickle, TurtleEgg, PinkPetals:
		name := stackProperty(f)
		if c.prop(want, name) == "" {
			name = "segment_amount"
		}
		var list []registry.StateID
		for i := 1; i < c.number(want, name); i++ {
			list = append(list, c.with(want, name, strconv.Itoa(i)))
		}
		return [][]registry.StateID{append(list, want)}
	case Vine, Multiface:
		return [][]registry.StateID{c.sideStages(want)}
	}
	return [][]registry.StateID{{want}}
}

func (c ctx) sideStages(want registry.StateID) []registry.StateID {
	s := want
	var on []geom.Face
	for _, d := range geom.Faces {
		if c.is(want, d.String(), "true") {
			on = append(on, d)
			s = c.with(s, d.String(), "false")
		}
	}
	var list []registry.StateID
	for _, d := range on {
		s = c.with(s, d.String(), "true")
		list = append(list, s)
	}
	if len(list) == 0 {
		return []registry.StateID{want}
	}
	return list
}

// Stacks tells whether a step on a cell grows what a former step put there.
func Stacks(reg *registry.Registry, from, to registry.StateID) bool {
	a, b := reg.BlockOf(from), reg.BlockOf(to)
	if a == nil || a != b {
		return false
	}
	f := FamilyOf(a.Name)
	return stackProperty(f) != "" || f == Vine || f == Multiface
}
