package controlplane

import (
	"context"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// Confirm answers a challenge; needs scope confirm. The operation is carried out as it was bound: nothing is bound again.
// Whatever it rests on is checked once more and policy decides again; a challenge that is wrong, or meant for something
// else, is an error and changes nothing. An operation that was answered already is returned as it is.
func (g *Gateway) Confirm(ctx context.Context, p Principal, r ConfirmRequest) (operation.View, error) {
	op, err := g.confirm(&p, &r)
	if err != nil {
		g.refused(err)
		return operation.View{}, err
	}
	g.opt.At(AfterConfirm)
	return g.show(&p, op), nil
}

func (g *Gateway) confirm(p *Principal, r *ConfirmRequest) (operation.Operation, error) {
	if err := p.check(ScopeConfirm); err != nil {
		return operation.Operation{}, err
	}
	if len(r.Challenge) > host.MaxKey {
		return operation.Operation{}, Errorf(CodeInvalid, "a challenge has at most %d bytes", host.MaxKey).with("field", "challenge")
	}
	var op operation.Operation
	var spent *challenge
	err := g.update(func(w *work) (err error) {
		if op, err = g.visible(w.tx, p, r.Op); err != nil {
			return err
		}
		if op.State == operation.Cancelled {
			_, err := stopped(w.tx, op.Actor)
			return err
		}
		if op.State != operation.AwaitingConfirmation {
			return nil
		}
		by := g.policy.Load()
		s, why, err := g.holds(w, &op, r)
		if err != nil {
			return err
		}
		if why != 0 {
			op, err = w.apply(op, operation.Fenced{Why: why})
			return err
		}
		if err := g.check(r, &op, by.Revision()); err != nil {
			if CodeOf(err) == CodeConfirmationChanged {
				return g.reconsider(w, &op, &s, by, err)
			}
			return err
		}
		ev := g.rejudge(w.tx, &op, &s, by, p, r)
		spent = g.spend(op.ID)
		op, err = w.apply(op, ev)
		return err
	})
	if err != nil {
		g.unspend(r.Op, spent)
		return op, err
	}
	return op, late(&op)
}

// late is the approver's answer for an operation that was over before the answer came.
func late(op *operation.Operation) error {
	switch op.State {
	case operation.Stale:
		why := "what it rested on is not true any more"
		if op.Rejection != nil {
			why = op.Rejection.Message
		}
		return Errorf(CodeStale, "the operation is stale (%s): submit it anew, with a new key, if it is still wanted", why)
	case operation.Cancelled:
		return Errorf(CodeConflict, "the operation was cancelled (%s): submit it anew, with a new key, if it is still wanted", op.CancelRequested)
	}
	return nil
}

// holds checks what a waiting operation rests on: stop, lease, host and epoch, the binding's time, and the observation the
// approver names. A fence says that the operation is over; an error alone, that this answer is not good now.
func (g *Gateway) holds(w *work, op *operation.Operation, r *ConfirmRequest) (scene, operation.Fence, error) {
	why, s, err := g.rests(w, op)
	if why != 0 || err != nil {
		return s, why, err
	}
	if r.Sequence == 0 {
		return s, 0, nil
	}
	stop, _, err := store.StopsOf(w.tx).Get(op.Actor)
	if err != nil {
		return s, 0, err
	}
	return s, 0, s.current(s.pub.Epoch, r.Sequence, &stop)
}

// rests says which of the things that an undelivered operation rests on is gone.
func (g *Gateway) rests(w *work, op *operation.Operation) (operation.Fence, scene, error) {
	if _, err := stopped(w.tx, op.Actor); err != nil {
		return fenceFor(err, operation.FenceStop), scene{}, unless(err, CodeStopped)
	}
	if err := w.g.leased(w.tx, op.Actor, op.Principal, op.Lease, w.at); err != nil {
		return fenceFor(err, operation.FenceLease), scene{}, unless(err, CodeLeaseExpired, CodeLeaseConflict)
	}
	s, err := g.scene(op.Actor, op.Action.Capability)
	switch {
	case err != nil:
		return 0, s, err
	case s.host != op.Host:
		return operation.FenceHost, s, nil
	case s.pub.Epoch != op.Bound.Epoch:
		return operation.FenceEpoch, s, nil
	case op.Bound.ValidUntil >= 0 && s.tick > op.Bound.ValidUntil:
		return operation.FenceExpired, s, nil
	}
	return 0, s, nil
}

func fenceFor(err error, f operation.Fence) operation.Fence {
	if _, ours := err.(*Error); ours {
		return f
	}
	return 0
}

// unless drops an error of the given codes.
func unless(err error, codes ...Code) error {
	for _, c := range codes {
		if CodeOf(err) == c {
			return nil
		}
	}
	return err
}

func (g *Gateway) check(r *ConfirmRequest, op *operation.Operation, revision string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.answers(g.challenges[op.ID], r, op, revision)
}

// reconsider is for an answer under another policy than the challenge's: what is denied by now is rejected, anything else
// needs the answer to a new challenge.
func (g *Gateway) reconsider(w *work, op *operation.Operation, s *scene, by *policy.Engine, err error) error {
	if by.Revision() == op.Decision.Revision {
		return err
	}
	f := facts(op, s)
	d := g.timed(by, &f, store.UsageIn(w.tx))
	if d.Result != policy.Deny {
		return err
	}
	*op, err = w.apply(*op, operation.Denied{Decision: decided(&d), Rejection: *rejection(&d)})
	return err
}

// rejudge is policy's second look at the same bound action, and the approver's word.
func (g *Gateway) rejudge(tx store.Tx, op *operation.Operation, s *scene, by *policy.Engine, p *Principal, r *ConfirmRequest) operation.Event {
	f := facts(op, s)
	f.Confirmed = r.Approve
	d := g.timed(by, &f, store.UsageIn(tx))
	switch {
	case !r.Approve:
		return operation.Denied{By: p.ID, Decision: decided(&d),
			Rejection: operation.Rejection{Code: operation.CodeConfirmationDenied, Message: "approver " + string(p.ID) + " said no", Rules: d.Rules}}
	case d.Result != policy.Allow:
		return operation.Denied{Decision: decided(&d), Rejection: *rejection(&d)}
	}
	return operation.Confirmed{By: p.ID, Decision: decided(&d), Reservations: reserved(d.Reservations)}
}

// spend takes a challenge out of use. On the writer.
func (g *Gateway) spend(id host.OpID) *challenge {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.challenges[id]
	delete(g.challenges, id)
	return c
}

// unspend puts it back: what it was spent for did not come to disk.
func (g *Gateway) unspend(id host.OpID, c *challenge) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c != nil && g.open[id] != nil && g.challenges[id] == nil {
		g.challenges[id] = c
	}
}

// visible reads an operation that p may see; hidden and missing are answered alike.
func (g *Gateway) visible(tx store.Tx, p *Principal, id host.OpID) (operation.Operation, error) {
	op, err := store.Ops(tx).Get(id)
	if err == nil && !p.Sees(op.Actor) {
		err = store.ErrNotFound
	}
	return op, err
}
