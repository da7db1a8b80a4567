package actor

import (
	"fmt"

	"blockworld/bot"
	"blockworld/bot/egress"
	"blockworld/bot/scene"
	"blockworld/bot/wire"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// equipping is an equip: the item comes into the hand by selecting its slot, by a swap with the main inventory, or in
// creative mode by taking it.
type equipping struct {
	gesture
	name  string
	item  *registry.Item
	src   source
	watch effects.EquipWatch
}

// creativeStack is how many items are taken in creative mode; they do not run out.
const creativeStack = 64

// source is where the item comes from.
type source struct {
	slot int8  // hotbar slot it will be held in
	from int16 // slot of window 0 to swap with, 0 for none
	take bool  // as creative mode allows
	have int32
}

// bind implements deed.
func (e *equipping) bind(tx *bot.Tx) (*bound, error) {
	return e.fixed(tx, func() (proposal, error) { return e.propose(tx) })
}

func (e *equipping) propose(tx *bot.Tx) (proposal, error) {
	reg, inv := tx.Registry(), tx.View().Inventory()
	it, ok := reg.Item(e.name)
	if !ok {
		return proposal{}, fmt.Errorf("%w: %q in %s", ErrNoItem, e.name, reg.Protocol())
	}
	src := find(tx, &inv, it.ID)
	e.item, e.src = it, src
	return proposal{
		post: effects.HoldsItem{Item: it.ID, Slot: uint8(src.slot)}, spend: effects.Budgets{Uses: 1},
		pre: func(tx *bot.Tx) sentinel.Pin {
			inv := tx.View().Inventory()
			return sentinel.PinOf("equip", e.name, fmt.Sprint(find(tx, &inv, it.ID)))
		},
		complete: func(_ *bot.Tx, f *sentinel.Facts) {
			f.Classes = sentinel.ItemClass(it.Name)
			f.Slot, f.HoldsItem, f.Have, f.Need = src.slot, sentinel.Known(src.have > 0), src.have, 1
			if src.have > 0 {
				f.Plain = worldstate.PlainYes // nothing else is found
			}
		},
	}, nil
}

func (e *equipping) begin(tx *bot.Tx) error {
	b, err := e.bind(tx)
	if err != nil {
		return err
	}
	if err := e.open(tx, b); err != nil {
		return err
	}
	inv := tx.View().Inventory()
	e.watch = effects.EquipWatch{Item: e.item.ID, Slot: uint8(e.src.slot)}
	e.more = func(_ *bot.Tx, f *effects.GestureFacts) {
		f.Snapshot, f.Held, f.Other = e.watch.Snapshot, e.watch.Held, e.watch.Other
	}
	if err := e.write(tx, e.item, e.src, &inv); err != nil {
		return e.a.failed(tx, e.adm, err)
	}
	e.sent(tx)
	return nil
}

// find looks where the item is.
func find(tx *bot.Tx, inv *worldstate.Inventory, item registry.ItemID) source {
	if slot, ok := scene.Hotbar(inv, item); ok {
		return source{slot: slot, have: inv.Slots[worldstate.SlotHotbar+int(slot)].Stack.Count}
	}
	slot := scene.Empty(inv, max(inv.Held, 0))
	if tx.View().Self().GameMode == worldstate.Creative {
		return source{slot: slot, take: true, have: creativeStack}
	}
	if from, ok := scene.Main(inv, item); ok {
		return source{slot: slot, from: from, have: inv.Slots[from].Stack.Count}
	}
	return source{slot: slot}
}

// write sends what brings the item into the hand, then asks the server to show the inventory and the selected slot.
func (e *equipping) write(tx *bot.Tx, it *registry.Item, src source, inv *worldstate.Inventory) error {
	h, err := tx.Out().OpenEquip(e.adm.permit)
	if err != nil {
		return err
	}
	defer h.Done()
	switch {
	case src.take:
		err = h.Creative(src.slot, it.ID, min(it.StackSize, creativeStack))
	case src.from != 0:
		err = h.Swap(src.from, src.slot, inv.StateID)
	}
	if err != nil {
		return err
	}
	if err := h.Hold(int32(src.slot)); err != nil {
		return err
	}
	e.a.evidence.SlotChanged(src.slot)
	if err := e.pick(tx, h, it.ID); err != nil || e.a.cfg.Terms.Slots {
		return err
	}
	return tx.Out().QueryInventory(inv.StateID)
}

// pick asks for the selected slot where that can be done without changing it: by picking a block whose item we hold.
func (e *equipping) pick(tx *bot.Tx, h *egress.Equipping, item registry.ItemID) error {
	if !wire.Has(tx.Registry().Protocol(), wire.PickItemFrom) {
		return nil
	}
	reg, v, eye := tx.Registry(), tx.View(), tx.Player().Pos.Add(geom.Vec3{0, geom.EyeStanding, 0})
	at := geom.BlockAt(eye)
	const r = 3
	for y := -r; y <= r; y++ {
		for z := -r; z <= r; z++ {
			for x := -r; x <= r; x++ {
				pos := at.Add(geom.BlockPos{X: int32(x), Y: int32(y), Z: int32(z)})
				if s, ok := v.Block(pos); ok && reg.BlockOf(s) != nil && reg.BlockOf(s).Item == item {
					return h.Pick(pos)
				}
			}
		}
	}
	return nil
}

func (e *equipping) fact(_ *bot.Tx, f effects.Fact) {
	if e.waiting {
		e.watch.Observe(f)
	}
}
