package host

// Traffic says what an actor's session did on its connection, all of it since that session began: a session that begins
// starts again at zero. It is for people and their metrics; nothing is decided by it.
type Traffic struct {
	PacketsIn  uint64 `json:"packets_in"`  // from the server
	PacketsOut uint64 `json:"packets_out"` // to the server
	BytesIn    uint64 `json:"bytes_in"`    // as they came: compressed, with their framing
	BytesOut   uint64 `json:"bytes_out"`
	TicksLate  uint64 `json:"ticks_late"` // game ticks that ran more than a tick's time (50 ms) after they were due
}

// maxCounter is the largest counter that every reader of JSON holds exactly.
const maxCounter = 1<<53 - 1

// Validate checks that the counters are numbers that every reader of JSON holds exactly.
func (t *Traffic) Validate() error {
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"packets_in", t.PacketsIn}, {"packets_out", t.PacketsOut}, {"bytes_in", t.BytesIn}, {"bytes_out", t.BytesOut}, {"ticks_late", t.TicksLate},
	} {
		if c.n > maxCounter {
			return invalid("traffic: %s %d is more than %d", c.name, c.n, uint64(maxCounter))
		}
	}
	return nil
}
