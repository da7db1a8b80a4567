package builder_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/fixtures/server"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		for _, mode := range []worldstate.GameMode{worldstate.Creative, worldstate.Survival} {
			for _, pipeline := range []int{1, 4} {
				t.Run(fmt.Sprintf("SE-10_DC-08_SE-28/%d, mode %d, pipeline %d", p, mode, pipeline), func(t *testing.T) {
					t.Parallel()
					st := newStage(t, server.Config{Protocol: p, GameMode: mode})
					m := st.start(func(s *builder.Site) {
						s.Options.Pipeline = pipeline
						s.Options.Stay = mode == worldstate.Survival // out of items until somebody brings them
					})
					if mode == worldstate.Survival {
						st.stock(m.Site.Plan)
					}
					r := st.work(m)
					st.done(m, r)
					st.once()
					receipts, _ := m.Receipts()
					for _, rec := range receipts {
						if rec.Outcome.Grade != effects.Attributed {
							t.Errorf("a receipt of grade %s", rec.Outcome.Grade)
						}
					}
				})
			}
		}
	}
}

// stock gives a player what a plan needs, as soon as it has joined.
func (st *stage) stock(p mission.Plan) {
	need := map[registry.ItemID]int32{}
	for _, s := range p.Steps {
		need[s.Item]++
	}
	st.meanwhile(func(w *server.World) bool {
		pl := w.Player("Builder")
		if pl == nil || !pl.Loaded() {
			return false
		}
		slot := 12
		for item, n := range need {
			pl.Give(slot, st.s.Registry().ItemByID(item).Name, n)
			slot++
		}
		return true
	})
}

