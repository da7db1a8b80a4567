package physics_test

import (
	"testing"

	"blockworld/bot/physics"
	"blockworld/effects/path"
	"blockworld/worldstate/registry"
)

// The tables of one protocol are built once per process.
func BenchmarkTables(b *testing.B) {
	reg, err := registry.Load(registry.Latest)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("physics", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			physics.NewBlocks(reg)
		}
	})
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			path.NewTable(reg)
		}
	})
}
