package wire

// RotateHead turns an entity's head.
type RotateHead struct {
	EntityID int32
	Yaw      Angle
}

// Marshal reads or writes the packet.
func (p *RotateHead) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Angle(&p.Yaw)
}
