package controlplane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

func TestStopRows(t *testing.T) {
	t.Run("CP-97/per actor, by its owner", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.g.Stop(w.ctx, bob, "bot1", "")
		w.code(err, controlplane.CodeForbidden)
		v, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		if v.Stop == nil || v.Stop.Why != "smoke" || v.Stop.By != "ann" {
			t.Fatalf("%+v", v.Stop)
		}
		_, err = w.g.Submit(w.ctx, ann, w.request(ann, "bot1"))
		w.code(err, controlplane.CodeStopped)
		w.queued(ann, "bot2")
		_, err = w.g.ClearStop(w.ctx, bob, "bot1")
		w.code(err, controlplane.CodeForbidden)
		_, err = w.g.ClearStop(w.ctx, root, "bot1")
		w.ok(err)
		_, err = w.g.Stop(w.ctx, root, "bot2", "")
		w.ok(err)
	})

	t.Run("CP-97/while its host is away", func(t *testing.T) {
		w := newWorld(t)
		w.ok(w.g.Host().Unregister(w.ctx, w.h.Session()))
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		w.ok(w.h.Join(w.ctx))
		b := w.deliver()
		if len(b.Cancellations) != 1 || !b.Cancellations[0].Stop || b.Cancellations[0].Actor != "bot1" {
			t.Fatalf("the host hears %+v", b)
		}
	})

	t.Run("CP-97/on a full disk", func(t *testing.T) {
		w, disk := withDisk(t)
		disk.full = true
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.code(err, controlplane.CodeDiskFull)
		if b := w.deliver(); len(b.Cancellations) != 1 || !b.Cancellations[0].Stop {
			t.Fatalf("the host hears %+v", b)
		}
	})

	t.Run("CP-99/heard before it is on disk", func(t *testing.T) {
		slow := &slowReply{Engine: store.Memory(), stored: make(chan struct{}), release: make(chan struct{})}
		w := newWorld(t, func(w *world) { w.engine = slow })
		slow.next.Store(true)
		stopped := aside(func() (controlplane.ActorView, error) { return w.g.Stop(w.ctx, ann, "bot1", "smoke") })
		<-slow.stored
		if b := w.deliver(); len(b.Cancellations) != 1 || !b.Cancellations[0].Stop {
			t.Errorf("the host hears %+v while the disk takes its time", b)
		}
		close(slow.release)
		w.ok((<-stopped).err)
	})

	t.Run("CP-99,CP-62/told before the delivery that it overtakes", func(t *testing.T) {
		slow := &slowReply{Engine: store.Memory(), stored: make(chan struct{}), release: make(chan struct{})}
		w := newWorld(t, func(w *world) { w.engine = slow })
		r := w.request(ann, "bot1")
		slow.next.Store(true) // the submit's: nothing else is stored meanwhile
		submitted := aside(func() (operation.View, error) { return w.g.Submit(w.ctx, ann, r) })
		w.asked(1)
		w.deliver() // its question, and the answer
		polled := aside(func() (host.Batch, error) { return w.h.PollOnce(w.ctx, host.MaxBatch, 20*time.Second) })
		<-slow.stored
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		close(slow.release)
		s := <-submitted
		w.ok(s.err)
		b := <-polled
		w.ok(b.err)
		all := append(b.v.Deliveries, w.deliver().Deliveries...)
		if w.look(ann, s.v.ID).State == operation.Cancelled && len(all) == 0 {
			return // the poll came too late for the submit: it was queued, and is over
		}
		if len(all) != 1 || all[0].Op != s.v.ID {
			t.Fatalf("the host has %+v of operation %s, which is %+v", all, s.v.ID, w.look(ann, s.v.ID))
		}
		w.ok(w.h.Refuse(w.ctx, all[0], host.CodeUnbound))
		w.is(w.look(ann, s.v.ID), operation.Stale)
	})

	t.Run("CP-98/survives a crash", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		w.crash()
		w.ok(w.h.Join(w.ctx))
		_, err = w.g.Submit(w.ctx, ann, w.request(ann, "bot1"))
		w.code(err, controlplane.CodeStopped)
	})

	t.Run("CP-98/from outside and from inside alike", func(t *testing.T) {
		w := newWorld(t)
		d, r := w.macro("task")
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		_, out := w.g.Submit(w.ctx, ann, w.request(ann, "bot1"))
		_, in := w.g.Host().SubmitChild(w.ctx, w.h.Session(), host.Child{Parent: d.Op, Key: "k", Action: r.Action})
		if out == nil || in == nil || out.Error() != in.Error() {
			t.Fatalf("outside %v, inside %v", out, in)
		}
	})

	t.Run("CP-99/everything unfinished is asked to end", func(t *testing.T) {
		w := newWorld(t, asking)
		waits := w.waiting()
		w.config.Rules = nil
		w.g.SetPolicy(w.compile())
		runs := w.accepted(ann, "bot1")
		w.ok(w.h.Progress(w.ctx, runs.Op, 1, 1, "walking"))
		queued := w.queued(ann, "bot1")
		poll := aside(func() (host.Batch, error) { return w.g.Host().Poll(w.ctx, w.h.Session(), 64, 20*time.Second) })
		if a := <-poll; len(a.v.Deliveries) != 1 { // empties what lies ready
			t.Fatalf("%+v", a)
		}
		poll = aside(func() (host.Batch, error) { return w.g.Host().Poll(w.ctx, w.h.Session(), 64, 20*time.Second) })
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		w.is(w.look(ann, waits.ID), operation.Cancelled)
		for _, id := range []host.OpID{runs.Op, queued.ID} {
			if v := w.look(ann, id); v.CancelRequested == "" {
				t.Fatalf("%+v", v)
			}
		}
		heard := (<-poll).v.Cancellations
		b := w.deliver()
		once := map[host.Cancellation]bool{} // a stop is said before and after it is stored
		stops := 0
		for _, c := range append(heard, b.Cancellations...) {
			if c.Stop && !once[c] {
				stops++
			}
			once[c] = true
		}
		if stops != 1 || len(once) != 3 {
			t.Fatalf("the host hears %+v and %+v", heard, b.Cancellations)
		}
	})

	t.Run("CP-99/a stop goes before everything else", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot2")
		d := w.accepted(ann, "bot1")
		_, err := w.g.Cancel(w.ctx, ann, d.Op, "x")
		w.ok(err)
		_, err = w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		b, err := w.h.PollOnce(w.ctx, 1, 0)
		w.ok(err)
		if len(b.Cancellations) != 1 || !b.Cancellations[0].Stop {
			t.Fatalf("%+v", b)
		}
	})

	t.Run("CP-99/a word that was lost on its way comes again", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		_, err := w.g.Cancel(w.ctx, ann, d.Op, "x")
		w.ok(err)
		_, err = w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		w.deliver()
		stops, cancels := 0, 0
		for range 20 {
			w.sweep(2 * time.Second)
			w.ok(w.h.Renew(w.ctx))
			for _, c := range w.deliver().Cancellations {
				if c.Stop {
					stops++
				} else {
					cancels++
				}
			}
		}
		if stops != 3 || cancels < 2 || cancels > 4 {
			t.Fatalf("%d stops, %d cancels", stops, cancels)
		}
	})

	t.Run("CP-99/a caller that goes away takes no word along", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		_, err := w.g.Stop(w.ctx, ann, "bot2", "smoke")
		w.ok(err)
		b, err := w.g.Host().Poll(ctx, w.h.Session(), 64, 0)
		again := w.deliver()
		if all := append(b.Cancellations, again.Cancellations...); len(all) != 1 || !all[0].Stop || err == nil && len(b.Cancellations) == 0 {
			t.Fatalf("%v: %+v, then %+v", err, b, again)
		}
	})

	t.Run("CP-98/a stop goes behind the clear that the host has not heard yet", func(t *testing.T) {
		w := newWorld(t)
		for _, f := range []func() error{
			func() error { _, err := w.g.Stop(w.ctx, ann, "bot1", "smoke"); return err },
			func() error { _, err := w.g.ClearStop(w.ctx, ann, "bot1"); return err },
			func() error { _, err := w.g.Stop(w.ctx, ann, "bot1", "smoke"); return err },
		} {
			w.ok(f())
		}
		if last := lastWord(w.deliver()); !last.Stop {
			t.Errorf("the actor is stopped and its host hears last %+v", last)
		}
		_, err := w.g.ClearStop(w.ctx, ann, "bot1")
		w.ok(err)
		_, err = w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		ctx, gone := context.WithCancel(w.ctx)
		gone()
		w.g.Host().Poll(ctx, w.h.Session(), 64, 0) // takes the word, or puts it back
		w.clock.Advance(6 * time.Second)
		w.ok(w.g.Sweep())
		if last := lastWord(w.deliver()); !last.Stop {
			t.Errorf("the actor is stopped and its host hears last %+v", last)
		}
	})

	t.Run("CP-98/a clear whose caller is slow does not undo the stop behind it", func(t *testing.T) {
		slow := &slowReply{Engine: store.Memory(), stored: make(chan struct{}), release: make(chan struct{})}
		w := newWorld(t, func(w *world) { w.engine = slow })
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		w.deliver()
		slow.next.Store(true)
		cleared := aside(func() (controlplane.ActorView, error) { return w.g.ClearStop(w.ctx, ann, "bot1") })
		<-slow.stored
		stopped := aside(func() (controlplane.ActorView, error) { return w.g.Stop(w.ctx, ann, "bot1", "fire") })
		w.until("the stop is heard at once", func() bool { return lastWord(w.deliver()).Stop })
		close(slow.release)
		w.ok((<-cleared).err)
		s := <-stopped
		w.ok(s.err)
		if s.v.Stop == nil {
			t.Fatal("the actor is not stopped")
		}
		if last := lastWord(w.deliver()); !last.Stop {
			t.Errorf("the actor is stopped and its host hears last %+v", last)
		}
	})

	t.Run("CP-98/a stop that comes while its host registers is not undone", func(t *testing.T) {
		gate := &slowView{Engine: store.Memory(), seen: make(chan struct{}), release: make(chan struct{})}
		w := newWorld(t, func(w *world) { w.engine = gate })
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		_, err = w.g.ClearStop(w.ctx, ann, "bot1")
		w.ok(err)
		gate.next.Store(true)
		registered := aside(func() (struct{}, error) { return struct{}{}, w.h.Register(w.ctx) })
		<-gate.seen
		_, err = w.g.Stop(w.ctx, ann, "bot1", "fire")
		w.ok(err)
		close(gate.release)
		w.ok((<-registered).err)
		if last := lastWord(w.deliver()); !last.Stop {
			t.Errorf("the actor is stopped and its host hears last %+v", last)
		}
	})

	t.Run("CP-100/a stop restores nothing", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		before := w.look(ann, d.Op)
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		if after := w.look(ann, d.Op); after.Version != before.Version || after.State != operation.Succeeded {
			t.Fatalf("%+v", after)
		}
		for _, d := range w.deliver().Deliveries {
			t.Fatalf("the host is asked for %+v", d)
		}
	})

	t.Run("CP-101/after the clear: a new lease and a new observation", func(t *testing.T) {
		w := newWorld(t)
		old := w.request(ann, "bot1")
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		_, err = w.g.ClearStop(w.ctx, ann, "bot1")
		w.ok(err)
		_, err = w.g.Submit(w.ctx, ann, old)
		w.code(err, controlplane.CodeLeaseExpired)
		r := w.request(ann, "bot1") // a new lease, the observation from before the clear
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeStale)
		w.publish("bot1", 1)
		r.Lease = old.Lease
		_, r.Sequence = w.h.Seen("bot1")
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeLeaseExpired)
		w.queued(ann, "bot1")
	})

	t.Run("CP-101/the clear survives a crash", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.g.Stop(w.ctx, ann, "bot1", "smoke")
		w.ok(err)
		_, err = w.g.ClearStop(w.ctx, ann, "bot1")
		w.ok(err)
		_, before := w.h.Seen("bot1")
		w.crash()
		w.ok(w.h.Join(w.ctx))
		r := w.request(ann, "bot1")
		r.Sequence = before
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeStale)
	})
}

