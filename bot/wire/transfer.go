package wire

// Transfer asks the client to connect to another server with IntentTransfer.
type Transfer struct {
	Host string
	Port int32
}

// Marshal reads or writes the packet.
func (p *Transfer) Marshal(io *IO) {
	io.String(&p.Host, maxString)
	io.VarInt(&p.Port)
}
