package controlplane

import (
	"context"
	"slices"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// Poll waits at most wait (0..25 s) for up to limit (1..64) items: words to stop or cancel, then gateway requests, then
// deliveries. The attempt of every delivery is durable before it leaves.
func (s HostService) Poll(ctx context.Context, se host.Session, limit int, wait time.Duration) (host.Batch, error) {
	if limit < 1 || limit > host.MaxBatch {
		return host.Batch{}, Errorf(CodeInvalid, "limit %d is not within 1..%d", limit, host.MaxBatch).with("field", "limit")
	}
	if wait < 0 || wait > MaxWaitMS*time.Millisecond {
		return host.Batch{}, Errorf(CodeInvalid, "a wait of %v is not within 0..%v", wait, MaxWaitMS*time.Millisecond).with("field", "wait")
	}
	g := s.g
	until := g.now().Add(wait)
	for {
		b, due, parked, err := g.collect(&se, limit, until)
		if err != nil {
			return host.Batch{}, err
		}
		if parked != nil {
			err := parked.wait(ctx)
			g.unpark(&se, parked)
			if err != nil {
				return host.Batch{}, err
			}
			continue
		}
		if len(due) > 0 {
			if err := g.deliver(&se, &b, due); err != nil && b.Empty() {
				return host.Batch{}, err
			}
		}
		if !b.Empty() || !g.now().Before(until) {
			if len(b.Deliveries) > 0 {
				g.opt.At(AfterDelivery)
			}
			return b, nil
		}
	}
}

// collect takes what lies ready, or a place to wait at when nothing does.
func (g *Gateway) collect(se *host.Session, limit int, until time.Time) (b host.Batch, due []*openOp, p *parked, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(se)
	if err != nil {
		return b, nil, nil, err
	}
	n := min(limit, len(h.cancels))
	b.Cancellations, h.cancels = cut(h.cancels, n)
	limit -= n

	room := limit - min(len(h.queue)+len(h.ready), limit/2) // requests leave room for deliveries
	for room > 0 && len(h.asks) > 0 {
		k := h.asks[0]
		h.asks = h.asks[1:]
		if g.asks[k.gateway.ID] == k {
			b.Gateways = append(b.Gateways, k.gateway)
			room--
			limit--
		}
	}
	n = min(limit, len(h.ready))
	b.Deliveries, h.ready = cut(h.ready, n)
	limit -= n
	due, h.queue = cut(h.queue, min(limit, len(h.queue)))
	for _, o := range due {
		o.inQueue = false
	}
	if b.Empty() && len(due) == 0 && g.now().Before(until) {
		p = g.park(until)
		h.polls = append(h.polls, p)
	}
	return b, due, p, nil
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

// deliver makes the attempts durable and then hands the operations out; what does not stand any more goes stale instead.
func (g *Gateway) deliver(se *host.Session, b *host.Batch, due []*openOp) error {
	var out []host.Delivery
	var asked []host.Cancellation
	err := g.update(func(w *work) error {
		out, asked = out[:0], asked[:0]
		g.mu.Lock()
		_, err := g.sessionOf(se)
		g.mu.Unlock()
		if err != nil {
			return err
		}
		for _, o := range due {
			op, err := w.deliver(o)
			if over(err) {
				continue
			} else if err != nil {
				return err
			} else if op == nil {
				continue
			}
			out = append(out, delivery(op))
			if op.CancelRequested != "" {
				asked = append(asked, host.Cancellation{Op: op.ID, Actor: op.Actor, Why: op.CancelRequested})
			}
		}
		return nil
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if h := g.hosts[se.Host]; h != nil {
			for _, o := range due {
				h.enqueue(o)
			}
		}
		return err
	}
	now := g.now()
	for i := range out {
		if o := g.open[out[i].Op]; o != nil {
			o.due, o.wait = g.again(o, now)
		}
	}
	b.Deliveries = append(b.Deliveries, out...)
	for _, c := range asked {
		if !slices.Contains(b.Cancellations, c) {
			b.Cancellations = append(b.Cancellations, c)
		}
	}
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
	op, known := w.g.queued(o)
	if !known {
		var err error
		if op, err = store.Ops(w.tx).Get(o.id); err != nil {
			return nil, err
		}
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
