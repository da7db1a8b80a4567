package wire

// SetHealth is the player's health; 0 or less is dead.
type SetHealth struct {
	Health     float32
	Food       int32
	Saturation float32
}

// Marshal reads or writes the packet.
func (p *SetHealth) Marshal(io *IO) {
	io.Float32(&p.Health)
	io.VarInt(&p.Food)
	io.Float32(&p.Saturation)
}
