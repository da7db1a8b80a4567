package wire

import "blockworld/worldstate/geom"

// PlayerPosition puts the player somewhere; the client answers AcceptTeleportation.
type PlayerPosition struct {
	ID       int32
	Position geom.Vec3
	Velocity geom.Vec3 // with feature PositionVelocity
	Rotation geom.Rotation
	Relative uint32 // bits as worldstate.RelativeX and those behind it; those of the velocity with PositionVelocity
}

// Marshal reads or writes the packet.
func (p *PlayerPosition) Marshal(io *IO) {
	if io.Has(PositionVelocity) {
		io.VarInt(&p.ID)
		io.Vec3(&p.Position)
		io.Vec3(&p.Velocity)
		io.Rotation(&p.Rotation)
		io.Uint32(&p.Relative)
		return
	}
	io.Vec3(&p.Position)
	io.Rotation(&p.Rotation)
	flags := uint8(p.Relative)
	io.Uint8(&flags)
	io.VarInt(&p.ID)
	if io.reading {
		p.Relative = uint32(flags)
	}
}

// AcceptTeleportation answers PlayerPosition.
type AcceptTeleportation struct{ ID int32 }

// Marshal reads or writes the packet.
func (p *AcceptTeleportation) Marshal(io *IO) { io.VarInt(&p.ID) }
