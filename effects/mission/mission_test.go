package mission

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

const (
	air   registry.StateID = 0
	stone registry.StateID = 1
	brick registry.StateID = 3
	slab  registry.StateID = 5
	twin  registry.StateID = 6
	item  registry.ItemID  = 30
	slabs registry.ItemID  = 31
)

type world map[geom.BlockPos]registry.StateID

func (w world) Block(p geom.BlockPos) (registry.StateID, bool) {
	s, ok := w[p]
	return s, ok
}

func pos(x, y int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y} }

// row is a plan of bricks side by side on the floor.
func row(n int32) Plan {
	var p Plan
	for x := range n {
		p.Steps = append(p.Steps, Step{Item: item, Clicked: pos(x, 63), Cells: []effects.Cell{{Pos: pos(x, 64), From: air, To: brick}}, Stand: pos(x, 64)})
	}
	return p
}

// ground is the world before anything was built.
func ground() world {
	w := world{}
	for x := int32(-2); x < 12; x++ {
		w[pos(x, 63)] = stone
		for y := int32(64); y < 72; y++ {
			w[pos(x, y)] = air
		}
	}
	return w
}

func able(w world) Facts {
	return Facts{World: w, InventoryKnown: true, Items: map[registry.ItemID]int32{item: 64, slabs: 64}, Held: item, HeldKnown: true,
		WindowOpen: true, Provable: true, Reach: func(*Step) bool { return true }}
}

func start(t testing.TB, p Plan, o Options, saved ...Status) *Mission {
	t.Helper()
	m, err := New(p, o, saved)
	if err != nil {
		t.Fatal(err)
	}
	m.Joined("a")
	return m
}

// send takes the next decision, which must be Place, and marks it.
func send(t testing.TB, m *Mission, f Facts, id byte) int {
	t.Helper()
	d := m.Next("a", f)
	p, ok := d.Do.(Place)
	if !ok {
		t.Fatalf("%s: %+v", d.Rule, d.Do)
	}
	if err := m.Marked(p.Step, effects.ActionID{id}); err != nil {
		t.Fatal(err)
	}
	return p.Step
}

func settle(t testing.TB, m *Mission, i int, id byte, v effects.Verdict) {
	t.Helper()
	if err := m.Settled(i, effects.Settled{Action: effects.ActionID{id}, Verdict: v}, false); err != nil {
		t.Fatal(err)
	}
}

