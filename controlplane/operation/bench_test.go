package operation

import (
	"testing"

	"blockworld/effects/host"
)

func BenchmarkAppend(b *testing.B) {
	op := after(b, host.KindEffect, allowed)
	raw, err := Append(nil, &op)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		raw, err = Append(raw[:0], &op)
	}
	b.ReportMetric(float64(len(raw)), "B")
}

func BenchmarkDecode(b *testing.B) {
	op := after(b, host.KindEffect, allowed)
	raw, _ := Append(nil, &op)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	op := after(b, host.KindEffect, allowed)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Step(op, Polled{}, 5); err != nil {
			b.Fatal(err)
		}
	}
}
