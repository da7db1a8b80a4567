package builder

import (
	"blockworld/bot"
	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// stock is what a hotbar slot still holds when its uses are taken off that the server has not shown yet: it tells slots at
// the end of a tick, and several uses may be on their way by then. Without it the last of a stack would be used twice.
type stock struct {
	left int32
	out  int // uses without a verdict
}

// inventory is what the server has shown of the inventory, less what is used up since.
func (w *worker) inventory(tx *bot.Tx) worldstate.Inventory {
	inv := tx.View().Inventory()
	for slot, s := range w.stocks {
		shown := &inv.Slots[worldstate.SlotHotbar+int(slot)]
		if shown.Stack.Count = min(shown.Stack.Count, max(s.left, 0)); shown.Stack.Count == 0 {
			shown.Stack = worldstate.ItemStack{}
		}
	}
	return inv
}

// drew takes a use off its slot. In creative mode nothing is used up.
func (w *worker) drew(tx *bot.Tx, b *bound) {
	if tx.View().Self().GameMode == worldstate.Creative || b.stack.Empty() {
		return
	}
	s := w.stocks[b.slot]
	if s == nil {
		s = &stock{left: b.stack.Count}
		w.stocks[b.slot] = s
	}
	s.left--
	s.out++
}

// judgedUse gives back what a use has not taken.
func (w *worker) judgedUse(u *sentUse, v effects.Verdict) {
	s := w.stocks[u.slot]
	if s == nil || !u.drew {
		return
	}
	s.out--
	if v == effects.Refused || v == effects.NotExecuted {
		s.left++
	}
}

// slotShown forgets what was reckoned of slots that the server shows when all their uses are judged: it sends both in order,
// so that what it shows now lies behind them all.
func (w *worker) slotShown(ev worldstate.Event) {
	forget := func(slot int) {
		if s := w.stocks[int32(slot)]; s != nil && s.out == 0 {
			delete(w.stocks, int32(slot))
		}
	}
	switch e := ev.(type) {
	case worldstate.ContainerContent:
		for slot := 0; e.Window == 0 && slot < 9; slot++ {
			forget(slot)
		}
	case worldstate.ContainerSlot:
		if e.Window == 0 {
			forget(int(e.Slot) - worldstate.SlotHotbar)
		} else {
			forget(int(e.Slot))
		}
	case worldstate.InventorySlot:
		forget(int(e.Slot))
	}
}

// queued is how many of the placements that wait for leave, or with leave for their moment, will use a slot.
func (w *worker) queued(slot int32) (n int32) {
	for _, q := range w.line {
		if q.use.slot == slot {
			n++
		}
	}
	return n
}

// inHandFor is the item that further placements can be bound to: what is in the hand and not asked for already.
func (w *worker) inHandFor(tx *bot.Tx, inv *worldstate.Inventory) (registry.ItemID, bool) {
	hand := w.inHand(tx, inv)
	if !hand.Known || hand.Stack.Plain != worldstate.PlainYes || hand.Stack.Empty() {
		return 0, false
	}
	limited := tx.View().Self().GameMode != worldstate.Creative
	return hand.Stack.Item, !limited || hand.Stack.Count > w.queued(tx.Out().Held())
}
