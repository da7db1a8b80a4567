package wire

// ContainerSetContent is all slots of a window and the cursor. Window 0 is the player's inventory.
type ContainerSetContent struct {
	Window  int32
	StateID int32
	Items   []ItemStack
	Carried ItemStack
}

// Marshal reads or writes the packet.
func (p *ContainerSetContent) Marshal(io *IO) {
	io.containerID(&p.Window)
	io.VarInt(&p.StateID)
	io.stacks(&p.Items)
	io.stackOrLost(&p.Carried)
}
