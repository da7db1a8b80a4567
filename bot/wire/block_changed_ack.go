package wire

// BlockChangedAck says that the server handled the client's uses up to Sequence. Not that any succeeded.
type BlockChangedAck struct{ Sequence int32 }

// Marshal reads or writes the packet.
func (p *BlockChangedAck) Marshal(io *IO) { io.VarInt(&p.Sequence) }
