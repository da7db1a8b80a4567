package builder_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"blockworld/bot/builder"
	"blockworld/effects/mission"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// TestShutIn: a bot that somebody has walled in says so soon, however many steps are left, and goes on when it is let out.
func TestShutIn(t *testing.T) {
	t.Parallel()
	st := newStage(t, server.Config{GameMode: worldstate.Creative})
	walls := func(w *server.World, pos geom.BlockPos, state string) {
		s, err := st.s.Registry().ParseState(state)
		if err != nil {
			t.Error(err)
			return
		}
		for i := range int32(36) {
			at := geom.BlockPos{X: i%3 - 1, Y: i / 9, Z: i/3%3 - 1}
			if at.X != 0 || at.Z != 0 || at.Y > 1 {
				w.PutBlock(pos.Add(at), s)
			}
		}
	}
	st.s.Do(func(w *server.World) { walls(w, geom.BlockPos{Y: -60}, "stone") })
	m, err := st.g.Start("solid", solid(t, 5, 2, 5), geom.BlockPos{X: 3, Y: -60, Z: 3}, func(s *builder.Site) { s.Options.Stay = false })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := m.Work(ctx)
	if err != nil || r.Done || r.Waiting != mission.WaitRefused {
		t.Fatalf("%+v %v", r, err)
	}
	if all := strings.Join(m.Words(), "\n"); !strings.Contains(all, "there is no way out of 0,-60,0") {
		t.Errorf("nobody is told that the bot is shut in:\n%s", all)
	}
	st.s.Do(func(w *server.World) { walls(w, geom.BlockPos{Y: -60}, "air") })
	m = st.resume(m, nil)
	st.done(m, st.work(m))
	st.once()
}
