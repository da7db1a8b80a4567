package scene

import (
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/worldstate/registry"
)

// Ground is what a plot says of the cells that an effect changes.
type Ground struct {
	Scope     host.Name // plot id
	Ownership string    // own, public, shared, player, system, unowned; empty: unknown
}

// Preview puts what an effect would do into the typed fields that policy decides on. Distance is how many cells are walked.
func Preview(reg *registry.Registry, p effects.Postcondition, g Ground, distance int) host.Preview {
	out := host.Preview{Risk: p.Capability().Risk().String(), Ownership: "own", Reversible: true}
	switch p := p.(type) {
	case effects.CellsBecome:
		first := p.Cells[0]
		out.Kind, out.Operation, out.Scope, out.Ownership, out.Reversible = "world.place", "create", g.Scope, g.Ownership, false
		if out.Ownership == "" {
			out.Ownership = "unknown"
		}
		if !reg.IsAir(first.From) && reg.BlockOf(first.From) != reg.BlockOf(first.To) {
			out.Operation = "replace" // a fluid or a plant; what stacks onto its own kind replaces nothing
		}
		out.Quantity, out.Pos = 1, &[3]int32{first.Pos.X, first.Pos.Y, first.Pos.Z}
		out.Block, out.Item = reg.FormatState(first.To), itemName(reg, p.Item)
	case effects.StandsIn:
		out.Kind, out.Operation = "actor.move", "move"
		out.Quantity, out.Pos = int64(distance), &[3]int32{p.Pos.X, p.Pos.Y, p.Pos.Z}
	case effects.LooksTowards:
		out.Kind, out.Operation = "actor.look", "move"
	case effects.HoldsItem:
		out.Kind, out.Operation, out.Item = "actor.equip", "arrange", itemName(reg, p.Item)
	case effects.LineHeard:
		out.Kind, out.Operation, out.Ownership, out.Reversible = "chat.say", "communicate", "public", false
		out.Quantity, out.Text = int64(len([]rune(p.Text))), p.Text
	}
	return out
}

func itemName(reg *registry.Registry, id registry.ItemID) string {
	if it := reg.ItemByID(id); it != nil {
		return it.Name
	}
	return ""
}
