package wire

import "blockworld/worldstate"

// ChatSessionUpdate gives the server the key that signs our chat. A secret: never in logs or captures.
type ChatSessionUpdate struct{ Session ChatSession }

// ChatSession is a player's key for signing chat.
type ChatSession struct {
	ID           worldstate.UUID
	ExpiresAt    int64 // milliseconds since 1970
	PublicKey    []byte
	KeySignature []byte // Mojang's
}

// Marshal reads or writes the packet.
func (p *ChatSessionUpdate) Marshal(io *IO) {
	io.UUID(&p.Session.ID)
	io.chatKey(&p.Session)
}

func (io *IO) chatKey(s *ChatSession) {
	io.Int64(&s.ExpiresAt)
	io.Bytes(&s.PublicKey, 512)
	io.Bytes(&s.KeySignature, 4096)
}
