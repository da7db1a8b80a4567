package wire

// ShowDialog shows a dialog in configuration.
type ShowDialog struct{ Dialog NBT }

// Marshal reads or writes the packet.
func (p *ShowDialog) Marshal(io *IO) { io.NBT(&p.Dialog) }

// ClearDialog closes the dialog.
type ClearDialog struct{}

// Marshal reads or writes the packet.
func (*ClearDialog) Marshal(*IO) {}

// CustomClickAction is the client's answer to a dialog or a clicked text. The payload stays raw.
type CustomClickAction struct {
	ID      string
	Payload []byte
}

// Marshal reads or writes the packet.
func (p *CustomClickAction) Marshal(io *IO) {
	io.String(&p.ID, maxKey)
	io.Rest(&p.Payload)
}
