package controlplane

import (
	"context"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// flightKey names requests that are one: they share one bind and one operation.
type flightKey struct {
	principal host.Name
	key       string
}

// flight is a submit on its way; whoever sends the same meanwhile waits for it.
type flight struct {
	payload effects.Digest
	done    chan struct{}
	err     error // once done
}

// errCut is what those hear who waited for a request that panicked.
var errCut = Errorf(CodeInternal, "a fault of ours cut this request off: send it again with the same key")

// Submit asks for one action: the only way to change a world. A policy's or host's no is a stored operation of state
// rejected; an error means that nothing was stored. Once the host is asked the end of ctx does not end it: the same
// request, sent again, meets it.
func (g *Gateway) Submit(ctx context.Context, p Principal, r SubmitRequest) (operation.View, error) {
	op, err := g.submit(ctx, &p, r)
	if err != nil {
		g.refused(err)
		return operation.View{}, err
	}
	return g.show(&p, op), nil
}

func (g *Gateway) submit(ctx context.Context, p *Principal, r SubmitRequest) (operation.Operation, error) {
	if err := p.check(ScopeExecute); err != nil {
		return operation.Operation{}, err
	}
	q, err := shape(p.ID, r)
	if err != nil {
		return operation.Operation{}, err
	}
	if err := g.known(p, ScopeExecute, q.Actor); err != nil {
		return operation.Operation{}, err
	}
	return g.once(ctx, q)
}

// once makes equal requests one.
func (g *Gateway) once(ctx context.Context, q *request) (operation.Operation, error) {
	key := flightKey{q.principal, q.key}
	g.mu.Lock()
	if f := g.flights[key]; f != nil {
		g.mu.Unlock()
		if f.payload != q.payload {
			return operation.Operation{}, otherPayload(q)
		}
		select {
		case <-f.done:
			if f.err != nil {
				return operation.Operation{}, f.err
			}
			return g.reread(q)
		case <-ctx.Done():
			return operation.Operation{}, Errorf(CodeTimeout, "the host has not answered yet: send the same request with the same key again").because(ctx.Err())
		}
	}
	f := &flight{payload: q.payload, done: make(chan struct{}), err: errCut}
	g.flights[key] = f
	g.mu.Unlock()
	defer func() { // also after a panic: nobody is to wait for what comes no more
		g.mu.Lock()
		delete(g.flights, key)
		g.mu.Unlock()
		close(f.done)
	}()
	op, err := g.carry(q)
	f.err = err
	return op, err
}

// reread looks at what another call of the same request has made; it may have changed since.
func (g *Gateway) reread(q *request) (op operation.Operation, err error) {
	err = g.view(func(tx store.Tx) error {
		op, _, err = stored(tx, q)
		return err
	})
	return op, err
}

func otherPayload(q *request) error {
	return Errorf(CodeConflict, "key %q was used for another request: take a new key for a new request", q.Key).with("key", q.Key)
}

// carry takes one request through the steps behind its shape.
func (g *Gateway) carry(q *request) (operation.Operation, error) {
	var (
		op    operation.Operation
		found bool
		s     scene
	)
	now := operation.InstantOf(g.now())
	err := g.opt.Engine.View(func(tx store.Tx) (err error) {
		if op, found, err = stored(tx, q); found || err != nil {
			return err
		}
		if err := q.conditioned(); err != nil {
			return err
		}
		s, err = g.stands(tx, q, now)
		return err
	})
	if err != nil || found {
		return op, g.failed(err)
	}
	g.opt.At(BeforeSubmit)
	id, err := g.newID()
	if err != nil {
		return op, err
	}
	authority := g.policy.Load()
	q.asked = g.now()
	a, err := g.bind(context.Background(), q, id)
	if err != nil {
		return op, err
	}
	g.opt.At(AfterBind)
	op = operation.Operation{ID: id, Kind: s.capability.Kind, Principal: q.principal, Actor: q.Actor, Host: s.host, Task: q.Task,
		Lease: q.Lease, Key: q.key, Payload: q.payload, Parent: q.Parent, Action: q.Action}
	if op, err = g.decide(q, op, a, &s, authority); err != nil {
		return op, err
	}
	if op.State == operation.AwaitingConfirmation {
		g.challenge(&op)
	}
	g.opt.At(AfterStore)
	return op, nil
}

// stored looks a key up; what was pruned is told by what is kept of it.
func stored(tx store.Tx, q *request) (operation.Operation, bool, error) {
	k, found, err := store.KeysOf(tx).Get(q.principal, q.key)
	if err != nil || !found {
		return operation.Operation{}, false, err
	}
	if k.Payload != q.payload {
		return operation.Operation{}, true, otherPayload(q)
	}
	if k.Pruned {
		r, err := store.Ops(tx).Pruned(k.Op)
		return remains(q, r), true, err
	}
	op, err := store.Ops(tx).Get(k.Op)
	return op, true, err
}

// remains makes what is kept of a pruned operation look like one.
func remains(q *request, r store.Remains) operation.Operation {
	op := operation.Operation{ID: r.ID, Kind: host.KindEffect, Principal: q.principal, Actor: r.Actor, Task: q.Task, Key: q.key,
		Payload: q.payload, Parent: q.Parent, Action: q.Action, State: r.State, Closure: r.Closure, Updated: r.Updated}
	if status := host.Status(r.State.String()); r.Receipt != nil {
		op.Outcome = &host.Outcome{Op: r.ID, Status: status, Receipt: r.Receipt}
	}
	return op
}

// bind has the host make the action concrete. The host sends nothing for it.
func (g *Gateway) bind(ctx context.Context, q *request, id host.OpID) (host.Answer, error) {
	g.mu.Lock()
	a := g.actors[q.Actor]
	k, err := g.ask(a, host.Gateway{Ask: host.AskBind, Actor: q.Actor, Action: q.Action, Op: id, Parent: q.Parent, Key: q.Key,
		Principal: q.principal, Lease: q.Lease, Task: q.Task, Epoch: q.Epoch})
	g.mu.Unlock()
	if err != nil {
		return host.Answer{}, err
	}
	return g.answer(ctx, k)
}

// decide is the last step of a submit, on the writer: what was true before the bind is checked once more, policy decides
// with the budgets as they are, and operation, reservations, key and the macro's count go to disk together.
func (g *Gateway) decide(q *request, op operation.Operation, a host.Answer, before *scene, authority *policy.Engine) (operation.Operation, error) {
	err := g.update(func(w *work) error {
		s, err := g.stands(w.tx, q, w.at)
		if err != nil {
			return err
		}
		if s.session != before.session || g.policy.Load() != authority {
			return Errorf(CodeStale, "the host's session or the policy changed while the action was bound: submit again").with("predicate", "authority")
		}
		ev := refusal(&a)
		if a.Bound != nil {
			if err := bindable(a.Bound, op.ID, &s); err != nil {
				return err
			}
			op.Bound = *a.Bound
			ev = g.judge(w.tx, &op, &s, authority)
			g.totals.binds.add(g.now().Sub(q.asked))
		}
		return w.create(&op, ev)
	})
	if err != nil {
		g.abandon(op.ID)
	}
	return op, err
}

// create stores a new operation and counts it with its macro. If a poll of its host waits, it is delivered in the same
// transaction, which saves the host one of its own.
func (w *work) create(op *operation.Operation, ev operation.Created) error {
	var then operation.Event
	handed := ev.Decision.Result == operation.Allow && w.g.awaited(op.Host)
	if handed {
		then = operation.Polled{}
	}
	made, after, effects, err := store.Ops(w.tx).CreateThen(*op, ev, then, w.at)
	if err != nil {
		return err
	}
	*op = made
	if !made.Terminal() {
		w.g.mu.Lock()
		w.g.track(&made)
		w.g.mu.Unlock()
	}
	w.told = append(w.told, told{op: after, effects: effects, handed: handed})
	if op.Parent == (host.OpID{}) {
		return nil
	}
	_, err = w.step(op.Parent, operation.ChildCounted{Child: op.ID})
	return err
}

// abandon takes an operation that was not stored out of the index.
func (g *Gateway) abandon(id host.OpID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o := g.open[id]; o != nil && o.version == 0 {
		g.untrack(o)
	}
}

// refusal is the host's no to a bind.
func refusal(a *host.Answer) operation.Created {
	return operation.Created{Decision: operation.Decision{Result: operation.Deny},
		Rejection: &operation.Rejection{Code: a.Code, Message: a.Message}}
}

// facts are what policy decides by: typed fields of the bound action and the gateway's own context.
func facts(op *operation.Operation, s *scene) policy.Facts {
	return policy.Facts{Principal: op.Principal, Actor: op.Actor, Task: op.Task, Server: s.pub.Server, World: s.pub.World,
		Effects: op.Bound.Effects, Epoch: op.Bound.Epoch, GameTick: s.tick}
}

// judge asks policy for a new operation.
func (g *Gateway) judge(tx store.Tx, op *operation.Operation, s *scene, by *policy.Engine) operation.Created {
	f := facts(op, s)
	f.Approved = s.approved(by.Revision())
	d := g.timed(by, &f, store.UsageIn(tx))
	ev := operation.Created{Decision: decided(&d)}
	switch d.Result {
	case policy.Allow:
		ev.Reservations = reserved(d.Reservations)
		if d.Code == policy.CodeApproved {
			ev.By = s.parent.ApprovedBy
		}
	case policy.Deny:
		ev.Rejection = rejection(&d)
	}
	return ev
}

// timed decides and counts it.
func (g *Gateway) timed(by *policy.Engine, f *policy.Facts, u policy.Usage) policy.Decision {
	start := g.now()
	d := by.Decide(f, u)
	g.totals.decisions.add(g.now().Sub(start))
	return d
}

func decided(d *policy.Decision) operation.Decision {
	out := operation.Decision{Revision: d.Revision, Rules: d.Rules}
	switch d.Result {
	case policy.Allow:
		out.Result = operation.Allow
	case policy.Confirm:
		out.Result = operation.Confirm
	}
	return out
}

func rejection(d *policy.Decision) *operation.Rejection {
	return &operation.Rejection{Code: string(d.Code), Message: d.Reason, Rules: d.Rules}
}

func reserved(all []policy.Reservation) []operation.Reservation {
	out := make([]operation.Reservation, len(all))
	for i, r := range all {
		out[i] = operation.Reservation(r)
	}
	return out
}

// notAsked is said of an action that a host refuses to bind.
const notAsked = "no rule was asked: policy decides about the exact effects that the bot would have, and the bot says that it would have none; " +
	"see to what it says first, and explain again"

// Explain is the dry run of Submit: it binds and decides, tells it rule by rule, and stores nothing. It needs no lease, so it
// works while somebody else drives the actor. The key may be empty.
func (g *Gateway) Explain(ctx context.Context, p Principal, r SubmitRequest) (Explanation, error) {
	if r.Key == "" {
		r.Key = "dry-run"
	}
	q, err := shape(p.ID, r)
	if err != nil {
		return Explanation{}, err
	}
	if err := g.known(&p, ScopeExecute, q.Actor); err != nil {
		return Explanation{}, err
	}
	q.dry = true
	if err := q.conditioned(); err != nil {
		return Explanation{}, err
	}
	standing := func(f func(store.Tx, scene) error) error {
		return g.view(func(tx store.Tx) error {
			s, err := g.stands(tx, q, operation.InstantOf(g.now()))
			if err != nil {
				return err
			}
			return f(tx, s)
		})
	}
	if err := standing(func(store.Tx, scene) error { return nil }); err != nil {
		return Explanation{}, err
	}
	id, err := g.newID()
	if err != nil {
		return Explanation{}, err
	}
	a, err := g.bind(ctx, q, id)
	if err != nil {
		return Explanation{}, err
	}
	if a.Bound == nil {
		return Explanation{Refusal: operation.Rejection{Code: a.Code, Message: a.Message}, Note: notAsked}, nil
	}
	out := Explanation{Bound: a.Bound}
	err = standing(func(tx store.Tx, s scene) error {
		if err := bindable(a.Bound, id, &s); err != nil {
			return err
		}
		f := facts(&operation.Operation{Principal: q.principal, Actor: q.Actor, Task: q.Task, Bound: *a.Bound}, &s)
		by := g.policy.Load()
		f.Approved = s.approved(by.Revision())
		out.Decision = by.Decide(&f, store.UsageIn(tx))
		out.Lines = by.Explain(&f, store.UsageIn(tx))
		return nil
	})
	return out, err
}
