package controlplane_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"blockworld/controlplane"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

func (s *schedule) submits() {
	actor := s.actor()
	who := rapid.SampledFrom([]controlplane.Principal{ann, ann, ann, bob}).Draw(s.r, "who")
	epoch, seq := s.h.Seen(actor)
	lease, _ := s.g.LeaseOf(s.ctx, who, actor)
	r := controlplane.SubmitRequest{Actor: actor, Lease: lease.ID, Epoch: epoch, Sequence: seq, Key: fmt.Sprintf("k%d", rapid.IntRange(0, 40).Draw(s.r, "key")), Action: action("place_block", 1)}
	if r.Lease == "" {
		r.Lease = "none"
	}
	switch rapid.IntRange(0, 9).Draw(s.r, "condition") {
	case 0:
		r.Epoch.World++
	case 1:
		r.Sequence++
	case 2:
		r.Sequence = max(1, seq-min(seq-1, 8))
	case 3:
		r.Action = action("place_block", 2)
	}
	s.risk = rapid.SampledFrom([]string{"low", "low", "low", "moderate", "high"}).Draw(s.r, "risk")
	s.carried(who, r)
}

// carried sends a submit and checks what comes of it.
func (s *schedule) carried(who controlplane.Principal, r controlplane.SubmitRequest) {
	key := string(who.ID) + " " + r.Key
	result := map[string]operation.Result{"low": operation.Allow, "moderate": operation.Confirm, "high": operation.Deny}[s.risk]
	old, repeated := s.m.keys[key]
	var v operation.View
	var err error
	s.lastID = host.OpID{}
	s.act(func(m *model) {
		if repeated || s.lastID == (host.OpID{}) {
			return
		}
		m.submit(key, s.lastID, modelOp{actor: r.Actor, lease: s.numbers[r.Lease], epoch: r.Epoch.World}, result)
	}, func() error {
		v, err = s.submit(who, r)
		return nil
	})
	if s.lastID != (host.OpID{}) {
		s.ids = append(s.ids, s.lastID)
	}
	if err != nil && controlplane.CodeOf(err) == controlplane.CodeUnavailable && !repeated && s.lastID != (host.OpID{}) {
		return // the crash
	}
	switch {
	case repeated && controlplane.CodeOf(err) == controlplane.CodeConflict:
		if s.payload(old) == s.argsOf(r) {
			s.t.Fatalf("the repeat of %s: %v", old, err)
		}
	case repeated:
		if err != nil || v.ID != old {
			s.t.Fatalf("key %s gave %s, then %s (%v)", key, old, v.ID, err)
		}
	default:
		want := s.m.admit(r.Actor, who.ID, s.numbers[r.Lease], r.Epoch.World, r.Sequence)
		if controlplane.CodeOf(err) != want {
			s.t.Fatalf("submit: %v, should be %q", err, want)
		}
	}
}

func (s *schedule) payload(id host.OpID) string {
	var out string
	s.ok(s.engine.View(func(tx store.Tx) error {
		op, err := store.Ops(tx).Get(id)
		out = string(op.Actor) + string(op.Action.Arguments)
		return err
	}))
	return out
}

func (s *schedule) argsOf(r controlplane.SubmitRequest) string {
	return string(r.Actor) + string(r.Action.Arguments)
}

func (s *schedule) confirms() {
	id, ok := s.pick(func(_ host.OpID, o modelOp) bool { return o.state == operation.AwaitingConfirmation })
	if !ok {
		return
	}
	v := s.look(pat, id)
	if v.Challenge == nil {
		s.t.Fatal("no challenge")
	}
	r := yes(v)
	r.Approve = rapid.Bool().Draw(s.r, "approve")
	var want controlplane.Code
	var err error
	s.act(func(m *model) { want = m.confirm(id, r.Approve) }, func() error {
		_, err = s.confirm(r)
		return nil
	})
	if code := controlplane.CodeOf(err); code != want && code != controlplane.CodeUnavailable {
		s.t.Fatalf("confirm: %v, should be %q", err, want)
	}
}

func (s *schedule) cancels() {
	id, ok := s.pick(func(_ host.OpID, o modelOp) bool { return o.waits() || o.out() })
	if !ok {
		return
	}
	s.act(func(m *model) {
		o := m.ops[id]
		o.asked = true
		if o.waits() {
			o = o.ends(operation.Cancelled)
		}
		m.ops[id] = o
	}, func() error { return s.crashOr(s.g.Cancel(s.ctx, ann, id, "x")) })
}

// crashOr drops the error of a call that fell into a crash.
func (s *schedule) crashOr(_ operation.View, err error) error {
	if s.engine.dead {
		return nil
	}
	return err
}

func (s *schedule) alive(err error) error {
	if s.engine.dead {
		return nil
	}
	return err
}

