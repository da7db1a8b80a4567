package wire

// SetPlayerInventory is one slot of the player's inventory: 0..8 the hotbar, then 27 more, armour, off hand.
type SetPlayerInventory struct {
	Slot int32
	Item ItemStack
}

// Marshal reads or writes the packet.
func (p *SetPlayerInventory) Marshal(io *IO) {
	io.VarInt(&p.Slot)
	io.ItemStack(&p.Item)
}

// SetCursorItem is the stack on the cursor.
type SetCursorItem struct{ Item ItemStack }

// Marshal reads or writes the packet.
func (p *SetCursorItem) Marshal(io *IO) { io.ItemStack(&p.Item) }
