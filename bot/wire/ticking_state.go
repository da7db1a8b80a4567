package wire

// TickingState is the server's tick rate.
type TickingState struct {
	PerSecond float32
	Frozen    bool
}

// Marshal reads or writes the packet.
func (p *TickingState) Marshal(io *IO) {
	io.Float32(&p.PerSecond)
	io.Bool(&p.Frozen)
}
