package hosting_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
)

// desk is a daemon that a test plays: it asks, delivers and cancels what the test says, and keeps what it is told.
type desk struct {
	most int      // children of all operations; 0: as many as one may have
	left []uint64 // generations that were ended in good order
	t    *testing.T

	mu           sync.Mutex
	changed      chan struct{} // closed at every change
	generation   uint64
	down         bool // every call fails
	manifest     host.Manifest
	batch        host.Batch
	asked        uint64
	publications map[host.Name][]host.Publication
	answers      map[uint64]host.Answer
	acks         map[host.OpID][]host.Ack
	runs         map[host.OpID][]host.Run
	outcomes     map[host.OpID][]host.Outcome
	under        func()                           // while a publication is under way; nil: nothing
	refuseAck    error                            // what Ack answers
	refuseOut    error                            // what Outcome answers
	policy       func(*operation) (code string)   // of children; nil allows
	hold         func(*operation) <-chan struct{} // before a child is delivered; nil: at once
	room         func() bool                      // for another child; nil: always
	blueprints   map[effects.Digest][]byte
	ops          map[host.OpID]*operation
	keys         map[string]host.OpID
	children     []host.OpID
}

// operation is what the desk keeps of an operation.
type operation struct {
	actor    host.Name
	id       host.OpID
	parent   host.OpID
	key      string
	action   host.Action
	bound    host.Bound
	attempt  uint32
	accepted bool
	state    string
}

// coded is an error with a stable word.
type coded struct{ code string }

func (e *coded) Error() string     { return e.code }
func (e *coded) ErrorCode() string { return e.code }

func newDesk(t *testing.T) *desk {
	return &desk{
		t: t, changed: make(chan struct{}), publications: map[host.Name][]host.Publication{}, answers: map[uint64]host.Answer{},
		acks: map[host.OpID][]host.Ack{}, runs: map[host.OpID][]host.Run{}, outcomes: map[host.OpID][]host.Outcome{},
		blueprints: map[effects.Digest][]byte{}, ops: map[host.OpID]*operation{}, keys: map[string]host.OpID{},
	}
}

// say runs f under the lock and tells whoever waits.
func (d *desk) say(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

// acksOf are the acknowledgements of an operation so far.
func (d *desk) acksOf(op host.OpID) []host.Ack {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.acks[op])
}

