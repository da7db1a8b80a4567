package controlplane

import (
	"slices"
	"sync/atomic"
	"time"
)

// Histogram counts durations by fixed bounds.
type Histogram struct {
	Bounds []time.Duration // upper bounds, ascending; a duration on a bound is within it
	Counts []uint64        // as many as bounds and one more, for what is longer than all; not summed up
	Sum    time.Duration
}

// Count is how many durations were counted.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Policy decides by an index in memory, so a decision takes microseconds; what takes milliseconds is worth a look.
var decisionBounds = [...]time.Duration{
	time.Microsecond, 2 * time.Microsecond, 5 * time.Microsecond, 10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond,
	100 * time.Microsecond, 250 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
}

// Between the question to a host and the decision lie the host's bind, which may wait for a tick of its server, and the
// wait for the store's one writer; no host is waited for longer than MaxWaitMS.
var bindBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, MaxWaitMS * time.Millisecond,
}

// times is a Histogram that many add to at once.
type times struct {
	bounds []time.Duration
	counts []atomic.Uint64
	nanos  atomic.Uint64
}

func newTimes(bounds []time.Duration) *times {
	return &times{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// add counts a duration; one that a clock set back makes negative counts as none.
func (t *times) add(d time.Duration) {
	d = max(0, d)
	i, _ := slices.BinarySearch(t.bounds, d)
	t.counts[i].Add(1)
	t.nanos.Add(uint64(d))
}

// read copies it out; what is added meanwhile may be in the sum and not in the counts.
func (t *times) read() Histogram {
	h := Histogram{Bounds: slices.Clone(t.bounds), Counts: make([]uint64, len(t.counts)), Sum: time.Duration(t.nanos.Load())}
	for i := range t.counts {
		h.Counts[i] = t.counts[i].Load()
	}
	return h
}