func TestMacroRows(t *testing.T) {
	t.Run("CP-102/a macro is a capability", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		r.Action = host.Action{Capability: "script", Arguments: json.RawMessage(`{"steps":[]}`)}
		_, err := w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnknownCapability)
		r.Action = host.Action{Capability: "build_structure", Arguments: json.RawMessage(`[{"place_block":{}}]`)}
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeInvalid)
		r.Action.Arguments = json.RawMessage(`{"block":"a","block":"b"}`)
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeInvalid)
		r.Action.Arguments = json.RawMessage(`{}`)
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeInvalid) // a macro needs a task
		w.nothingStored()
	})

	t.Run("CP-103/children of an accepted or running macro", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		v, err := w.child(d.Op, "a")
		w.ok(err)
		if v.State != "queued" {
			t.Fatalf("%+v", v)
		}
		w.ok(w.h.Progress(w.ctx, d.Op, 1, 1, "building"))
		_, err = w.child(d.Op, "b")
		w.ok(err)
		again, err := w.child(d.Op, "a")
		w.ok(err)
		if again.Op != v.Op {
			t.Fatal("the same key gave another child")
		}
		if n := w.look(ann, d.Op).Children; n != 2 {
			t.Fatalf("%d children", n)
		}
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Succeeded, "", false)))
		_, err = w.child(d.Op, "c")
		w.conflicts(err)
	})

	t.Run("CP-103/none of a queued one, or of an effect", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		r.Action, r.Task = action("build_structure", 1), "task"
		v, err := w.submit(ann, r)
		w.ok(err)
		_, err = w.child(v.ID, "a")
		w.conflicts(err)
		w = newWorld(t)
		d := w.accepted(ann, "bot1")
		_, err = w.child(d.Op, "a")
		w.conflicts(err)
	})

	t.Run("CP-103/a macro goes on after a gap", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		w.ok(w.h.Progress(w.ctx, d.Op, 1, 1, "building"))
		w.crash()
		w.is(w.look(ann, d.Op), operation.Running)
		w.ok(w.h.Join(w.ctx))
		if again := w.next(); again.Op != d.Op || !again.Accepted {
			t.Fatalf("%+v", again)
		}
		_, err := w.child(d.Op, "a")
		w.ok(err)
	})

	for name, change := range map[string]func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal){
		"actor": func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal) {
			*r = w.childOf(r, ann, "bot2")
		},
		"lease": func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal) { r.Lease = w.renewed(r) },
		"principal": func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal) {
			*p = bob
			r.Lease = w.passed(r)
		},
		"task":    func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal) { r.Task = "other" },
		"no task": func(w *world, r *controlplane.SubmitRequest, p *controlplane.Principal) { r.Task = "" },
	} {
		t.Run("CP-104/another "+name, func(t *testing.T) {
			w := newWorld(t)
			d, _ := w.macro("task")
			r := w.request(ann, "bot1")
			r.Parent, r.Task = d.Op, "task"
			p := ann
			change(w, &r, &p)
			_, err := w.g.Submit(w.ctx, p, r)
			w.conflicts(err)
		})
	}

	t.Run("CP-104/the same in all", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		r := w.request(ann, "bot1")
		r.Parent, r.Task = d.Op, "task"
		v, err := w.submit(ann, r)
		w.ok(err)
		w.is(v, operation.Queued)
	})

	t.Run("CP-105/each child has its own everything", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		deny := false
		w.h.Bind = func(q host.Gateway) host.Answer {
			b := w.h.Bound(q)
			if deny {
				b.Effects[0].Scope = "elsewhere"
			}
			return host.Answer{Gateway: q.ID, Bound: &b}
		}
		a, err := w.child(d.Op, "a")
		w.ok(err)
		deny = true
		b, err := w.child(d.Op, "b")
		w.ok(err)
		if b.State != "rejected" || b.Code != string(policy.CodeUnknownScope) {
			t.Fatalf("%+v", b)
		}
		deny = false
		c, err := w.child(d.Op, "c")
		w.ok(err)
		for range 2 {
			for _, d := range w.deliver().Deliveries {
				if d.Key != "a" && d.Key != "c" {
					t.Fatalf("delivered as %q", d.Key)
				}
				w.ok(w.h.Perform(w.ctx, d))
			}
		}
		w.is(w.look(ann, a.Op), operation.Succeeded)
		w.is(w.look(ann, c.Op), operation.Succeeded)
		w.is(w.look(ann, d.Op), operation.Accepted)
		page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{Parent: d.Op})
		w.ok(err)
		if len(page.Operations) != 3 {
			t.Fatalf("%d children", len(page.Operations))
		}
	})

	t.Run("CP-105/a child that is refused its confirmation", func(t *testing.T) {
		w := newWorld(t, func(w *world) {
			w.config.Rules = []policy.Rule{{ID: "ask", Layer: policy.LayerServer, Match: policy.Match{Kinds: []policy.Kind{policy.KindWorldPlace}}, Result: policy.Confirm}}
		})
		d, _ := w.macro("task")
		a, err := w.child(d.Op, "a")
		w.ok(err)
		v := w.look(pat, a.Op)
		w.is(v, operation.AwaitingConfirmation)
		no := yes(v)
		no.Approve = false
		_, err = w.confirm(no)
		w.ok(err)
		if b := w.deliver(); len(b.Cancellations) != 1 || b.Cancellations[0].Op != a.Op || b.Cancellations[0].Why != "rejected" {
			t.Fatalf("the host hears %+v", b)
		}
	})

	t.Run("CP-106/1,024 children, across a crash", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		for i := range host.MaxChildren {
			if i == 500 {
				w.crash()
				w.ok(w.h.Join(w.ctx))
				w.deliver()
			}
			_, err := w.child(d.Op, fmt.Sprint(i))
			w.ok(err)
		}
		_, err := w.child(d.Op, "one-more")
		w.code(err, controlplane.CodeCapacity)
		w.crash()
		w.ok(w.h.Join(w.ctx))
		_, err = w.child(d.Op, "one-more")
		w.code(err, controlplane.CodeCapacity)
		_, err = w.child(d.Op, "7") // one that is there
		w.ok(err)
	})

	t.Run("CP-107/a cancelled macro takes its children along", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		a, err := w.child(d.Op, "a")
		w.ok(err)
		w.ok(w.h.Accept(w.ctx, w.next()))
		b, err := w.child(d.Op, "b")
		w.ok(err)
		_, err = w.g.Cancel(w.ctx, ann, d.Op, "enough")
		w.ok(err)
		if v := w.is(w.look(ann, a.Op), operation.Accepted); v.CancelRequested == "" {
			t.Fatalf("%+v", v)
		}
		w.is(w.look(ann, b.Op), operation.Cancelled)
		_, err = w.child(d.Op, "c")
		w.conflicts(err)
		heard := map[host.OpID]bool{}
		for _, c := range w.deliver().Cancellations {
			heard[c.Op] = true
		}
		if !heard[d.Op] || !heard[a.Op] || !heard[b.Op] { // b ended before delivery: its macro hears so
			t.Fatalf("the host hears of %v", heard)
		}
	})

	t.Run("CP-107/one child is cancelled alone", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		a, err := w.child(d.Op, "a")
		w.ok(err)
		b, err := w.child(d.Op, "b")
		w.ok(err)
		_, err = w.g.Cancel(w.ctx, ann, a.Op, "not this one")
		w.ok(err)
		w.is(w.look(ann, a.Op), operation.Cancelled)
		w.is(w.look(ann, b.Op), operation.Queued)
		if v := w.look(ann, d.Op); v.CancelRequested != "" {
			t.Fatalf("%+v", v)
		}
	})

	t.Run("CP-107/a macro that ends leaves nothing behind", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		a, err := w.child(d.Op, "a")
		w.ok(err)
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "out_of_items", false)))
		w.is(w.look(ann, a.Op), operation.Cancelled)
	})
}

