package wire

// SetTime is the world's age and time of day.
type SetTime struct {
	Age         int64 // ticks
	TimeOfDay   int64 // ticks; without feature WorldClocks
	TickDayTime bool  // with feature TickDayTime
	Clocks      []WorldClock
}

// WorldClock is one clock of the world, with feature WorldClocks.
type WorldClock struct {
	ID      int32 // index into the world_clock registry
	Ticks   int64
	Partial float32
	Rate    float32
}

// Marshal reads or writes the packet.
func (p *SetTime) Marshal(io *IO) {
	io.Int64(&p.Age)
	if io.Has(WorldClocks) {
		List(io, &p.Clocks, 10, func(io *IO, c *WorldClock) {
			io.VarInt(&c.ID)
			io.VarLong(&c.Ticks)
			io.Float32(&c.Partial)
			io.Float32(&c.Rate)
		})
		return
	}
	io.Int64(&p.TimeOfDay)
	if io.Has(TickDayTime) {
		io.Bool(&p.TickDayTime)
	}
}
