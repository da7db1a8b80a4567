package controlplane

import (
	"context"
	"encoding/hex"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

func ttlOf(ttl time.Duration) error {
	if ms := ttl.Milliseconds(); ms < MinLeaseMS || ms > MaxLeaseMS {
		return Errorf(CodeInvalid, "a lease of %v is not within %v..%v", ttl, MinLeaseMS*time.Millisecond, MaxLeaseMS*time.Millisecond).with("field", "ttl")
	}
	return nil
}

// heldBy refuses what another principal's lease is in the way of.
func heldBy(l *store.Lease) *Error {
	until := l.Expires.Time().UTC().Format(time.RFC3339)
	return Errorf(CodeLeaseConflict, "principal %s holds the lease of actor %s until %s, or longer if it renews it: wait for that, or have it release the lease "+
		"(`blockworld ctl lease release %s`); the actor's owner or an admin ends it with a stop and a clear", l.Holder, l.Actor, until, l.Actor).
		with("holder", string(l.Holder)).with("expires", until)
}

// Acquire takes the lease of an actor for ttl, 5 to 300 s; the holder's own is renewed. Needs scope control.
func (g *Gateway) Acquire(ctx context.Context, p Principal, actor host.Name, ttl time.Duration) (Lease, error) {
	if err := g.known(&p, ScopeControl, actor); err != nil {
		return Lease{}, err
	}
	if err := ttlOf(ttl); err != nil {
		return Lease{}, err
	}
	var raw [16]byte
	if err := g.random(raw[:]); err != nil {
		return Lease{}, err
	}
	return g.lend(actor, func(w *work, l store.Lease, live bool) (store.Lease, error) {
		if live && l.Holder != p.ID {
			return l, heldBy(&l)
		}
		if !live {
			if l.ID != "" { // expired, and nobody has looked since
				if err := w.fence(actor, operation.FenceLease); err != nil {
					return l, err
				}
			}
			l = store.Lease{ID: hex.EncodeToString(raw[:]), Actor: actor, Holder: p.ID, Acquired: w.at}
		}
		l.Renewed, l.Expires = w.at, w.at+operation.Instant(ttl.Milliseconds())
		return l, nil
	})
}

// Renew extends a lease that is still live.
func (g *Gateway) Renew(ctx context.Context, p Principal, actor host.Name, id string, ttl time.Duration) (Lease, error) {
	if err := g.known(&p, ScopeControl, actor); err != nil {
		return Lease{}, err
	}
	if err := ttlOf(ttl); err != nil {
		return Lease{}, err
	}
	return g.lend(actor, func(w *work, l store.Lease, live bool) (store.Lease, error) {
		if err := w.g.leased(w.tx, actor, p.ID, id, w.at); err != nil {
			return l, err
		}
		l.Renewed, l.Expires = w.at, w.at+operation.Instant(ttl.Milliseconds())
		return l, nil
	})
}

// lend writes the lease that f makes of the stored one.
func (g *Gateway) lend(actor host.Name, f func(w *work, l store.Lease, live bool) (store.Lease, error)) (Lease, error) {
	var l store.Lease
	err := g.update(func(w *work) error {
		old, found, err := store.LeasesOf(w.tx).Get(actor)
		if err != nil {
			return err
		}
		if l, err = f(w, old, found && old.Expires > w.at); err != nil {
			return err
		}
		if err := store.LeasesOf(w.tx).Put(l); err != nil {
			return err
		}
		g.mu.Lock()
		g.leases[actor] = l.Expires // a hint of when to look; if this is not stored, looking finds the older one
		g.mu.Unlock()
		return nil
	})
	if err != nil {
		return Lease{}, err
	}
	g.noteActor(actor)
	return Lease{ID: l.ID, Actor: l.Actor, Holder: l.Holder, Expires: l.Expires}, nil
}

// Release gives a lease back; what waits under it goes stale, what is delivered is asked to end.
func (g *Gateway) Release(ctx context.Context, p Principal, actor host.Name, id string) error {
	if err := g.known(&p, ScopeControl, actor); err != nil {
		return err
	}
	err := g.update(func(w *work) error {
		if err := w.g.leased(w.tx, actor, p.ID, id, w.at); err != nil {
			return err
		}
		store.LeasesOf(w.tx).Delete(actor)
		return w.fence(actor, operation.FenceLease)
	})
	if err == nil {
		g.noteActor(actor)
	}
	return err
}

// LeaseOf tells who holds an actor's lease; the id is shown to its holder only. The zero Lease: nobody.
func (g *Gateway) LeaseOf(ctx context.Context, p Principal, actor host.Name) (Lease, error) {
	if err := g.known(&p, ScopeRead, actor); err != nil {
		return Lease{}, err
	}
	var out Lease
	err := g.view(func(tx store.Tx) error {
		l, err := leaseIn(tx, actor, p.ID, operation.InstantOf(g.now()))
		if l != nil {
			out = *l
		}
		return err
	})
	return out, err
}

// leaseIn is an actor's live lease as principal may see it; nil: nobody has it.
func leaseIn(tx store.Tx, actor, principal host.Name, at operation.Instant) (*Lease, error) {
	l, found, err := store.LeasesOf(tx).Get(actor)
	if err != nil || !found || l.Expires <= at {
		return nil, err
	}
	out := &Lease{Actor: actor, Holder: l.Holder, Expires: l.Expires}
	if l.Holder == principal {
		out.ID = l.ID
	}
	return out, nil
}

// expire ends leases whose time is over. The record decides: it may have been renewed since.
func (g *Gateway) expire(actors []host.Name) error {
	if len(actors) == 0 {
		return nil
	}
	g.opt.At(DuringExpiry)
	err := g.update(func(w *work) error {
		for _, actor := range actors {
			l, found, err := store.LeasesOf(w.tx).Get(actor)
			if err != nil {
				return err
			}
			if found && l.Expires > w.at {
				g.mu.Lock()
				g.leases[actor] = l.Expires
				g.mu.Unlock()
				continue
			}
			if found {
				store.LeasesOf(w.tx).Delete(actor)
			}
			if err := w.fence(actor, operation.FenceLease); err != nil {
				return err
			}
			g.mu.Lock()
			delete(g.leases, actor)
			g.mu.Unlock()
		}
		return nil
	})
	if err != nil {
		now := operation.InstantOf(g.now())
		g.mu.Lock()
		for _, actor := range actors {
			g.leases[actor] = now
		}
		g.mu.Unlock()
		return err
	}
	for _, actor := range actors {
		g.noteActor(actor)
	}
	return nil
}
