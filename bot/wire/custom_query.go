package wire

// CustomQuery is a plug-in's question during login. A client that does not know the channel answers without data.
type CustomQuery struct {
	Transaction int32
	Channel     string
	Data        []byte
}

// Marshal reads or writes the packet.
func (p *CustomQuery) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	io.String(&p.Channel, maxKey)
	io.Rest(&p.Data)
}

// CustomQueryAnswer answers CustomQuery.
type CustomQueryAnswer struct {
	Transaction int32
	Understood  bool
	Data        []byte
}

// Marshal reads or writes the packet.
func (p *CustomQueryAnswer) Marshal(io *IO) {
	io.VarInt(&p.Transaction)
	if io.Flag(&p.Understood) {
		io.Rest(&p.Data)
	}
}
