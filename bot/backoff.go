package bot

import "time"

// Backoff spaces reconnects: the first waits Min, each further one twice as long up to Max, less a random part so that
// many bots do not come back together. A session that stayed for Stable starts over.
type Backoff struct {
	Min    time.Duration // zero means 2 s
	Max    time.Duration // zero means 60 s
	Stable time.Duration // zero means 60 s
	Tries  int           // attempts in a row before giving up; zero means no end

	failures int
}

// Next says how long to wait after a session of that length, and false when it is time to give up. Unit is a random
// number in [0,1).
func (b *Backoff) Next(session time.Duration, unit float64) (time.Duration, bool) {
	least, most, stable := orDefault(b.Min, 2*time.Second), orDefault(b.Max, time.Minute), orDefault(b.Stable, time.Minute)
	if session >= stable {
		b.failures = 0
	}
	b.failures++
	if b.Tries > 0 && b.failures > b.Tries {
		return 0, false
	}
	wait := least
	for i := 1; i < b.failures && wait < most; i++ {
		wait *= 2
	}
	wait = min(wait, most)
	unit = min(max(unit, 0), 1)
	return wait - time.Duration(unit*float64(wait)/4), true
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}
