package controlplane

import (
	"context"
	"time"
)

// parked is one goroutine that waits: for a change, for something to poll. Whoever has news wakes it; Sweep wakes it at its
// time. It then looks itself.
type parked struct {
	ch    chan struct{} // of size 1
	until time.Time
}

func (p *parked) wake() {
	select {
	case p.ch <- struct{}{}:
	default:
	}
}

// park makes a place to wait at. Under mu.
func (g *Gateway) park(until time.Time) *parked {
	p := &parked{ch: make(chan struct{}, 1), until: until}
	g.parked[p] = struct{}{}
	return p
}

// wait blocks until p is woken or ctx ends. Not under mu.
func (p *parked) wait(ctx context.Context) error {
	select {
	case <-p.ch:
		return nil
	case <-ctx.Done():
		return Errorf(CodeTimeout, "the caller went away").because(ctx.Err())
	}
}
