package wire

import "blockworld/worldstate/geom"

// PickItem puts an item of the inventory into the hand, without feature PickItemFrom.
type PickItem struct{ Slot int32 }

// Marshal reads or writes the packet.
func (p *PickItem) Marshal(io *IO) { io.VarInt(&p.Slot) }

// PickItemFromBlock takes the item of a block into the hand.
type PickItemFromBlock struct {
	Pos         geom.BlockPos
	IncludeData bool
}

// Marshal reads or writes the packet.
func (p *PickItemFromBlock) Marshal(io *IO) {
	io.BlockPos(&p.Pos)
	io.Bool(&p.IncludeData)
}

// PickItemFromEntity takes the item of an entity into the hand.
type PickItemFromEntity struct {
	EntityID    int32
	IncludeData bool
}

// Marshal reads or writes the packet.
func (p *PickItemFromEntity) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.Bool(&p.IncludeData)
}
