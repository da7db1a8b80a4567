package wire

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// AddEntity shows an entity to the client, players included.
type AddEntity struct {
	EntityID         int32
	UUID             worldstate.UUID
	Type             registry.EntityTypeID
	Position         geom.Vec3
	Pitch, Yaw, Head Angle
	Data             int32 // depends on the type; the block state of a falling block
	Velocity         PackedVec
}

// Marshal reads or writes the packet.
func (p *AddEntity) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.UUID(&p.UUID)
	io.VarInt((*int32)(&p.Type))
	io.Vec3(&p.Position)
	if io.Has(PackedVelocity) {
		io.PackedVec(&p.Velocity)
	}
	io.Angle(&p.Pitch)
	io.Angle(&p.Yaw)
	io.Angle(&p.Head)
	io.VarInt(&p.Data)
	if !io.Has(PackedVelocity) {
		io.Velocity(&p.Velocity)
	}
}
