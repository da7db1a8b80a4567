package wire

import "blockworld/worldstate/geom"

// BlockEntityData replaces the data of a block entity.
type BlockEntityData struct {
	Pos  geom.BlockPos
	Type int32
	Data NBT
}

// Marshal reads or writes the packet.
func (p *BlockEntityData) Marshal(io *IO) {
	io.BlockPos(&p.Pos)
	io.VarInt(&p.Type)
	io.NBT(&p.Data)
}
