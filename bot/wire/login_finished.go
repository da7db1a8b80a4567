package wire

// LoginFinished ends the login state; the client answers LoginAcknowledged.
type LoginFinished struct {
	Profile             GameProfile
	StrictErrorHandling bool // with feature StrictErrorHandling
}

// Marshal reads or writes the packet.
func (p *LoginFinished) Marshal(io *IO) {
	io.UUID(&p.Profile.UUID)
	p.Profile.nameAndProperties(io)
	if io.Has(StrictErrorHandling) {
		io.Bool(&p.StrictErrorHandling)
	}
}

// LoginAcknowledged answers LoginFinished: the configuration state begins.
type LoginAcknowledged struct{}

// Marshal reads or writes the packet.
func (*LoginAcknowledged) Marshal(*IO) {}
