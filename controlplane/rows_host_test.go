package controlplane_test

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

func TestIdentityRows(t *testing.T) {
	t.Run("CP-77/the same request is the same operation", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		first, err := w.submit(ann, r)
		w.ok(err)
		for i := range 100 {
			switch i {
			case 30:
				w.crash()
			case 60:
				w.ok(w.h.Join(w.ctx))
				w.ok(w.h.Perform(w.ctx, w.next()))
			}
			r.Action.Arguments = json.RawMessage(strings.Replace(string(r.Action.Arguments), ":", ": ", 1))
			v, err := w.g.Submit(w.ctx, ann, r)
			w.ok(err)
			if v.ID != first.ID {
				t.Fatal("another operation")
			}
		}
		if w.h.Binds() != 1 || w.h.Sent()[first.ID] != 1 {
			t.Fatalf("%d binds, sent %v", w.h.Binds(), w.h.Sent())
		}
	})

	t.Run("CP-78/another payload is a conflict", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		v, err := w.submit(ann, r)
		w.ok(err)
		for name, change := range map[string]func(*controlplane.SubmitRequest){
			"argument":   func(r *controlplane.SubmitRequest) { r.Action = action("place_block", 77) },
			"capability": func(r *controlplane.SubmitRequest) { r.Action.Capability = "move_to" },
			"task":       func(r *controlplane.SubmitRequest) { r.Task = "t" },
			"actor":      func(r *controlplane.SubmitRequest) { r.Actor = "bot2" },
			"parent":     func(r *controlplane.SubmitRequest) { r.Parent = v.ID },
		} {
			other := r
			change(&other)
			if _, err := w.g.Submit(w.ctx, ann, other); controlplane.CodeOf(err) != controlplane.CodeConflict {
				t.Errorf("%s: %v", name, err)
			}
		}
		theirs := w.request(bob, "bot2")
		theirs.Key = r.Key
		b, err := w.submit(bob, theirs)
		w.ok(err)
		if b.ID == v.ID {
			t.Fatal("another principal's key is the same")
		}
	})

	t.Run("CP-79/after a lost reply the exact retry finds it", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		first, err := w.submit(ann, r)
		w.ok(err)
		w.publish("bot1", 20) // its observation is long gone
		again, err := w.g.Submit(w.ctx, ann, r)
		w.ok(err)
		if again.ID != first.ID {
			t.Fatal("a second operation")
		}
	})

	t.Run("CP-79/a key outlives its pruned operation", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opt.Retain = time.Hour })
		r := w.request(ann, "bot1")
		first, err := w.submit(ann, r)
		w.ok(err)
		w.ok(w.h.Perform(w.ctx, w.next()))
		w.sweep(2 * time.Hour)
		if _, err := w.g.Operation(w.ctx, ann, first.ID); controlplane.CodeOf(err) != controlplane.CodeNotFound {
			t.Fatalf("not pruned: %v", err)
		}
		again, err := w.g.Submit(w.ctx, ann, r)
		w.ok(err)
		if again.ID != first.ID || again.State != operation.Succeeded || !again.ExecutionConfirmed {
			t.Fatalf("%+v", again)
		}
		r.Action = action("place_block", 99)
		_, err = w.g.Submit(w.ctx, ann, r)
		w.conflicts(err)
		w.ok(w.h.Join(w.ctx))
		w.ok(w.h.Report(w.ctx, hosttest.Proven(first.ID, 1)))
		w.conflicts(w.h.Report(w.ctx, hosttest.Ended(first.ID, host.Failed, "x", true)))
		w.conflicts(w.h.Report(w.ctx, hosttest.Proven(first.ID, 2))) // the same word with another receipt is another outcome
	})

	t.Run("CP-88/a stranger's report does not put a redelivery off", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		w.next() // and no answer
		other := hosttest.New(w.g.Host(), "far", "bot3")
		w.ok(other.Join(w.ctx))
		w.clock.Advance(9 * time.Second)
		w.code(other.Report(w.ctx, hosttest.Proven(v.ID, 1)), controlplane.CodeNotFound)
		w.sweep(2 * time.Second)
		w.sweep(3 * time.Second)
		if d := w.next(); d.Op != v.ID || d.Attempt != 2 {
			t.Fatalf("%+v", d)
		}
	})

	t.Run("CP-80/a wait lasts 25 seconds at most", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued(ann, "bot1")
		for ms, want := range map[int64]controlplane.Code{-1: "invalid", 0: "", 25_000: "", 25_001: "invalid"} {
			_, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID, TimeoutMS: ms})
			w.code(err, want)
		}
	})

	t.Run("CP-80/a cursor is opaque, and a mangled one gets the present view", func(t *testing.T) {
		w := newWorld(t)
		v, other := w.queued(ann, "bot1"), w.queued(ann, "bot1")
		a, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID})
		w.ok(err)
		b, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: other.ID})
		w.ok(err)
		for _, cursor := range []string{"1", "AAAA", b.Cursor, a.Cursor + "A", a.Cursor[:len(a.Cursor)-1], strings.ToUpper(a.Cursor), "%%%", strings.Repeat("A", 5000)} {
			got, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: 25_000})
			w.ok(err)
			if !got.Changed || got.Cursor != a.Cursor || got.Operation.ID != v.ID {
				t.Fatalf("cursor %q: %+v", cursor, got)
			}
		}
	})

	t.Run("CP-81/the end of a wait ends nothing else", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		a, err := w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: d.Op})
		w.ok(err)
		done := aside(func() (controlplane.WaitResult, error) {
			return w.g.Wait(w.ctx, ann, controlplane.WaitRequest{Op: d.Op, Cursor: a.Cursor, TimeoutMS: 1000})
		})
		w.until("the wait", func() bool { return w.g.Stats().Waiters == 1 })
		w.sweep(time.Second)
		b := <-done
		w.ok(b.err)
		if b.v.Changed {
			t.Fatal("changed")
		}
		w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		w.is(w.look(ann, d.Op), operation.Succeeded)
	})

	t.Run("CP-81/news ends a wait", func(t *testing.T) {
		w := newWorld(t)
		d, _ := w.macro("task")
		for _, r := range []controlplane.WaitRequest{{Op: d.Op}, {Actor: "bot1"}, {Task: "task"}} {
			a, err := w.g.Wait(w.ctx, ann, r)
			w.ok(err)
			r.Cursor, r.TimeoutMS = a.Cursor, 25_000
			waiters := w.g.Stats().Waiters
			done := aside(func() (controlplane.WaitResult, error) { return w.g.Wait(w.ctx, ann, r) })
			w.until("the wait", func() bool { return w.g.Stats().Waiters == waiters+1 })
			w.n++
			w.ok(w.h.Progress(w.ctx, d.Op, uint64(w.n), 1, "on it"))
			b := <-done
			w.ok(b.err)
			if !b.v.Changed || r.Op == (host.OpID{}) && (len(b.v.Operations) != 1 || b.v.Operations[0].ID != d.Op) {
				t.Fatalf("%+v", b.v)
			}
		}
	})
}