func (s *schedule) polls() {
	if !s.m.online {
		return
	}
	var b host.Batch
	s.act(func(m *model) { m.poll() }, func() (err error) {
		b, err = s.h.PollOnce(s.ctx, host.MaxBatch, 0)
		if s.engine.dead {
			b = host.Batch{} // it never arrived
			return nil
		}
		for _, d := range b.Deliveries {
			s.got[d.Op] = d
		}
		return err
	})
	for _, d := range b.Deliveries {
		o := s.m.ops[d.Op]
		if !o.out() || d.Accepted != o.acked {
			s.t.Fatalf("delivered %+v, it is %+v", d, o)
		}
	}
}

func (s *schedule) acks() {
	id, ok := s.pick(func(id host.OpID, o modelOp) bool {
		_, given := s.got[id]
		return given && (o.state == operation.Delivered || o.state == operation.Accepted || o.state == operation.Running)
	})
	if !ok {
		return
	}
	d, was := s.got[id], s.m.ops[id]
	a := host.Ack{Op: id, Accepted: true, Digest: d.Bound.Digest}
	to := operation.Accepted
	if was.state == operation.Delivered {
		switch rapid.IntRange(0, 5).Draw(s.r, "answer") {
		case 0:
			a, to = host.Ack{Op: id, Code: "busy"}, operation.Rejected
		case 1:
			a, to = host.Ack{Op: id, Code: host.CodeUnbound}, operation.Stale
		}
	}
	s.act(func(m *model) {
		o := m.ops[id]
		switch {
		case o.state != operation.Delivered: // a repeat
		case to == operation.Accepted:
			o = o.takes()
			o.state = to
		default:
			o = o.ends(to)
		}
		m.ops[id] = o
	}, func() error { return s.alive(s.g.Host().Ack(s.ctx, s.h.Session(), a)) })
}

func (s *schedule) reports() {
	id, ok := s.pick(func(id host.OpID, o modelOp) bool {
		return o.state == operation.Accepted || o.state == operation.Running
	})
	if !ok {
		return
	}
	if rapid.Bool().Draw(s.r, "send") {
		s.sent[id] = true
	}
	s.seqs[id]++
	s.act(func(m *model) {
		o := m.ops[id]
		o.state = operation.Running
		m.ops[id] = o
	}, func() error { return s.alive(s.h.Progress(s.ctx, id, s.seqs[id], 1, "on it")) })
}

func (s *schedule) outcomes() {
	id, ok := s.pick(func(id host.OpID, o modelOp) bool { return o.out() && o.acked })
	if !ok {
		return
	}
	o, told := s.ended[id]
	if !told { // what a host has found once it says for ever
		o = hosttest.Ended(id, host.Failed, "refused", s.sent[id])
		if s.sent[id] {
			switch rapid.IntRange(0, 2).Draw(s.r, "end") {
			case 0:
				o = hosttest.Proven(id, 1)
			case 1:
				o = hosttest.Ended(id, host.Succeeded, "processed", true)
			}
		}
		s.ended[id] = o
	}
	to := operation.Failed
	if o.Status == host.Succeeded {
		to = operation.Succeeded
	}
	s.act(func(m *model) { m.ops[id] = m.ops[id].ends(to) },
		func() error { return s.alive(s.h.Report(s.ctx, o)) })
}

// repeats says again what was said, and something else, of what has ended.
func (s *schedule) repeats() {
	id, ok := s.pick(func(id host.OpID, o modelOp) bool { _, told := s.ended[id]; return told && !o.out() && !o.closed })
	if !ok || !s.m.online {
		return
	}
	s.ok(s.h.Report(s.ctx, s.ended[id]))
	other := s.ended[id]
	other.Code = "another"
	s.code(s.h.Report(s.ctx, other), controlplane.CodeConflict)
	s.agree()
}

func (s *schedule) acquires() {
	actor := s.actor()
	who := rapid.SampledFrom([]controlplane.Principal{ann, ann, bob}).Draw(s.r, "who")
	ttl := time.Duration(rapid.IntRange(5, 60).Draw(s.r, "ttl")) * time.Second
	var l controlplane.Lease
	var err error
	var want controlplane.Code
	s.act(func(m *model) {
		old, live := m.live(actor)
		if live && old.holder != who.ID {
			want = controlplane.CodeLeaseConflict
			return
		}
		if !live {
			m.fence(actor, operation.Stale)
			if l.ID == "" { // crashed: whatever it is, it is found by looking
				l.ID = fmt.Sprint("lost ", len(s.numbers))
			}
			s.numbers[l.ID] = len(s.numbers) + 1
			old = modelLease{number: s.numbers[l.ID], holder: who.ID}
		}
		old.until = m.now.Add(ttl)
		m.leases[actor] = old
	}, func() error { l, err = s.g.Acquire(s.ctx, who, actor, ttl); return nil })
	if code := controlplane.CodeOf(err); code != want && code != controlplane.CodeUnavailable {
		s.t.Fatalf("acquire: %v, should be %q", err, want)
	}
	s.known(who, actor)
}

