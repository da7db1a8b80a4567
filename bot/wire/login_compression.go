package wire

// LoginCompression turns compression on for packets of at least Threshold bytes; negative turns it off.
type LoginCompression struct{ Threshold int32 }

// Marshal reads or writes the packet.
func (p *LoginCompression) Marshal(io *IO) { io.VarInt(&p.Threshold) }
