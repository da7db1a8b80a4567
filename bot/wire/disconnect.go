package wire

// LoginDisconnect ends a connection in the login state. Its text is JSON in every version.
type LoginDisconnect struct{ Reason Text }

// Marshal reads or writes the packet.
func (p *LoginDisconnect) Marshal(io *IO) { io.JSONText(&p.Reason) }

// Disconnect ends a connection in configuration or play.
type Disconnect struct{ Reason Text }

// Marshal reads or writes the packet.
func (p *Disconnect) Marshal(io *IO) { io.Text(&p.Reason) }
