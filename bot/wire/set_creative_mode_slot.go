package wire

// SetCreativeModeSlot puts a stack into the inventory of a player in creative mode; slot -1 drops it.
type SetCreativeModeSlot struct {
	Slot int16
	Item ItemStack // raw Components with lengths from feature UntrustedSlots on
}

// Marshal reads or writes the packet.
func (p *SetCreativeModeSlot) Marshal(io *IO) {
	io.Int16(&p.Slot)
	io.UntrustedStack(&p.Item)
}
