package path

import (
	"testing"
	"time"

	"blockworld/worldstate/geom"
)

// superflat is the ground of the published figure: 60 blocks to go, a wall three high across the middle.
func superflat(t testing.TB, wallHalf int32) (World, Options) {
	g := newGrid(t, 80)
	if wallHalf > 0 {
		g.fill(t, "stone", -wallHalf, 64, 0, wallHalf, 66, 0)
	}
	return World{NewTable(g.reg), g}, Options{WalkBox: g.inner()}
}

var flats = []struct {
	name string
	half int32
}{{"no wall", 0}, {"wall 21 wide", 10}, {"wall 61 wide", 30}}

func BenchmarkFind(b *testing.B) {
	for _, c := range flats {
		b.Run(c.name, func(b *testing.B) {
			w, o := superflat(b, c.half)
			var s Scratch
			visited := 0
			b.ReportAllocs()
			for b.Loop() {
				r := Find(w, at(0, 64, -30), at(0, 64, 30), o, &s)
				if r.Status != Reached {
					b.Fatal(r.Status)
				}
				visited = r.Visited
			}
			b.ReportMetric(float64(visited), "visited")
		})
	}
	b.Run("unreachable in 36 columns", func(b *testing.B) {
		w, o := superflat(b, 0)
		o.WalkBox = geom.BoxOf(at(-48, 61, -48), at(47, 76, 47))
		w.Cells.(*grid).fill(b, "glass", 9, 63, 9, 13, 67, 13)
		w.Cells.(*grid).fill(b, "air", 10, 64, 10, 12, 66, 12)
		var s Scratch
		for b.Loop() {
			if r := Find(w, at(0, 64, -30), at(11, 64, 11), o, &s); r.Status != NoPath {
				b.Fatal(r.Status)
			}
		}
	})
}

// The goal of the design: at most 5 ms around the wide wall, with next to no allocations once the scratch has grown.
func TestFindIsQuick(t *testing.T) {
	w, o := superflat(t, 30)
	var s Scratch
	find := func() {
		if r := Find(w, at(0, 64, -30), at(0, 64, 30), o, &s); r.Status != Reached {
			t.Fatal(r.Status)
		}
	}
	find()
	if n := testing.AllocsPerRun(5, find); n > 3 {
		t.Errorf("%v allocations per search", n)
	}
	best := time.Hour
	for range 10 {
		start := time.Now()
		find()
		best = min(best, time.Since(start))
	}
	t.Logf("60 blocks around a wall 61 wide: %v", best)
	if best > 100*time.Millisecond { // the benchmark has the exact figure; a busy machine must not fail here
		t.Errorf("takes %v, the goal is 5 ms", best)
	}
}
