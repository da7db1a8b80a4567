package sentinel

import (
	"testing"

	"blockworld/effects"
)

var sink Decision

// BenchmarkDecide measures the admission, where every rule runs, and the refusal, where every rule runs and the set of
// further refusals is built.
func BenchmarkDecide(b *testing.B) {
	worst := Facts{Capability: effects.PlaceBlock}
	for _, c := range []struct {
		name  string
		facts Facts
	}{
		{"place_block admitted", good(effects.PlaceBlock)}, {"say admitted", good(effects.Say)}, {"everything unknown", worst},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = Decide(&c.facts)
			}
		})
	}
}
