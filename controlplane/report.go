package controlplane

import (
	"context"
	"errors"
	"slices"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Answer answers a gateway request, once; a repeat changes nothing.
func (s HostService) Answer(ctx context.Context, se host.Session, a host.Answer) error {
	if err := a.Validate(); err != nil {
		return invalid("answer", err)
	}
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(&se)
	if err != nil {
		return err
	}
	k := g.asks[a.Gateway]
	switch {
	case k == nil && a.Gateway <= g.lastAsk:
		return nil // answered already, or nobody waits any more
	case k == nil || k.host != h:
		return Errorf(CodeNotFound, "host %s was not asked request %d", h.name, a.Gateway)
	}
	if err := fits(k, &a); err != nil {
		return err
	}
	delete(g.asks, a.Gateway)
	k.done <- reply{answer: a}
	return nil
}

// fits refuses an answer to another question than was asked.
func fits(k *ask, a *host.Answer) error {
	switch {
	case k.gateway.Ask == host.AskBind && len(a.Output) > 0:
		return Errorf(CodeInvalid, "request %d is to bind: answer with a bound action or a code", a.Gateway).with("field", "output")
	case k.gateway.Ask == host.AskRead && a.Bound != nil:
		return Errorf(CodeInvalid, "request %d is a read: answer with an output or a code", a.Gateway).with("field", "bound")
	case a.Bound != nil && a.Bound.Op != k.gateway.Op:
		return Errorf(CodeInvalid, "request %d is about operation %s, not %s", a.Gateway, k.gateway.Op, a.Bound.Op).with("field", "op")
	case a.Bound != nil && !does(k.gateway.Action.Capability, a.Bound.Effects):
		return Errorf(CodeInvalid, "request %d is to bind %s, and no effect of the bound action is of kind %s: say what it would do", a.Gateway,
			k.gateway.Action.Capability, kinds[k.gateway.Action.Capability]).with("field", "effects")
	}
	return nil
}

// kinds is what each capability that this program knows does, whatever else a host says of it: policy decides by the kind.
var kinds = map[string]string{
	effects.PlaceBlock.String(): "world.place",
	effects.MoveTo.String():     "actor.move",
	effects.LookAt.String():     "actor.look",
	effects.Equip.String():      "actor.equip",
	effects.Say.String():        "chat.say",
	"build_structure":           "world.build",
}

// does tells whether one of the effects is of the kind that the capability means. Of a capability of another program nothing
// is known.
func does(capability string, all []host.Preview) bool {
	kind, known := kinds[capability]
	return !known || slices.ContainsFunc(all, func(p host.Preview) bool { return p.Kind == kind })
}

// Ack takes or refuses a delivery; a repeat changes nothing, another answer is a conflict. After yes the budget is spent.
func (s HostService) Ack(ctx context.Context, se host.Session, a host.Ack) error {
	if err := a.Validate(); err != nil {
		return invalid("ack", err)
	}
	if err := s.report(&se, a.Op, operation.Acked{Ack: a}); err != nil {
		return err
	}
	s.g.opt.At(AfterAck)
	return nil
}

// Run reports progress. Reporting is optional; a report that is older than the last one is stale.
func (s HostService) Run(ctx context.Context, se host.Session, r host.Run) error {
	if err := r.Validate(); err != nil {
		return invalid("run", err)
	}
	return s.report(&se, r.Op, operation.Progress{Run: r})
}

// Outcome reports the one outcome; a repeat changes nothing, another outcome is a conflict.
func (s HostService) Outcome(ctx context.Context, se host.Session, o host.Outcome) error {
	if err := o.Admit(); err != nil {
		return invalid("outcome", err)
	}
	if err := s.report(&se, o.Op, operation.OutcomeCame{Outcome: o}); err != nil {
		return err
	}
	s.g.opt.At(AfterOutcome)
	return nil
}

// report steps one of the host's own operations.
func (s HostService) report(se *host.Session, id host.OpID, ev operation.Event) error {
	g := s.g
	g.mu.Lock()
	h, err := g.sessionOf(se)
	var mine bool
	if o := g.open[id]; err == nil && o != nil && o.host == h.name {
		mine = true
		o.due = g.now().Add(g.opt.RedeliverMax) // it is alive
	}
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return g.update(func(w *work) error {
		if !mine {
			if err := owns(w.tx, se.Host, id, ev); err != nil {
				return err
			}
		}
		if out, is := ev.(operation.OutcomeCame); is && out.Outcome.Receipt != nil {
			if err := w.proves(&out.Outcome); err != nil {
				return err
			}
		}
		_, err := w.step(id, ev)
		if errors.Is(err, store.ErrNotFound) && !mine {
			return nil // pruned, and owns found this to be the repeat of its end
		}
		return err
	})
}

// proves refuses a receipt below the grade that its capability needs. The end of an operation is what it is: of one that has
// ended only the repeat counts.
func (w *work) proves(o *host.Outcome) error {
	op, err := store.Ops(w.tx).Get(o.Op)
	if errors.Is(err, store.ErrNotFound) || err == nil && op.Terminal() {
		return nil
	} else if err != nil {
		return err
	}
	w.g.mu.Lock()
	var c capability
	if a := w.g.actors[op.Actor]; a != nil {
		c = a.caps[op.Action.Capability]
	}
	w.g.mu.Unlock()
	least, _ := effects.ParseGrade(c.LeastGrade)
	if got, _ := effects.ParseGrade(o.Receipt.Grade); got < least {
		return Errorf(CodeInvalid, "outcome: the receipt's grade %s is below %s, the least that proves %s: report the operation as %s",
			got, least, op.Action.Capability, host.Unknown).with("field", "grade")
	}
	return nil
}

// owns refuses what is not the host's own; hidden and missing are answered alike. Of what was pruned only the repeat of
// its end is taken.
func owns(tx store.Tx, name host.Name, id host.OpID, ev operation.Event) error {
	op, err := store.Ops(tx).Get(id)
	if err == nil && op.Host == name {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if r, gone := store.Ops(tx).Pruned(id); gone == nil {
		if out, is := ev.(operation.OutcomeCame); is && out.Outcome.ContentDigest() == r.Ended {
			return nil
		}
		return Errorf(CodeConflict, "operation %s ended (%s) and was pruned: drop the report", id, r.State)
	}
	return Errorf(CodeNotFound, "host %s has no operation %s", name, id)
}

// SubmitChild submits a macro's child: an ordinary operation with the parent's actor, lease, principal and task, bound by
// its own gateway request. The host goes on polling meanwhile.
func (s HostService) SubmitChild(ctx context.Context, se host.Session, c host.Child) (host.ChildView, error) {
	op, err := s.child(ctx, &se, &c)
	if err != nil {
		s.g.refused(err)
		return host.ChildView{}, err
	}
	v := host.ChildView{Op: op.ID, State: op.State.String()}
	if op.Rejection != nil {
		v.Code, v.Message = op.Rejection.Code, op.Rejection.Message
	}
	return v, nil
}

func (s HostService) child(ctx context.Context, se *host.Session, c *host.Child) (operation.Operation, error) {
	g := s.g
	if err := checkKey(c.Key); err != nil {
		return operation.Operation{}, err
	}
	g.mu.Lock()
	h, err := g.sessionOf(se)
	g.mu.Unlock()
	if err != nil {
		return operation.Operation{}, err
	}
	var parent operation.Operation
	err = g.view(func(tx store.Tx) (err error) {
		parent, err = store.Ops(tx).Get(c.Parent)
		if err == nil && parent.Host != h.name {
			err = store.ErrNotFound
		}
		return err
	})
	if err != nil {
		return operation.Operation{}, err
	}
	q, err := shape(parent.Principal, SubmitRequest{Actor: parent.Actor, Lease: parent.Lease, Key: c.Key, Action: c.Action,
		Task: parent.Task, Parent: c.Parent})
	if err != nil {
		return operation.Operation{}, err
	}
	q.internal, q.key = true, childKey(c.Parent, c.Key)
	return g.once(ctx, q)
}

// Blueprint returns a stored blueprint.
func (s HostService) Blueprint(ctx context.Context, se host.Session, d effects.Digest) ([]byte, error) {
	s.g.mu.Lock()
	_, err := s.g.sessionOf(&se)
	s.g.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var data []byte
	err = s.g.view(func(tx store.Tx) error {
		b := store.BlueprintsOf(tx).Get(d)
		if b == nil {
			return Errorf(CodeNotFound, "no blueprint %s: put it first", d)
		}
		data = append(data, b...)
		return nil
	})
	return data, err
}
