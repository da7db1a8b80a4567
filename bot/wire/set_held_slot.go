package wire

// SetHeldSlot is the server's word on which hotbar slot is selected.
type SetHeldSlot struct{ Slot int32 }

// Marshal reads or writes the packet.
func (p *SetHeldSlot) Marshal(io *IO) {
	if io.Has(HeldSlotVarInt) {
		io.VarInt(&p.Slot)
		return
	}
	b := int8(p.Slot)
	if io.Int8(&b); io.reading && io.ok() {
		p.Slot = int32(b)
	}
}

// SetCarriedItem is the client's choice of a hotbar slot 0..8.
type SetCarriedItem struct{ Slot int16 }

// Marshal reads or writes the packet.
func (p *SetCarriedItem) Marshal(io *IO) { io.Int16(&p.Slot) }
