package conformance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"blockworld/controlplane"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Desk is a daemon that a Suite plays. Its methods are the host protocol's; they may be called from any goroutine.
type Desk struct {
	mu      sync.Mutex
	changed chan struct{} // closed at every change

	manifest   *host.Manifest
	session    host.Session
	generation uint64
	given      map[string]uint64 // every token handed out, and its generation
	ended      bool              // the session is over: register again

	batch  host.Batch
	polls  int // polls that were answered or wait now
	asked  uint64
	ops    map[host.OpID]*record
	asks   map[uint64]*question
	seen   map[host.Name][]heard
	faults []fault
}

// heard is a publication and the session it came in.
type heard struct {
	generation uint64
	host.Publication
}

// question is a gateway request and its answers.
type question struct {
	host.Gateway
	answers []host.Answer
}

// record is what is known of one operation.
type record struct {
	bound     host.Bound
	delivered int
	acks      []host.Ack
	runs      []host.Run
	outcomes  []host.Outcome
	changed   bool // another outcome was reported for what had ended
	loseAck   bool // the answer to the next acknowledgement gets lost
	loseEnd   bool // the answer to the next outcome gets lost
}

// fault is a breach of the protocol's form, and the check that it belongs to.
type fault struct{ check, text string }

// NewDesk makes a desk that nobody has come to yet.
func NewDesk() *Desk {
	return &Desk{changed: make(chan struct{}), given: map[string]uint64{}, ops: map[host.OpID]*record{}, asks: map[uint64]*question{},
		seen: map[host.Name][]heard{}}
}

// say runs f under the lock and tells whoever waits.
func (d *Desk) say(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	close(d.changed)
	d.changed = make(chan struct{})
}

