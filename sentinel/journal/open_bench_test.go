package journal

import (
	"testing"

	"blockworld/effects"
)

// BenchmarkOpen measures opening, and so checking all of, a journal with 10,000 receipts.
func BenchmarkOpen(b *testing.B) {
	j := withMission(b, openTest(b, b.TempDir()))
	for n := uint32(0); n < 10_000; n += 100 {
		var marks []Mark
		var outcomes []effects.Outcome
		for i := n; i < n+100; i++ {
			marks = append(marks, mark(i, i))
			outcomes = append(outcomes, outcome(marks[len(marks)-1], effects.Proven))
		}
		mustMark(b, j, marks...)
		mustSettle(b, j, outcomes...)
	}
	dir := j.Dir()
	j.Close()
	for b.Loop() {
		j, err := Open(dir, testOptions())
		if err != nil {
			b.Fatal(err)
		}
		j.Close()
	}
}