// TestRules reaches every row of the table, and dropping the row changes what is done there.
func TestRules(t *testing.T) {
	st := func(states ...State) []Status {
		var out []Status
		for _, s := range states {
			out = append(out, Status{State: s, Action: effects.ActionID{1}, By: "a"})
		}
		return out
	}
	built := func(xs ...int32) world {
		w := ground()
		for _, x := range xs {
			w[pos(x, 64)] = brick
		}
		return w
	}
	type scene struct {
		m *Mission
		f Facts
	}
	scenes := map[string]func() scene{
		"kicked": func() scene {
			m := start(t, row(1), Options{})
			m.Left("a", AwayKicked)
			return scene{m, able(ground())}
		},
		"server away": func() scene {
			m := start(t, row(1), Options{})
			m.Left("a", AwayServer)
			return scene{m, able(ground())}
		},
		"dead": func() scene { f := able(ground()); f.Dead = true; return scene{start(t, row(1), Options{}), f} },
		"other dimension": func() scene {
			f := able(ground())
			f.OtherDimension = true
			return scene{start(t, row(1), Options{}), f}
		},
		"hungry":                  func() scene { f := able(ground()); f.Hungry = true; return scene{start(t, row(1), Options{}), f} },
		"wrong result":            func() scene { return scene{start(t, row(2), Options{}, st(Wrong, Pending)...), able(ground())} },
		"disturbed":               func() scene { return scene{start(t, row(2), Options{}, st(Disturbed, Pending)...), able(ground())} },
		"unverified, answers out": func() scene { return scene{start(t, row(2), Options{}, st(Unverified, Sent)...), able(ground())} },
		"unverified, not rejoined": func() scene {
			m := start(t, row(2), Options{})
			send(t, m, able(ground()), 1)
			settle(t, m, 0, 1, 0)
			return scene{m, able(ground())}
		},
		"unverified, cells unknown": func() scene {
			w := ground()
			delete(w, pos(0, 64))
			return scene{start(t, row(2), Options{}, st(Unverified, Pending)...), able(w)}
		},
		"unverified": func() scene { return scene{start(t, row(2), Options{}, st(Unverified, Pending)...), able(ground())} },
		"complete": func() scene {
			m := start(t, row(1), Options{}, st(Proven)...)
			m.Inspect("a", built(0))
			return scene{m, able(built(0))}
		},
		"finished, stale view": func() scene {
			m := start(t, row(1), Options{})
			send(t, m, able(ground()), 1)
			settle(t, m, 0, 1, effects.Proven)
			return scene{m, able(built(0))}
		},
		"finished, not inspected": func() scene { return scene{start(t, row(1), Options{}, st(Proven)...), able(built(0))} },
		"finished, cells unseen": func() scene {
			m := start(t, row(1), Options{}, st(Proven)...)
			m.Inspect("a", world{})
			return scene{m, able(world{})}
		},
		"finished, cells differ": func() scene {
			p := row(1)
			p.Final = []FinalCell{{Pos: pos(5, 64), State: brick}}
			m := start(t, p, Options{}, st(Proven)...)
			m.Inspect("a", built(0))
			return scene{m, able(built(0))}
		},
		"cannot be proven": func() scene { f := able(ground()); f.Provable = false; return scene{start(t, row(1), Options{}), f} },
		"cannot be proven, answers out": func() scene {
			f := able(ground())
			f.Provable = false
			return scene{start(t, row(2), Options{}, st(Sent, Pending)...), f}
		},
		"walk later, answers out": func() scene {
			f := able(ground())
			f.Reach = nil
			return scene{start(t, row(2), Options{}, st(Sent, Pending)...), f}
		},
		"walk":        func() scene { f := able(ground()); f.Reach = nil; return scene{start(t, row(1), Options{}), f} },
		"window full": func() scene { f := able(ground()); f.WindowOpen = false; return scene{start(t, row(1), Options{}), f} },
		"equip":       func() scene { f := able(ground()); f.Held = slabs; return scene{start(t, row(1), Options{}), f} },
		"place":       func() scene { return scene{start(t, row(1), Options{}), able(ground())} },
		"own answers out": func() scene {
			m := start(t, row(2), Options{}, st(Sent, Refused)...)
			m.Joined("b")
			f := able(ground())
			f.Body = []geom.BlockPos{pos(1, 64)}
			return scene{m, f}
		},
		"in the way of others": func() scene {
			m := start(t, row(1), Options{}, st(Refused)...)
			m.Joined("b")
			f := able(ground())
			f.Body = []geom.BlockPos{pos(0, 64)}
			return scene{m, f}
		},
		"answers out": func() scene {
			m := start(t, row(1), Options{}, Status{State: Sent, Action: effects.ActionID{1}, By: "b"})
			m.Joined("b")
			return scene{m, able(ground())}
		},
		"sender away": func() scene {
			return scene{start(t, row(1), Options{}, Status{State: Sent, Action: effects.ActionID{1}, By: "b"}), able(ground())}
		},
		"others at work": func() scene {
			m := start(t, row(1), Options{})
			m.Joined("b")
			m.Next("b", able(ground()))
			return scene{m, able(ground())}
		},
		"out of items":    func() scene { f := able(ground()); f.Items = nil; return scene{start(t, row(1), Options{}), f} },
		"target occupied": func() scene { w := ground(); w[pos(0, 64)] = stone; return scene{start(t, row(1), Options{}), able(w)} },
		"somebody in the way": func() scene {
			f := able(ground())
			f.Blocked = func(*Step) bool { return true }
			return scene{start(t, row(1), Options{}), f}
		},
		"refused": func() scene { return scene{start(t, row(1), Options{}, st(Refused)...), able(ground())} },
	}
	for i, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			make := scenes[r.name]
			if make == nil {
				t.Fatal("the rule has no scene")
			}
			s := make()
			d := s.m.Next("a", s.f)
			if d.Rule != r.name || d.Index != i {
				t.Fatalf("decided by %q (%d): %+v", d.Rule, d.Index, d.Do)
			}
			if i == len(rules)-1 {
				return
			}
			s = make()
			v := s.m.gather("a", &s.f)
			for j := i + 1; j < len(rules); j++ {
				if rules[j].when(v) {
					if cmp.Equal(rules[j].do(v), d.Do) {
						t.Errorf("dropping the rule changes nothing: %q does the same", rules[j].name)
					}
					return
				}
			}
		})
	}
	if len(scenes) != len(rules) {
		t.Errorf("%d scenes, %d rules", len(scenes), len(rules))
	}
}