// await waits until f says true.
func (d *desk) await(what string, f func() bool) {
	d.t.Helper()
	limit := time.NewTimer(60 * time.Second)
	defer limit.Stop()
	for {
		d.mu.Lock()
		ok, changed := f(), d.changed
		d.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			for id, all := range d.runs {
				d.t.Logf("%s: %+v", id, all[max(0, len(all)-3):])
			}
			d.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (d *desk) live(s host.Session) error {
	if d.down || s.Generation != d.generation {
		return &coded{"unavailable"}
	}
	return nil
}

func (d *desk) Register(_ context.Context, m host.Manifest) (s host.Session, err error) {
	d.say(func() {
		if d.down {
			err = &coded{"unavailable"}
			return
		}
		d.generation++
		d.manifest = m
		s = host.Session{Host: m.Host, Token: fmt.Sprint("token-", d.generation), Generation: d.generation, TTLMS: 30_000}
	})
	return s, err
}

func (d *desk) Renew(_ context.Context, s host.Session) (host.Session, error) { return s, nil }
func (d *desk) Unregister(_ context.Context, s host.Session) error {
	d.say(func() { d.left = append(d.left, s.Generation) })
	return nil
}

func (d *desk) Publish(_ context.Context, s host.Session, p host.Publication) (err error) {
	d.mu.Lock()
	under := d.under
	d.mu.Unlock()
	if under != nil {
		under()
	}
	d.say(func() {
		if err = d.live(s); err != nil {
			return
		}
		if verr := p.Validate(); verr != nil {
			d.t.Errorf("publication: %v", verr)
		}
		d.publications[p.Actor] = append(d.publications[p.Actor], p)
	})
	return err
}

func (d *desk) Poll(ctx context.Context, s host.Session, limit int, wait time.Duration) (host.Batch, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		d.mu.Lock()
		err, b, changed := d.live(s), d.batch, d.changed
		if err == nil && !b.Empty() {
			d.batch = host.Batch{}
		}
		d.mu.Unlock()
		if err != nil || !b.Empty() {
			return b, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return host.Batch{}, nil
		case <-ctx.Done():
			return host.Batch{}, ctx.Err()
		}
	}
}

func (d *desk) Answer(_ context.Context, s host.Session, a host.Answer) (err error) {
	d.say(func() {
		if err = d.live(s); err == nil {
			d.answers[a.Gateway] = a
		}
	})
	return err
}

func (d *desk) Ack(_ context.Context, s host.Session, a host.Ack) (err error) {
	d.say(func() {
		if err = d.live(s); err != nil {
			return
		}
		if verr := a.Validate(); verr != nil {
			d.t.Errorf("ack: %v", verr)
		}
		if err = d.refuseAck; err != nil {
			return
		}
		d.acks[a.Op] = append(d.acks[a.Op], a)
		if op := d.ops[a.Op]; op != nil {
			op.accepted = op.accepted || a.Accepted
			if a.Code == host.CodeUnbound { // as a gateway turns it
				d.outcomes[a.Op] = append(d.outcomes[a.Op], host.Outcome{Op: a.Op, Status: host.Interrupted, Code: a.Code})
			}
		}
	})
	return err
}

func (d *desk) Run(_ context.Context, s host.Session, r host.Run) (err error) {
	d.say(func() {
		if err = d.live(s); err != nil {
			return
		}
		if verr := r.Validate(); verr != nil {
			d.t.Errorf("run: %v", verr)
		}
		d.runs[r.Op] = append(d.runs[r.Op], r)
	})
	return err
}

func (d *desk) Outcome(_ context.Context, s host.Session, o host.Outcome) (err error) {
	d.say(func() {
		if err = d.live(s); err != nil {
			return
		}
		if verr := o.Validate(); verr != nil {
			d.t.Errorf("outcome: %v", verr)
		}
		if err = d.refuseOut; err != nil {
			return
		}
		if all := d.outcomes[o.Op]; len(all) > 0 && all[len(all)-1].Status == host.Interrupted && o.Status != host.Interrupted {
			d.t.Errorf("operation %s (%s) was said to be unsent and then %s", o.Op, d.ops[o.Op].action.Capability, o.Status)
		}
		d.outcomes[o.Op] = append(d.outcomes[o.Op], o)
		if op := d.ops[o.Op]; op != nil {
			op.state = string(o.Status)
		}
	})
	return err
}

func (d *desk) Blueprint(_ context.Context, s host.Session, digest effects.Digest) (data []byte, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.live(s); err != nil {
		return nil, err
	}
	if data := d.blueprints[digest]; data != nil {
		return data, nil
	}
	return nil, &coded{"not_found"}
}

// SubmitChild binds, asks the policy and queues, as a gateway does.
func (d *desk) SubmitChild(ctx context.Context, s host.Session, c host.Child) (host.ChildView, error) {
	d.mu.Lock()
	known, again := d.keys[c.Parent.String()+c.Key]
	parent := d.ops[c.Parent]
	d.mu.Unlock()
	if again {
		return host.ChildView{Op: known, State: "queued"}, nil
	}
	if parent == nil || !parent.accepted {
		return host.ChildView{}, &coded{"conflict"}
	}
	var actor host.Name
	d.mu.Lock()
	actor = parent.actor
	if len(d.children) >= max(d.most, host.MaxChildren) || d.room != nil && !d.room() {
		d.mu.Unlock()
		return host.ChildView{}, &coded{"capacity"}
	}
	d.mu.Unlock()
	op, answer, err := d.ask(ctx, actor, c.Action, c.Parent, c.Key)
	if err != nil {
		return host.ChildView{}, err
	}
	view := host.ChildView{Op: op.id, State: "queued"}
	code := answer.Code
	d.mu.Lock()
	if code == "" && d.policy != nil {
		code = d.policy(op)
	}
	hold := d.hold
	d.mu.Unlock()
	if code != "" {
		return host.ChildView{Op: op.id, State: "rejected", Code: code}, nil
	}
	d.say(func() {
		d.keys[c.Parent.String()+c.Key] = op.id
		d.children = append(d.children, op.id)
	})
	if hold != nil {
		if wait := hold(op); wait != nil {
			go func() {
				select {
				case <-wait:
					d.deliver(op)
				case <-ctx.Done():
				}
			}()
			return view, nil
		}
	}
	d.deliver(op)
	return view, nil
}

// ask has an action bound and waits for the answer.
func (d *desk) ask(ctx context.Context, actor host.Name, a host.Action, parent host.OpID, key string) (*operation, host.Answer, error) {
	op := &operation{actor: actor, parent: parent, key: key, action: a}
	if _, err := rand.Read(op.id[:]); err != nil {
		return nil, host.Answer{}, err
	}
	var id uint64
	d.say(func() {
		d.asked++
		id = d.asked
		d.ops[op.id] = op
		d.batch.Gateways = append(d.batch.Gateways, host.Gateway{
			ID: id, Ask: host.AskBind, Actor: actor, Action: a, Op: op.id, Parent: parent, Key: key, Principal: "tester", Lease: "lease-1", Task: "task-1",
		})
	})
	for {
		d.mu.Lock()
		answer, ok := d.answers[id]
		changed := d.changed
		d.mu.Unlock()
		if ok {
			if answer.Bound != nil {
				op.bound = *answer.Bound
				if answer.Bound.Op != op.id {
					return nil, answer, errors.New("bound under another id")
				}
			}
			return op, answer, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, host.Answer{}, ctx.Err()
		}
	}
}

// deliver puts a delivery into the next poll.
func (d *desk) deliver(op *operation) {
	d.say(func() {
		op.attempt++
		d.batch.Deliveries = append(d.batch.Deliveries, host.Delivery{
			Op: op.id, Actor: op.actor, Action: op.action, Bound: op.bound, Principal: "tester", Lease: "lease-1",
			Task: "task-1", Parent: op.parent, Key: op.key, Attempt: op.attempt, Accepted: op.accepted,
		})
	})
}

func (d *desk) cancel(c host.Cancellation) {
	d.say(func() { d.batch.Cancellations = append(d.batch.Cancellations, c) })
}

// read asks a read.
func (d *desk) read(actor host.Name, a host.Action) host.Answer {
	d.t.Helper()
	var id uint64
	d.say(func() {
		d.asked++
		id = d.asked
		d.batch.Gateways = append(d.batch.Gateways, host.Gateway{ID: id, Ask: host.AskRead, Actor: actor, Action: a, Principal: "tester"})
	})
	d.await("an answer", func() bool { _, ok := d.answers[id]; return ok })
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[id]
}

// last is the newest outcome of an operation.
func (d *desk) last(op host.OpID) (o host.Outcome, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.outcomes[op]
	if len(all) == 0 {
		return o, 0
	}
	return all[len(all)-1], len(all)
}
