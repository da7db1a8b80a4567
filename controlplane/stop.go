package controlplane

import (
	"context"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// governs refuses who is neither the actor's owner nor an admin.
func (g *Gateway) governs(p *Principal, actor host.Name) error {
	if err := p.ID.Check("principal"); err != nil {
		return invalid("principal", err)
	}
	if err := g.sees(p, actor); err != nil {
		return err
	}
	owner := g.opt.Owners[actor] == p.ID && p.Scopes.Has(ScopeControl)
	if !owner && !p.Scopes.Has(ScopeAdmin) {
		return Errorf(CodeForbidden, "the stop of actor %s is its owner's and the admins': ask one of them", actor).with("actor", string(actor))
	}
	return nil
}

// Stop latches an actor's emergency stop; its owner or an admin may, whether its host is there or not. What is not
// delivered is cancelled, what is delivered is asked to end, and the host hears of it at once, also when the latch cannot
// be stored; then the error says so. The world is not restored.
func (g *Gateway) Stop(ctx context.Context, p Principal, actor host.Name, why string) (ActorView, error) {
	if err := g.governs(&p, actor); err != nil {
		return ActorView{}, err
	}
	if len(why) > host.MaxText {
		return ActorView{}, Errorf(CodeInvalid, "why is longer than %d bytes", host.MaxText).with("field", "why")
	}
	if why == "" {
		why = "emergency stop"
	}
	word := host.Cancellation{Actor: actor, Why: why, Stop: true}
	g.hear(word) // before anything waits for the disk
	g.stopping.Lock()
	defer g.stopping.Unlock()
	err := g.update(func(w *work) error {
		s, _, err := store.StopsOf(w.tx).Get(actor)
		if err != nil || s.Latched {
			return err
		}
		s = store.Stop{Actor: actor, Latched: true, By: p.ID, Why: why, At: w.at, Epoch: s.Epoch, Sequence: s.Sequence}
		if err := store.StopsOf(w.tx).Put(s); err != nil {
			return err
		}
		return w.fence(actor, operation.FenceStop)
	})
	g.hear(word) // again, whatever was said meanwhile, and also when it could not be stored: a full disk stops no stop
	if err != nil {
		return ActorView{}, err
	}
	return g.actorView(&p, actor)
}

// ClearStop lifts the latch and ends the actor's lease: a lease acquired, and a publication made, after the clear are
// needed to go on.
func (g *Gateway) ClearStop(ctx context.Context, p Principal, actor host.Name) (ActorView, error) {
	if err := g.governs(&p, actor); err != nil {
		return ActorView{}, err
	}
	g.stopping.Lock()
	defer g.stopping.Unlock()
	err := g.update(func(w *work) error {
		s, found, err := store.StopsOf(w.tx).Get(actor)
		if err != nil || !found || !s.Latched {
			return err
		}
		s.Latched, s.ClearedBy, s.ClearedAt = false, p.ID, w.at
		g.mu.Lock()
		if a := g.actors[actor]; a != nil && a.pub != nil {
			s.Epoch, s.Sequence = a.pub.Epoch, a.pub.Sequence
		}
		g.mu.Unlock()
		if err := store.StopsOf(w.tx).Put(s); err != nil {
			return err
		}
		store.LeasesOf(w.tx).Delete(actor)
		return w.fence(actor, operation.FenceLease)
	})
	if err != nil {
		return ActorView{}, err
	}
	g.hear(host.Cancellation{Actor: actor, Why: "cleared", Clear: true})
	return g.actorView(&p, actor)
}

// wordTimes is how often a stop or a clear is said again.
const wordTimes = 3

// hear makes c the actor's last word and puts it up for its host.
func (g *Gateway) hear(c host.Cancellation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[c.Actor]
	if a == nil {
		return
	}
	a.word, a.wordLeft, a.wordNext = c, wordTimes, g.now().Add(g.opt.ResendAfter)
	if a.host != nil && a.host.live {
		a.host.say(a)
	}
	g.note(c.Actor)
}
