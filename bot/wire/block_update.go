package wire

import "blockworld/worldstate/geom"

// BlockUpdate says which state a block has.
type BlockUpdate struct {
	Pos   geom.BlockPos
	State int32
}

// Marshal reads or writes the packet.
func (p *BlockUpdate) Marshal(io *IO) {
	io.BlockPos(&p.Pos)
	io.VarInt(&p.State)
}
