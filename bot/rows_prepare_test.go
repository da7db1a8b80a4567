package bot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/effects"
	"blockworld/fixtures/server"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
)

// prepare binds a request that the guard admits.
func (st *stage) prepare(id byte, r effects.Request) *actor.Prepared {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 20*time.Second)
	defer cancel()
	p, err := st.a.Prepare(ctx, actor.Order{Op: effects.ActionID{id}, Principal: "tester", Lease: "lease-1"}, r)
	if err != nil {
		st.t.Fatalf("%s: %v", r.Capability(), err)
	}
	return p
}

func (st *stage) execute(p *actor.Prepared) (actor.Effect, error) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), 20*time.Second)
	defer cancel()
	return st.a.Execute(ctx, p)
}

// TestPrepareAndExecute: binding sends and stores nothing, and what is carried out is the binding and nothing else.
func TestPrepareAndExecute(t *testing.T) {
	t.Parallel()
	t.Run("CP-11_CP-56/each effect is bound on the loop without a packet and carried out with the same digest", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) { c.Ground.Scope, c.Ground.Ownership = "garden", "own" })
		st.give(0, "minecraft:stone", 64)
		kinds := []string{"actor.move", "actor.look", "chat.say", "actor.equip", "world.place"}
		for i, r := range fiveRequests() {
			w, commits := st.sent(), st.j.Commits()
			p := st.prepare(byte(i+1), r)
			if got := st.sent() - w; got != 0 {
				t.Errorf("%s: W=%d during bind", r.Capability(), got)
			}
			if got := st.j.Commits() - commits; got != 0 {
				t.Errorf("%s: %d commits during bind", r.Capability(), got)
			}
			if v := p.Previews[0]; v.Kind != kinds[i] {
				t.Errorf("%s: preview %+v", r.Capability(), v)
			}
			if p.Binding.Action != (effects.ActionID{byte(i + 1)}) || p.Binding.Lease != "lease-1" {
				t.Errorf("%s: bound as %v under %q", r.Capability(), p.Binding.Action, p.Binding.Lease)
			}
			digest := p.Binding.Digest()
			e, err := st.execute(p)
			if err != nil || e.Verdict != effects.Proven {
				t.Fatalf("%s: %v %s", r.Capability(), err, e.Why)
			}
			act, err := st.j.Action(p.Order.Op)
			if err != nil || act.Binding != digest {
				t.Errorf("%s: marked with %v, bound was %v, %v", r.Capability(), act.Binding, digest, err)
			}
		}
	})
	t.Run("CP-11/the preview of a placement names block, item, count and plot", func(t *testing.T) {
		st := play(t, server.Config{}, func(c *actor.Config) { c.Ground.Scope, c.Ground.Ownership = "garden", "shared" })
		st.give(0, "minecraft:stone", 64)
		v := st.prepare(1, place(2, -60, 0, "minecraft:stone")).Previews[0]
		if v.Block != "minecraft:stone" || v.Item != "minecraft:stone" || v.Quantity != 1 || v.Scope != "garden" ||
			v.Ownership != "shared" || v.Risk != "moderate" || v.Operation != "create" || *v.Pos != [3]int32{2, -60, 0} {
			t.Errorf("%+v", v)
		}
	})
	t.Run("CP-11/what the guard denies is not bound", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		_, err := st.a.Prepare(t.Context(), actor.Order{}, place(30, -60, 0, "minecraft:stone"))
		var d *actor.Denied
		if !errors.As(err, &d) {
			t.Errorf("got %v", err)
		}
		if _, err := st.a.Prepare(t.Context(), actor.Order{}, effects.WorldStatusRequest{}); !errors.Is(err, effects.ErrBadRequest) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("CP-88/an action that is marked already is never sent again", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		p := st.prepare(1, place(2, -60, 0, "minecraft:stone"))
		first, err := st.execute(p)
		if err != nil || first.Verdict != effects.Proven {
			t.Fatalf("%v %s", err, first.Why)
		}
		for range 5 {
			again, err := st.execute(p)
			if err != nil || again.Verdict != effects.Proven || !again.Receipt || again.Code != first.Code {
				t.Errorf("%v %+v", err, again)
			}
		}
		if done, all := st.executed(); done != 1 || all != 1 {
			t.Errorf("%d uses reached the server, %d carried out", all, done)
		}
	})
	t.Run("CP-56/what has changed since is not sent and not bound anew", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		p := st.prepare(1, place(2, -60, 0, "minecraft:stone"))
		walk := st.prepare(2, effects.MoveToRequest{Pos: effects.Position{X: 2, Y: -60, Z: 3}})
		look := st.prepare(3, effects.LookAtRequest{Point: effects.Point{4, -58, 9}})
		st.put(cell(2, -61, 0), "minecraft:dirt")
		st.put(cell(2, -60, 3), "minecraft:dirt")
		if e := st.effect(effects.MoveToRequest{Pos: effects.Position{X: 1, Y: -60, Z: 1}}); e.Verdict != effects.Proven {
			t.Fatal(e.Why)
		}
		w := st.sent()
		for _, p := range []*actor.Prepared{p, walk, look} {
			var d *actor.Denied
			if _, err := st.execute(p); !errors.As(err, &d) || d.Decision.Rule != sentinel.RulePrecondition {
				t.Errorf("%s: got %v", p.Request.Capability(), err)
			}
			if _, err := st.j.Action(p.Order.Op); !errors.Is(err, journal.ErrUnknownAction) {
				t.Errorf("%s: marked, %v", p.Request.Capability(), err)
			}
		}
		if got := st.sent() - w; got != 0 {
			t.Errorf("W=%d", got)
		}
	})
	t.Run("CP-56/a look that still goes to its target is carried out after a small move", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		p := st.prepare(1, effects.LookAtRequest{Point: effects.Point{4, -58, 9}})
		began := snapshot(t, st.b).Corrected
		st.s.Do(func(w *server.World) {
			pl := w.Player("Tester")
			pl.Teleport(pl.Position().Add(geom.Vec3{0.03, 0, -0.02}), pl.Rotation())
		})
		await(t, st.b, "moved a little", func(tx *bot.Tx) bool { return tx.Corrections() > began && tx.Ready() })
		if e, err := st.execute(p); err != nil || e.Verdict != effects.Proven {
			t.Errorf("%v %+v", err, e)
		}
	})
	t.Run("CP-56/a binding of another session is refused", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		p := st.prepare(1, effects.SayRequest{Text: "hello"})
		other := play(t, server.Config{}, nil)
		if _, err := other.a.Execute(t.Context(), p); !errors.Is(err, actor.ErrOtherSession) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTakenBack: what can be cancelled is, and what was sent is waited for.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	t.Run("CP-95/cancelled before its turn nothing is sent", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		p := st.prepare(1, effects.SayRequest{Text: "hello"})
		w := st.sent()
		p.Cancel()
		e, err := st.execute(p)
		if err == nil && e.Verdict != effects.Proven || err != nil && !errors.Is(err, actor.ErrCancelled) {
			t.Errorf("%v %+v", err, e)
		}
		if err != nil && st.sent() != w {
			t.Errorf("W=%d", st.sent()-w)
		}
	})
	t.Run("CP-95_CP-96/a walk stops where it is", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		goal := effects.Position{X: 9, Y: -60, Z: 9}
		p := st.prepare(1, effects.MoveToRequest{Pos: goal})
		await1 := make(chan struct{})
		go func() {
			defer close(await1)
			await(t, st.b, "it is under way", func(tx *bot.Tx) bool { return tx.Snapshot().Walking })
			p.Cancel()
		}()
		e, err := st.execute(p)
		<-await1
		if err != nil || e.Verdict == effects.Proven || e.Code != effects.CodeNotArrived {
			t.Errorf("%v %+v", err, e)
		}
		if at, _ := st.where(); at.Centre().Sub(e.Position).Len() > 2 { // it glides to a stop
			t.Errorf("reported at %v, stands at %v", e.Position, at)
		}
	})
	t.Run("CP-94_CP-95/a use that was sent is waited for", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		st.give(0, "minecraft:stone", 64)
		p := st.prepare(1, place(2, -60, 0, "minecraft:stone"))
		st.meanwhile(func(*server.World) bool {
			if len(st.s.Log()) == 0 {
				return false
			}
			p.Cancel()
			return true
		})
		if e, err := st.execute(p); err != nil || e.Verdict != effects.Proven || !e.Receipt {
			t.Errorf("%v %+v", err, e)
		}
		if got := st.block(cell(2, -60, 0)); got != "minecraft:stone" {
			t.Errorf("the cell holds %s", got)
		}
	})
	t.Run("CP-99/the emergency stop ends a walk at once and denies what comes", func(t *testing.T) {
		st := play(t, server.Config{}, nil)
		p := st.prepare(1, effects.MoveToRequest{Pos: effects.Position{X: 9, Y: -60, Z: 9}})
		over := make(chan actor.Effect, 1)
		go func() { e, _ := st.a.Execute(t.Context(), p); over <- e }()
		await(t, st.b, "it is under way", func(tx *bot.Tx) bool { return tx.Snapshot().Walking })
		if err := st.a.Halt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e := <-over; e.Code != effects.CodeNotArrived {
			t.Errorf("%+v", e)
		}
		if snapshot(t, st.b).Walking {
			t.Error("it still walks")
		}
		st.denied(effects.SayRequest{Text: "hello"}, sentinel.RuleEmergencyStop)
		st.a.Resume()
		if e := st.effect(effects.SayRequest{Text: "hello"}); e.Verdict != effects.Proven {
			t.Error(e.Why)
		}
	})
}
