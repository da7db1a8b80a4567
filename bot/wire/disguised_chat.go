package wire

// DisguisedChat is a line of chat from a server that hides who signed it.
type DisguisedChat struct {
	Message   Text
	Type      ChatType
	Name      Text
	HasTarget bool
	Target    Text
}

// Marshal reads or writes the packet.
func (p *DisguisedChat) Marshal(io *IO) {
	io.Text(&p.Message)
	io.chatType(&p.Type)
	io.Text(&p.Name)
	if io.Flag(&p.HasTarget) {
		io.Text(&p.Target)
	}
}
