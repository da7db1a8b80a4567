package wire

import "blockworld/worldstate/geom"

// PlayerRotation turns the player.
type PlayerRotation struct {
	Rotation                   geom.Rotation
	RelativeYaw, RelativePitch bool // with feature RelativeRotation
}

// Marshal reads or writes the packet.
func (p *PlayerRotation) Marshal(io *IO) {
	io.Float32(&p.Rotation.Yaw)
	if io.Has(RelativeRotation) {
		io.Bool(&p.RelativeYaw)
	}
	io.Float32(&p.Rotation.Pitch)
	if io.Has(RelativeRotation) {
		io.Bool(&p.RelativePitch)
	}
}
