package wire

import "blockworld/worldstate/geom"

// TeleportEntity puts an entity somewhere.
type TeleportEntity struct {
	EntityID int32
	Position geom.Vec3
	Velocity geom.Vec3     // with feature PositionVelocity
	Rotation geom.Rotation // without it in steps of 1/256 of a circle
	Relative uint32        // with PositionVelocity
	OnGround bool
}

// Marshal reads or writes the packet.
func (p *TeleportEntity) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Vec3(&p.Position)
	if io.Has(PositionVelocity) {
		io.Vec3(&p.Velocity)
		io.Rotation(&p.Rotation)
		io.Uint32(&p.Relative)
		io.Bool(&p.OnGround)
		return
	}
	yaw, pitch := AngleOf(p.Rotation.Yaw), AngleOf(p.Rotation.Pitch)
	io.Angle(&yaw)
	io.Angle(&pitch)
	io.Bool(&p.OnGround)
	if io.reading && io.ok() {
		p.Rotation = geom.Rotation{Yaw: yaw.Degrees(), Pitch: pitch.Degrees()}
	}
}