func TestServerHasTheLastWord(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		t.Run(fmt.Sprintf("SE-26_DC-09/a refused step waits for a change and is never sent again by itself, %d", p), func(t *testing.T) {
			t.Parallel()
			st := newStage(t, server.Config{Protocol: p, Faults: faults(t, "refuse@3=updates")})
			m := st.start(nil)
			r := st.work(m)
			receipts, err := m.Receipts()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, e := range m.Events {
				if s, ok := e.(builder.Settled); ok && s.Verdict == effects.Refused {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d refusals, want 1", n)
			}
			if !r.Done && len(receipts) != len(m.Plan.Steps)-1 && r.Waiting != mission.WaitRefused {
				t.Errorf("waits %s with %d receipts\n%v", r.Waiting, len(receipts), m.Words())
			}
			st.once()
			next := st.resume(m, nil)
			st.done(next, st.work(next))
			st.once()
		})
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, p := range bothOrders {
		for _, c := range []struct{ name, faults string }{
			{"before the use is run", "cutbefore:use_item_on@4"},
			{"after it, before any answer", "cutafter:use_item_on@4"},
			{"after the first update", "cut:block_update@7"},
			{"after the ack", "cut:block_changed_ack@4"},
		} {
			t.Run(fmt.Sprintf("SE-58_SE-28/%s, %d", c.name, p), func(t *testing.T) {
				t.Parallel()
				st := newStage(t, server.Config{Protocol: p, Faults: faults(t, c.faults)})
				m := st.start(nil)
				st.done(m, st.work(m)) // the work joins again by itself and reconciles
				st.once()
				if n := states(m)[mission.Proven]; n != len(m.Plan.Steps) {
					t.Errorf("%d steps proven", n)
				}
			})
		}
	}
	t.Run("SE-57_SE-58/somebody places the same block while the link is cut", func(t *testing.T) {
		t.Parallel()
		st := newStage(t, server.Config{Faults: faults(t, "cutbefore:use_item_on@4")})
		m := st.start(nil)
		step := &m.Plan.Steps[3]
		// The target takes on the wanted state as soon as the link has been cut.
		st.meanwhile(func(w *server.World) bool {
			if w.Player("Builder") != nil || len(st.s.Log()) < 3 {
				return false
			}
			for _, c := range step.Use.Cells {
				w.PutBlock(c.Pos, c.To)
			}
			return true
		})
		r := st.work(m)
		s, _ := m.Site.Mission().Status(3)
		receipts, _ := m.Receipts()
		for _, rec := range receipts {
			if rec.Outcome.Step.Index == 3 {
				t.Error("a receipt for a block that somebody else placed")
			}
		}
		if s.State != mission.Present && s.State != mission.Unverified {
			t.Errorf("the step is %s (%s)\n%v", s.State, r.Waiting, m.Words())
		}
		st.once()
	})
}

func TestRestart(t *testing.T) {
	t.Parallel()
	t.Run("SE-60_SE-59/opening a journal resumes nothing; working it does, without a second use", func(t *testing.T) {
		st := newStage(t, server.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := st.start(func(s *builder.Site) {
			s.Report = func(e builder.Event) {
				if v, ok := e.(builder.Settled); ok && v.Step == 5 {
					cancel()
				}
			}
		})
		if _, err := m.Work(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		_, uses := st.executed()
		next := st.resume(m, nil)
		st.s.Step(50)
		if _, now := st.executed(); now != uses {
			t.Errorf("%d uses without anybody working the mission", now-uses)
		}
		st.done(next, st.work(next))
		st.once()
	})
}

func TestDisturbed(t *testing.T) {
	t.Parallel()
	t.Run("SE-19_DC-04/a proven cell that somebody changes stops the mission", func(t *testing.T) {
		st := newStage(t, server.Config{})
		var m = st.start(func(s *builder.Site) {
			s.Report = func(e builder.Event) {
				if v, ok := e.(builder.Settled); ok && v.Step == 4 && v.Verdict == effects.Proven {
					go st.s.Do(func(w *server.World) { w.PutBlock(s.Plan.Steps[0].Cells[0].Pos, 0) })
				}
			}
		})
		r := st.work(m)
		if r.Done || r.Waiting != mission.WaitDisturbed {
			t.Errorf("done %v, waits %s\n%v", r.Done, r.Waiting, m.Words())
		}
		st.once()
	})
}

func TestStopped(t *testing.T) {
	t.Parallel()
	t.Run("DC-07_SE-20/the emergency stop and a deadline in the past", func(t *testing.T) {
		st := newStage(t, server.Config{})
		m := st.start(nil)
		m.Site.Stop()
		r := st.work(m)
		if _, uses := st.executed(); uses != 0 || r.Done {
			t.Errorf("%d uses, done %v", uses, r.Done)
		}
		late := st.resume(m, func(s *builder.Site) { s.Options.Deadline = time.Now().Add(-time.Minute) })
		r = st.work(late)
		if _, uses := st.executed(); uses != 0 || r.Done {
			t.Errorf("%d uses, done %v", uses, r.Done)
		}
	})
	t.Run("SE-18/a mission of another server is refused at the door", func(t *testing.T) {
		st := newStage(t, server.Config{})
		st.g.Found.Identity.HashedSeed++
		m := st.start(nil)
		if _, err := m.Work(t.Context()); !errors.Is(err, builder.ErrOtherServer) {
			t.Errorf("got %v", err)
		}
		m.Plan.Steps = m.Plan.Steps[1:]
		if _, err := m.Resume(nil); !errors.Is(err, builder.ErrPlanChanged) {
			t.Errorf("got %v", err)
		}
	})
}

// TestRespawn: a death in the middle of the work.
func TestRespawn(t *testing.T) {
	t.Parallel()
	t.Run("DC-07_SE-58/a change of dimension in the middle of a bracket", func(t *testing.T) {
		st := newStage(t, server.Config{Faults: faults(t, "dimension:use_item_on@5")})
		m := st.start(func(s *builder.Site) { s.Options.Stay = true }) // until somebody brings it back
		st.meanwhile(func(w *server.World) bool {                      // somebody brings the bot back
			p := w.Player("Builder")
			if p == nil || p.Dimension() == server.Overworld {
				return false
			}
			p.ChangeDimension(server.Overworld, geom.Vec3{0.5, -60, 0.5})
			return true
		})
		r := st.work(m)
		st.done(m, r)
		st.once()
	})
}
