package wire

// ServerLinks are links for the client's pause menu.
type ServerLinks struct{ Links []ServerLink }

// ServerLink is one link: a known kind, or a label.
type ServerLink struct {
	Known bool
	Kind  int32
	Label Text
	URL   string
}

// Marshal reads or writes the packet.
func (p *ServerLinks) Marshal(io *IO) {
	List(io, &p.Links, 3, func(io *IO, l *ServerLink) {
		if io.Flag(&l.Known) {
			io.VarInt(&l.Kind)
		} else {
			io.Text(&l.Label)
		}
		io.String(&l.URL, maxString)
	})
}
