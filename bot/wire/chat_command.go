package wire

// ChatCommand runs a command, without the slash. Everything but the command is there only without feature
// ChatCommandUnsigned.
type ChatCommand struct {
	Command    string
	Timestamp  int64
	Salt       int64
	Signatures []ArgumentSignature
	LastSeen   LastSeen
}

// ArgumentSignature signs one argument of a command.
type ArgumentSignature struct {
	Name      string
	Signature [256]byte
}

// Marshal reads or writes the packet.
func (p *ChatCommand) Marshal(io *IO) {
	io.String(&p.Command, maxString)
	if !io.Has(ChatCommandUnsigned) {
		io.signedCommand(p)
	}
}

func (io *IO) signedCommand(p *ChatCommand) {
	io.Int64(&p.Timestamp)
	io.Int64(&p.Salt)
	List(io, &p.Signatures, 257, func(io *IO, a *ArgumentSignature) {
		io.String(&a.Name, 16)
		io.Fixed(a.Signature[:])
	})
	io.lastSeen(&p.LastSeen)
}

// ChatCommandSigned runs a command with signed arguments, with feature ChatCommandUnsigned.
type ChatCommandSigned ChatCommand

// Marshal reads or writes the packet.
func (p *ChatCommandSigned) Marshal(io *IO) {
	io.String(&p.Command, maxString)
	io.signedCommand((*ChatCommand)(p))
}
