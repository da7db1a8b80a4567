package controlplane

import (
	"context"
	"errors"
	"slices"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// maxTold bounds WaitResult.Operations.
const maxTold = 50

// Wait returns when something newer than the cursor is there, or at the timeout. It never changes anything. Waiting on an
// actor tells of its operations, host, epoch, readiness, stop and lease; not of every publication.
func (g *Gateway) Wait(ctx context.Context, p Principal, r WaitRequest) (WaitResult, error) {
	if err := p.check(ScopeRead); err != nil {
		return WaitResult{}, err
	}
	key, look, err := g.subject(&p, &r)
	if err != nil {
		return WaitResult{}, err
	}
	out, err := look()
	if err != nil || out.Changed || r.TimeoutMS == 0 {
		return out, err
	}
	until := g.now().Add(time.Duration(r.TimeoutMS) * time.Millisecond)
	spot, err := g.queueUp(key, until)
	if err != nil {
		return WaitResult{}, err
	}
	defer g.leave(key, spot)
	for {
		if out, err = look(); err != nil || out.Changed || !g.now().Before(until) || g.isClosed() {
			return out, err
		}
		if err := spot.wait(ctx); err != nil {
			return out, err
		}
	}
}

// subject finds what is waited on, and how to look at it.
func (g *Gateway) subject(p *Principal, r *WaitRequest) (waitKey, func() (WaitResult, error), error) {
	if r.TimeoutMS < 0 || r.TimeoutMS > MaxWaitMS {
		return waitKey{}, nil, Errorf(CodeInvalid, "a timeout of %d ms is not within 0..%d", r.TimeoutMS, MaxWaitMS).with("field", "timeout_ms")
	}
	switch {
	case r.Op != (host.OpID{}) && r.Actor == "" && r.Task == "":
		return waitKey{op: r.Op}, func() (WaitResult, error) { return g.lookOp(p, r) }, nil
	case r.Op == (host.OpID{}) && r.Actor != "" && r.Task == "":
		if err := g.known(p, ScopeRead, r.Actor); err != nil {
			return waitKey{}, nil, err
		}
		return waitKey{actor: r.Actor}, func() (WaitResult, error) { return g.lookMany(p, r) }, nil
	case r.Op == (host.OpID{}) && r.Actor == "" && r.Task != "":
		if err := r.Task.Check("task"); err != nil {
			return waitKey{}, nil, invalid("task", err)
		}
		return waitKey{task: r.Task}, func() (WaitResult, error) { return g.lookMany(p, r) }, nil
	}
	return waitKey{}, nil, Errorf(CodeInvalid, "name one to wait on: an operation, an actor or a task")
}

func (g *Gateway) lookOp(p *Principal, r *WaitRequest) (WaitResult, error) {
	op, err := g.operation(p, r.Op)
	if err != nil {
		return WaitResult{}, err
	}
	purpose := "op " + r.Op.String()
	seen, ours := g.numberOf(purpose, r.Cursor)
	v := g.show(p, op)
	return WaitResult{Changed: !ours || seen != op.Version, Cursor: g.numberCursor(purpose, op.Version), Operation: &v}, nil
}

// lookMany looks at an actor or a task: what changed since the cursor, or, where that cannot be told, the newest.
func (g *Gateway) lookMany(p *Principal, r *WaitRequest) (WaitResult, error) {
	purpose := "actor " + string(r.Actor) + " task " + string(r.Task)
	seen, ours := g.numberOf(purpose, r.Cursor)
	g.mu.Lock()
	ids, any, known := g.log.since(seen, func(e *entry) bool {
		return p.Sees(e.actor) && (r.Actor == "" || e.actor == r.Actor) && (r.Task == "" || e.task == r.Task)
	}, maxTold)
	last := g.log.last
	g.mu.Unlock()
	out := WaitResult{Cursor: g.numberCursor(purpose, last)}
	if ours && known && !any {
		out.Cursor = r.Cursor
	}
	out.Changed = !ours || !known || any
	err := g.view(func(tx store.Tx) error {
		if !ours || !known {
			page, err := g.list(tx, p, &Filter{Actor: r.Actor, Task: r.Task, Limit: maxTold})
			out.Operations = page.Operations
			return err
		}
		for _, id := range ids {
			op, err := store.Ops(tx).Get(id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			out.Operations = append(out.Operations, operation.ViewOf(op))
		}
		return nil
	})
	if err != nil || r.Actor == "" {
		return out, err
	}
	v, err := g.actorView(p, r.Actor)
	out.Actor = &v
	return out, err
}

// queueUp makes a place among those who wait on one thing.
func (g *Gateway) queueUp(k waitKey, until time.Time) (*parked, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if g.totals.waiters >= MaxWaiters {
		return nil, Errorf(CodeCapacity, "%d calls are waiting, the most there may be: try again in a moment", g.totals.waiters)
	}
	g.totals.waiters++
	p := g.park(until)
	g.waiting[k] = append(g.waiting[k], p)
	return p, nil
}

func (g *Gateway) leave(k waitKey, p *parked) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.totals.waiters--
	delete(g.parked, p)
	all := g.waiting[k]
	if i := slices.Index(all, p); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if g.waiting[k] = all; len(all) == 0 {
		delete(g.waiting, k)
	}
}

func (g *Gateway) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
