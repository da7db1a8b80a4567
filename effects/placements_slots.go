package effects

import (
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// slotAccount compares the counts that the server shows of one hotbar slot with the uses it counted (survival only).
// A fact must lie below the base by at least the uses counted since and at most those plus the ones that are still out.
// The base is never moved by facts, so a fact that comes before the counter of the same use does no harm.
type slotAccount struct {
	item    registry.ItemID
	base    int32
	counted int32 // uses with a +1 since the base
	maybe   int32 // uses that may have run without one: statistics frozen
}

// openAccount starts an account for the slot of a use, unless there is one.
func (p *Placements) openAccount(u *use) {
	if a := p.slots[u.Slot]; (a == nil || a.item != u.Item) && u.SlotCount >= 0 {
		p.slots[u.Slot] = &slotAccount{item: u.Item, base: u.SlotCount}
	}
}

// SlotChanged tells that the bot itself changed a hotbar slot (a swap, a refill): its count starts afresh with the next
// use. Uses of that slot must not be outstanding.
func (p *Placements) SlotChanged(slot int8) { delete(p.slots, slot) }

func (p *Placements) counted(u *use) {
	if a := p.slots[u.Slot]; a != nil && a.item == u.Item {
		a.counted++
	}
}

func (p *Placements) maybe(u *use) {
	if a := p.slots[u.Slot]; a != nil && a.item == u.Item {
		a.maybe++
	}
}

// slotFacts compares every hotbar slot that a fact shows.
func (p *Placements) slotFacts(f Fact) {
	if !p.opt.Survival {
		return
	}
	switch e := f.Event.(type) {
	case worldstate.ContainerContent:
		if e.Window != 0 {
			return
		}
		for i := worldstate.SlotHotbar; i < worldstate.SlotHotbar+9 && i < len(e.Slots); i++ {
			p.slotShown(f.Sequence, int8(i-worldstate.SlotHotbar), e.Slots[i])
		}
	case worldstate.ContainerSlot:
		switch {
		case e.Window == 0 && e.Slot >= worldstate.SlotHotbar && e.Slot < worldstate.SlotHotbar+9:
			p.slotShown(f.Sequence, int8(e.Slot-worldstate.SlotHotbar), e.Content)
		case e.Window == -2 && e.Slot >= 0 && e.Slot < 9:
			p.slotShown(f.Sequence, int8(e.Slot), e.Content)
		}
	case worldstate.InventorySlot:
		if e.Slot >= 0 && e.Slot < 9 {
			p.slotShown(f.Sequence, int8(e.Slot), e.Content)
		}
	}
}

func (p *Placements) slotShown(seq uint64, slot int8, s worldstate.Slot) {
	a := p.slots[slot]
	if a == nil || !s.Known {
		return
	}
	count := int32(0)
	if !s.Stack.Empty() {
		if s.Stack.Item != a.item {
			p.demote(seq, CodeSlotMismatch)
			return
		}
		count = s.Stack.Count
	}
	out := int32(0)
	for _, u := range p.uses {
		if u.Slot == slot && u.Item == a.item && !u.closed {
			out++
		}
	}
	if d := a.base - count; d < a.counted || d > a.counted+a.maybe+out {
		p.demote(seq, CodeSlotMismatch)
	}
}