// known gives a lease that came with a crash its number.
func (s *schedule) known(who controlplane.Principal, actor host.Name) {
	l, err := s.g.LeaseOf(s.ctx, who, actor)
	s.ok(err)
	if l.ID != "" && s.numbers[l.ID] == 0 {
		s.numbers[l.ID] = s.m.leases[actor].number
	}
}

func (s *schedule) releases() {
	actor := s.actor()
	l, live := s.m.live(actor)
	if !live {
		return
	}
	who := ann
	if l.holder == bob.ID {
		who = bob
	}
	held, err := s.g.LeaseOf(s.ctx, who, actor)
	s.ok(err)
	s.act(func(m *model) { m.fence(actor, operation.Stale); delete(m.leases, actor) },
		func() error { return s.alive(s.g.Release(s.ctx, who, actor, held.ID)) })
}

func (s *schedule) stops() {
	actor := s.actor()
	if !s.m.stops[actor] {
		s.act(func(m *model) { m.stops[actor] = true; m.fence(actor, operation.Cancelled) },
			func() error { _, err := s.g.Stop(s.ctx, ann, actor, "x"); return s.alive(err) })
		return
	}
	s.act(func(m *model) {
		m.stops[actor] = false
		m.clear[actor] = m.seq[actor]
		m.fence(actor, operation.Stale)
		delete(m.leases, actor)
	}, func() error { _, err := s.g.ClearStop(s.ctx, ann, actor); return s.alive(err) })
}

func (s *schedule) respawns() {
	actor := s.actor()
	s.act(func(m *model) { m.publish(actor, m.epoch[actor]+1); m.clear[actor] = 0 },
		func() error { return s.alive(s.h.Respawn(s.ctx, actor)) })
}

func (s *schedule) publishes() {
	actor := s.actor()
	s.act(func(m *model) { m.publish(actor, m.epoch[actor]) }, func() error { return s.alive(s.h.Publish(s.ctx, actor)) })
}

func (s *schedule) passes() {
	d := time.Duration(rapid.IntRange(1, 29).Draw(s.r, "seconds")) * time.Second
	s.ok(s.h.Renew(s.ctx))
	s.clock.Advance(d)
	s.m.now = s.clock.Now()
	if rapid.Bool().Draw(s.r, "sweep") {
		s.act(func(m *model) { m.expire() }, func() error { return s.alive(s.g.Sweep()) })
	}
	s.ok(s.h.Renew(s.ctx))
}

func (s *schedule) silence() {
	s.clock.Advance(31 * time.Second)
	s.m.now = s.clock.Now()
	s.act(func(m *model) { m.expire(); m.lose() }, func() error { return s.alive(s.g.Sweep()) })
	s.join(uint64(rapid.IntRange(0, 1).Draw(s.r, "new process")))
}

func (s *schedule) hostCrashes() { s.join(1) }

func (s *schedule) linkBreaks() { s.join(0) }

func (s *schedule) closes() {
	id, ok := s.pick(func(id host.OpID, o modelOp) bool { return o.state == operation.OutcomeUnknown && !o.closed })
	if !ok {
		return
	}
	s.act(func(m *model) { o := m.ops[id]; o.closed = true; m.ops[id] = o },
		func() error { return s.crashOr(s.g.AcceptUnverified(s.ctx, root, id)) })
}

// reads are (g): no byte changes.
func (s *schedule) reads() {
	before := s.disk()
	actor := s.actor()
	for _, id := range s.ids {
		_, _ = s.g.Operation(s.ctx, pat, id)
		_, _ = s.g.Wait(s.ctx, ann, controlplane.WaitRequest{Op: id, Cursor: "x"})
	}
	_, err := s.g.Actors(s.ctx, ann)
	s.ok(err)
	_, err = s.g.Wait(s.ctx, ann, controlplane.WaitRequest{Actor: actor})
	s.ok(err)
	s.risk = rapid.SampledFrom([]string{"low", "moderate", "high"}).Draw(s.r, "risk")
	epoch, seq := s.h.Seen(actor)
	l, _ := s.g.LeaseOf(s.ctx, ann, actor)
	_, _ = served(s.world, func() (controlplane.Explanation, error) {
		return s.g.Explain(s.ctx, ann, controlplane.SubmitRequest{Actor: actor, Lease: l.ID, Epoch: epoch, Sequence: seq, Action: action("place_block", 3)})
	})
	s.g.Stats()
	if s.disk() != before {
		s.t.Fatal("(g) a read changed the store")
	}
	s.agree()
}