// TestSupportUnproven: a click on a cell whose own placement is not proven is never sent.
func TestSupportUnproven(t *testing.T) {
	p := row(1)
	p.Steps = append(p.Steps, Step{Item: item, Clicked: pos(0, 64), Cells: []effects.Cell{{Pos: pos(0, 65), From: air, To: brick}}})
	p.Steps = append(p.Steps, Step{Item: item, Clicked: pos(3, 63), Cells: []effects.Cell{{Pos: pos(3, 64), From: air, To: brick}}})
	m := start(t, p, Options{})
	w := ground()
	if i := send(t, m, able(w), 1); i != 0 {
		t.Fatalf("step %d first", i)
	}
	if i := send(t, m, able(w), 2); i != 2 {
		t.Errorf("step %d before its support was proven", i)
	}
	if d := m.Next("a", able(w)); d.Rule != "own answers out" {
		t.Errorf("%s", d.Rule)
	}
	w[pos(0, 64)] = brick
	settle(t, m, 0, 1, effects.Proven)
	if i := send(t, m, able(w), 3); i != 1 {
		t.Errorf("step %d", i)
	}
}

// TestStackedSteps: several steps of one cell follow each other.
func TestStackedSteps(t *testing.T) {
	p := Plan{Steps: []Step{
		{Item: slabs, Clicked: pos(0, 63), Cells: []effects.Cell{{Pos: pos(0, 64), From: air, To: slab}}},
		{Item: slabs, Clicked: pos(0, 64), Cells: []effects.Cell{{Pos: pos(0, 64), From: slab, To: twin}}},
	}}
	f := func(w world) Facts { f := able(w); f.Held = slabs; return f }
	m := start(t, p, Options{})
	w := ground()
	send(t, m, f(w), 1)
	w[pos(0, 64)] = slab
	m.CellChanged("a", pos(0, 64), w)
	settle(t, m, 0, 1, effects.Proven)
	before := m.Cursor()
	send(t, m, f(w), 2)
	w[pos(0, 64)] = twin
	m.CellChanged("a", pos(0, 64), w)
	if s, _ := m.Status(0); s.State != Proven {
		t.Errorf("the first slab is %s while the second is under way", s.State)
	}
	settle(t, m, 1, 2, effects.Proven)
	after := m.Cursor()
	if after.Count != 2 || after.Hash != effects.CellHash(pos(0, 64), twin) || before.Hash != effects.CellHash(pos(0, 64), slab) {
		t.Errorf("cursor %+v, then %+v", before, after)
	}
	if k := m.Key(1, "d"); k.Ordinal != 1 || k.Index != 1 {
		t.Errorf("key %+v", k)
	}
	t.Run("a cell that is wholly built is present", func(t *testing.T) {
		m := start(t, p, Options{})
		m.Next("a", f(w))
		if s := m.Summary(); s.Present != 2 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("an unverified layer goes with the layer under it", func(t *testing.T) {
		m := start(t, p, Options{ReconcileWorld: true}, Status{State: Proven}, Status{State: Unverified})
		w := ground() // a rollback took both
		m.Inspect("a", w)
		if got, ok := m.Next("a", f(w)).Do.(Wait); !ok || got.For != WaitDisturbed || got.Step != 0 {
			t.Fatalf("%+v", got)
		}
		if err := m.Repair(0); err != nil {
			t.Fatal(err)
		}
		if i := send(t, m, f(w), 7); i != 0 {
			t.Errorf("step %d first", i)
		}
		w[pos(0, 64)] = slab
		settle(t, m, 0, 7, effects.Proven)
		if i := send(t, m, f(w), 8); i != 1 {
			t.Errorf("step %d", i)
		}
	})
	t.Run("what ran and is gone is its owner's to repair", func(t *testing.T) {
		ran := Status{State: Unverified, Ran: true}
		m := start(t, row(1), Options{ReconcileWorld: true}, ran)
		w := ground()
		if got, ok := m.Next("a", able(w)).Do.(Wait); !ok || got.For != WaitUnverified {
			t.Fatalf("%+v", got)
		}
		if err := m.Repair(0); err != nil {
			t.Fatal(err)
		}
		if i := send(t, m, able(w), 7); i != 0 || m.Key(0, "d").Generation != 1 {
			t.Errorf("step %d, %+v", i, m.Key(0, "d"))
		}
		if m := start(t, row(1), Options{}, Status{State: Unverified}); !errors.Is(m.Repair(0), ErrState) {
			t.Error("a step that nobody can tell about was repaired")
		}
	})
	t.Run("an unverified layer on one that stands waits for its owner", func(t *testing.T) {
		m := start(t, p, Options{ReconcileWorld: true}, Status{State: Proven}, Status{State: Unverified})
		w := ground()
		w[pos(0, 64)] = slab
		if got, ok := m.Next("a", f(w)).Do.(Wait); !ok || got.For != WaitUnverified || got.Step != 1 {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("a repair opens what the step stood on", func(t *testing.T) {
		m := start(t, p, Options{}, Status{State: Proven}, Status{State: Proven})
		w := ground() // all of it is gone
		m.ChunkLoaded("a", pos(0, 64).Chunk(), w)
		if err := m.Repair(1); err != nil {
			t.Fatal(err)
		}
		m.ChunkLoaded("a", pos(0, 64).Chunk(), w) // a rejoin does not ask the owner again
		if i := send(t, m, f(w), 7); i != 0 {
			t.Errorf("step %d first", i)
		}
		w[pos(0, 64)] = slab
		settle(t, m, 0, 7, effects.Proven)
		if i := send(t, m, f(w), 8); i != 1 {
			t.Errorf("step %d", i)
		}
		if k := m.Key(0, "d"); k.Generation != 1 {
			t.Errorf("%+v", k)
		}
	})
	t.Run("reconcile: world never opens a stacking step", func(t *testing.T) {
		m := start(t, p, Options{ReconcileWorld: true}, Status{State: Proven}, Status{State: Unverified})
		w := ground()
		w[pos(0, 64)] = slab
		if d := m.Next("a", f(w)); d.Rule != "unverified" {
			t.Errorf("%s", d.Rule)
		}
	})
}

// TestUnverified: what an unverified step may become.
func TestUnverified(t *testing.T) {
	lost := func(t *testing.T, o Options) (*Mission, world) {
		m, w := start(t, row(2), o), ground()
		send(t, m, able(w), 1)
		settle(t, m, 0, 1, effects.UnverifiedEffect)
		if d := m.Next("a", able(w)); d.Rule != "unverified, not rejoined" {
			t.Fatalf("%s", d.Rule)
		}
		m.Left("a", AwayServer)
		m.Joined("a")
		return m, w
	}
	t.Run("SE-58/pre-state waits for the owner", func(t *testing.T) {
		m, w := lost(t, Options{})
		d := m.Next("a", able(w))
		if got, ok := d.Do.(Wait); !ok || got.For != WaitUnverified || got.Step != 0 {
			t.Errorf("%+v", d)
		}
		if err := m.Accept(0); err != nil {
			t.Fatal(err)
		}
		if i := send(t, m, able(w), 2); i != 1 {
			t.Errorf("step %d", i)
		}
	})
	t.Run("SE-58/to-state is present and never sent", func(t *testing.T) {
		m, w := lost(t, Options{})
		w[pos(0, 64)] = brick
		if i := send(t, m, able(w), 2); i != 1 {
			t.Errorf("step %d", i)
		}
		if s, _ := m.Status(0); s.State != Present {
			t.Errorf("%s", s.State)
		}
	})
	t.Run("SE-58/before the rejoin the cell decides nothing", func(t *testing.T) {
		m, w := start(t, row(2), Options{}), ground()
		send(t, m, able(w), 1)
		w[pos(0, 64)] = brick
		settle(t, m, 0, 1, effects.UnverifiedEffect)
		if d := m.Next("a", able(w)); d.Rule != "unverified, not rejoined" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("reconcile: world opens it in its pre-state", func(t *testing.T) {
		m, w := lost(t, Options{ReconcileWorld: true})
		if i := send(t, m, able(w), 2); i != 0 {
			t.Errorf("step %d", i)
		}
	})
	t.Run("reconcile: world does not open it in a third state", func(t *testing.T) {
		m, w := lost(t, Options{ReconcileWorld: true})
		w[pos(0, 64)] = stone
		if d := m.Next("a", able(w)); d.Rule != "unverified" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("a later fact resolves it", func(t *testing.T) {
		m, w := lost(t, Options{})
		if err := m.Settled(0, effects.Settled{Action: effects.ActionID{1}, Verdict: effects.Proven}, true); err != nil {
			t.Fatal(err)
		}
		w[pos(0, 64)] = brick
		if i := send(t, m, able(w), 2); i != 1 {
			t.Errorf("step %d", i)
		}
	})
	t.Run("the verdict of another action is refused", func(t *testing.T) {
		m, _ := lost(t, Options{})
		if err := m.Settled(0, effects.Settled{Action: effects.ActionID{9}, Verdict: effects.NotExecuted}, true); !errors.Is(err, ErrState) {
			t.Errorf("%v", err)
		}
	})
	t.Run("reconciled as unverified is judged on this join", func(t *testing.T) {
		m, w := start(t, row(2), Options{}), ground()
		send(t, m, able(w), 1)
		m.Left("a", AwayServer)
		m.Joined("a")
		if err := m.Settled(0, effects.Settled{Action: effects.ActionID{1}}, true); err != nil {
			t.Fatal(err)
		}
		w[pos(0, 64)] = brick
		if i := send(t, m, able(w), 2); i != 1 {
			t.Errorf("step %d", i)
		}
	})
}

// TestRefusedWaits: a refused step is not sent again before a fact it rests on has changed.
func TestRefusedWaits(t *testing.T) {
	refused := func(t *testing.T) (*Mission, world) {
		m, w := start(t, row(1), Options{}), ground()
		send(t, m, able(w), 1)
		m.CellChanged("a", pos(0, 64), w) // the refusal's own updates
		settle(t, m, 0, 1, effects.Refused)
		for range 3 {
			m.CellChanged("a", pos(0, 64), w)
			if d := m.Next("a", able(w)); d.Rule != "refused" {
				t.Fatalf("%s", d.Rule)
			}
		}
		return m, w
	}
	t.Run("SE-58/nothing changed", func(t *testing.T) { refused(t) })
	t.Run("neighbour changed", func(t *testing.T) {
		m, w := refused(t)
		w[pos(1, 64)] = stone
		send(t, m, able(w), 2)
	})
	t.Run("far cell changed", func(t *testing.T) {
		m, w := refused(t)
		w[pos(5, 64)] = stone
		if d := m.Next("a", able(w)); d.Rule != "refused" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("an entity left", func(t *testing.T) {
		m, w := refused(t)
		m.Stirred(pos(0, 64))
		send(t, m, able(w), 2)
	})
	t.Run("the owner says so", func(t *testing.T) {
		m, w := refused(t)
		if err := m.Wake(0); err != nil {
			t.Fatal(err)
		}
		send(t, m, able(w), 2)
	})
	t.Run("somebody built it meanwhile", func(t *testing.T) {
		m, w := refused(t)
		w[pos(0, 64)] = brick
		m.Next("a", able(w))
		if s, _ := m.Status(0); s.State != Present {
			t.Errorf("%s", s.State)
		}
	})
	t.Run("denied by the guard", func(t *testing.T) {
		m, w := start(t, row(1), Options{}), ground()
		m.Next("a", able(w))
		if err := m.Denied(0); err != nil {
			t.Fatal(err)
		}
		if d := m.Next("a", able(w)); d.Rule != "refused" {
			t.Errorf("%s", d.Rule)
		}
	})
}

func TestDisturbed(t *testing.T) {
	m, w := start(t, row(2), Options{}), ground()
	send(t, m, able(w), 1)
	w[pos(0, 64)] = brick
	settle(t, m, 0, 1, effects.Proven)
	proven := m.Cursor()
	w[pos(0, 64)] = stone
	m.CellChanged("a", pos(0, 64), w)
	d := m.Next("a", able(w))
	if got, ok := d.Do.(Wait); !ok || got.For != WaitDisturbed || got.Step != 0 {
		t.Fatalf("%+v", d)
	}
	if m.Cursor().Hash != proven.Hash {
		t.Error("the journaled cells changed with the world")
	}
	if err := m.Repair(0); err != nil {
		t.Fatal(err)
	}
	if k := m.Key(0, "d"); k.Generation != 1 || m.Cursor() != (effects.Cursor{}) {
		t.Errorf("%+v, %+v", k, m.Cursor())
	}
	send(t, m, able(w), 2) // the other step: this one's target is still occupied
	w[pos(0, 64)] = air
	if i := send(t, m, able(w), 3); i != 0 {
		t.Errorf("step %d", i)
	}
	t.Run("found by a chunk that is loaded again", func(t *testing.T) {
		m := start(t, row(1), Options{}, Status{State: Proven})
		m.ChunkLoaded("a", pos(0, 64).Chunk(), ground())
		if d := m.Next("a", able(ground())); d.Rule != "disturbed" {
			t.Errorf("%s", d.Rule)
		}
	})
	t.Run("unknown is not disturbed", func(t *testing.T) {
		m := start(t, row(1), Options{}, Status{State: Proven})
		m.CellChanged("a", pos(0, 64), world{})
		if s, _ := m.Status(0); s.State != Proven {
			t.Errorf("%s", s.State)
		}
	})
}

// TestClaims: a step belongs to one bot.
func TestClaims(t *testing.T) {
	m, w := start(t, row(3), Options{}), ground()
	m.Joined("b")
	a, b := m.Next("a", able(w)).Do.(Place), m.Next("b", able(w)).Do.(Place)
	if a.Step == b.Step {
		t.Fatal("both bots have one step")
	}
	if again := m.Next("a", able(w)).Do.(Place); again.Step != a.Step {
		t.Error("a claim was dropped")
	}
	if err := m.Marked(a.Step, effects.ActionID{1}); err != nil {
		t.Fatal(err)
	}
	m.Left("b", AwayKicked)
	m.Left("a", AwayKicked)
	m.Joined("c")
	if got := m.Next("c", able(w)).Do.(Place); got.Step != b.Step {
		t.Errorf("step %d: the claim was not given back, or what was sent was", got.Step)
	}
	f := able(w)
	f.Dead = true
	m.Next("c", f)
	if s, _ := m.Status(b.Step); s.State != Pending {
		t.Errorf("a dead bot keeps %s", s.State)
	}
}

func TestOutOfItems(t *testing.T) {
	p := row(2)
	p.Steps[1].Item = slabs
	m, w := start(t, p, Options{}), ground()
	f := able(w)
	f.Items = map[registry.ItemID]int32{slabs: 1}
	if d := m.Next("a", f); d.Do.(Equip).Step != 1 {
		t.Errorf("%+v", d)
	}
	f.Items = nil
	d := m.Next("a", f)
	want := Wait{For: WaitOutOfItems, Step: -1, Short: []Shortage{{item, 1, 0}, {slabs, 1, 0}}}
	if diff := cmp.Diff(Action(want), d.Do); diff != "" {
		t.Error(diff)
	}
}

func TestPlanRefused(t *testing.T) {
	p := row(2)
	p.Steps[0].After = []int{1}
	if _, err := New(p, Options{}, nil); !errors.Is(err, ErrPlan) {
		t.Error(err)
	}
	if _, err := New(row(2), Options{}, make([]Status, 1)); !errors.Is(err, ErrPlan) {
		t.Error(err)
	}
	if _, err := New(row(1), Options{}, []Status{{State: 99}}); !errors.Is(err, ErrPlan) {
		t.Error(err)
	}
	m := start(t, row(1), Options{})
	for _, err := range []error{m.Marked(0, effects.ActionID{1}), m.Marked(5, effects.ActionID{1}), m.Repair(0), m.Accept(0)} {
		if err == nil {
			t.Error("a step took a turn that it may not take")
		}
	}
}

// TestOutside: steps that somebody else built count in the cursor, and are told apart for the journal.
func TestOutside(t *testing.T) {
	w := ground()
	w[pos(0, 64)] = brick
	m := start(t, row(2), Options{})
	f := able(w)
	i := send(t, m, f, 1)
	if i != 1 || m.Cursor().Count != 1 || m.Outside() != 1 {
		t.Fatalf("step %d, cursor %v, outside %d", i, m.Cursor(), m.Outside())
	}
	settle(t, m, i, 1, effects.WrongResult)
	if m.Cursor().Count != 1 || m.Outside() != 1 {
		t.Errorf("after a wrong result: cursor %v, outside %d", m.Cursor(), m.Outside())
	}
	if err := m.Accept(i); err != nil {
		t.Fatal(err)
	}
	if m.Cursor().Count != 2 || m.Outside() != 2 {
		t.Errorf("after accepting it: cursor %v, outside %d", m.Cursor(), m.Outside())
	}
	w[pos(0, 64)] = stone
	m.CellChanged("a", pos(0, 64), w)
	if m.Cursor().Count != 1 || m.Outside() != 1 {
		t.Errorf("after a disturbance: cursor %v, outside %d", m.Cursor(), m.Outside())
	}
}

// TestRanAndGone: the world may not let a step be done again that the server is known to have carried out.
func TestRanAndGone(t *testing.T) {
	for _, ran := range []bool{false, true} {
		w := ground()
		m := start(t, row(1), Options{ReconcileWorld: true})
		f := able(w)
		i := send(t, m, f, 1)
		s := effects.Settled{Action: effects.ActionID{1}, Code: effects.CodeReconciledSession}
		if ran {
			s.Code = effects.CodeReconciledGone
		}
		if err := m.Settled(i, s, false); err != nil {
			t.Fatal(err)
		}
		m.Joined("a")
		_, places := m.Next("a", f).Do.(Place)
		if places == ran {
			t.Errorf("ran %v: placed anew %v", ran, places)
		}
	}
}
