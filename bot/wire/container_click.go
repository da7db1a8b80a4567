package wire

// ContainerClick is a click in a window. What the client thinks has changed goes into Changed and Carried, or, with
// feature HashedSlots, into the hashes.
type ContainerClick struct {
	Window      int32
	StateID     int32
	Slot        int16
	Button      int8
	Mode        int32
	Changed     []ChangedSlot
	Carried     ItemStack
	CarriedHash HashedStack
}

// ChangedSlot is one slot that the client thinks has changed.
type ChangedSlot struct {
	Slot int16
	Item ItemStack
	Hash HashedStack
}

// Marshal reads or writes the packet.
func (p *ContainerClick) Marshal(io *IO) {
	io.containerID(&p.Window)
	io.VarInt(&p.StateID)
	io.Int16(&p.Slot)
	io.Int8(&p.Button)
	io.VarInt(&p.Mode)
	List(io, &p.Changed, 3, func(io *IO, c *ChangedSlot) {
		io.Int16(&c.Slot)
		io.clickStack(&c.Item, &c.Hash)
	})
	io.clickStack(&p.Carried, &p.CarriedHash)
}

func (io *IO) clickStack(s *ItemStack, h *HashedStack) {
	if io.Has(HashedSlots) {
		io.hashedStack(h)
	} else {
		io.stackOrLost(s)
	}
}
