package controlplane

import (
	"errors"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// due is what one sweep found to do beside what it did at once.
type due struct {
	leases  []host.Name
	hosts   []host.Name
	expired []host.OpID // challenges whose tick has passed
	prune   bool
}

// Sweep does what is due by the clock: it ends waits, gateway requests, leases, sessions and challenges, puts up what is
// to be delivered again, and prunes. Nothing else in this package acts on time alone.
func (g *Gateway) Sweep() error {
	now := g.now()
	d := g.look(now)
	err := g.expire(d.leases)
	for _, name := range d.hosts {
		err = errors.Join(err, g.lost(name))
	}
	if len(d.expired) > 0 {
		err = errors.Join(err, g.lapse(d.expired))
	}
	if d.prune {
		_, failure := store.Prune(g.opt.Engine, operation.InstantOf(now.Add(-g.opt.Retain)), 512)
		err = errors.Join(err, failure)
	}
	return failed(err)
}

// look does what needs no disk and lists the rest.
func (g *Gateway) look(now time.Time) (d due) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.parked {
		if !now.Before(p.until) {
			p.wake()
		}
	}
	for _, k := range g.asks {
		switch {
		case !now.Before(k.until):
			g.endAsk(k, Errorf(CodeTimeout, "the host did not answer within %v; nothing was stored: send the same request again", g.opt.AnswerWait))
		case !k.again.IsZero() && !now.Before(k.again):
			k.again = time.Time{}
			k.host.asks = append(k.host.asks, k) // the poll that took it may have been lost on its way
			k.host.wake()
		}
	}
	at := operation.InstantOf(now)
	for actor, end := range g.leases {
		if end <= at {
			d.leases = append(d.leases, actor)
			delete(g.leases, actor)
		}
	}
	d.hosts = g.sessionsOver(now)
	for id, c := range g.challenges {
		if o := g.open[id]; o != nil {
			if a := g.actors[o.actor]; a.online() {
				if tick, servers := g.clock(a); servers != c.servers || tick >= c.expires {
					d.expired = append(d.expired, id)
				}
			}
		}
	}
	if !now.Before(g.nextResend) {
		g.nextResend = now.Add(min(g.opt.RedeliverMin/4, time.Second))
		g.sayAgain(now)
		for _, o := range g.out {
			if o.state == operation.OutcomeUnknown { // its host was told at its last session; it settles it by an outcome
				continue
			}
			if h := g.hosts[o.host]; h != nil && h.live && !o.due.IsZero() && !now.Before(o.due) {
				o.due = now.Add(g.opt.RedeliverMax)
				h.enqueue(o)
			}
		}
	}
	if g.opt.Retain > 0 && !now.Before(g.nextPrune) {
		g.nextPrune = now.Add(time.Minute)
		d.prune = true
	}
	return d
}

// sayAgain repeats words to hosts: a repeat is harmless, and the poll that brought the first may have been lost. Under mu.
func (g *Gateway) sayAgain(now time.Time) {
	for _, a := range g.actors {
		if a.wordLeft > 0 && !now.Before(a.wordNext) && a.host != nil && a.host.live {
			a.wordLeft--
			a.wordNext = now.Add(g.opt.ResendAfter)
			a.host.say(a)
		}
	}
	for _, o := range g.out {
		if o.asked && o.state != operation.OutcomeUnknown && !now.Before(o.retell) {
			if h := g.hosts[o.host]; h != nil && h.live && !o.retell.IsZero() {
				h.cancel(host.Cancellation{Op: o.id, Actor: o.actor, Why: o.why})
			}
			o.retell = now.Add(g.opt.RedeliverMin)
		}
	}
}

// lapse makes operations stale whose challenge is over.
func (g *Gateway) lapse(ids []host.OpID) error {
	return g.update(func(w *work) error {
		for _, id := range ids {
			op, err := store.Ops(w.tx).Get(id)
			if err == nil && op.State == operation.AwaitingConfirmation {
				_, err = w.apply(op, operation.Fenced{Why: operation.FenceExpired})
			}
			if err != nil && !over(err) {
				return err
			}
		}
		return nil
	})
}
