package main

import (
	"context"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// grip is a lease for the time of a command.
type grip struct {
	c     *client.Client
	lease controlplane.Lease
	ours  bool // acquired by this command
	stop  context.CancelFunc
	done  chan struct{}
}

// hold takes the lease that is named, that the caller has, or a new one; a new one is renewed until the command ends.
func hold(ctx context.Context, c *client.Client, actor host.Name, id string) (*grip, error) {
	if id != "" {
		return &grip{c: c, lease: controlplane.Lease{ID: id, Actor: actor}}, nil
	}
	l, err := c.LeaseOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	if l.ID != "" {
		return &grip{c: c, lease: l}, nil
	}
	if l, err = c.Acquire(ctx, actor, leaseTime); err != nil {
		return nil, err
	}
	h := &grip{c: c, lease: l, ours: true, done: make(chan struct{})}
	keeping, stop := context.WithCancel(ctx)
	h.stop = stop
	go func() {
		defer close(h.done)
		t := time.NewTicker(leaseTime / 4)
		defer t.Stop()
		for {
			select {
			case <-keeping.Done():
				return
			case <-t.C:
				// When it cannot be renewed, the next submit says so.
				if longer, err := c.Renew(keeping, actor, l.ID, leaseTime); err == nil {
					h.lease.Expires = longer.Expires // read when this has ended
				}
			}
		}
	}()
	return h, nil
}

// tell says of a lease that the command took and leaves behind how long it lasts.
func (h *grip) tell(p *printer, over bool) {
	if h.ours && !over {
		p.say("  lease     taken for this until %s; the operation ends with it: `blockworld ctl lease renew %s` keeps it, release gives it back",
			h.lease.Expires.Time().Local().Format(time.TimeOnly), h.lease.Actor)
	}
}

// end lets go of a lease that the command took. What is under way needs it, so it is given back only when nothing is.
func (h *grip) end(over bool) {
	if !h.ours {
		return
	}
	h.stop()
	<-h.done
	if over {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.c.Release(ctx, h.lease.Actor, h.lease.ID) // it expires by itself otherwise
	}
}

// A world that has just moved on, or a stop that was just cleared, needs a newer observation than there is yet: for so long
// it is asked for.
const (
	newerWithin = 6 * time.Second // a host publishes every 5 s at least
	newerEvery  = 200 * time.Millisecond
)

// submit sends a request on the newest observation. What is stale by then is sent again on a newer one, under its key.
func (h *grip) submit(ctx context.Context, r controlplane.SubmitRequest) (operation.View, error) {
	until := time.Now().Add(newerWithin)
	tick := time.NewTicker(newerEvery)
	defer tick.Stop()
	for {
		a, err := h.c.Observe(ctx, r.Actor)
		if err != nil {
			return operation.View{}, err
		}
		r.Lease, r.Epoch, r.Sequence = h.lease.ID, a.Epoch, a.Sequence
		v, err := h.c.Submit(ctx, r)
		if controlplane.CodeOf(err) != controlplane.CodeStale || time.Now().After(until) {
			return v, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
}
