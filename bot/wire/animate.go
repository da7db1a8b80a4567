package wire

// Animate shows an entity's movement, such as a swing of the arm (0).
type Animate struct {
	EntityID int32
	Action   uint8
}

// Marshal reads or writes the packet.
func (p *Animate) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Uint8(&p.Action)
}
