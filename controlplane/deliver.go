package controlplane

import (
	"context"
	"slices"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// patient is how many gateway requests of one batch may wait for the disk, so that deliveries come along. Callers behind
// more of them do not wait: the deliveries come with the next poll.
const patient = 4

// Poll waits at most wait (0..25 s) for up to limit (1..64) items: words to stop or cancel, then gateway requests, then
// deliveries. The attempt of every delivery is durable before it leaves.
func (s HostService) Poll(ctx context.Context, se host.Session, limit int, wait time.Duration) (host.Batch, error) {
	if limit < 1 || limit > host.MaxBatch {
		return host.Batch{}, Errorf(CodeInvalid, "limit %d is not within 1..%d", limit, host.MaxBatch).with("field", "limit")
	}
	if wait < 0 || wait > MaxWaitMS*time.Millisecond {
		return host.Batch{}, Errorf(CodeInvalid, "a wait of %v is not within 0..%v", wait, MaxWaitMS*time.Millisecond).with("field", "wait")
	}
	b, err := s.g.poll(ctx, &se, limit, s.g.now().Add(wait))
	if len(b.Deliveries) > 0 {
		s.g.opt.At(AfterDelivery)
	}
	return b, err
}

func (g *Gateway) poll(ctx context.Context, se *host.Session, limit int, until time.Time) (b host.Batch, err error) {
	for {
		due, spot, err := g.collect(se, &b, limit, until)
		if err != nil {
			return host.Batch{}, err
		}
		var stored chan error
		if len(due) > 0 {
			stored = make(chan error, 1)
			go func() { stored <- g.deliver(se, due) }()
		}
		if spot == nil || len(b.Gateways) > patient {
			g.unpark(se, spot)
			return b, nil
		}
		err = g.await(ctx, se, spot, stored, &b, limit)
		g.unpark(se, spot)
		if ctx.Err() != nil && err != nil {
			g.putBack(se, &b)
			return host.Batch{}, err
		}
		if err != nil || !b.Empty() || !g.now().Before(until) {
			return b, err
		}
	}
}

// await waits until there is something to bring: news, or deliveries whose attempts are stored.
func (g *Gateway) await(ctx context.Context, se *host.Session, spot *parked, stored chan error, b *host.Batch, limit int) error {
	for {
		select {
		case <-ctx.Done():
			return Errorf(CodeTimeout, "the caller went away").because(ctx.Err())
		case err := <-stored:
			if taken := g.top(se, b, limit); taken != nil {
				return taken
			}
			if b.Empty() {
				return err
			}
			return nil
		case <-spot.ch:
			before := items(b)
			if err := g.top(se, b, limit); err != nil {
				return err
			}
			if stored == nil || items(b) > before {
				return nil
			}
		}
	}
}

func items(b *host.Batch) int {
	return len(b.Gateways) + len(b.Deliveries) + len(b.Cancellations)
}

// collect takes what lies ready, starts a delivery of what is due unless one is under way, and makes a place to wait at
// when there is nothing yet, or more to come.
func (g *Gateway) collect(se *host.Session, b *host.Batch, limit int, until time.Time) (due []*openOp, spot *parked, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(se)
	if err != nil {
		return nil, nil, err
	}
	g.fill(h, b, limit)
	if room := limit - items(b); room > 0 && !h.delivering {
		due, h.queue = cut(h.queue, min(room, len(h.queue)))
		h.delivering = len(due) > 0
		for _, o := range due {
			o.inQueue = false
		}
	}
	if len(due) > 0 || b.Empty() && g.now().Before(until) {
		spot = g.park(until)
		h.polls = append(h.polls, spot)
	}
	return due, spot, nil
}

// top takes what has come ready meanwhile.
func (g *Gateway) top(se *host.Session, b *host.Batch, limit int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(se)
	if err == nil {
		g.fill(h, b, limit)
	}
	return err
}

// fill takes what lies ready into a batch: words first, and requests leave room for deliveries. Under mu.
func (g *Gateway) fill(h *hostState, b *host.Batch, limit int) {
	room := limit - items(b)
	for room > 0 && len(h.words) > 0 {
		a := h.words[0]
		h.words = h.words[1:]
		if a.host == h && said(b, a.id) != a.word {
			b.Cancellations = append(b.Cancellations, a.word)
			room--
		}
	}
	cancels, rest := cut(h.cancels, min(room, len(h.cancels)))
	h.cancels = rest
	for _, c := range cancels {
		if !slices.Contains(b.Cancellations, c) {
			b.Cancellations = append(b.Cancellations, c)
			room--
		}
	}

	for asks := room - min(len(h.queue)+len(h.ready), room/2); asks > 0 && len(h.asks) > 0; {
		k := h.asks[0]
		h.asks = h.asks[1:]
		if g.asks[k.gateway.ID] == k {
			b.Gateways = append(b.Gateways, k.gateway)
			room--
			asks--
		}
	}
	ready, later := cut(h.ready, min(room, len(h.ready)))
	b.Deliveries, h.ready = append(b.Deliveries, ready...), later
}

// said is what a batch says last about an actor's stop; the zero Cancellation: nothing.
func said(b *host.Batch, actor host.Name) (last host.Cancellation) {
	for _, c := range b.Cancellations {
		if c.Actor == actor && (c.Stop || c.Clear) {
			last = c
		}
	}
	return last
}

// putBack keeps for the next poll what a caller that went away did not get.
func (g *Gateway) putBack(se *host.Session, b *host.Batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(se)
	if err != nil {
		return
	}
	for _, c := range b.Cancellations {
		if a := g.actors[c.Actor]; !c.Stop && !c.Clear {
			h.cancel(c)
		} else if a != nil && a.host == h {
			h.say(a)
		}
	}
	for _, q := range b.Gateways {
		if k := g.asks[q.ID]; k != nil {
			h.asks = append(h.asks, k)
		}
	}
	h.ready = append(b.Deliveries, h.ready...)
	h.wake()
}

// cut takes the first n of a list.
func cut[T any](all []T, n int) (head, rest []T) {
	if n == 0 {
		return nil, all
	}
	head = all[:n:n]
	if rest = all[n:]; len(rest) == 0 {
		rest = nil
	}
	return head, rest
}

// unpark ends a poll's wait.
func (g *Gateway) unpark(se *host.Session, p *parked) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p == nil {
		return
	}
	delete(g.parked, p)
	if h := g.hosts[se.Host]; h != nil {
		for i := range h.polls {
			if h.polls[i] == p {
				h.polls = append(h.polls[:i], h.polls[i+1:]...)
				return
			}
		}
	}
}

