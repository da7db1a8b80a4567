package builder

import (
	"fmt"

	"blockworld/bot"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// equipping is a slot change that waits for the server to show the slot.
type equipping struct {
	step  int
	item  registry.ItemID
	slot  int8
	adm   *admitted
	watch effects.EquipWatch
	until uint64 // tick at which it is given up
	query uint64 // tick of the next inventory query
	g     *gesture
}

// equipTicks is how long the server may take to show a changed slot.
const equipTicks = 60

// creativeStack is how many items are taken in creative mode; they do not run out.
const creativeStack = 64

// takeInHand puts an item into the hand: by selecting the slot that has it, by a swap with the main inventory, or in
// creative mode by taking it. True asks for the next decision.
func (w *worker) takeInHand(tx *bot.Tx, step int, item registry.ItemID) bool {
	inv := w.inventory(tx)
	if slot, ok := scene.Hotbar(&inv, item); ok {
		return w.hold(tx, step, item, slot)
	}
	if w.evidence.Outstanding() > 0 {
		return false // the slot that gives way may have uses on their way
	}
	slot := w.freeSlot(&inv)
	if tx.View().Self().GameMode == worldstate.Creative {
		return w.take(tx, step, item, slot)
	}
	for i := worldstate.SlotMain; i < worldstate.SlotHotbar; i++ {
		if s := inv.Slots[i]; scene.Plain(s, item) {
			return w.swap(tx, step, item, slot, int16(i))
		}
	}
	w.refuse(tx, step)
	return true
}

// synced says whether the slots can be gone by: the whole inventory was told, or this server never tells it, and then each
// slot is known or unknown by itself.
func (w *worker) synced(inv *worldstate.Inventory) bool { return inv.Known || w.site.Terms.Slots }

// A server that tells slots one by one says nowhere that it has told the last one, and may take back its first word about the
// selected slot when it has read our inventory. Its word holds when our health is told, which ends flying-squid's join, and
// nothing more came for slotQuiet ticks; without a health after slotPatience.
const (
	slotQuiet    = 20
	slotPatience = 200
)

// slotTold notes a word about slots.
func (w *worker) slotTold(tx *bot.Tx, ev worldstate.Event) {
	switch ev.(type) {
	case worldstate.ContainerSlot, worldstate.InventorySlot, worldstate.HeldSlot:
		w.slotAt = tx.Ticks()
	}
}

// allTold says whether the server is done with telling our slots after a join.
func (w *worker) allTold(tx *bot.Tx) bool {
	quiet := tx.Ticks() - w.slotAt
	return !w.site.Terms.Slots || quiet >= slotPatience || quiet >= slotQuiet && tx.View().Self().HealthKnown
}

// freeSlot is an empty hotbar slot, else the one used longest ago; none of which the server has still to show what is left.
func (w *worker) freeSlot(inv *worldstate.Inventory) int8 {
	best := int8(0)
	for i := range int8(9) {
		if w.stocks[int32(i)] != nil {
			if best == i {
				best = (i + 1) % 9
			}
			continue
		}
		if s := inv.Slots[worldstate.SlotHotbar+int(i)]; s.Known && s.Stack.Empty() {
			return i
		}
		if w.slotUsed[i] < w.slotUsed[best] {
			best = i
		}
	}
	return best
}

// hold selects a slot that has the item already.
func (w *worker) hold(tx *bot.Tx, step int, item registry.ItemID, slot int8) bool {
	have := func(inv *worldstate.Inventory) int32 { return inv.Slots[worldstate.SlotHotbar+int(slot)].Stack.Count }
	return w.admitEquip(tx, step, item, slot, have, func(tx *bot.Tx, adm *admitted, g *gesture) bool {
		handle, err := tx.Out().OpenEquip(adm.permit)
		if err == nil {
			err = handle.Hold(int32(slot))
			handle.Done()
		}
		if err != nil {
			w.fail(err)
			return false
		}
		w.judgeLater(tx, g)
		return true
	})
}

// take puts a stack into a hotbar slot as creative mode allows, and asks for the inventory so that the server shows it.
func (w *worker) take(tx *bot.Tx, step int, item registry.ItemID, slot int8) bool {
	have := func(*worldstate.Inventory) int32 { return creativeStack }
	return w.admitEquip(tx, step, item, slot, have, func(tx *bot.Tx, adm *admitted, g *gesture) bool {
		handle, err := tx.Out().OpenEquip(adm.permit)
		if err == nil {
			err = handle.Creative(slot, item, w.stackSize(tx, item))
		}
		if err == nil {
			err = handle.Hold(int32(slot))
			handle.Done()
		}
		return w.awaitSlot(tx, err, &equipping{step: step, item: item, slot: slot, adm: adm, g: g})
	})
}

func (w *worker) stackSize(tx *bot.Tx, item registry.ItemID) int32 {
	if it := tx.Registry().ItemByID(item); it != nil {
		return min(it.StackSize, creativeStack)
	}
	return 1
}

// swap exchanges a slot of the main inventory with a hotbar slot.
func (w *worker) swap(tx *bot.Tx, step int, item registry.ItemID, slot int8, from int16) bool {
	have := func(inv *worldstate.Inventory) int32 {
		if s := inv.Slots[from]; scene.Plain(s, item) {
			return s.Stack.Count
		}
		return 0
	}
	return w.admitEquip(tx, step, item, slot, have, func(tx *bot.Tx, adm *admitted, g *gesture) bool {
		handle, err := tx.Out().OpenEquip(adm.permit)
		if err == nil {
			err = handle.Swap(from, slot, tx.View().Inventory().StateID)
		}
		if err == nil {
			err = handle.Hold(int32(slot))
			handle.Done()
		}
		return w.awaitSlot(tx, err, &equipping{step: step, item: item, slot: slot, adm: adm, g: g})
	})
}

// awaitSlot starts waiting for the server to show the slot.
func (w *worker) awaitSlot(tx *bot.Tx, err error, e *equipping) bool {
	if err != nil {
		w.fail(err)
		return false
	}
	w.evidence.SlotChanged(e.slot)
	delete(w.stocks, int32(e.slot))
	e.watch = effects.EquipWatch{Item: e.item, Slot: uint8(e.slot)}
	e.until, e.query = tx.Ticks()+equipTicks, tx.Ticks()
	w.equip = e
	w.equipTick(tx)
	return false
}

// equipTick asks for the inventory now and then, and gives up in the end.
func (w *worker) equipTick(tx *bot.Tx) {
	e := w.equip
	if e == nil {
		return
	}
	inv := tx.View().Inventory()
	if scene.Plain(inv.Slots[worldstate.SlotHotbar+int(e.slot)], e.item) {
		w.equipDone(tx, true)
		return
	}
	if tx.Ticks() >= e.until {
		w.equipDone(tx, false)
		return
	}
	tx.Wake(1)
	if tx.Ticks() < e.query || w.site.Terms.Slots { // a server that has no snapshot tells the slot by itself
		return
	}
	e.query = tx.Ticks() + equipTicks/3
	if err := tx.Out().QueryInventory(inv.StateID); err != nil {
		w.fail(err)
	}
}

// equipFact looks whether a fact shows the slot.
func (w *worker) equipFact(tx *bot.Tx, f effects.Fact) {
	e := w.equip
	if e == nil {
		return
	}
	e.watch.Observe(f)
	inv := tx.View().Inventory()
	if scene.Plain(inv.Slots[worldstate.SlotHotbar+int(e.slot)], e.item) {
		w.equipDone(tx, true)
		w.advance(tx)
	}
}

func (w *worker) equipDone(tx *bot.Tx, shown bool) {
	e := w.equip
	w.equip = nil
	if shown {
		w.judgeLater(tx, e.g)
		return
	}
	w.store(tx, effects.Settled{Action: e.g.base.Action, Verdict: effects.Refused, Code: effects.CodeInventoryOther,
		Evidence: effects.Evidence{Epoch: epoch(tx.View())}}.Outcome(e.g.base))
	w.site.Report(Denied{Step: e.step, Capability: effects.Equip, Rule: "slot", Why: fmt.Sprintf("the server does not show the item in hotbar slot %d", e.slot)})
	w.refuse(tx, e.step)
}

// admitEquip asks for leave for a slot change and goes on with it when it has come. Have is how many of the item there are.
func (w *worker) admitEquip(tx *bot.Tx, step int, item registry.ItemID, slot int8, have func(*worldstate.Inventory) int32,
	then func(*bot.Tx, *admitted, *gesture) bool) bool {
	name := ""
	if it := tx.Registry().ItemByID(item); it != nil {
		name = it.Name
	}
	count := func(tx *bot.Tx) int32 {
		inv := w.inventory(tx)
		return have(&inv)
	}
	q := w.ask(tx, proposal{
		request: effects.EquipRequest{Item: name},
		step:    step, post: effects.HoldsItem{Item: item, Slot: uint8(slot)}, least: effects.Processed,
		pre: func(tx *bot.Tx) sentinel.Pin { return sentinel.PinOf("equip", name, fmt.Sprint(slot, count(tx))) },
		complete: func(tx *bot.Tx, f *sentinel.Facts) {
			f.Classes = sentinel.ItemClass(name)
			f.Slot, f.HoldsItem, f.Plain, f.Have, f.Need = slot, sentinel.Yes, worldstate.PlainYes, count(tx), 1
		},
	})
	return w.soon(tx, q, func(tx *bot.Tx, adm *admitted) bool {
		if adm != nil {
			return then(tx, adm, &gesture{base: adm.base, corrections: tx.Corrections(), ended: tx.Ticks()})
		}
		if w.phase == working {
			w.leaveOut(tx, step)
		}
		return w.phase == working
	})
}
