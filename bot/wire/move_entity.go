package wire

// MoveEntityPos moves an entity by 1/4096 blocks.
type MoveEntityPos struct {
	EntityID   int32
	DX, DY, DZ int16
	OnGround   bool
}

// Marshal reads or writes the packet.
func (p *MoveEntityPos) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Int16(&p.DX)
	io.Int16(&p.DY)
	io.Int16(&p.DZ)
	io.Bool(&p.OnGround)
}

// MoveEntityPosRot moves and turns an entity.
type MoveEntityPosRot struct {
	EntityID   int32
	DX, DY, DZ int16
	Yaw, Pitch Angle
	OnGround   bool
}

// Marshal reads or writes the packet.
func (p *MoveEntityPosRot) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Int16(&p.DX)
	io.Int16(&p.DY)
	io.Int16(&p.DZ)
	io.Angle(&p.Yaw)
	io.Angle(&p.Pitch)
	io.Bool(&p.OnGround)
}

// MoveEntityRot turns an entity.
type MoveEntityRot struct {
	EntityID   int32
	Yaw, Pitch Angle
	OnGround   bool
}

// Marshal reads or writes the packet.
func (p *MoveEntityRot) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Angle(&p.Yaw)
	io.Angle(&p.Pitch)
	io.Bool(&p.OnGround)
}
