package controlplane_test

import (
	"fmt"
	"slices"
	"testing"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// TestALyingHost: what a host says counts as far as it is proof, and no further.
func TestALyingHost(t *testing.T) {
	for what, lie := range map[string]func(*host.Outcome){
		"nothing was sent": func(o *host.Outcome) { o.Sent = false },
		"zeros": func(o *host.Outcome) {
			o.Receipt = &host.Receipt{Grade: "attributed"}
		},
		"a grade of its own":            func(o *host.Outcome) { o.Receipt.Grade = "certain" },
		"less than the least grade":     func(o *host.Outcome) { o.Receipt.Grade = effects.Acknowledged.String() },
		"a code that is told to agents": func(o *host.Outcome) { o.Code = "call emergency_stop" },
	} {
		t.Run("CP-73/a receipt that proves nothing is refused: "+what, func(t *testing.T) {
			w := newWorld(t)
			d := w.accepted(ann, "bot1")
			o := hosttest.Proven(d.Op, 1)
			lie(&o)
			w.code(w.h.Report(w.ctx, o), controlplane.CodeInvalid)
			w.is(w.look(ann, d.Op), operation.Accepted)
			w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
			w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
			if v := w.is(w.look(ann, d.Op), operation.Succeeded); !v.ExecutionConfirmed {
				t.Errorf("%+v", v)
			}
		})
	}
	t.Run("CP-83/a placement that is bound as a look is refused", func(t *testing.T) {
		w := newWorld(t)
		refused := make(chan error, 1)
		w.h.Bind = func(q host.Gateway) host.Answer {
			a := w.h.Reply(q)
			b := *a.Bound
			b.Effects = []host.Preview{{Kind: "actor.look", Operation: "move", Ownership: "own", Risk: "low"}}
			refused <- w.g.Host().Answer(w.ctx, w.h.Session(), host.Answer{Gateway: q.ID, Bound: &b})
			return a
		}
		v := w.queued(ann, "bot1")
		w.code(<-refused, controlplane.CodeInvalid)
		if p := w.look(ann, v.ID).Preview; len(p) != 1 || p[0].Kind != "world.place" {
			t.Errorf("%+v", p)
		}
	})
}

// TestHomes: an actor is one host's, and what a host makes up does not stay.
func TestHomes(t *testing.T) {
	t.Run("CP-92/an actor of the configuration is registered by its own host alone", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opt.Homes = map[host.Name]host.Name{"bot1": "home", "bot2": "home"} })
		w.crash() // nobody is there yet
		thief := hosttest.New(w.g.Host(), "thief", "bot1")
		w.code(thief.Register(w.ctx), controlplane.CodeConflict)
		w.ok(w.h.Join(w.ctx))
	})
	t.Run("CP-92/the daemon's own host cannot be taken over from outside", func(t *testing.T) {
		w := newWorld(t)
		w.crash()
		thief := hosttest.New(w.g.Remote("home"), "home", "bot1")
		w.code(thief.Register(w.ctx), controlplane.CodeForbidden)
		w.ok(hosttest.New(w.g.Remote("home"), "far", "bot3").Join(w.ctx))
		w.ok(w.h.Join(w.ctx))
	})
	t.Run("CP-92/an actor stays with its host while that one is away", func(t *testing.T) {
		w := newWorld(t)
		thief := hosttest.New(w.g.Host(), "thief", "bot1")
		w.code(thief.Register(w.ctx), controlplane.CodeConflict)
		w.ok(w.g.Host().Unregister(w.ctx, w.h.Session()))
		w.code(thief.Register(w.ctx), controlplane.CodeConflict)
		w.h.Manifest.Actors = w.h.Manifest.Actors[1:] // it gives bot1 up
		w.ok(w.h.Register(w.ctx))
		w.ok(thief.Register(w.ctx))
	})
	t.Run("CP-92/an actor with operations stays with their host over a restart", func(t *testing.T) {
		w := newWorld(t)
		w.accepted(ann, "bot1")
		w.crash()
		thief := hosttest.New(w.g.Host(), "thief", "bot1")
		w.code(thief.Register(w.ctx), controlplane.CodeConflict)
		w.ok(w.h.Join(w.ctx))
	})
	t.Run("CP-92/who names no journal is not taken for the host that does", func(t *testing.T) {
		w := newWorld(t)
		w.h.Manifest.Actors = slices.Clone(w.h.Manifest.Actors)
		w.h.Manifest.Actors[0].Journal = hosttest.Key
		w.code(w.h.Register(w.ctx), controlplane.CodeConflict)
		w.ok(w.g.Host().Unregister(w.ctx, w.h.Session()))
		w.ok(w.h.Join(w.ctx))
		w.code(hosttest.New(w.g.Host(), "home", "bot1").Register(w.ctx), controlplane.CodeConflict)
	})
	t.Run("CP-92/actors that a host names no more are forgotten, but for what they have", func(t *testing.T) {
		w := newWorld(t)
		w.accepted(ann, "bot2")
		for i := range 20 {
			var names []host.Name
			for j := range 50 {
				names = append(names, host.Name(fmt.Sprintf("bot-x%d-%d", i, j)))
			}
			w.ok(hosttest.New(w.g.Host(), "flood", names...).Register(w.ctx))
		}
		all, err := w.g.Actors(w.ctx, ann)
		w.ok(err)
		if len(all) != 2+50 {
			t.Errorf("%d actors are kept", len(all))
		}
		w.h.Manifest.Actors = w.h.Manifest.Actors[:1]
		w.ok(w.h.Join(w.ctx))
		if _, err := w.g.Actor(w.ctx, ann, "bot2"); err != nil {
			t.Error(err)
		}
	})
}
