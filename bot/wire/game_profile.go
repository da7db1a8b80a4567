package wire

import "blockworld/worldstate"

// GameProfile is a player's account.
type GameProfile struct {
	UUID       worldstate.UUID
	Name       string
	Properties []ProfileProperty
}

// ProfileProperty is a signed property of an account, such as its skin.
type ProfileProperty struct {
	Name, Value string
	Signed      bool
	Signature   string
}

func (g *GameProfile) nameAndProperties(io *IO) {
	io.String(&g.Name, 16)
	List(io, &g.Properties, 3, func(io *IO, p *ProfileProperty) {
		io.String(&p.Name, maxString)
		io.String(&p.Value, maxString)
		if io.Flag(&p.Signed) {
			io.String(&p.Signature, maxString)
		}
	})
}
