package wire

// Ping asks for a Pong with the same id; in configuration and in play.
type Ping struct{ ID int32 }

// Marshal reads or writes the packet.
func (p *Ping) Marshal(io *IO) { io.Int32(&p.ID) }

// Pong answers Ping. The network thread answers, so it proves nothing about the game.
type Pong struct{ ID int32 }

// Marshal reads or writes the packet.
func (p *Pong) Marshal(io *IO) { io.Int32(&p.ID) }
