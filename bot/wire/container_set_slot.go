package wire

// ContainerSetSlot is one slot of a window; window -1 is the cursor, -2 the player's inventory.
type ContainerSetSlot struct {
	Window  int32
	StateID int32
	Slot    int16
	Item    ItemStack
}

// Marshal reads or writes the packet.
func (p *ContainerSetSlot) Marshal(io *IO) {
	io.containerID(&p.Window)
	if io.reading && !io.Has(ContainerIDVarInt) {
		p.Window = int32(int8(p.Window))
	}
	io.VarInt(&p.StateID)
	io.Int16(&p.Slot)
	io.ItemStack(&p.Item)
}
