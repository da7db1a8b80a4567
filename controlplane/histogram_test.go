package controlplane

import (
	"sync"
	"testing"
	"time"
)

func TestTimesFallWithinTheirBounds(t *testing.T) {
	h := newTimes([]time.Duration{time.Microsecond, time.Millisecond})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for _, d := range []time.Duration{-time.Hour, 0, time.Microsecond, time.Microsecond + 1, time.Millisecond, time.Second} {
				h.add(d)
			}
		})
	}
	all.Wait()
	got := h.read()
	if len(got.Counts) != 3 || got.Counts[0] != 300 || got.Counts[1] != 200 || got.Counts[2] != 100 || got.Count() != 600 {
		t.Errorf("%v", got.Counts)
	}
	if want := 100 * (2*time.Microsecond + 1 + time.Millisecond + time.Second); got.Sum != want {
		t.Errorf("%v, want %v", got.Sum, want)
	}
}

func TestBoundsRise(t *testing.T) {
	for _, bounds := range [][]time.Duration{decisionBounds[:], bindBounds[:]} {
		for i := 1; i < len(bounds); i++ {
			if bounds[i] <= bounds[i-1] {
				t.Errorf("%v", bounds)
			}
		}
	}
}
