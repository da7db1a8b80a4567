package wire

// PingRequest asks for a PongResponse with the same number; in status and in play.
type PingRequest struct{ Time int64 }

// Marshal reads or writes the packet.
func (p *PingRequest) Marshal(io *IO) { io.Int64(&p.Time) }

// PongResponse answers PingRequest.
type PongResponse struct{ Time int64 }

// Marshal reads or writes the packet.
func (p *PongResponse) Marshal(io *IO) { io.Int64(&p.Time) }