// await waits until f, called under the lock, says true; false when the time is over first.
func (d *Desk) await(ctx context.Context, most time.Duration, f func() bool) bool {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for {
		d.mu.Lock()
		ok, changed := f(), d.changed
		d.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// blame writes a fault down. Under mu.
func (d *Desk) blame(check, format string, args ...any) {
	const most = 1000
	if len(d.faults) < most {
		d.faults = append(d.faults, fault{check, fmt.Sprintf(format, args...)})
	}
}

func refuse(code controlplane.Code, format string, args ...any) error {
	return controlplane.Errorf(code, format, args...)
}

// lost is the error of a call whose answer gets lost: the host cannot know whether it was heard.
func lost() error { return refuse(controlplane.CodeTimeout, "the answer got lost: say it again") }

// live refuses a session that is not the present one. Under mu.
func (d *Desk) live(s *host.Session) error {
	switch generation, given := d.given[s.Token]; {
	case !given:
		d.blame(checkToken, "a call came with a token that was never given out")
		return refuse(controlplane.CodeForbidden, "this token is not one of this desk's")
	case d.ended || generation != d.generation:
		return refuse(controlplane.CodeUnavailable, "the session is over: register again and publish every actor")
	}
	return nil
}

// form checks a message's form and that it came in the present session. Under mu.
func (d *Desk) form(s *host.Session, check string, err error) error {
	if gone := d.live(s); gone != nil {
		return gone
	}
	if err != nil {
		d.blame(check, "a message breaks the protocol's form: %v", err)
		return refuse(controlplane.CodeInvalid, "%v", err)
	}
	return nil
}

// Register starts a session.
func (d *Desk) Register(_ context.Context, m host.Manifest) (s host.Session, err error) {
	d.say(func() {
		if bad := m.Validate(); bad != nil {
			d.blame(checkRegistration, "the manifest: %v", bad)
			err = refuse(controlplane.CodeInvalid, "%v", bad)
			return
		}
		d.generation++
		s = host.Session{Host: m.Host, Token: newToken(), Generation: d.generation, TTLMS: 30_000}
		d.given[s.Token], d.session, d.manifest, d.ended = d.generation, s, &m, false
		d.batch = host.Batch{}
	})
	return s, err
}

// Renew keeps a session.
func (d *Desk) Renew(_ context.Context, s host.Session) (host.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session, d.live(&s)
}

// Unregister ends a session.
func (d *Desk) Unregister(_ context.Context, s host.Session) (err error) {
	d.say(func() {
		if err = d.live(&s); err == nil {
			d.ended = true
		}
	})
	return err
}

// Publish takes a publication.
func (d *Desk) Publish(_ context.Context, s host.Session, p host.Publication) (err error) {
	d.say(func() {
		if err = d.form(&s, checkPublication, p.Validate()); err != nil {
			return
		}
		if !d.has(p.Actor) {
			d.blame(checkPublication, "actor %s is published and not in the manifest", p.Actor)
			err = refuse(controlplane.CodeForbidden, "actor %s is not in the manifest", p.Actor)
			return
		}
		if all := d.seen[p.Actor]; len(all) > 0 {
			if why := goesBack(&all[len(all)-1].Publication, &p); why != "" {
				d.blame(checkPublication, "actor %s: %s", p.Actor, why)
				err = refuse(controlplane.CodeStale, "%s", why)
				return
			}
		}
		d.seen[p.Actor] = append(d.seen[p.Actor], heard{d.generation, p})
	})
	return err
}

// goesBack says what of a publication goes back behind the one before; empty: nothing.
func goesBack(old, p *host.Publication) string {
	switch {
	case old.Epoch == p.Epoch && p.Sequence <= old.Sequence:
		return fmt.Sprintf("sequence %d came after %d: sequences rise within an epoch", p.Sequence, old.Sequence)
	case old.Epoch == p.Epoch && p.GameTick >= 0 && p.GameTick < old.GameTick:
		return fmt.Sprintf("game tick %d came after %d: it never goes back within an epoch", p.GameTick, old.GameTick)
	case p.Epoch.Host < old.Epoch.Host, p.Epoch.Host == old.Epoch.Host && p.Epoch.World < old.Epoch.World:
		return fmt.Sprintf("epoch %v came after %v: epochs rise", p.Epoch, old.Epoch)
	}
	return ""
}

func (d *Desk) has(actor host.Name) bool {
	for i := range d.manifest.Actors {
		if d.manifest.Actors[i].ID == actor {
			return true
		}
	}
	return false
}

// Poll brings what the checks have put up.
func (d *Desk) Poll(ctx context.Context, s host.Session, limit int, wait time.Duration) (b host.Batch, err error) {
	if limit < 1 || limit > host.MaxBatch || wait < 0 || wait > controlplane.MaxWaitMS*time.Millisecond {
		d.say(func() {
			d.blame(checkRegistration, "a poll asks for %d items and %v: 1 to %d and at most 25 s", limit, wait, host.MaxBatch)
		})
		return b, refuse(controlplane.CodeInvalid, "limit or wait is out of range")
	}
	d.say(func() { d.polls++ })
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		d.mu.Lock()
		err, changed := d.live(&s), d.changed
		if err == nil && !d.batch.Empty() {
			b, d.batch = d.batch, host.Batch{}
		}
		d.mu.Unlock()
		if err != nil || !b.Empty() {
			return b, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return b, nil
		case <-ctx.Done():
			return b, refuse(controlplane.CodeTimeout, "the caller went away")
		}
	}
}

// Answer takes an answer; a repeat changes nothing.
func (d *Desk) Answer(_ context.Context, s host.Session, a host.Answer) (err error) {
	d.say(func() {
		if err = d.form(&s, checkBind, a.Validate()); err != nil {
			return
		}
		q := d.asks[a.Gateway]
		switch {
		case q == nil:
			d.blame(checkBind, "question %d was answered and never asked", a.Gateway)
			err = refuse(controlplane.CodeNotFound, "question %d was not asked", a.Gateway)
		case a.Bound != nil && (q.Ask != host.AskBind || a.Bound.Op != q.Op):
			d.blame(checkBind, "question %d was answered with a binding of another operation", a.Gateway)
			err = refuse(controlplane.CodeInvalid, "question %d is about another operation", a.Gateway)
		case len(a.Output) > 0 && q.Ask != host.AskRead:
			d.blame(checkBind, "question %d is to bind and was answered with an output", a.Gateway)
			err = refuse(controlplane.CodeInvalid, "question %d is to bind", a.Gateway)
		default:
			q.answers = append(q.answers, a)
		}
	})
	return err
}

// of finds the record of an operation that the host speaks of. Under mu.
func (d *Desk) of(op host.OpID, what string) (*record, error) {
	r := d.ops[op]
	if r == nil || r.delivered == 0 {
		d.blame(checkUnknown, "%s came for operation %s, which was never delivered", what, op)
		return nil, refuse(controlplane.CodeNotFound, "this host has no operation %s", op)
	}
	return r, nil
}

// Ack takes an acknowledgement; a repeat changes nothing, another one is a conflict.
func (d *Desk) Ack(_ context.Context, s host.Session, a host.Ack) (err error) {
	d.say(func() {
		if err = d.form(&s, checkDelivery, a.Validate()); err != nil {
			return
		}
		var r *record
		if r, err = d.of(a.Op, "an acknowledgement"); err != nil {
			return
		}
		first := len(r.acks) == 0
		r.acks = append(r.acks, a)
		switch {
		case !first && (a.Accepted != r.acks[0].Accepted || a.Digest != r.acks[0].Digest):
			d.blame(checkAck, "operation %s was acknowledged anew, and otherwise", a.Op)
			err = refuse(controlplane.CodeConflict, "operation %s was acknowledged otherwise", a.Op)
		case r.loseAck:
			r.loseAck = false
			err = lost()
		}
	})
	return err
}

// Run takes a progress report.
func (d *Desk) Run(_ context.Context, s host.Session, n host.Run) (err error) {
	d.say(func() {
		if err = d.form(&s, checkProgress, n.Validate()); err != nil {
			return
		}
		var r *record
		if r, err = d.of(n.Op, "a progress report"); err != nil {
			return
		}
		if len(r.runs) > 0 {
			if old := r.runs[len(r.runs)-1]; n.Sequence < old.Sequence || n.Sequence == old.Sequence && n != old {
				d.blame(checkProgress, "report %d of operation %s came after %d: progress_seq rises", n.Sequence, n.Op, old.Sequence)
				err = refuse(controlplane.CodeStale, "progress_seq %d came after %d", n.Sequence, old.Sequence)
				return
			}
		}
		r.runs = append(r.runs, n)
	})
	return err
}

// Outcome takes an outcome; a repeat changes nothing, another one after an end is a conflict.
func (d *Desk) Outcome(_ context.Context, s host.Session, o host.Outcome) (err error) {
	d.say(func() {
		if err = d.form(&s, checkDelivery, o.Admit()); err != nil {
			return
		}
		var r *record
		if r, err = d.of(o.Op, "an outcome"); err != nil {
			return
		}
		if len(r.acks) == 0 || !r.acks[0].Accepted {
			d.blame(checkDelivery, "operation %s has an outcome and was not accepted before", o.Op)
			err = refuse(controlplane.CodeConflict, "operation %s was not accepted", o.Op)
			return
		}
		if n := len(r.outcomes); n > 0 && r.outcomes[n-1].Status != host.Unknown && r.outcomes[n-1].ContentDigest() != o.ContentDigest() {
			d.blame(checkOutcome, "operation %s ended as %s and was then reported as %s, or with other contents", o.Op, r.outcomes[n-1].Status, o.Status)
			err = refuse(controlplane.CodeConflict, "operation %s has another outcome", o.Op)
			r.changed = true
			return
		}
		r.outcomes = append(r.outcomes, o)
		if r.loseEnd {
			r.loseEnd = false
			err = lost()
		}
	})
	return err
}

// SubmitChild refuses: no check gives a macro its run.
func (d *Desk) SubmitChild(_ context.Context, s host.Session, _ host.Child) (v host.ChildView, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.live(&s); err != nil {
		return v, err
	}
	return v, refuse(controlplane.CodeConflict, "no macro is running")
}

// Blueprint has none.
func (d *Desk) Blueprint(_ context.Context, s host.Session, g effects.Digest) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.live(&s); err != nil {
		return nil, err
	}
	return nil, refuse(controlplane.CodeNotFound, "no blueprint %s", g)
}
