package controlplane_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// report is a host's call that must fail with conflict.
func (w *world) conflicts(err error) {
	w.t.Helper()
	w.code(err, controlplane.CodeConflict)
}

func TestLifeRows(t *testing.T) {
	t.Run("CP-60/three results, three states", func(t *testing.T) {
		for result, want := range map[policy.Result]operation.State{policy.Allow: operation.Queued, policy.Confirm: operation.AwaitingConfirmation, policy.Deny: operation.Rejected} {
			w := newWorld(t, func(w *world) {
				w.config.Rules = []policy.Rule{{ID: "r", Layer: policy.LayerServer, Result: result}}
			})
			v, err := w.submit(ann, w.request(ann, "bot1"))
			w.ok(err)
			w.is(v, want)
		}
	})

	t.Run("CP-61/confirmed, gone stale, cancelled", func(t *testing.T) {
		w := newWorld(t, asking)
		v, err := w.confirm(yes(w.waiting()))
		w.ok(err)
		w.is(v, operation.Queued)
		v = w.waiting()
		v, err = w.g.Cancel(w.ctx, ann, v.ID, "no need")
		w.ok(err)
		w.is(v, operation.Cancelled)
		v = w.waiting()
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		w.is(w.look(ann, v.ID), operation.Stale)
	})

	t.Run("CP-62/collected by a poll", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		if v.DeliveryAttempts != 0 {
			t.Fatal("attempts before the poll")
		}
		if d := w.next(); d.Op != v.ID || d.Attempt != 1 || d.Accepted {
			t.Fatalf("%+v", d)
		}
		if v = w.is(w.look(ann, v.ID), operation.Delivered); v.DeliveryAttempts != 1 {
			t.Fatalf("%d attempts", v.DeliveryAttempts)
		}
	})

	t.Run("CP-62/a poll that waits gets it at once", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(w.ctx)
		defer cancel()
		got := make(chan host.Delivery, 1)
		w.h.Take = func(_ context.Context, d host.Delivery) { got <- d }
		served := make(chan error, 1)
		go func() { served <- w.h.Serve(ctx) }()
		v, err := w.g.Submit(w.ctx, ann, w.request(ann, "bot1"))
		w.ok(err)
		d := <-got
		if d.Op != v.ID || d.Attempt != 1 || w.look(ann, v.ID).DeliveryAttempts != 1 {
			t.Fatalf("%+v", d)
		}
		cancel()
		w.ok(<-served)
	})

	t.Run("CP-63/taken, refused", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.is(w.look(ann, d.Op), operation.Accepted)
		w.queued(ann, "bot1")
		d = w.next()
		w.ok(w.h.Refuse(w.ctx, d, "busy"))
		if v := w.is(w.look(ann, d.Op), operation.Rejected); v.Rejection.Code != "busy" {
			t.Fatalf("%+v", v.Rejection)
		}
	})

	t.Run("CP-64/running, succeeded, failed", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Progress(w.ctx, d.Op, 1, 10, "walking"))
		w.is(w.look(ann, d.Op), operation.Running)
		d = w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		w.is(w.look(ann, d.Op), operation.Succeeded)
		d = w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "refused", true)))
		w.is(w.look(ann, d.Op), operation.Failed)
	})

	t.Run("CP-65/from running", func(t *testing.T) {
		w := newWorld(t)
		for _, o := range []host.Status{host.Succeeded, host.Failed} {
			d := w.accepted(ann, "bot1")
			w.ok(w.h.Progress(w.ctx, d.Op, 1, 10, "walking"))
			w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, o, "x", true)))
			if v := w.look(ann, d.Op); v.State.String() != string(o) {
				t.Fatalf("%v", v.State)
			}
		}
	})

	t.Run("CP-66/its host expires before delivery", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.sweep(31 * time.Second)
		if v = w.is(w.look(ann, v.ID), operation.Stale); v.DeliveryAttempts != 0 || v.Rejection.Code != "host" {
			t.Fatalf("%+v", v)
		}
	})

	t.Run("CP-66/its epoch ends before delivery", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.ok(w.h.Respawn(w.ctx, "bot1"))
		if v = w.is(w.look(ann, v.ID), operation.Stale); v.DeliveryAttempts != 0 {
			t.Fatalf("%d attempts", v.DeliveryAttempts)
		}
	})

	t.Run("CP-66/its host leaves", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.ok(w.g.Host().Unregister(w.ctx, w.h.Session()))
		w.is(w.look(ann, v.ID), operation.Stale)
	})

	t.Run("CP-67/running, and the gateway was away", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Progress(w.ctx, d.Op, 1, 10, "walking"))
		w.crash()
		if v := w.is(w.look(ann, d.Op), operation.OutcomeUnknown); v.Terminal || !v.ReconciliationPending {
			t.Fatalf("%+v", v)
		}
	})

	t.Run("CP-67/accepted, and the gateway was away", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.crash()
		w.is(w.look(ann, d.Op), operation.Accepted)
		w.ok(w.h.Join(w.ctx))
		if again := w.next(); again.Op != d.Op || !again.Accepted || again.Attempt != 2 {
			t.Fatalf("%+v", again)
		}
	})

	t.Run("CP-67/running, and the host was away", func(t *testing.T) {
		for _, leave := range []func(*world){
			func(w *world) { w.sweep(31 * time.Second) },
			func(w *world) { w.ok(w.h.Join(w.ctx)) },
		} {
			w := newWorld(t)
			d := w.accepted(ann, "bot1")
			w.ok(w.h.Progress(w.ctx, d.Op, 1, 10, "walking"))
			leave(w)
			w.is(w.look(ann, d.Op), operation.OutcomeUnknown)
		}
	})

	t.Run("CP-68/a late outcome settles it, time does not", func(t *testing.T) {
		w := newWorld(t)
		for _, o := range []host.Status{host.Succeeded, host.Failed} {
			d := w.accepted(ann, "bot1")
			w.ok(w.h.Progress(w.ctx, d.Op, 1, 10, "walking"))
			w.sweep(24 * time.Hour)
			w.is(w.look(ann, d.Op), operation.OutcomeUnknown)
			w.ok(w.h.Join(w.ctx))
			w.deliver()
			w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, o, "late", true)))
			if v := w.look(ann, d.Op); v.State.String() != string(o) {
				t.Fatalf("%v", v.State)
			}
		}
	})

	t.Run("CP-69/queued is cancelled, accepted is interrupted", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		v, err := w.g.Cancel(w.ctx, ann, v.ID, "no need")
		w.ok(err)
		w.is(v, operation.Cancelled)
		if b := w.deliver(); !b.Empty() {
			t.Fatalf("the host gets %+v", b)
		}
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Interrupted, "died", false)))
		w.is(w.look(ann, d.Op), operation.Interrupted)
	})

	t.Run("CP-69/delivered waits for the host's word", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		d := w.next()
		v, err := w.g.Cancel(w.ctx, ann, d.Op, "no need")
		w.ok(err)
		if w.is(v, operation.Delivered); v.CancelRequested != "no need" {
			t.Fatalf("%+v", v)
		}
		if b := w.deliver(); len(b.Cancellations) != 1 || b.Cancellations[0].Op != d.Op {
			t.Fatalf("the host hears %+v", b)
		}
		w.ok(w.h.Refuse(w.ctx, d, "cancelled"))
		w.is(w.look(ann, d.Op), operation.Cancelled)
	})

	t.Run("CP-70/what has ended takes nothing more", func(t *testing.T) {
		w := newWorld(t)
		ends := map[string]func(d host.Delivery){
			"succeeded":   func(d host.Delivery) { w.ok(w.h.Perform(w.ctx, d)) },
			"rejected":    func(d host.Delivery) { w.ok(w.h.Refuse(w.ctx, d, "busy")) },
			"stale":       func(d host.Delivery) { w.ok(w.h.Refuse(w.ctx, d, host.CodeUnbound)) },
			"interrupted": func(d host.Delivery) { w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Interrupted, "x", false))) },
			"cancelled":   func(d host.Delivery) { w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Cancelled, "x", false))) },
			"failed":      func(d host.Delivery) { w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "x", true))) },
		}
		for state, end := range ends {
			w.queued(ann, "bot1")
			d := w.next()
			end(d)
			before := w.look(ann, d.Op)
			if before.State.String() != state || !before.Terminal {
				t.Fatalf("%v, want %s", before.State, state)
			}
			w.conflicts(w.h.Progress(w.ctx, d.Op, 9, 9, "still"))
			w.conflicts(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "another", true)))
			w.conflicts(w.g.Host().Ack(w.ctx, w.h.Session(), host.Ack{Op: d.Op, Code: "another"}))
			_, err := w.g.Cancel(w.ctx, ann, d.Op, "")
			w.conflicts(err)
			p := root
			_, err = w.g.AcceptUnverified(w.ctx, p, d.Op)
			w.conflicts(err)
			if diff := cmp.Diff(before, w.look(ann, d.Op)); diff != "" {
				t.Fatal(diff)
			}
		}
	})

	t.Run("CP-71/progress goes forward", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Progress(w.ctx, d.Op, 3, 30, "c"))
		w.code(w.h.Progress(w.ctx, d.Op, 2, 20, "b"), controlplane.CodeStale)
		w.code(w.h.Progress(w.ctx, d.Op, 3, 31, "c"), controlplane.CodeStale)
		w.ok(w.h.Progress(w.ctx, d.Op, 3, 30, "c"))
		if v := w.look(ann, d.Op); v.Run.Seq != 3 || v.Run.Percent != 30 {
			t.Fatalf("%+v", v.Run)
		}
	})

	for word, lead := range map[string]func(w *world) host.OpID{
		"queued":   func(w *world) host.OpID { return w.queued(ann, "bot1").ID },
		"accepted": func(w *world) host.OpID { return w.accepted(ann, "bot1").Op },
		"running": func(w *world) host.OpID {
			d := w.accepted(ann, "bot1")
			w.ok(w.h.Progress(w.ctx, d.Op, 1, 1, "x"))
			return d.Op
		},
	} {
		t.Run("CP-74/"+word+" means what it says after a crash", func(t *testing.T) {
			w := newWorld(t)
			id := lead(w)
			w.crash()
			v := w.look(ann, id)
			switch word {
			case "queued":
				if w.is(v, operation.Queued); v.DeliveryAttempts != 0 {
					t.Fatal("collected")
				}
			case "accepted":
				w.is(v, operation.Accepted)
			case "running":
				w.is(v, operation.OutcomeUnknown)
			}
		})
	}

	t.Run("CP-75/unchanged says that nothing newer was seen", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		a, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID})
		w.ok(err)
		if !a.Changed {
			t.Fatal("without a cursor there is always news")
		}
		b, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID, Cursor: a.Cursor})
		w.ok(err)
		if b.Changed || b.Cursor != a.Cursor || b.Operation.State != operation.Queued {
			t.Fatalf("%+v", b)
		}
	})

	t.Run("CP-76/stale without an attempt was never collected", func(t *testing.T) {
		w := newWorld(t)
		got := map[host.OpID]bool{}
		for i := range 40 {
			v := w.queued(ann, "bot1")
			switch i % 4 {
			case 0:
				w.ok(w.h.Respawn(w.ctx, "bot1"))
			case 1:
				for _, d := range w.deliver().Deliveries {
					got[d.Op] = true
				}
				w.ok(w.h.Respawn(w.ctx, "bot1"))
			case 2:
				w.ok(w.g.Release(w.ctx, ann, "bot1", w.lease(ann, "bot1")))
			}
			for _, d := range w.deliver().Deliveries {
				got[d.Op] = true
			}
			if v = w.look(ann, v.ID); v.State == operation.Stale && v.DeliveryAttempts == 0 && got[v.ID] {
				t.Fatal("collected, and nobody wrote it down")
			}
		}
	})
}