// deliver makes the attempts durable and then puts the operations up to be handed out; what does not stand any more goes
// stale instead.
func (g *Gateway) deliver(se *host.Session, due []*openOp) error {
	var out []operation.Operation
	err := g.update(func(w *work) error {
		out = out[:0]
		g.mu.Lock()
		_, err := g.sessionOf(se)
		g.mu.Unlock()
		if err != nil {
			return err
		}
		for _, o := range due {
			if op, err := w.deliver(o); err != nil && !over(err) {
				return err
			} else if op != nil {
				out = append(out, *op)
			}
		}
		return nil
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[se.Host]
	h.delivering = false
	if err != nil || !h.live || h.session.Generation != se.Generation {
		for _, o := range due { // whoever is there now is to have them
			if h.live && g.open[o.id] == o {
				h.enqueue(o)
			}
		}
		return err
	}
	now := g.now()
	for i := range out {
		op := &out[i]
		h.ready = append(h.ready, delivery(op))
		if o := g.open[op.ID]; o != nil {
			o.due, o.wait = g.again(o, now)
		}
		if op.CancelRequested != "" {
			h.cancel(host.Cancellation{Op: op.ID, Actor: op.Actor, Why: op.CancelRequested})
		}
	}
	h.wake()
	return nil
}

// again says when an operation is delivered once more if nothing is heard of it. Under mu.
func (g *Gateway) again(o *openOp, now time.Time) (time.Time, time.Duration) {
	wait := max(g.opt.RedeliverMin, min(2*o.wait, g.opt.RedeliverMax))
	if o.state != operation.Delivered {
		wait = g.opt.RedeliverMax
	}
	return now.Add(wait), wait
}

// deliver steps one operation that its host is to have. Nil: it is not delivered now.
func (w *work) deliver(o *openOp) (*operation.Operation, error) {
	op, err := store.Ops(w.tx).Get(o.id)
	if err != nil {
		return nil, err
	}
	switch op.State {
	case operation.Queued:
		why, _, err := w.g.rests(w, &op)
		if CodeOf(err) == CodeUnavailable {
			return nil, nil // its host publishes the actor first
		} else if err != nil {
			return nil, err
		}
		if why == 0 && op.Decision.Revision != w.g.policy.Load().Revision() {
			why = operation.FenceAuthority
		}
		if why != 0 {
			_, err := w.apply(op, operation.Fenced{Why: why})
			return nil, err
		}
		op, err = w.apply(op, operation.Polled{})
		return &op, err
	case operation.Delivered, operation.Accepted, operation.Running, operation.OutcomeUnknown:
		if op.Terminal() {
			return nil, nil
		}
		op, err := w.apply(op, operation.Redelivered{})
		return &op, err
	}
	return nil, nil
}

func delivery(op *operation.Operation) host.Delivery {
	return host.Delivery{Op: op.ID, Actor: op.Actor, Action: op.Action, Bound: op.Bound, Principal: op.Principal, Lease: op.Lease,
		Task: op.Task, Parent: op.Parent, Key: toldKey(op), Attempt: op.Attempts, Accepted: op.Acked}
}
