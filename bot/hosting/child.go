package hosting

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"blockworld/bot/builder"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/host"
)

// question is one effect that a build wants: a child operation from its submit to its leave.
type question struct {
	builder.Question
	reply func(builder.Leave)
	op    host.OpID
}

// Ask implements builder.Gate: it submits a child. The answer comes with its delivery.
func (m *macro) Ask(q builder.Question, reply func(builder.Leave)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.take(q, reply):
	case m.full:
		go reply(builder.Leave{Code: "capacity", Message: "this operation may have no further child", Again: true})
	default:
		go reply(builder.Leave{Code: string(host.Cancelled), Message: m.why, Again: true})
	}
}

// take submits a child for a question, if the operation may have another. The lock is held.
func (m *macro) take(q builder.Question, reply func(builder.Leave)) bool {
	if m.ended == "" && m.children >= m.r.h.cfg.Children {
		m.crowded()
	}
	if m.ended != "" {
		return false
	}
	if d := m.spent[kindOf(q.Request)]; d != nil { // it would be said of every block that is left
		go reply(builder.Leave{Code: d.code, Message: d.message, Alike: true})
		return true
	}
	ask := &question{Question: q, reply: reply}
	ask.Key = m.nonce + "-" + q.Key
	m.asks[ask.Key] = ask
	m.children++
	m.r.h.spawn(func() { m.submit(ask) })
	return true
}

// budgetExceeded is the daemon's word for a budget that is used up.
const budgetExceeded = "budget_exceeded"

// kindOf is what a budget may tell apart of what a build asks for: the capability and the block.
func kindOf(r effects.Request) string {
	kind := r.Capability().String()
	if p, ok := r.(effects.PlaceBlockRequest); ok {
		block, _, _ := strings.Cut(p.State, "[")
		kind += " " + block
	}
	return kind
}

// crowded ends the work because no further child is allowed; a further operation goes on. The lock is held.
func (m *macro) crowded() {
	m.full = true
	m.end("continue", "the children of one operation are used up")
}

// submit asks the daemon for a child and hears at once when there will be none.
func (m *macro) submit(ask *question) {
	name := ask.Request.Capability().String()
	arguments, err := json.Marshal(ask.Request)
	var view host.ChildView
	if err == nil { // a child is submitted in the epoch that was published last
		_, _, err = m.r.placed(m.r.h.ctx)
	}
	if err == nil {
		err = m.r.h.with(m.r.h.ctx, func(s host.Session) (err error) {
			view, err = m.r.h.cfg.Daemon.SubmitChild(m.r.h.ctx, s, host.Child{Parent: m.op, Key: ask.Key, Action: host.Action{Capability: name, Arguments: arguments}})
			return err
		})
	}
	no := builder.Leave{Code: view.Code, Message: view.Message}
	switch {
	case err != nil:
		no.Code, no.Message, no.Again = m.r.h.code(err), err.Error(), true
		m.mu.Lock()
		switch no.Code {
		case "capacity":
			m.crowded()
		case "denied", "budget_exceeded", "forbidden":
			no.Again = false
		case "stopped", "lease_expired", "conflict": // the parent itself is at its end, and hears of it by itself
			m.note = "no child: " + err.Error()
		default:
			m.mu.Unlock()
			m.r.broken(err)
			m.mu.Lock()
		}
		m.mu.Unlock()
	case view.State == "rejected" || view.State == "stale" || view.State == "cancelled":
		switch view.Code { // refused by ourselves, because the world has moved on
		case "stale", host.CodeUnbound, "not_ready", "timeout":
			no.Again = true
		}
		if no.Code == "" {
			no.Code = view.State
		}
	default:
		if view.State == "awaiting_confirmation" {
			m.mu.Lock()
			m.note = "waiting: confirmation of " + view.Op.String()
			m.mu.Unlock()
			poke(m.told)
		}
		return
	}
	m.mu.Lock()
	delete(m.asks, ask.Key)
	if no.Code == budgetExceeded && !no.Again { // a later operation may ask again
		if m.spent == nil {
			m.spent = map[string]*denial{}
		}
		m.spent[kindOf(ask.Request)] = &denial{no.Code, no.Message}
		no.Alike = true
	}
	m.mu.Unlock()
	m.r.h.cfg.Log.Debug("no child", "key", ask.Key, "code", no.Code, "message", no.Message)
	ask.reply(no)
}

