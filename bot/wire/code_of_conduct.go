package wire

// CodeOfConduct asks for the player's consent to the server's rules.
type CodeOfConduct struct{ Text string }

// Marshal reads or writes the packet.
func (p *CodeOfConduct) Marshal(io *IO) { io.String(&p.Text, maxText) }

// AcceptCodeOfConduct gives it.
type AcceptCodeOfConduct struct{}

// Marshal reads or writes the packet.
func (*AcceptCodeOfConduct) Marshal(*IO) {}
