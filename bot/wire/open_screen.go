package wire

// OpenScreen opens a window.
type OpenScreen struct {
	Window int32
	Type   int32
	Title  Text
}

// Marshal reads or writes the packet.
func (p *OpenScreen) Marshal(io *IO) {
	io.VarInt(&p.Window)
	io.VarInt(&p.Type)
	io.Text(&p.Title)
}
