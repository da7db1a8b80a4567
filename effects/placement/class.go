package placement

import (
	"slices"
	"strings"

	"blockworld/effects"
	"blockworld/worldstate/registry"
)

// Class says who decides a property of a placed block. The zero value is the careful one: the click must match.
type Class uint8

// The classes.
const (
	Chosen    Class = iota // by the click; must match
	Follows                // by the neighbours; compared once the surroundings are complete
	Settable               // by a later use of the block; placing gives one fixed value, others need an interaction
	Undecided              // by time, power, chance or item data; never compared
)

// String names the class.
func (c Class) String() string {
	return [...]string{"chosen", "follows", "settable", "undecided"}[min(c, Undecided)]
}

// ClassOf tells who decides a property of a block.
func ClassOf(block, property string) Class { return classOf(FamilyOf(block), block, property) }

func classOf(f Family, block, property string) Class {
	switch property {
	case "north", "south", "west", "east", "up", "down":
		if f == Vine || f == Multiface {
			return Chosen
		}
		if f == MossCarpet {
			return Undecided // the game rolls dice for them
		}
		return Follows
	case "bottom":
		if f == Scaffolding {
			return Follows
		}
		return Chosen
	case "shape", "in_wall", "snowy", "signal_fire":
		return Follows
	case "type":
		if f == Chest {
			return Follows
		}
		return Chosen
	case "attached":
		if f == SignHanging {
			return Chosen
		}
		return Undecided
	case "powered":
		if block == "minecraft:lever" {
			return Settable
		}
		return Undecided
	case "lit":
		return litClass(f)
	case "open", "delay", "mode", "note", "inverted", "eye", "has_record", "has_book", "charges", "copper_golem_pose":
		return Settable
	case "level":
		if block == "minecraft:light" || block == "minecraft:composter" {
			return Settable
		}
		return Undecided
	}
	if strings.HasPrefix(property, "slot_") || strings.HasPrefix(property, "has_bottle") {
		return Settable
	}
	if slices.Contains(undecided, property) {
		return Undecided
	}
	return Chosen
}

func litClass(f Family) Class {
	switch f {
	case Candle, HorizSame:
		return Settable
	}
	return Undecided // furnaces, ore, lamps, torches: by work or power
}

// undecided lists what time, power, chance or item data decide, and what this program does not model.
var undecided = []string{
	"age", "stage", "hatch", "moisture", "honey_level", "bites", "occupied", "tilt", "bloom", "dusted", "unstable",
	"cracked", "can_summon", "shrieking", "sculk_sensor_phase", "crafting", "ominous", "vault_state",
	"trial_spawner_state", "berries", "leaves", "conditional", "drag", "disarmed", "short", "hydration", "natural",
	"active", "creaking", "creaking_heart_state", "instrument", "power", "extended", "triggered", "locked", "enabled", "distance",
	"thickness", "side_chain", "tip",
}

// Masks returns the properties of a state that a receipt masks: everything that neighbours or time may change, sorted.
func Masks(reg *registry.Registry, s registry.StateID) []string {
	return masksOf(reg, s, func(c Class) bool { return c == Follows || c == Undecided || c == Settable })
}

// FinalMasks returns the properties that even a final inspection does not compare, sorted.
func FinalMasks(reg *registry.Registry, s registry.StateID) []string {
	return masksOf(reg, s, func(c Class) bool { return c == Undecided })
}

func masksOf(reg *registry.Registry, s registry.StateID, want func(Class) bool) []string {
	b := reg.BlockOf(s)
	if b == nil {
		return nil
	}
	f := FamilyOf(b.Name)
	var out []string
	for _, p := range b.Props {
		c := classOf(f, b.Name, p.Name)
		if p.Name == "open" {
			// A later neighbour may power it.
			if want(Follows) {
				out = append(out, p.Name)
			}
			continue
		}
		if c == Settable {
			continue
		}
		if f == Bell && p.Name == "attachment" {
			if v, _ := reg.Prop(s, p.Name); v == "single_wall" || v == "double_wall" {
				c = Follows // the far side decides
			}
		}
		if want(c) {
			out = append(out, p.Name)
		}
	}
	if effects.HasForms(b.Name) {
		out = append(out, FormMask)
	}
	slices.Sort(out)
	return out
}

// Same tells whether two states are equal but for the masked properties, as what came of a use is judged.
func Same(reg *registry.Registry, a, b registry.StateID, masked []string) bool {
	return effects.RegistryStates{Registry: reg}.Same(a, b, masked)
}
