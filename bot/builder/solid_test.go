package builder_test

import (
	"testing"

	"blockworld/bot/builder"
	"blockworld/effects/blueprint"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// solid is a block of stone of so many cells each way.
func solid(t *testing.T, x, y, z int32) *blueprint.Blueprint {
	t.Helper()
	b, err := blueprint.New("solid", geom.BlockPos{X: x, Y: y, Z: z})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = registry.First.Versions()[0].DataVersion
	stone, _ := blueprint.ParseState("minecraft:stone")
	for i := range x * y * z {
		if err := b.Set(geom.BlockPos{X: i % x, Y: i / x / z, Z: i / x % z}, stone); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestStackRunsOut: in survival a stack ends while further placements of it are on their way; none goes out with an empty hand.
func TestStackRunsOut(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			st := newStage(t, server.Config{GameMode: worldstate.Survival, Protocol: p})
			m, err := st.g.Start("floor", solid(t, 8, 1, 8), corner, func(s *builder.Site) { s.Options.Pipeline = 8 })
			if err != nil {
				t.Fatal(err)
			}
			st.meanwhile(func(w *server.World) bool {
				p := w.Player("Builder")
				if p == nil {
					return false
				}
				for i := range 20 {
					p.Give(9+i, "minecraft:stone", 5)
				}
				return true
			})
			st.done(m, st.work(m))
			if _, all := st.executed(); all != 64 {
				t.Errorf("%d uses for 64 steps", all)
			}
			st.once()
		})
	}
}
