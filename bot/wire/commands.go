package wire

// Commands is the server's tree of commands, raw.
type Commands struct{ Data []byte }

// Marshal reads or writes the packet.
func (p *Commands) Marshal(io *IO) { io.Rest(&p.Data) }
