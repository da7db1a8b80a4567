package wire

// Chat is a line the player says.
type Chat struct {
	Message   string
	Timestamp int64 // milliseconds since 1970
	Salt      int64
	Signed    bool
	Signature [256]byte
	LastSeen  LastSeen
}

// LastSeen acknowledges messages the client has seen.
type LastSeen struct {
	Offset       int32
	Acknowledged [3]byte // 20 bits
	Checksum     uint8   // with feature ChatChecksum; 0 is not checked
}

// Marshal reads or writes the packet.
func (p *Chat) Marshal(io *IO) {
	io.String(&p.Message, 256)
	io.Int64(&p.Timestamp)
	io.Int64(&p.Salt)
	if io.Flag(&p.Signed) {
		io.Fixed(p.Signature[:])
	}
	io.lastSeen(&p.LastSeen)
}

func (io *IO) lastSeen(l *LastSeen) {
	io.VarInt(&l.Offset)
	io.Fixed(l.Acknowledged[:])
	if io.Has(ChatChecksum) {
		io.Uint8(&l.Checksum)
	}
}

// ChatAck acknowledges messages without saying anything.
type ChatAck struct{ Count int32 }

// Marshal reads or writes the packet.
func (p *ChatAck) Marshal(io *IO) { io.VarInt(&p.Count) }