// childOf makes r a child of the same macro on another actor.
func (w *world) childOf(r *controlplane.SubmitRequest, p controlplane.Principal, actor host.Name) controlplane.SubmitRequest {
	other := w.request(p, actor)
	other.Parent, other.Task = r.Parent, r.Task
	return other
}

// renewed gives the lease back and takes a new one: another controller, the same principal. The macro is asked to end by
// that, which is a conflict too.
func (w *world) renewed(r *controlplane.SubmitRequest) string {
	w.ok(w.g.Release(w.ctx, ann, "bot1", r.Lease))
	return w.lease(ann, "bot1")
}

// passed gives the lease to bob.
func (w *world) passed(r *controlplane.SubmitRequest) string {
	w.ok(w.g.Release(w.ctx, ann, "bot1", r.Lease))
	return w.lease(bob, "bot1")
}

// slowReply is an engine whose next change is on disk long before its caller hears of it.
type slowReply struct {
	store.Engine
	next            atomic.Bool
	stored, release chan struct{}
}

func (s *slowReply) Update(f func(store.Tx) error) error {
	err := s.Engine.Update(f)
	if s.next.CompareAndSwap(true, false) {
		close(s.stored)
		<-s.release
	}
	return err
}

// slowView is an engine one of whose views has read, and takes its time to tell.
type slowView struct {
	store.Engine
	next          atomic.Bool
	seen, release chan struct{}
}

func (s *slowView) View(f func(store.Tx) error) error {
	err := s.Engine.View(f)
	if s.next.CompareAndSwap(true, false) {
		close(s.seen)
		<-s.release
	}
	return err
}

// lastWord is the last stop or clear of a batch; the zero Cancellation: there is none.
func lastWord(b host.Batch) (last host.Cancellation) {
	for _, c := range b.Cancellations {
		if c.Stop || c.Clear {
			last = c
		}
	}
	return last
}
