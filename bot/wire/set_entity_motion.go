package wire

// SetEntityMotion is an entity's velocity in blocks per tick.
type SetEntityMotion struct {
	EntityID int32
	Velocity PackedVec
}

// Marshal reads or writes the packet.
func (p *SetEntityMotion) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Velocity(&p.Velocity)
}
