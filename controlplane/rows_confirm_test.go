package controlplane_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// asking is a world in which every placement needs a confirmation.
func asking(w *world) { w.config.Rules = []policy.Rule{confirmAll()} }

// waiting submits a placement that waits for its confirmation, as an approver sees it.
func (w *world) waiting() operation.View {
	w.t.Helper()
	v, err := w.submit(ann, w.request(ann, "bot1"))
	w.ok(err)
	w.is(v, operation.AwaitingConfirmation)
	v = w.look(pat, v.ID)
	if v.Challenge == nil {
		w.t.Fatal("the approver sees no challenge")
	}
	return v
}

func yes(v operation.View) controlplane.ConfirmRequest {
	return controlplane.ConfirmRequest{Op: v.ID, Challenge: v.Challenge.ID, Digest: v.Challenge.Digest, Approve: true}
}

func (w *world) confirm(r controlplane.ConfirmRequest) (operation.View, error) {
	return w.g.Confirm(w.ctx, pat, r)
}

func TestConfirmRows(t *testing.T) {
	t.Run("CP-49/no challenge on disk, none after a restart", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cp.db")
		engine, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, asking, func(w *world) { w.engine = engine })
		v := w.waiting()
		w.ok(engine.Close())
		file, err := os.ReadFile(path)
		w.ok(err)
		if !bytes.Contains(file, []byte("awaiting_confirmation")) || bytes.Contains(file, []byte(v.Challenge.ID)) {
			t.Fatal("the file lacks the operation, or holds the challenge")
		}
		w.engine, err = store.Open(path, store.Options{})
		w.ok(err)
		defer func() { w.ok(w.engine.Close()) }()
		w.crash()
		w.ok(w.h.Join(w.ctx))
		_, err = w.confirm(yes(v))
		w.code(err, controlplane.CodeConfirmationInvalid)
		again := w.look(pat, v.ID)
		if again.Challenge == nil || again.Challenge.ID == v.Challenge.ID {
			t.Fatalf("challenge after the restart: %+v", again.Challenge)
		}
		v, err = w.confirm(yes(again))
		w.ok(err)
		w.is(v, operation.Queued)
	})

	t.Run("CP-50/a challenge is good once", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		a, err := w.confirm(yes(v))
		w.ok(err)
		w.is(a, operation.Queued)
		b, err := w.confirm(yes(v))
		w.ok(err)
		if w.is(b, operation.Queued); b.Version != a.Version {
			t.Fatal("the second confirmation changed something")
		}
		w.ok(w.h.Perform(w.ctx, w.next()))
		if n := w.h.Sent()[v.ID]; n != 1 {
			t.Fatalf("%d packets", n)
		}
	})

	t.Run("CP-50/of two at once one wins", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		no := yes(v)
		no.Approve = false
		var wg sync.WaitGroup
		for i := range 16 {
			r := yes(v)
			if i%2 == 0 {
				r = no
			}
			wg.Go(func() { w.confirm(r) })
		}
		wg.Wait()
		end := w.look(ann, v.ID)
		if end.Version != 2 || end.State != operation.Queued && end.State != operation.Rejected {
			t.Fatalf("%v, version %d", end.State, end.Version)
		}
	})

	for row, part := range map[string]string{"CP-51/another controller": "controller", "CP-51/another actor": "actor",
		"CP-51/another principal": "principal", "CP-52/another effect": "effect digest", "CP-53/another policy": "policy revision", "CP-54/another epoch": "epoch"} {
		t.Run(row, func(t *testing.T) {
			w := newWorld(t, asking)
			v := w.waiting()
			undo := w.g.Swap(v.ID, part)
			_, err := w.confirm(yes(v))
			want := controlplane.CodeConfirmationChanged
			if part == "epoch" {
				want = controlplane.CodeStale
			}
			w.code(err, want)
			if b := w.deliver(); len(b.Deliveries) != 0 {
				t.Fatalf("the host gets %+v", b)
			}
			undo() // the challenge is not spent
			v, err = w.confirm(yes(v))
			w.ok(err)
			w.is(v, operation.Queued)
		})
	}

	t.Run("CP-51/a challenge of another operation", func(t *testing.T) {
		w := newWorld(t, asking)
		a, b := w.waiting(), w.waiting()
		r := yes(a)
		r.Challenge = b.Challenge.ID
		_, err := w.confirm(r)
		w.code(err, controlplane.CodeConfirmationInvalid)
		for _, v := range []operation.View{a, b} {
			v, err = w.confirm(yes(v))
			w.ok(err)
			w.is(v, operation.Queued)
		}
	})

	t.Run("CP-52/the approver saw another effect", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		r := yes(v)
		r.Digest[0] ^= 1
		_, err := w.confirm(r)
		w.code(err, controlplane.CodeConfirmationChanged)
		_, err = w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-53/a policy that came meanwhile and went again", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		before := w.compile()
		w.config.Profile = policy.Survival
		w.g.SetPolicy(w.compile())
		_, err := w.confirm(yes(v))
		w.code(err, controlplane.CodeConfirmationChanged)
		w.g.SetPolicy(before)
		_, err = w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-55/one tick before its end", func(t *testing.T) {
		w := newWorld(t, asking, func(w *world) { w.opt.ConfirmTicks = 100 })
		v := w.waiting()
		w.h.Tick(v.Challenge.Expires - 1 - w.h.Now() - 1) // a publication adds one
		w.publish("bot1", 1)
		w.ok(w.g.Sweep())
		_, err := w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-55/at its end", func(t *testing.T) {
		w := newWorld(t, asking, func(w *world) { w.opt.ConfirmTicks = 100 })
		v := w.waiting()
		w.h.Tick(v.Challenge.Expires - w.h.Now() - 1)
		w.publish("bot1", 1)
		_, err := w.confirm(yes(v))
		w.code(err, controlplane.CodeConfirmationExpired)
		w.ok(w.g.Sweep())
		w.is(w.look(ann, v.ID), operation.Stale)
	})

	t.Run("CP-55/the binding's own end comes first", func(t *testing.T) {
		w := newWorld(t, asking)
		w.h.Bind = func(q host.Gateway) host.Answer {
			b := w.h.Bound(q)
			b.ValidUntil = w.h.Now() + 10
			return host.Answer{Gateway: q.ID, Bound: &b}
		}
		v := w.waiting()
		if v.Challenge.Expires != w.h.Now()+10 {
			t.Fatalf("expires at %d", v.Challenge.Expires)
		}
	})

	t.Run("CP-55/another host's clock does not count", func(t *testing.T) {
		w := newWorld(t, asking, func(w *world) { w.opt.ConfirmTicks = 100 })
		v := w.waiting()
		w.h.Tick(1000)
		w.publish("bot2", 1)
		w.ok(w.g.Sweep())
		_, err := w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-56/what is delivered is what was bound", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		binds := w.h.Binds()
		_, err := w.confirm(yes(v))
		w.ok(err)
		d := w.next()
		if d.Bound.Digest != v.Digest || d.Bound.EffectDigest() != v.EffectDigest || d.Bound.Precondition != v.Precondition || w.h.Binds() != binds {
			t.Fatal("another binding, or a second bind")
		}
	})

	for name, change := range map[string]func(w *world){
		"epoch": func(w *world) { w.ok(w.h.Respawn(w.ctx, "bot1")) },
		"lease": func(w *world) { w.ok(w.g.Release(w.ctx, ann, "bot1", w.lease(ann, "bot1"))) },
		"lease by the clock": func(w *world) {
			w.clock.Advance(29 * time.Second)
			w.ok(w.h.Renew(w.ctx))
			w.clock.Advance(29 * time.Second)
			w.ok(w.h.Renew(w.ctx))
			w.clock.Advance(29 * time.Second)
		},
	} {
		t.Run("CP-57/"+name+" changed before the confirmation", func(t *testing.T) {
			w := newWorld(t, asking)
			v := w.waiting()
			change(w)
			_, err := w.confirm(yes(v))
			w.code(err, controlplane.CodeStale)
			w.is(w.look(ann, v.ID), operation.Stale)
			if b := w.deliver(); len(b.Deliveries) != 0 {
				t.Fatalf("the host gets %+v", b)
			}
		})
	}

	t.Run("CP-57/stop before the confirmation", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		_, err := w.g.Stop(w.ctx, ann, "bot1", "no")
		w.ok(err)
		_, err = w.confirm(yes(v))
		w.code(err, controlplane.CodeStopped)
		w.is(w.look(ann, v.ID), operation.Cancelled)
	})

	t.Run("CP-57/an observation that is too old leaves the challenge unspent", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		w.publish("bot1", 9)
		r := yes(v)
		r.Sequence = v.Sequence
		_, err := w.confirm(r)
		w.code(err, controlplane.CodeStale)
		w.is(w.look(ann, v.ID), operation.AwaitingConfirmation)
		_, r.Sequence = w.h.Seen("bot1")
		_, err = w.confirm(r)
		w.ok(err)
	})

	t.Run("CP-57/without a fresh publication", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		w.ok(w.h.Register(w.ctx))
		_, err := w.confirm(yes(v))
		w.code(err, controlplane.CodeUnavailable)
		w.publish("bot1", 1)
		_, err = w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-57/a confirmation that cannot be stored is not spent", func(t *testing.T) {
		w, disk := withDisk(t)
		w.config.Rules = []policy.Rule{confirmAll()}
		w.g.SetPolicy(w.compile())
		v := w.waiting()
		disk.full = true
		_, err := w.confirm(yes(v))
		w.code(err, controlplane.CodeDiskFull)
		disk.full = false
		_, err = w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-58/a deny rule that came meanwhile", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		w.config.Rules = append(w.config.Rules, policy.Rule{ID: "never", Layer: policy.LayerServer, Result: policy.Deny})
		w.g.SetPolicy(w.compile())
		end, err := w.confirm(yes(v))
		w.ok(err)
		if w.is(end, operation.Rejected); end.Rejection.Rules[0] != "never" {
			t.Fatalf("%+v", end.Rejection)
		}
	})

	t.Run("CP-58/another policy asks again", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		w.config.Rules[0].Priority = 7
		w.g.SetPolicy(w.compile())
		_, err := w.confirm(yes(v))
		w.code(err, controlplane.CodeConfirmationChanged)
		again := w.look(pat, v.ID)
		if again.Challenge.ID == v.Challenge.ID {
			t.Fatal("the old challenge stands")
		}
		_, err = w.confirm(yes(v))
		w.code(err, controlplane.CodeConfirmationInvalid)
		_, err = w.confirm(yes(again))
		w.ok(err)
	})

	t.Run("CP-58/a budget that ran out meanwhile", func(t *testing.T) {
		w := newWorld(t, asking, func(w *world) {
			w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: 1}}
		})
		a, b := w.waiting(), w.waiting()
		_, err := w.confirm(yes(a))
		w.ok(err)
		end, err := w.confirm(yes(b))
		w.ok(err)
		w.is(end, operation.Rejected)
		if u := w.usage("few"); u.ReservedCount != 1 {
			t.Fatalf("%+v", u)
		}
	})

	t.Run("CP-59/the submitter has no authority to approve", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		p := ann
		p.Scopes = controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute, controlplane.ScopeCancel)
		_, err := w.g.Confirm(w.ctx, p, yes(v))
		w.code(err, controlplane.CodeForbidden)
		if w.look(p, v.ID).Challenge != nil {
			t.Fatal("the submitter sees the challenge")
		}
		_, err = w.confirm(yes(v))
		w.ok(err)
	})

	t.Run("CP-61/the approver says no", func(t *testing.T) {
		w := newWorld(t, asking)
		v := w.waiting()
		no := yes(v)
		no.Approve = false
		end, err := w.confirm(no)
		w.ok(err)
		w.is(end, operation.Rejected)
		if end.ApprovedBy != "" || !strings.Contains(end.Rejection.Message, "pat") {
			t.Fatalf("approved by %q, %+v", end.ApprovedBy, end.Rejection)
		}
	})
}
