package wire

import "blockworld/worldstate/geom"

// SetDefaultSpawnPosition is where compasses point.
type SetDefaultSpawnPosition struct {
	Dimension  string // with feature SpawnWithDimension
	Pos        geom.BlockPos
	Yaw, Pitch float32 // pitch with SpawnWithDimension
}

// Marshal reads or writes the packet.
func (p *SetDefaultSpawnPosition) Marshal(io *IO) {
	if io.Has(SpawnWithDimension) {
		io.String(&p.Dimension, maxKey)
	}
	io.BlockPos(&p.Pos)
	io.Float32(&p.Yaw)
	if io.Has(SpawnWithDimension) {
		io.Float32(&p.Pitch)
	}
}
