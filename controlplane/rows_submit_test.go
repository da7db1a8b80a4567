package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

func (w *world) nothingStored() {
	w.t.Helper()
	page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{})
	w.ok(err)
	if len(page.Operations) != 0 {
		w.t.Fatalf("stored: %+v", page.Operations)
	}
	if n := w.h.Binds(); n != 0 {
		w.t.Fatalf("the host was asked to bind %d times", n)
	}
}

func TestSubmitRows(t *testing.T) {
	t.Run("CP-01/every way in meets the same latch", func(t *testing.T) {
		w := newWorld(t)
		parent, r := w.macro("task")
		_, err := w.g.Stop(w.ctx, ann, "bot1", "enough")
		w.ok(err)
		binds := w.h.Binds()

		_, err = w.g.Submit(w.ctx, ann, w.request(ann, "bot1"))
		w.code(err, controlplane.CodeStopped)
		_, err = w.g.Explain(w.ctx, ann, w.request(ann, "bot1"))
		w.code(err, controlplane.CodeStopped)
		_, err = w.g.Host().SubmitChild(w.ctx, w.h.Session(), host.Child{Parent: parent.Op, Key: "c", Action: r.Action})
		w.code(err, controlplane.CodeStopped)
		if w.h.Binds() != binds || len(w.h.Sent()) != 0 {
			t.Fatal("the host was asked, or sent something")
		}
	})

	t.Run("CP-02/a principal that is none", func(t *testing.T) {
		w := newWorld(t)
		for _, id := range []host.Name{"", "Ann", "an n", "ann\x00", host.Name(bytes.Repeat([]byte("a"), 65))} {
			p := ann
			p.ID = id
			_, err := w.g.Submit(w.ctx, p, w.request(ann, "bot1"))
			w.code(err, controlplane.CodeInvalid)
		}
		w.nothingStored()
	})

	t.Run("CP-03/without the scope execute", func(t *testing.T) {
		w := newWorld(t)
		p := ann
		p.Scopes = controlplane.Scopes(controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeConfirm, controlplane.ScopeCancel, controlplane.ScopeAdmin)
		_, err := w.g.Submit(w.ctx, p, w.request(ann, "bot1"))
		w.code(err, controlplane.CodeForbidden)
		w.nothingStored()
	})

	t.Run("CP-04/hidden and unknown answer alike", func(t *testing.T) {
		w := newWorld(t)
		eve := controlplane.Principal{ID: "eve", Scopes: everything, Actors: []string{"bot2"}}
		say := func(actor host.Name) (out string) {
			r := w.request(ann, "bot1")
			r.Actor = actor
			_, errs := w.g.Submit(w.ctx, eve, r)
			_, erra := w.g.Actor(w.ctx, eve, actor)
			_, errl := w.g.Acquire(w.ctx, eve, actor, time.Minute)
			_, errr := w.g.Read(w.ctx, eve, actor, action("world_status", 0))
			_, errw := w.g.Wait(w.ctx, eve, controlplane.WaitRequest{Actor: actor})
			_, errx := w.g.Stop(w.ctx, eve, actor, "")
			return string(bytes.ReplaceAll([]byte(fmt.Sprint(errs, erra, errl, errr, errw, errx)), []byte(actor), []byte("X")))
		}
		if hidden, unknown := say("bot1"), say("bot9"); hidden != unknown {
			t.Fatalf("hidden:\n%s\nunknown:\n%s", hidden, unknown)
		}
		v := w.queued(ann, "bot1")
		_, hidden := w.g.Operation(w.ctx, eve, v.ID)
		_, unknown := w.g.Operation(w.ctx, eve, host.OpID{1})
		if hidden == nil || hidden.Error() != unknown.Error() {
			t.Fatalf("hidden %v, unknown %v", hidden, unknown)
		}
	})

	t.Run("CP-05/one lease for an actor", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		_, err := w.g.Acquire(w.ctx, bob, "bot1", time.Minute)
		w.code(err, controlplane.CodeLeaseConflict)
		if again := w.lease(ann, "bot1"); again != r.Lease {
			t.Fatal("the holder's own acquire gave another lease")
		}
		for _, lease := range []string{"", "0123456789abcdef"} {
			r.Lease = lease
			_, err = w.g.Submit(w.ctx, ann, r)
			w.code(err, controlplane.CodeLeaseExpired)
		}
		_, err = w.g.Submit(w.ctx, bob, r)
		w.code(err, controlplane.CodeLeaseConflict)
		w.nothingStored()
	})

	t.Run("CP-05/a lease lasts 5 to 300 seconds", func(t *testing.T) {
		w := newWorld(t)
		for ttl, want := range map[time.Duration]controlplane.Code{4999 * time.Millisecond: "invalid", 5 * time.Second: "", 300 * time.Second: "", 300_001 * time.Millisecond: "invalid", -1: "invalid"} {
			_, err := w.g.Acquire(w.ctx, ann, "bot1", ttl)
			w.code(err, want)
		}
	})

	t.Run("CP-06/expiry fences", func(t *testing.T) {
		w := newWorld(t)
		delivered := w.queued(ann, "bot1")
		w.next()
		queued := w.queued(ann, "bot1")
		for range 3 {
			w.sweep(19 * time.Second)
			w.ok(w.h.Renew(w.ctx))
		}
		w.sweep(2 * time.Second)
		w.is(w.look(ann, queued.ID), operation.Queued)
		w.sweep(time.Second)
		if v := w.is(w.look(ann, queued.ID), operation.Stale); v.DeliveryAttempts != 0 {
			t.Fatal("stale, yet collected")
		}
		if v := w.is(w.look(ann, delivered.ID), operation.Delivered); v.CancelRequested == "" {
			t.Fatal("the delivered one is not asked to end")
		}
		b := w.deliver() // the delivered one comes again too: nobody has acknowledged it for a minute
		if len(b.Deliveries) != 1 || b.Deliveries[0].Op != delivered.ID || len(b.Cancellations) != 1 || b.Cancellations[0].Op != delivered.ID {
			t.Fatalf("the host hears %+v", b)
		}
	})

	t.Run("CP-06/an expiry that nobody swept fences at the poll", func(t *testing.T) {
		w := newWorld(t)
		queued := w.queued(ann, "bot1")
		w.clock.Advance(29 * time.Second)
		w.ok(w.h.Renew(w.ctx))
		w.clock.Advance(31 * time.Second)
		if b := w.deliver(); !b.Empty() {
			t.Fatalf("the host gets %+v", b)
		}
		w.is(w.look(ann, queued.ID), operation.Stale)
	})

	t.Run("CP-06/release fences", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.ok(w.g.Release(w.ctx, ann, "bot1", w.lease(ann, "bot1")))
		w.is(w.look(ann, v.ID), operation.Stale)
		if b := w.deliver(); !b.Empty() {
			t.Fatalf("the host gets %+v", b)
		}
		_, err := w.g.Acquire(w.ctx, bob, "bot1", time.Minute)
		w.ok(err)
	})

	t.Run("CP-06/another authority fences", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.config.Profile = policy.Survival
		w.g.SetPolicy(w.compile())
		if b := w.deliver(); !b.Empty() {
			t.Fatalf("the host gets %+v", b)
		}
		w.is(w.look(ann, v.ID), operation.Stale)
	})

	t.Run("CP-07/the epoch matches exactly", func(t *testing.T) {
		w := newWorld(t)
		old := w.request(ann, "bot1")
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		_, err := w.g.Submit(w.ctx, ann, old)
		w.code(err, controlplane.CodeStale)
		for _, e := range []host.Epoch{{Host: 2, World: 2, Timeline: 1}, {Host: 1, World: 2, Timeline: 2}, {Host: 1, World: 3, Timeline: 1}} {
			r := w.request(ann, "bot1")
			r.Epoch = e
			_, err = w.g.Submit(w.ctx, ann, r)
			w.code(err, controlplane.CodeStale)
		}
		w.nothingStored()
		w.queued(ann, "bot1")
	})

	t.Run("CP-08/the window of observations", func(t *testing.T) {
		w := newWorld(t)
		w.publish("bot1", 10) // sequences 1..11
		for seq, want := range map[uint64]controlplane.Code{12: "stale", 1000: "stale", 3: "stale", 1: "stale", 0: "invalid"} {
			r := w.request(ann, "bot1")
			r.Sequence = seq
			_, err := w.g.Submit(w.ctx, ann, r)
			w.code(err, want)
		}
		w.nothingStored()
		for seq := uint64(4); seq <= 11; seq++ {
			r := w.request(ann, "bot1")
			r.Sequence = seq
			_, err := w.submit(ann, r)
			w.ok(err)
		}
	})

	t.Run("CP-09/the capability as it is published", func(t *testing.T) {
		w := newWorld(t)
		digest := func() string {
			all, err := w.g.Capabilities(w.ctx, ann, "bot1")
			w.ok(err)
			for _, c := range all {
				if c.Name == "place_block" {
					return c.Digest.String()
				}
			}
			return ""
		}
		old := digest()
		r := w.request(ann, "bot1")
		r.CapabilityDigest = old
		_, err := w.submit(ann, r)
		w.ok(err)
		w.h.Manifest.Actors[0].Capabilities[0].BudgetMS++
		w.ok(w.h.Join(w.ctx))
		r = w.request(ann, "bot1")
		r.CapabilityDigest = old
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnknownCapability)
		r.CapabilityDigest = digest()
		_, err = w.submit(ann, r)
		w.ok(err)
		r = w.request(ann, "bot1")
		r.Action.Capability = "break_block"
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnknownCapability)
		r.Action.Capability = "world_status"
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnknownCapability)
	})

	t.Run("CP-10/duplicates share one bind", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		submit := func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) }
		first := aside(submit)
		w.asked(1)
		var others []chan answered[operation.View]
		for range 20 {
			others = append(others, aside(submit))
		}
		other := r
		other.Action = action("place_block", 99)
		_, err := w.g.Submit(w.ctx, ann, other)
		w.code(err, controlplane.CodeConflict)
		w.deliver()
		a := <-first
		w.ok(a.err)
		for _, o := range others {
			if b := <-o; b.err != nil || b.v.ID != a.v.ID {
				t.Fatalf("%v, another operation: %v", b.err, b.v.ID)
			}
		}
		if w.h.Binds() != 1 {
			t.Fatalf("%d binds", w.h.Binds())
		}
	})

	t.Run("CP-10/a caller that goes away meets its own request again", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		ctx, cancel := context.WithCancel(w.ctx)
		first := aside(func() (operation.View, error) { return w.g.Submit(ctx, ann, r) })
		w.asked(1)
		cancel()
		second := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
		w.deliver()
		a, b := <-first, <-second
		w.ok(b.err)
		if a.err == nil && a.v.ID != b.v.ID || w.h.Binds() != 1 {
			t.Fatalf("two operations or %d binds", w.h.Binds())
		}
	})

	t.Run("CP-10/a request that a fault of ours cut off is not waited for", func(t *testing.T) {
		faulty := true
		w := newWorld(t, func(w *world) {
			w.opt.At = func(p controlplane.Point) {
				if p == controlplane.BeforeSubmit && faulty {
					faulty = false
					panic("a fault")
				}
			}
		})
		r := w.request(ann, "bot1")
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no fault")
				}
			}()
			w.g.Submit(w.ctx, ann, r)
		}()
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		v, err := served(w, func() (operation.View, error) { return w.g.Submit(ctx, ann, r) })
		w.ok(err)
		w.is(v, operation.Queued)
	})

	t.Run("CP-11/the host binds and previews, and sends nothing", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		p := v.Preview[0]
		if len(w.h.Sent()) != 0 || w.h.Binds() != 1 || p.Block != "minecraft:stone" || p.Item != "minecraft:stone" || p.Quantity != 1 {
			t.Fatalf("preview %+v", p)
		}
		q := w.h.Heard().Gateways[0]
		if q.Ask != host.AskBind || q.Op != v.ID || q.Principal != "ann" || q.Actor != "bot1" {
			t.Fatalf("asked %+v", q)
		}
	})

	t.Run("CP-11/the host's no is a stored rejection", func(t *testing.T) {
		w := newWorld(t)
		w.h.Bind = func(q host.Gateway) host.Answer {
			return hosttest.Refusal(q, "no_support", "place something below first")
		}
		v, err := w.submit(ann, w.request(ann, "bot1"))
		w.ok(err)
		if w.is(v, operation.Rejected); v.Rejection.Code != "no_support" {
			t.Fatalf("rejection %+v", v.Rejection)
		}
		if b := w.deliver(); !b.Empty() {
			t.Fatalf("the host gets %+v", b)
		}
	})

	for name, change := range map[string]func(w *world){
		"authority":   func(w *world) { w.config.Profile = policy.Survival; w.g.SetPolicy(w.compile()) },
		"session":     func(w *world) { w.ok(w.h.Join(w.ctx)) },
		"lease":       func(w *world) { w.ok(w.g.Release(w.ctx, ann, "bot1", w.lease(ann, "bot1"))) },
		"epoch":       func(w *world) { w.ok(w.h.Respawn(w.ctx, "bot1")) },
		"observation": func(w *world) { w.publish("bot1", 9) },
		"stop":        func(w *world) { _, err := w.g.Stop(w.ctx, ann, "bot1", "no"); w.ok(err) },
	} {
		t.Run("CP-12/"+name+" changed after bind", func(t *testing.T) {
			w := newWorld(t, func(w *world) {
				w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: 1}}
			})
			var bound host.Answer
			w.h.Bind = func(q host.Gateway) host.Answer { bound = w.h.Reply(q); return host.Answer{} }
			r := w.request(ann, "bot1")
			done := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
			w.asked(1)
			w.deliver()
			session := w.h.Session()
			change(w)
			_ = w.g.Host().Answer(w.ctx, session, bound) // of an old session: refused
			want := map[string]controlplane.Code{"lease": "lease_expired", "stop": "stopped", "session": "unavailable"}[name]
			if want == "" {
				want = controlplane.CodeStale
			}
			w.code((<-done).err, want)
			if u := w.usage("few"); u != (store.Usage{}) {
				t.Fatalf("reserved: %+v", u)
			}
			if b := w.deliver(); len(b.Deliveries) != 0 {
				t.Fatalf("the host gets %+v", b)
			}
			page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{})
			w.ok(err)
			if len(page.Operations) != 0 {
				t.Fatalf("stored: %+v", page.Operations)
			}
		})
	}

	t.Run("CP-13/one denied effect denies the action", func(t *testing.T) {
		w := newWorld(t)
		w.h.Bind = func(q host.Gateway) host.Answer {
			b := w.h.Bound(q)
			bad := b.Effects[0]
			bad.Scope = "elsewhere"
			b.Effects = append(b.Effects, bad)
			return host.Answer{Gateway: q.ID, Bound: &b}
		}
		v, err := w.submit(ann, w.request(ann, "bot1"))
		w.ok(err)
		if w.is(v, operation.Rejected); v.Rejection.Code != string(policy.CodeUnknownScope) {
			t.Fatalf("rejection %+v", v.Rejection)
		}
	})

	t.Run("CP-14/durable before the host may collect it", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.crash()
		w.is(w.look(ann, v.ID), operation.Queued)
		w.ok(w.h.Join(w.ctx))
		if d := w.next(); d.Op != v.ID || d.Attempt != 1 {
			t.Fatalf("delivered %+v", d)
		}
	})

	t.Run("CP-14/what cannot be stored is not collected", func(t *testing.T) {
		w, disk := withDisk(t)
		r := w.request(ann, "bot1")
		disk.full = true
		_, err := w.submit(ann, r)
		w.code(err, controlplane.CodeDiskFull)
		if b := w.deliver(); len(b.Deliveries) != 0 {
			t.Fatalf("the host gets %+v", b)
		}
		if u := w.usage("few"); u != (store.Usage{}) {
			t.Fatalf("reserved: %+v", u)
		}
		disk.full = false
		v, err := w.submit(ann, r)
		w.ok(err)
		w.is(v, operation.Queued)
	})
}

