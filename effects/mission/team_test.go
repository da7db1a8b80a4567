package mission

import (
	"testing"

	"blockworld/effects"
	"blockworld/worldstate/geom"
)

// TestTeam: what one bot of a mission may take of what another one did, could not do, or saw otherwise.
func TestTeam(t *testing.T) {
	t.Run("an older view counts against nobody else's step", func(t *testing.T) {
		m, w, late := start(t, row(2), Options{}), ground(), ground()
		m.Joined("b")
		send(t, m, able(w), 1)
		w[pos(0, 64)] = brick
		settle(t, m, 0, 1, effects.Proven)
		m.ChunkLoaded("b", pos(0, 64).Chunk(), late) // was sent before the step
		if s, _ := m.Status(0); s.State != Proven {
			t.Fatalf("%s", s.State)
		}
		m.CellChanged("b", pos(0, 64), w) // now it has seen it
		m.CellChanged("b", pos(0, 64), late)
		if s, _ := m.Status(0); s.State != Disturbed {
			t.Errorf("%s", s.State)
		}
	})
	t.Run("a join that began after the step shows it", func(t *testing.T) {
		m, w := start(t, row(1), Options{}), ground()
		m.Joined("b")
		send(t, m, able(w), 1)
		settle(t, m, 0, 1, effects.Proven)
		m.Left("b", AwayServer)
		m.Joining("b")
		m.Joined("b")
		m.ChunkLoaded("b", pos(0, 64).Chunk(), ground())
		if s, _ := m.Status(0); s.State != Disturbed {
			t.Errorf("%s", s.State)
		}
	})
	t.Run("a join that began before the last verdict does not inspect", func(t *testing.T) {
		m, w := start(t, row(1), Options{}), ground()
		send(t, m, able(w), 1)
		m.Joining("b")
		w[pos(0, 64)] = brick
		settle(t, m, 0, 1, effects.Proven)
		m.Joined("b")
		if d := m.Next("b", able(w)); d.Rule != "finished, stale view" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("what one may not do, another does, and only once", func(t *testing.T) {
		m, w := start(t, row(1), Options{}), ground()
		m.Joined("b")
		a := m.Next("a", able(w)).Do.(Place)
		if err := m.Denied(a.Step); err != nil {
			t.Fatal(err)
		}
		if d := m.Next("a", able(w)); d.Rule != "refused" {
			t.Errorf("a: %s", d.Rule)
		}
		b, ok := m.Next("b", able(w)).Do.(Place)
		if !ok || !m.Holds(b.Step, "b") || m.Holds(b.Step, "a") {
			t.Fatal("the other bot does not have it")
		}
		if err := m.Denied(b.Step); err != nil {
			t.Fatal(err)
		}
		for _, who := range []BotID{"a", "b"} {
			if d := m.Next(who, able(w)); d.Rule != "refused" {
				t.Errorf("%s: %s", who, d.Rule)
			}
		}
	})
	t.Run("what the server refused is refused to all", func(t *testing.T) {
		m, w := start(t, row(1), Options{}), ground()
		m.Joined("b")
		send(t, m, able(w), 1)
		settle(t, m, 0, 1, effects.Refused)
		if d := m.Next("b", able(w)); d.Rule != "refused" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("a step of a bot that is away bars only itself", func(t *testing.T) {
		m, w := start(t, row(2), Options{}), ground()
		m.Joined("b")
		i := send(t, m, able(w), 1)
		m.Left("a", AwayKicked)
		p, ok := m.Next("b", able(w)).Do.(Place)
		if !ok || p.Step == i {
			t.Fatalf("%+v", p)
		}
		if err := m.Marked(p.Step, effects.ActionID{2}); err != nil {
			t.Fatal(err)
		}
		w[pos(int32(p.Step), 64)] = brick
		settle(t, m, p.Step, 2, effects.Proven)
		if d := m.Next("b", able(w)); d.Rule != "sender away" {
			t.Errorf("%s", d.Rule)
		}
		if m.Own("b") != 1 || m.Own("a") != 0 {
			t.Errorf("own: %d and %d", m.Own("a"), m.Own("b"))
		}
	})
	t.Run("without leave for a kind, none of it is offered to the bot", func(t *testing.T) {
		m, w := start(t, row(3), Options{}), ground()
		m.Joined("b")
		m.Withhold("a", func(int) bool { return true })
		if d := m.Next("a", able(w)); d.Rule != "refused" {
			t.Errorf("%s", d.Rule)
		}
		if _, ok := m.Next("b", able(w)).Do.(Place); !ok {
			t.Error("nor to the other")
		}
	})
	t.Run("a place that somebody stands in is left for later, and taken as soon as it is free", func(t *testing.T) {
		m, w := start(t, row(2), Options{}), ground()
		m.Joined("b")
		f, taken := able(w), true
		f.Blocked = func(s *Step) bool { return taken && s.Cells[0].Pos == pos(0, 64) }
		if i := send(t, m, f, 1); i != 1 {
			t.Fatalf("step %d", i)
		}
		w[pos(1, 64)] = brick
		settle(t, m, 1, 1, effects.Proven)
		for range 2 { // asking changes nothing
			if wait, ok := m.Next("a", f).Do.(Wait); !ok || wait.For != WaitInTheWay || wait.Step != 0 {
				t.Fatalf("%+v", wait)
			}
		}
		away := able(w)
		away.Body = []geom.BlockPos{pos(0, 64)}
		away.Reach = func(*Step) bool { return false } // it is in its own way, and walks
		if walk, ok := m.Next("b", away).Do.(Walk); !ok || walk.Step != 0 {
			t.Error("who stands there does not go")
		}
		m.Left("b", AwayServer)
		taken = false // no event tells that
		if i := send(t, m, f, 2); i != 0 {
			t.Errorf("step %d", i)
		}
	})
}
