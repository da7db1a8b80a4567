package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"blockworld/bot/actor"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
)

// job is an operation that was delivered and that this process is not done with.
type job struct {
	op        host.OpID
	digest    effects.Digest // of the binding
	begun     bool           // its acknowledgement was taken
	done      bool           // nothing of it is under way any more
	cancelled string         // why the daemon wants its end
	prepared  *actor.Prepared
	position  *geom.Vec3    // where the bot ended up
	loose     *host.Outcome // the outcome of what has no mark; the journal knows nothing of it
}

// deliver takes an operation. It may come any number of times.
func (r *runner) deliver(ctx context.Context, d host.Delivery) {
	r.at(AfterDelivery)
	switch {
	case d.Action.Capability == BuildStructure:
		r.deliverMacro(ctx, &d)
		return
	case r.repeated(ctx, d.Op), r.marked(ctx, &d):
		return
	case d.Parent != (host.OpID{}):
		r.deliverChild(ctx, &d)
		return
	}
	r.mu.Lock()
	p := r.prepared[d.Op]
	if r.jobs[d.Op] != nil { // the same delivery, a moment ago
		r.mu.Unlock()
		r.repeated(ctx, d.Op)
		return
	}
	m := r.macro
	if p == nil || p.Binding.Digest() != d.Bound.Digest || m != nil {
		delete(r.prepared, d.Op)
		r.mu.Unlock()
		if p != nil && m != nil {
			r.h.refuse(ctx, d.Op, "busy", busy(m).Error())
		} else {
			r.unbound(ctx, d.Op)
		}
		return
	}
	why := r.cancels[d.Op] // one that comes from here on finds the job
	j := &job{op: d.Op, digest: d.Bound.Digest, prepared: p, cancelled: why}
	delete(r.cancels, d.Op)
	r.jobs[d.Op] = j
	r.mu.Unlock()
	if why != "" {
		p.Cancel()
	}
	r.take(ctx, j, func() { r.execute(ctx, j) })
}

// take acknowledges a delivery and goes on when that was taken. A refused acknowledgement ends it; a lost one leaves it
// for the next delivery. The error is why it was not taken.
func (r *runner) take(ctx context.Context, j *job, then func()) error {
	if err := r.ack(ctx, j); err != nil {
		r.mu.Lock()
		delete(r.jobs, j.op)
		if r.h.final(err) {
			delete(r.prepared, j.op)
		}
		r.mu.Unlock()
		r.h.cfg.Log.Warn("an acknowledgement was not taken", "operation", j.op, "error", err)
		r.broken(err)
		return err
	}
	r.at(AfterAck)
	r.mu.Lock()
	begun := j.begun
	j.begun = true
	delete(r.prepared, j.op)
	r.mu.Unlock()
	if !begun {
		then()
	}
	return nil
}

func (r *runner) ack(ctx context.Context, j *job) error {
	return r.h.with(ctx, func(s host.Session) error {
		return r.h.cfg.Daemon.Ack(ctx, s, host.Ack{Op: j.op, Accepted: true, Digest: j.digest})
	})
}

// unbound answers a delivery whose binding is not known here any more, and of which nothing was sent.
func (r *runner) unbound(ctx context.Context, op host.OpID) {
	err := r.h.refuse(ctx, op, host.CodeUnbound, "this host does not know the binding any more; nothing was sent: submit it again")
	if err != nil {
		r.h.cfg.Log.Warn("an unbound delivery was not taken back", "operation", op, "error", err)
	}
}

// repeated answers a delivery of what is under way already.
func (r *runner) repeated(ctx context.Context, op host.OpID) bool {
	r.mu.Lock()
	j := r.jobs[op]
	r.mu.Unlock()
	if j == nil {
		return false
	}
	if err := r.ack(ctx, j); err != nil {
		r.h.cfg.Log.Debug("a repeated acknowledgement was not taken", "operation", op, "error", err)
	}
	r.wake() // its outcome may have been lost with the old session
	return true
}

