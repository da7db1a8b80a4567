package wire

import "blockworld/worldstate/geom"

// TagQuery answers BlockEntityTagQuery and EntityTagQuery.
type TagQuery struct {
	Transaction int32
	Data        NBT
}

// Marshal reads or writes the packet.
func (p *TagQuery) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.NBT(&p.Data)
}

// BlockEntityTagQuery asks an operator's question: what data does this block have?
type BlockEntityTagQuery struct {
	Transaction int32
	Pos         geom.BlockPos
}

// Marshal reads or writes the packet.
func (p *BlockEntityTagQuery) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.BlockPos(&p.Pos)
}

// EntityTagQuery asks the same about an entity.
type EntityTagQuery struct{ Transaction, EntityID int32 }

// Marshal reads or writes the packet.
func (p *EntityTagQuery) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.VarInt(&p.EntityID)
}
