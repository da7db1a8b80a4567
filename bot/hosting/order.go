package hosting

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"blockworld/bot/builder"
	"blockworld/effects/host"
)

// desk is the gate of a prepared build: it hands every question to the operation that takes children just now, and has
// another one submitted when there is none.
type desk struct {
	r     *runner
	p     *Prepared
	hears func(builder.Event) // the caller's

	mu       sync.Mutex
	macros   []*macro // operations under way, oldest first; only the newest takes questions
	waiting  []waiting
	ordering bool
	ordered  chan struct{} // closed when the last order is done with
	begun    chan struct{} // an operation has been taken up
	closed   bool
	failed   error // why there is no further operation
}

// waiting is a question that no operation has taken yet.
type waiting struct {
	builder.Question
	reply func(builder.Leave)
}

// orderAgain is how long an order that was not taken waits until it is given again.
const orderAgain = 50 * time.Millisecond

// Ask implements builder.Gate.
func (d *desk) Ask(q builder.Question, reply func(builder.Leave)) {
	d.r.wake() // what was settled since the last question can be told meanwhile
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed || d.failed != nil:
		go reply(d.no())
	case d.taken(q, reply):
	default:
		d.waiting = append(d.waiting, waiting{q, reply})
		d.order()
	}
}

// taken hands a question to the newest operation. The lock is held.
func (d *desk) taken(q builder.Question, reply func(builder.Leave)) bool {
	if len(d.macros) == 0 || d.ordering {
		return false
	}
	m := d.macros[len(d.macros)-1]
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.take(q, reply)
}

func (d *desk) no() builder.Leave {
	l := builder.Leave{Code: string(host.Cancelled), Message: "the work ends", Again: true}
	if d.failed != nil {
		l.Code, l.Message = d.r.wordOf(d.failed), d.failed.Error()
	}
	return l
}

// order has an operation submitted. The lock is held.
func (d *desk) order() {
	if d.ordering {
		return
	}
	d.ordering, d.ordered = true, make(chan struct{})
	done := d.ordered
	d.r.h.spawn(func() {
		defer close(done)
		err := d.submit(d.r.h.ctx)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ordering = false
		if err != nil && d.r.h.ctx.Err() == nil {
			d.fail(err)
			return
		}
		all := d.waiting
		d.waiting = nil
		for _, w := range all {
			if !d.taken(w.Question, w.reply) {
				d.waiting = append(d.waiting, w)
			}
		}
		if len(d.waiting) > 0 && !d.closed {
			d.order()
		}
	})
}

// submit orders until the order is taken, is refused for good, or is not needed any more.
func (d *desk) submit(ctx context.Context) error {
	for ctx.Err() == nil {
		d.mu.Lock()
		needed := len(d.waiting) > 0 && !d.closed && d.failed == nil
		d.mu.Unlock()
		if !needed {
			return nil
		}
		select {
		case <-d.begun:
		default:
		}
		epoch, sequence, err := d.r.placed(ctx)
		if err == nil {
			err = d.p.Submit(ctx, Order{Actor: d.r.cfg.ID, Action: d.p.action(), Epoch: epoch, Sequence: sequence})
		}
		if err == nil {
			select {
			case <-d.begun: // the acknowledgement is heard of before it is returned from
			case <-ctx.Done():
			}
			return nil
		}
		if !d.r.passes(err) {
			return err
		}
		d.r.h.cfg.Log.Debug("no operation yet", "error", err)
		sleep(ctx, orderAgain)
	}
	return ctx.Err()
}

// passes says whether what was refused may be taken a moment later.
func (r *runner) passes(err error) bool {
	return slices.Contains([]string{"stale", "unavailable", "timeout", "lease_expired", "not_ready", "conflict", host.CodeUnbound}, r.wordOf(err))
}

// wordOf is the stable word of an error, the daemon's or our own.
func (r *runner) wordOf(err error) string {
	if code := r.h.code(err); code != "" {
		return code
	}
	return codeOf(err)
}

// broken hears of a call that the daemon refused: what does not pass by itself ends a prepared build.
func (r *runner) broken(err error) {
	if r.desk == nil || err == nil || r.passes(err) || r.h.ctx.Err() != nil {
		return
	}
	r.desk.mu.Lock()
	defer r.desk.mu.Unlock()
	r.desk.fail(err)
}

// fail ends the work: no further operation may be had. The lock is held.
func (d *desk) fail(err error) {
	if d.failed == nil {
		d.failed = err
	}
	d.p.Site.Quit()
	d.answer()
}

// answer says no to everything that waits. The lock is held.
func (d *desk) answer() {
	for _, w := range d.waiting {
		go w.reply(d.no())
	}
	d.waiting = nil
}

// close ends the asking, and returns why it had to end.
func (d *desk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.answer()
	return d.failed
}

// dropped forgets the questions of a session that is over.
func (d *desk) dropped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer()
}

// deliver takes an operation that was ordered.
func (d *desk) deliver(ctx context.Context, m *macro) {
	r := d.r
	m.desk, m.site, m.done = d, d.p.Site, -1
	r.mu.Lock()
	r.jobs[m.op] = m.job
	delete(r.builds, m.op)
	r.mu.Unlock()
	r.take(ctx, m.job, func() {
		d.p.Site.Under(m.lease)
		reporting, quiet := context.WithCancel(r.h.ctx)
		m.quiet = quiet
		d.mu.Lock()
		d.macros = append(d.macros, m)
		d.mu.Unlock()
		poke(d.begun)
		r.h.spawn(func() { m.reports(reporting) })
		poke(m.told)
	})
}

// find is the operation with an id.
func (d *desk) find(op host.OpID) *macro {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.macros {
		if m.op == op {
			return m
		}
	}
	return nil
}

func (d *desk) newest() *macro {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.macros) == 0 {
		return nil
	}
	return d.macros[len(d.macros)-1]
}

func (d *desk) all() []*macro {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.macros)
}

// Unused implements builder.Gate.
func (d *desk) Unused(op host.OpID, code, why string) { d.r.unused(op, code, why) }

// ended hears that a child's outcome was told, or that there will be none.
func (d *desk) ended(op host.OpID) {
	for _, m := range d.all() {
		m.forget(op)
	}
}

// cancel hears that the control plane wants the end of an operation or of a child.
func (d *desk) cancel(op host.OpID, why string) {
	for _, m := range d.all() {
		m.cancel(op, why)
	}
}

// stop is the emergency stop.
func (d *desk) stop(why string) {
	d.p.Site.Stop()
	for _, m := range d.all() {
		m.stop(why)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail(fmt.Errorf("%w: %s", ErrStopped, why))
}

// hear takes the builder's news, on the session's loop, and ends operations that another one has taken over from.
func (d *desk) hear(e builder.Event) {
	all := d.all()
	for i, m := range all {
		m.hear(e)
		if i == len(all)-1 {
			break
		}
		m.mu.Lock()
		over, ended, why := len(m.asks) == 0, m.ended, m.why
		m.mu.Unlock()
		if !over {
			continue
		}
		d.mu.Lock()
		d.macros = slices.DeleteFunc(d.macros, func(o *macro) bool { return o == m })
		d.mu.Unlock()
		d.finish(m, m.outcome(d.p.Site, builder.Result{Step: -1}, nil, ended, why))
	}
	d.hears(e)
}