// Unused implements builder.Gate: nothing is marked under a child's id, so it ends as interrupted, or as failed where the guard
// said no.
func (m *macro) Unused(op effects.ActionID, code, why string) {
	m.forget(op)
	m.r.unused(op, code, why)
}

// unused gives a child its outcome that will not be carried out.
func (r *runner) unused(op effects.ActionID, code, why string) {
	r.mu.Lock()
	j := r.jobs[op]
	r.mu.Unlock()
	if j == nil {
		return
	}
	o := host.Outcome{Op: op, Status: host.Failed, Code: code, Message: clip("nothing was sent: " + why)}
	if code == string(host.Interrupted) || code == "internal" {
		o.Status = host.Interrupted
	}
	r.finish(j, o)
}

func (m *macro) forget(op host.OpID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q := m.byOp[op]; q != nil {
		delete(m.byOp, op)
		delete(m.asks, q.Key)
	}
}

// bindChild binds what a build asked for.
func (r *runner) bindChild(ctx context.Context, g *host.Gateway) (*host.Bound, error) {
	m := r.parent(g.Parent)
	if m == nil {
		return nil, refuse(host.CodeUnbound, "operation %s is not under way here", g.Parent)
	}
	m.mu.Lock()
	q := m.asks[g.Key]
	if q != nil {
		if q.op != (host.OpID{}) {
			delete(m.byOp, q.op)
		}
		q.op = g.Op
		m.byOp[g.Op] = q
	}
	m.mu.Unlock()
	if q == nil {
		return nil, refuse(host.CodeUnbound, "the build does not ask for %s", g.Key)
	}
	b := q.Bind(g.Op)
	if err := b.Issuable(); err != nil {
		return nil, err
	}
	v := scene.Preview(m.reg, b.Postcondition, scene.Ground{Scope: m.b.plot.ID, Ownership: m.b.plot.Ownership}, int(q.Distance))
	return r.bound(ctx, &b, []host.Preview{v}, "for the build: "+told(&v))
}

// told says what a child does.
func told(v *host.Preview) string {
	what, where := v.Operation, ""
	if v.Pos != nil {
		where = fmt.Sprintf(" at %d %d %d", v.Pos[0], v.Pos[1], v.Pos[2])
	}
	switch {
	case v.Block != "":
		return what + " " + v.Block + where
	case v.Item != "":
		return "take " + v.Item + " in hand"
	}
	return what + where
}

// deliverChild gives a build its leave.
func (r *runner) deliverChild(ctx context.Context, d *host.Delivery) {
	var q *question
	m := r.parent(d.Parent)
	if m != nil {
		m.mu.Lock()
		q = m.byOp[d.Op]
		m.mu.Unlock()
	}
	if q != nil {
		b := q.Bind(d.Op)
		if b.Digest() != d.Bound.Digest {
			q = nil
		}
	}
	if q == nil {
		r.unbound(ctx, d.Op)
		return
	}
	j := &job{op: d.Op, digest: d.Bound.Digest, done: true} // its outcome comes from the journal as soon as it is there
	r.mu.Lock()
	again := r.jobs[d.Op] != nil
	if !again {
		r.jobs[d.Op] = j
	}
	r.mu.Unlock()
	if again {
		r.repeated(ctx, d.Op)
		return
	}
	err := r.take(ctx, j, func() { q.reply(builder.Leave{OK: true, Op: d.Op}) })
	if err != nil && r.desk != nil && !r.passes(err) { // the work is at its end and waits for nothing but this answer
		m.forget(d.Op)
		q.reply(builder.Leave{Code: r.wordOf(err), Message: err.Error(), Again: true})
	}
}