func TestHostRows(t *testing.T) {
	t.Run("CP-82/one of each in a batch", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		d := w.next()
		w.queued(ann, "bot1")
		_, err := w.g.Cancel(w.ctx, ann, d.Op, "no need")
		w.ok(err)
		done := aside(func() (json.RawMessage, error) { return w.g.Read(w.ctx, ann, "bot1", action("world_status", 0)) })
		w.asked(1)
		b := w.deliver()
		if len(b.Gateways) != 1 || b.Gateways[0].Ask != host.AskRead || len(b.Deliveries) != 1 || len(b.Cancellations) != 1 {
			t.Fatalf("%+v", b)
		}
		if a := <-done; a.err != nil || string(a.v) != `{}` {
			t.Fatalf("%s %v", a.v, a.err)
		}
	})

	t.Run("CP-82/limits of a poll", func(t *testing.T) {
		w := newWorld(t)
		for limit, want := range map[int]controlplane.Code{0: "invalid", 1: "", 64: "", 65: "invalid", -1: "invalid"} {
			_, err := w.g.Host().Poll(w.ctx, w.h.Session(), limit, 0)
			w.code(err, want)
		}
		_, err := w.g.Host().Poll(w.ctx, w.h.Session(), 1, 25_001*time.Millisecond)
		w.code(err, controlplane.CodeInvalid)
		for range 5 {
			w.queued(ann, "bot1")
		}
		b, err := w.h.PollOnce(w.ctx, 3, 0)
		w.ok(err)
		if len(b.Deliveries) != 3 {
			t.Fatalf("%d deliveries", len(b.Deliveries))
		}
	})

	t.Run("CP-82/an idle poll ends at its time", func(t *testing.T) {
		w := newWorld(t)
		done := aside(func() (host.Batch, error) { return w.g.Host().Poll(w.ctx, w.h.Session(), 64, 20*time.Second) })
		for {
			w.sweep(time.Second)
			w.ok(w.h.Renew(w.ctx))
			select {
			case a := <-done:
				if w.ok(a.err); !a.v.Empty() {
					t.Fatalf("%+v", a.v)
				}
				return
			default:
			}
		}
	})

	t.Run("CP-83/a gateway answer counts once", func(t *testing.T) {
		w := newWorld(t)
		var answers []host.Answer
		w.h.Bind = func(q host.Gateway) host.Answer {
			answers = append(answers, w.h.Reply(q))
			return answers[len(answers)-1]
		}
		v := w.queued(ann, "bot1")
		w.ok(w.g.Host().Answer(w.ctx, w.h.Session(), answers[0]))
		w.ok(w.g.Host().Answer(w.ctx, w.h.Session(), host.Answer{Gateway: answers[0].Gateway, Code: "another"}))
		if again := w.look(ann, v.ID); again.Version != v.Version {
			t.Fatal("the repeat changed something")
		}
		w.code(w.g.Host().Answer(w.ctx, w.h.Session(), host.Answer{Gateway: 99, Code: "x"}), controlplane.CodeNotFound)
	})

	t.Run("CP-84/an acknowledgement counts once", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		d := w.next()
		w.ok(w.h.Accept(w.ctx, d))
		w.ok(w.h.Accept(w.ctx, d))
		w.conflicts(w.h.Refuse(w.ctx, d, "changed_my_mind"))
		other := d
		other.Bound.Digest = sha256.Sum256([]byte("other"))
		w.conflicts(w.h.Accept(w.ctx, other))
		w.queued(ann, "bot1")
		d = w.next()
		w.ok(w.h.Refuse(w.ctx, d, "busy"))
		w.ok(w.h.Refuse(w.ctx, d, "busy"))
		w.conflicts(w.h.Refuse(w.ctx, d, "other"))
		w.conflicts(w.h.Accept(w.ctx, d))
	})

	t.Run("CP-85/progress is optional", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		if v := w.is(w.look(ann, d.Op), operation.Succeeded); v.Run != nil {
			t.Fatalf("%+v", v.Run)
		}
	})

	t.Run("CP-86/one outcome", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.crash() // the effect happened, its report did not come through
		w.ok(w.h.Join(w.ctx))
		for range 3 { // the outbox repeats it
			w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		}
		v := w.is(w.look(ann, d.Op), operation.Succeeded)
		w.conflicts(w.h.Report(w.ctx, hosttest.Proven(d.Op, 2)))
		w.conflicts(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "x", true)))
		if diff := cmp.Diff(v, w.look(ann, d.Op)); diff != "" {
			t.Fatal(diff)
		}
	})

	t.Run("CP-87/cut before the acknowledgement", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		d := w.next()
		w.sweep(31 * time.Second)
		w.is(w.look(ann, d.Op), operation.Delivered)
		w.ok(w.h.Join(w.ctx))
		again := w.next()
		if again.Op != d.Op || again.Attempt != 2 || again.Accepted {
			t.Fatalf("%+v", again)
		}
		w.ok(w.h.Refuse(w.ctx, again, host.CodeUnbound))
		w.is(w.look(ann, d.Op), operation.Stale)
	})

	t.Run("CP-88/redelivered after a while, sent once", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.h.Send(d.Op)
		for range 1000 {
			if b := w.deliver(); !b.Empty() {
				t.Fatalf("at once: %+v", b)
			}
		}
		for i := range 5 {
			for range 10 {
				w.sweep(15 * time.Second)
				w.ok(w.h.Renew(w.ctx))
			}
			again := w.next()
			if !again.Accepted || int(again.Attempt) != i+2 {
				t.Fatalf("%+v", again)
			}
			w.h.Send(again.Op)
			w.ok(w.h.Accept(w.ctx, again))
		}
		if n := w.h.Sent()[d.Op]; n != 1 {
			t.Fatalf("%d packets", n)
		}
	})

	t.Run("CP-88/an unanswered delivery comes again more and more slowly", func(t *testing.T) {
		w := newWorld(t)
		w.queued(ann, "bot1")
		w.next()
		var at []int
		for s := 1; s <= 300; s++ {
			w.sweep(time.Second)
			w.ok(w.h.Renew(w.ctx))
			w.lease(ann, "bot1")
			if b := w.deliver(); len(b.Deliveries) > 0 {
				at = append(at, s)
			}
		}
		if len(at) < 4 || len(at) > 6 || at[0] < 10 || at[1]-at[0] < 20 || at[2]-at[1] < 40 {
			t.Fatalf("at seconds %v", at)
		}
	})

	t.Run("CP-89/sent, and nobody knows what came of it", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Unknown, "unverified_effect", true)))
		v := w.is(w.look(ann, d.Op), operation.OutcomeUnknown)
		if v.Terminal || !v.ReconciliationPending || v.ExecutionConfirmed {
			t.Fatalf("%+v", v)
		}
		v, err := w.g.AcceptUnverified(w.ctx, root, d.Op)
		w.ok(err)
		if w.is(v, operation.OutcomeUnknown); !v.Terminal || v.ReconciliationPending || v.ExecutionConfirmed || v.Closure != "accepted_unverified" {
			t.Fatalf("%+v", v)
		}
		_, err = w.g.AcceptUnverified(w.ctx, ann, d.Op)
		w.code(err, controlplane.CodeForbidden)
	})

	t.Run("CP-92/nothing is taken until the host has published again", func(t *testing.T) {
		w := newWorld(t)
		r := w.request(ann, "bot1")
		w.crash()
		_, err := w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnavailable)
		w.code(w.h.Publish(w.ctx, "bot1"), controlplane.CodeUnavailable)
		w.ok(w.h.Register(w.ctx))
		_, err = w.g.Submit(w.ctx, ann, r)
		w.code(err, controlplane.CodeUnavailable)
		w.publish("bot1", 1)
		r.Epoch, r.Sequence = w.h.Seen("bot1")
		v, err := w.submit(ann, r)
		w.ok(err)
		w.is(v, operation.Queued)
	})

	t.Run("CP-92/the token of an old session", func(t *testing.T) {
		w := newWorld(t)
		old := w.h.Session()
		w.ok(w.h.Join(w.ctx))
		g := w.g.Host()
		_, errp := g.Poll(w.ctx, old, 1, 0)
		for _, err := range []error{errp, g.Answer(w.ctx, old, host.Answer{Gateway: 1, Code: "x"}), g.Publish(w.ctx, old, host.Publication{Actor: "bot1", Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, Sequence: 99})} {
			w.code(err, controlplane.CodeForbidden)
		}
	})

	t.Run("CP-92/a host speaks for its own only", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		other := hosttest.New(w.g.Host(), "away", "bot3")
		w.ok(other.Join(w.ctx))
		w.code(other.Report(w.ctx, hosttest.Proven(d.Op, 1)), controlplane.CodeNotFound)
		err := w.g.Host().Publish(w.ctx, other.Session(), host.Publication{Actor: "bot1", Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, Sequence: 99})
		w.code(err, controlplane.CodeForbidden)
		thief := hosttest.New(w.g.Host(), "thief", "bot1")
		w.code(thief.Register(w.ctx), controlplane.CodeConflict)
		_, err = w.g.Host().SubmitChild(w.ctx, other.Session(), host.Child{Parent: d.Op, Key: "k", Action: d.Action})
		w.code(err, controlplane.CodeNotFound)
	})

	t.Run("CP-93/ids and ends survive", func(t *testing.T) {
		w := newWorld(t, asking)
		w.config.Rules = nil
		w.g.SetPolicy(w.compile())
		w.ok(w.h.Perform(w.ctx, func() host.Delivery { w.queued(ann, "bot1"); return w.next() }()))
		d := w.accepted(ann, "bot1")
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Failed, "refused", true)))
		v := w.queued(ann, "bot1")
		_, err := w.g.Cancel(w.ctx, ann, v.ID, "x")
		w.ok(err)
		list := func() controlplane.Page {
			page, err := w.g.Operations(w.ctx, ann, controlplane.Filter{})
			w.ok(err)
			return page
		}
		before := list()
		w.crash()
		if diff := cmp.Diff(before, list()); diff != "" || len(before.Operations) != 3 {
			t.Fatal(diff)
		}
	})

	t.Run("CP-94/a cancel undoes nothing", func(t *testing.T) {
		w := newWorld(t)
		d := w.accepted(ann, "bot1")
		w.h.Send(d.Op)
		v, err := w.g.Cancel(w.ctx, ann, d.Op, "too late")
		w.ok(err)
		w.is(v, operation.Accepted)
		w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
		if v = w.is(w.look(ann, d.Op), operation.Succeeded); v.CancelRequested != "too late" || !v.ExecutionConfirmed || w.h.Sent()[d.Op] != 1 {
			t.Fatalf("%+v", v)
		}
	})

	t.Run("CP-95/capabilities say how they can be cancelled", func(t *testing.T) {
		w := newWorld(t)
		all, err := w.g.Capabilities(w.ctx, ann, "bot1")
		w.ok(err)
		got := map[string]string{}
		for _, c := range all {
			got[c.Name] = c.Cancellation
		}
		want := map[string]string{"place_block": "unsupported_once_sent", "move_to": "cooperative", "world_status": "preemptive", "build_structure": "cooperative"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})

	t.Run("CP-96/the host says how it ended", func(t *testing.T) {
		w := newWorld(t)
		for _, o := range []host.Outcome{{Status: host.Cancelled, Code: "cancelled", Output: json.RawMessage(`{"at":[3,64,0]}`), Sent: true}, {Status: host.Succeeded, Sent: true}} {
			d := w.accepted(ann, "bot1")
			_, err := w.g.Cancel(w.ctx, ann, d.Op, "stop there")
			w.ok(err)
			w.deliver()
			o.Op = d.Op
			w.ok(w.h.Report(w.ctx, o))
			v := w.look(ann, d.Op)
			if v.State.String() != string(o.Status) || string(v.Output) != string(o.Output) && len(o.Output) > 0 {
				t.Fatalf("%v %s", v.State, v.Output)
			}
		}
	})
}
