package wire

import "blockworld/worldstate"

// HelloServerbound starts the login: the name the client wants.
type HelloServerbound struct {
	Name string
	UUID worldstate.UUID
}

// Marshal reads or writes the packet.
func (p *HelloServerbound) Marshal(io *IO) {
	io.String(&p.Name, 16)
	io.UUID(&p.UUID)
}

// HelloClientbound asks for encryption.
type HelloClientbound struct {
	ServerID     string
	PublicKey    []byte // DER
	Challenge    []byte
	Authenticate bool // ask the session server; true before ShouldAuthenticate
}

// Marshal reads or writes the packet.
func (p *HelloClientbound) Marshal(io *IO) {
	io.String(&p.ServerID, 20)
	io.Bytes(&p.PublicKey, maxKeyBytes)
	io.Bytes(&p.Challenge, maxKeyBytes)
	if io.Has(ShouldAuthenticate) {
		io.Bool(&p.Authenticate)
	} else if io.reading {
		p.Authenticate = true
	}
}

// Key answers HelloClientbound. Both parts are encrypted with the server's public key.
type Key struct {
	Secret    []byte
	Challenge []byte
}

// Marshal reads or writes the packet.
func (p *Key) Marshal(io *IO) {
	io.Bytes(&p.Secret, maxKeyBytes)
	io.Bytes(&p.Challenge, maxKeyBytes)
}
