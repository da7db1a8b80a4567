package wire

import "blockworld/worldstate/geom"

// ForgetLevelChunk takes a column away. Its z comes first.
type ForgetLevelChunk struct{ Pos geom.ChunkPos }

// Marshal reads or writes the packet.
func (p *ForgetLevelChunk) Marshal(io *IO) {
	io.Int32(&p.Pos.Z)
	io.Int32(&p.Pos.X)
}
