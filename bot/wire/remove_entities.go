package wire

// RemoveEntities takes entities away.
type RemoveEntities struct{ EntityIDs []int32 }

// Marshal reads or writes the packet.
func (p *RemoveEntities) Marshal(io *IO) { List(io, &p.EntityIDs, 1, (*IO).VarInt) }
