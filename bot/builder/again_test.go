package builder_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/effects/mission"
	"blockworld/fixtures/server"
	"blockworld/worldstate/geom"
)

// visit has somebody else join and stand at a place.
func (st *stage) visit(at geom.Vec3) {
	st.t.Helper()
	o := st.g.Options
	o.Username, o.RuntimeDir = "Visitor", st.t.TempDir()
	b, err := bot.Join(st.t.Context(), o)
	if err != nil {
		st.t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { defer close(gone); b.Run(ctx) }()
	st.t.Cleanup(func() { leave(); b.Close(); <-gone })
	st.s.Do(func(w *server.World) { w.Player("Visitor").Teleport(at, geom.Rotation{}) })
}

// TestInTheWay: a step in whose place somebody stands waits for them by name, is done when they go, and is given up in words
// when they do not.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		for _, goes := range []bool{true, false} {
			name := map[bool]string{true: "somebody stands there and goes", false: "somebody stands there and stays"}[goes]
			t.Run(name+", "+p.Name(), func(t *testing.T) {
				t.Parallel()
				st := newStage(t, server.Config{Protocol: p})
				last := corner.Add(geom.BlockPos{X: 2})
				st.visit(last.Corner().Add(geom.Vec3{0.5, 0, 0.5}))
				m, err := st.g.Start("three", row(t, "stone", "stone", "stone"), corner, func(s *builder.Site) {
					if s.Options.Patience = time.Second; goes {
						s.Options.Patience = 30 * time.Second
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if goes {
					ticks := 0
					st.meanwhile(func(w *server.World) bool { // long after the bot has looked for the last time by itself
						if st.s.Registry().IsAir(w.Block(corner.Add(geom.BlockPos{X: 1}))) {
							return false
						}
						if ticks++; ticks < 250 {
							return false
						}
						w.Player("Visitor").Teleport(geom.Vec3{-5.5, -60, -5.5}, geom.Rotation{})
						return true
					})
				}
				r := st.work(m)
				if words := strings.Join(m.Words(), "\n"); !strings.Contains(words, "entity_in_the_way") || !strings.Contains(words, "a player at "+last.String()) {
					t.Errorf("nobody was told:\n%s", words)
				}
				if goes {
					st.done(m, r)
				} else if r.Done || r.Waiting != mission.WaitInTheWay || r.Step < 0 || m.Plan.Steps[r.Step].Use.Target() != last {
					t.Errorf("waits: %s, step %d", r.Waiting, r.Step)
				}
				st.once()
			})
		}
	}
}

// TestLostAnswer: while the server owes an answer people are told what is waited for, and what comes of it.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	t.Run("SE-58/a reply to a fence is lost in the middle", func(t *testing.T) {
		t.Parallel()
		st := newStage(t, server.Config{Faults: faults(t, "drop:award_stats@9")})
		st.g.Options.Tick = 5 * time.Millisecond // the patience is in ticks
		m := st.start(nil)
		st.done(m, st.work(m))
		st.once()
		if words := strings.Join(m.Words(), "\n"); !strings.Contains(words, "has not answered request-stats") || !strings.Contains(words, "did not answer request-stats") {
			t.Errorf("nobody was told:\n%s", words)
		}
	})
}
