package main

import (
	"context"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
)

// permitted takes the lease, unless the bot is stopped. With clear its owner lifts the stop first.
func (l *lone) permitted(ctx context.Context, clear bool) error {
	v, err := l.gateway.Actor(ctx, l.who, l.actor)
	switch {
	case err == nil && v.Stop != nil && clear:
		_, err = l.gateway.ClearStop(ctx, l.who, l.actor)
	case err == nil && v.Stop != nil:
		err = controlplane.Errorf(controlplane.CodeStopped, "actor %s is stopped (%s, by %s): nothing is sent until the stop is lifted; when all is well again, lift it with --clear-stop",
			l.actor, v.Stop.Why, v.Stop.By)
	}
	if err != nil {
		return loneFailed(err)
	}
	lease, err := l.gateway.Acquire(ctx, l.who, l.actor, loneLease)
	l.site.Principal, l.site.Lease = string(lonePrincipal), lease.ID
	return loneFailed(err)
}

// Bounds of a pruning at the start of a build: what is left is pruned at the next start.
const (
	pruneTime = 2 * time.Second
	pruneMost = 512 // operations at once
)

// pruned removes the finished operations of missions that ended before this one was stored; their keys and receipts stay. A
// store that a daemon works on too is the daemon's to prune.
func (l *lone) pruned() error {
	if daemons, err := token.New(l.store, time.Now, nil).List(); err != nil || len(daemons) > 0 {
		return err
	}
	rec, err := l.journal.Mission(l.site.Record.ID) // as stored, with its time
	if err != nil {
		return err
	}
	for until := time.Now().Add(pruneTime); time.Now().Before(until); {
		if n, err := store.Prune(l.store, operation.Instant(rec.UnixMilli), pruneMost); err != nil || n < pruneMost {
			return err
		}
	}
	return nil
}

// How long the operations of an earlier process have for their end before the mission's next one begins, and how often that
// is looked at.
const (
	earlierTime  = 5 * time.Second
	earlierEvery = 5 * time.Millisecond
)

// settled waits until what an earlier process left has ended or is known to be unknown.
func (l *lone) settled(ctx context.Context) error {
	if l.earlier {
		return nil
	}
	for until := time.Now().Add(earlierTime); time.Now().Before(until); {
		page, err := l.gateway.Operations(ctx, l.who, controlplane.Filter{Actor: l.actor, Limit: controlplane.MaxList})
		if err != nil {
			return err
		}
		open := 0
		for _, v := range page.Operations {
			if !v.Terminal && v.State != operation.OutcomeUnknown {
				open++
			}
		}
		if open == 0 {
			break
		}
		select {
		case <-time.After(earlierEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.earlier = true
	return nil
}
