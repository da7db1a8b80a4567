package wire

import "blockworld/worldstate/geom"

// LevelChunkWithLight is one column. Its large parts stay as received; Data is what worldstate decodes.
type LevelChunkWithLight struct {
	Pos           geom.ChunkPos
	Heightmaps    Heightmaps
	Data          []byte // sections, bottom up
	BlockEntities []ChunkBlockEntity
	Light         Light
}

// ChunkBlockEntity is a block entity of a column.
type ChunkBlockEntity struct {
	XZ   uint8 // x within the column in the upper half, z in the lower
	Y    int16
	Type int32
	Data NBT
}

// Marshal reads or writes the packet.
func (p *LevelChunkWithLight) Marshal(io *IO) {
	io.Int32(&p.Pos.X)
	io.Int32(&p.Pos.Z)
	io.heightmaps(&p.Heightmaps)
	io.Bytes(&p.Data, maxChunkData)
	List(io, &p.BlockEntities, 5, func(io *IO, b *ChunkBlockEntity) {
		io.Uint8(&b.XZ)
		io.Int16(&b.Y)
		io.VarInt(&b.Type)
		io.NBT(&b.Data)
	})
	io.light(&p.Light)
}

// Pos returns the block's position in the world.
func (b *ChunkBlockEntity) Pos(c geom.ChunkPos) geom.BlockPos {
	return geom.BlockPos{X: c.X<<4 | int32(b.XZ>>4), Y: int32(b.Y), Z: c.Z<<4 | int32(b.XZ&15)}
}
