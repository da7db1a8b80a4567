package wire

import "blockworld/worldstate/geom"

// LightUpdate is the light of one column.
type LightUpdate struct {
	Pos   geom.ChunkPos
	Light Light
}

// Marshal reads or writes the packet.
func (p *LightUpdate) Marshal(io *IO) {
	io.VarInt(&p.Pos.X)
	io.VarInt(&p.Pos.Z)
	io.light(&p.Light)
}
