package wire

import "fmt"

// SetEquipment is what an entity visibly holds and wears.
type SetEquipment struct {
	EntityID int32
	Items    []Equipment // at least one
}

// Equipment is one slot: 0 main hand, 1 off hand, 2 feet to 5 head.
type Equipment struct {
	Slot uint8
	Item ItemStack
}

// more is the bit of a slot that says that another entry follows.
const more = 0x80

// Marshal reads or writes the packet.
func (p *SetEquipment) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	if !io.reading {
		io.writeEquipment(p.Items)
		return
	}
	for io.ok() {
		var e Equipment
		io.Uint8(&e.Slot)
		last := e.Slot&more == 0
		e.Slot &^= more
		io.ItemStack(&e.Item)
		if io.ok() || io.truncated() {
			p.Items = append(p.Items, e)
		}
		if last {
			return
		}
	}
}

func (io *IO) writeEquipment(items []Equipment) {
	if len(items) == 0 {
		io.Fail(fmt.Errorf("%w: equipment without an entry", ErrMalformed))
	}
	for i := range items {
		slot := items[i].Slot &^ more
		io.note(leafInt, int64(slot), 1)
		if i < len(items)-1 {
			slot |= more
		}
		io.put(slot)
		io.ItemStack(&items[i].Item)
	}
}
