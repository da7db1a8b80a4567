package wire

// Swing swings an arm.
type Swing struct{ Hand Hand }

// Marshal reads or writes the packet.
func (p *Swing) Marshal(io *IO) { io.hand(&p.Hand) }
