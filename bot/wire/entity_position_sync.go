package wire

import "blockworld/worldstate/geom"

// EntityPositionSync is an entity's absolute position.
type EntityPositionSync struct {
	EntityID int32
	Position geom.Vec3
	Velocity geom.Vec3
	Rotation geom.Rotation
	OnGround bool
}

// Marshal reads or writes the packet.
func (p *EntityPositionSync) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Vec3(&p.Position)
	io.Vec3(&p.Velocity)
	io.Rotation(&p.Rotation)
	io.Bool(&p.OnGround)
}
