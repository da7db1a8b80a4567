package wire

// StatusRequest asks for the server list entry.
type StatusRequest struct{}

// Marshal reads or writes the packet.
func (*StatusRequest) Marshal(*IO) {}

// StatusResponse is the server list entry. Untrusted.
type StatusResponse struct{ JSON string }

// Marshal reads or writes the packet.
func (p *StatusResponse) Marshal(io *IO) { io.String(&p.JSON, maxString) }