// disk is an engine that can be full.
type disk struct {
	store.Engine
	full bool
}

func (d *disk) Update(f func(store.Tx) error) error {
	return d.Engine.Update(func(tx store.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		if d.full {
			return fmt.Errorf("write: %w", store.ErrDiskFull)
		}
		return nil
	})
}

func withDisk(t *testing.T) (*world, *disk) {
	d := &disk{Engine: store.Memory()}
	w := newWorld(t, func(w *world) {
		w.engine = d
		w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: 100}}
	})
	return w, d
}

func TestBudgetRows(t *testing.T) {
	few := func(n int64) func(*world) {
		return func(w *world) {
			w.config.Budgets = []policy.Budget{{ID: "few", Layer: policy.LayerServer, MaxCount: n}}
		}
	}

	t.Run("CP-44/two at once, one budget", func(t *testing.T) {
		w := newWorld(t, few(1))
		r1, r2 := w.request(ann, "bot1"), w.request(ann, "bot1")
		a := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r1) })
		b := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r2) })
		w.asked(2)
		w.deliver()
		va, vb := <-a, <-b
		w.ok(errors.Join(va.err, vb.err))
		queued := 0
		for _, v := range []operation.View{va.v, vb.v} {
			if v.State == operation.Queued || v.State == operation.Delivered {
				queued++
			} else if v.State != operation.Rejected || v.Rejection.Code != string(policy.CodeBudgetExceeded) {
				t.Fatalf("%v %+v", v.State, v.Rejection)
			}
		}
		if queued != 1 || w.usage("few").ReservedCount != 1 {
			t.Fatalf("%d allowed, %+v", queued, w.usage("few"))
		}
	})

	t.Run("CP-45/used when the host takes it, and for good", func(t *testing.T) {
		w := newWorld(t, few(2))
		w.queued(ann, "bot1")
		if u := w.usage("few"); u.ReservedCount != 1 || u.UsedCount != 0 {
			t.Fatalf("queued: %+v", u)
		}
		d := w.next()
		if u := w.usage("few"); u.ReservedCount != 1 || u.UsedCount != 0 {
			t.Fatalf("delivered: %+v", u)
		}
		w.ok(w.h.Accept(w.ctx, d))
		if u := w.usage("few"); u.ReservedCount != 0 || u.UsedCount != 1 {
			t.Fatalf("accepted: %+v", u)
		}
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "refused", true)))
		if u := w.usage("few"); u.UsedCount != 1 {
			t.Fatalf("failed: %+v", u)
		}
		d = w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "refused", true)))
		v, err := w.submit(ann, w.request(ann, "bot1"))
		w.ok(err)
		w.is(v, operation.Rejected)
	})

	t.Run("CP-46/a refusal gives back", func(t *testing.T) {
		w := newWorld(t, few(1))
		w.queued(ann, "bot1")
		w.ok(w.h.Refuse(w.ctx, w.next(), "busy"))
		if u := w.usage("few"); u != (store.Usage{}) {
			t.Fatalf("%+v", u)
		}
		w.queued(ann, "bot1")
	})

	t.Run("CP-47/a failed write gives back", func(t *testing.T) {
		w, disk := withDisk(t)
		r := w.request(ann, "bot1")
		disk.full = true
		_, err := w.submit(ann, r)
		w.code(err, controlplane.CodeDiskFull)
		w.nothingButBinds(1)
		if u := w.usage("few"); u != (store.Usage{}) {
			t.Fatalf("%+v", u)
		}
	})

	t.Run("CP-48/a crash frees no budget", func(t *testing.T) {
		w := newWorld(t, few(2))
		w.accepted(ann, "bot1")
		queued := w.queued(ann, "bot1")
		w.crash()
		if u := w.usage("few"); u.ReservedCount != 1 || u.UsedCount != 1 {
			t.Fatalf("after the crash: %+v", u)
		}
		w.ok(w.h.Join(w.ctx))
		v, err := w.submit(ann, w.request(ann, "bot1"))
		w.ok(err)
		w.is(v, operation.Rejected)
		_, err = w.g.Cancel(w.ctx, ann, queued.ID, "")
		w.ok(err)
		if u := w.usage("few"); u.ReservedCount != 0 || u.UsedCount != 1 {
			t.Fatalf("after the cancel: %+v", u)
		}
	})
}

func (w *world) nothingButBinds(n int) {
	w.t.Helper()
	page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{})
	w.ok(err)
	if len(page.Operations) != 0 || w.h.Binds() != n {
		w.t.Fatalf("%d binds, stored: %+v", w.h.Binds(), page.Operations)
	}
}
