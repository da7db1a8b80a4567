package wire

// ServerData is the server list entry for a player who has joined.
type ServerData struct {
	MOTD               Text
	HasIcon            bool
	Icon               []byte // PNG
	EnforcesSecureChat bool   // without feature SecureChatInLogin
}

// Marshal reads or writes the packet.
func (p *ServerData) Marshal(io *IO) {
	io.Text(&p.MOTD)
	if io.Flag(&p.HasIcon) {
		io.Bytes(&p.Icon, MaxFrame)
	}
	if !io.Has(SecureChatInLogin) {
		io.Bool(&p.EnforcesSecureChat)
	}
}
