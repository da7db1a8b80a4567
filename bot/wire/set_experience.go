package wire

// SetExperience is the player's experience.
type SetExperience struct {
	Bar          float32 // 0..1
	Level, Total int32
}

// Marshal reads or writes the packet.
func (p *SetExperience) Marshal(io *IO) {
	io.Float32(&p.Bar)
	io.VarInt(&p.Level)
	io.VarInt(&p.Total)
}