// marked answers a delivery of what has a mark in the journal and is not under way in this process: it is never sent
// again. What the journal knows is the outcome; what it does not know yet is unknown until the rejoin has judged it.
func (r *runner) marked(ctx context.Context, d *host.Delivery) bool {
	act, err := r.journal.Action(d.Op)
	if errors.Is(err, journal.ErrUnknownAction) {
		return false
	}
	if err != nil {
		r.h.cfg.Log.Error("the journal cannot be read", "error", err)
		return true
	}
	j := &job{op: d.Op, digest: act.Binding, done: true}
	if err := r.ack(ctx, j); err != nil {
		r.h.cfg.Log.Warn("an acknowledgement was not taken", "operation", d.Op, "error", err)
		if !r.h.final(err) {
			return true
		}
	}
	if o, err := r.outcome(d.Op, nil); err != nil {
		r.h.cfg.Log.Error("the journal cannot be read", "error", err)
	} else if err := r.report(ctx, o); err != nil {
		r.h.cfg.Log.Debug("an outcome was not taken", "operation", d.Op, "error", err)
	}
	return true
}

// execute carries out an acknowledged operation.
func (r *runner) execute(ctx context.Context, j *job) {
	s := r.present()
	var e actor.Effect
	err := actor.ErrOtherSession
	if s != nil && !s.macro {
		e, err = s.actor.Execute(context.WithoutCancel(ctx), j.prepared) // a cut is judged after the next join
	}
	r.mu.Lock()
	j.done = true
	r.renewed()
	if e.Action == j.op {
		j.position = &e.Position
	}
	r.mu.Unlock()
	if _, known := r.journal.Action(j.op); known != nil { // nothing was marked: the outbox will never hold it
		r.finish(j, unsent(j, r.wanted(j), err))
	} else if err == nil && e.Verdict == effects.UnverifiedEffect && e.Code == effects.CodeCut && j.prepared.Request.Capability() == effects.PlaceBlock {
		r.rejoin() // a fresh view of the world may tell what became of it
	}
	r.wake()
}

// wanted is why the daemon wants a job's end; empty: it does not.
func (r *runner) wanted(j *job) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return j.cancelled
}

// unsent is the outcome of an operation of which nothing was sent, and whose end may have been wanted.
func unsent(j *job, wanted string, err error) host.Outcome {
	o := host.Outcome{Op: j.op, Status: host.Failed, Code: codeOf(err), Message: "nothing was sent"}
	if err != nil {
		o.Message = clip("nothing was sent: " + wordsOf(err))
	}
	switch {
	case errors.Is(err, actor.ErrCancelled):
		o.Status, o.Code, o.Message = host.Cancelled, string(host.Cancelled), clip("nothing was sent: "+wanted)
	case errors.Is(err, actor.ErrOtherSession), o.Code == "not_ready", o.Code == "internal":
		o.Status = host.Interrupted
	}
	return o
}

// finish gives an unmarked operation its outcome, to be told until it is taken.
func (r *runner) finish(j *job, o host.Outcome) {
	r.mu.Lock()
	j.done, j.loose = true, &o
	r.mu.Unlock()
	r.wake()
}

// cancelled hears that the daemon wants the end of an operation, or of everything.
func (r *runner) cancelled(ctx context.Context, c host.Cancellation) {
	switch {
	case c.Stop:
		r.stop(ctx, c.Why)
	case c.Clear:
		r.clear(ctx)
	default:
		r.cancel(c.Op, c.Why)
	}
}

func (r *runner) cancel(op host.OpID, why string) {
	r.mu.Lock()
	p, j, m, d := r.prepared[op], r.jobs[op], r.macro, r.desk
	if j != nil {
		j.cancelled, p = why, j.prepared
	}
	r.mu.Unlock()
	if p != nil {
		p.Cancel()
	}
	if m != nil {
		m.cancel(op, why)
	}
	if d != nil {
		d.cancel(op, why)
	}
	if p == nil && d == nil && (m == nil || m.op != op) { // its delivery may come behind it
		r.mu.Lock()
		if len(r.cancels) < mostPrepared {
			r.cancels[op] = why
		}
		r.mu.Unlock()
	}
}

