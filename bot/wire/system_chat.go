package wire

// SystemChat is a line from the server or a plug-in; it may say anything.
type SystemChat struct {
	Content Text
	Overlay bool // above the hotbar
}

// Marshal reads or writes the packet.
func (p *SystemChat) Marshal(io *IO) {
	io.Text(&p.Content)
	io.Bool(&p.Overlay)
}
