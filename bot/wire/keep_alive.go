package wire

// KeepAlive is asked by the server and answered by the client with the same id, in configuration and in play.
type KeepAlive struct{ ID int64 }

// Marshal reads or writes the packet.
func (p *KeepAlive) Marshal(io *IO) { io.Int64(&p.ID) }