// quiet waits until no single action is under way.
func (r *runner) quiet(ctx context.Context) {
	for {
		r.mu.Lock()
		under := false
		for _, j := range r.jobs {
			under = under || j.prepared != nil && j.begun && !j.done
		}
		news := r.news()
		r.mu.Unlock()
		if !under {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// stop is the emergency stop: nothing more is sent, a walk stops where it is, everything waiting is cancelled.
func (r *runner) stop(ctx context.Context, why string) {
	r.mu.Lock()
	r.stopped = true
	s, m := r.playing, r.macro
	var waiting []*actor.Prepared
	for _, p := range r.prepared {
		waiting = append(waiting, p)
	}
	for _, j := range r.jobs {
		if j.prepared != nil && !j.done {
			j.cancelled = why
			waiting = append(waiting, j.prepared)
		}
	}
	r.mu.Unlock()
	if m != nil {
		m.stop(why)
	}
	if r.desk != nil {
		r.desk.stop(why)
	}
	if s != nil && !s.macro {
		within, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := s.actor.Halt(within); err != nil {
			r.h.cfg.Log.Warn("stopped, but the session did not answer", "actor", r.cfg.ID, "error", err)
		}
	}
	for _, p := range waiting {
		p.Cancel()
	}
	poke(r.told)
}

// clearWithin is how long a session may take to hear its owner's word to go on: longer only if its machine is far behind.
const clearWithin = 15 * time.Second

// clear lifts the stop. It is the owner's word to go on, so cells that somebody has changed meanwhile are taken as they are.
func (r *runner) clear(ctx context.Context) {
	r.mu.Lock()
	r.stopped = false
	s := r.playing
	r.mu.Unlock()
	if s != nil && s.actor != nil {
		s.actor.Resume()
		within, cancel := context.WithTimeout(ctx, clearWithin)
		defer cancel()
		if err := s.actor.TakeWorldAsItIs(within); err != nil {
			r.h.cfg.Log.Warn("the cursor was not taken from the world", "actor", r.cfg.ID, "error", err)
		}
	}
	poke(r.told)
}

// output is what an outcome says beside its code.
type output struct {
	Verdict  string      `json:"verdict"`
	Grade    string      `json:"grade"`
	Why      string      `json:"why,omitempty"`
	Position *[3]float64 `json:"position,omitempty"` // where the bot stood then
}

// outcome is what the journal knows of a marked action, with what this process saw beside it.
func (r *runner) outcome(op host.OpID, j *job) (host.Outcome, error) {
	e, known, err := actor.Known(r.journal, op)
	if err != nil || !known {
		return host.Outcome{}, errors.Join(err, errUnknown(known))
	}
	act, err := r.journal.Action(op)
	if err != nil {
		return host.Outcome{}, err
	}
	status, code := e.Verdict.Operation()
	o := host.Outcome{Op: op, Status: host.Status(status), Code: code, Message: clip(e.Why), Sent: true, Evidence: act.Outcome}
	if o.Code == "" {
		o.Code = e.Verdict.String()
	}
	out := output{Verdict: e.Verdict.String(), Grade: e.Grade.String(), Why: e.Code.String()}
	if e.Verdict == effects.UnverifiedEffect && act.Status != journal.StatusOpen && act.Status != journal.StatusUnverified {
		out.Why = act.Status.String() // closed by its owner, or present
	}
	if j != nil && j.position != nil {
		out.Position = (*[3]float64)(j.position)
	}
	if j != nil && o.Status == host.Failed && (e.Code == effects.CodeNotArrived || e.Code == effects.CodeNotSent) {
		if wanted := r.wanted(j); wanted != "" {
			o.Status, o.Code, o.Message = host.Cancelled, string(host.Cancelled), clip(e.Why+": "+wanted)
		}
	}
	if e.Receipt {
		if o.Receipt, err = r.receipt(op, e.Grade); err != nil {
			return host.Outcome{}, err
		}
	}
	o.Output, err = json.Marshal(out)
	return o, err
}

func (r *runner) receipt(op host.OpID, g effects.Grade) (*host.Receipt, error) {
	rec, ok, err := r.journal.Receipt(op)
	if err != nil || !ok {
		return nil, err
	}
	n, _, err := r.journal.ReceiptNumber(op)
	return &host.Receipt{Number: n, Digest: rec.Digest(), Grade: g.String(), Key: r.journal.Fingerprint().String()}, err
}

func errUnknown(known bool) error {
	if known {
		return nil
	}
	return journal.ErrUnknownAction
}
