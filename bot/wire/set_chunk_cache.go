package wire

import "blockworld/worldstate/geom"

// SetChunkCacheCenter names the column around which columns are sent.
type SetChunkCacheCenter struct{ Pos geom.ChunkPos }

// Marshal reads or writes the packet.
func (p *SetChunkCacheCenter) Marshal(io *IO) {
	io.VarInt(&p.Pos.X)
	io.VarInt(&p.Pos.Z)
}

// SetChunkCacheRadius is the view distance in chunks.
type SetChunkCacheRadius struct{ Chunks int32 }

// Marshal reads or writes the packet.
func (p *SetChunkCacheRadius) Marshal(io *IO) { io.VarInt(&p.Chunks) }

// SetSimulationDistance is the distance in chunks within which the world lives.
type SetSimulationDistance struct{ Chunks int32 }

// Marshal reads or writes the packet.
func (p *SetSimulationDistance) Marshal(io *IO) { io.VarInt(&p.Chunks) }
