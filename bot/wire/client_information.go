package wire

// ClientInformation is the client's settings, in configuration and in play.
type ClientInformation struct {
	Locale         string
	ViewDistance   int8  // chunks
	ChatVisibility int32 // 0 full, 1 commands only, 2 hidden
	ChatColors     bool
	SkinParts      uint8
	MainHand       int32 // 0 left, 1 right
	TextFiltering  bool
	AllowListing   bool
	Particles      int32 // with feature ParticleStatus: 0 all, 1 decreased, 2 minimal
}

// Marshal reads or writes the packet.
func (p *ClientInformation) Marshal(io *IO) {
	io.String(&p.Locale, 16)
	io.Int8(&p.ViewDistance)
	io.VarInt(&p.ChatVisibility)
	io.Bool(&p.ChatColors)
	io.Uint8(&p.SkinParts)
	io.VarInt(&p.MainHand)
	io.Bool(&p.TextFiltering)
	io.Bool(&p.AllowListing)
	if io.Has(ParticleStatus) {
		io.VarInt(&p.Particles)
	}
}
