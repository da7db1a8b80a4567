package wire

// ResetChat ends the client's chat session.
type ResetChat struct{}

// Marshal reads or writes the packet.
func (*ResetChat) Marshal(*IO) {}
