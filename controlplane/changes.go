package controlplane

import (
	"context"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// changeLog is the last changes, for those who wait on an actor or a task. Under Gateway.mu.
type changeLog struct {
	last uint64
	ring [4096]entry // number n lies at n % len
}

// entry is one change; a zero op is one of the actor itself.
type entry struct {
	op    host.OpID
	actor host.Name
	task  host.Name
}

func (l *changeLog) add(e entry) {
	l.last++
	l.ring[l.last%uint64(len(l.ring))] = e
}

// since lists the operations that changed after number n and that want chooses, newest first and each once; any tells
// whether there was a change at all, known whether the log goes back that far.
func (l *changeLog) since(n uint64, want func(*entry) bool, limit int) (ids []host.OpID, any, known bool) {
	if n > l.last || l.last-n > uint64(len(l.ring)) {
		return nil, true, false
	}
	seen := map[host.OpID]bool{}
	for i := l.last; i > n; i-- {
		e := &l.ring[i%uint64(len(l.ring))]
		if !want(e) {
			continue
		}
		any = true
		if e.op != (host.OpID{}) && !seen[e.op] && len(ids) < limit {
			seen[e.op] = true
			ids = append(ids, e.op)
		}
	}
	return ids, any, true
}

// waitKey names what somebody waits on.
type waitKey struct {
	op    host.OpID
	actor host.Name
	task  host.Name
}

// changed tells the log, those who wait and those who have subscribed. Under mu.
func (g *Gateway) changed(op *operation.Operation) {
	g.log.add(entry{op.ID, op.Actor, op.Task})
	g.wakeAll(waitKey{op: op.ID})
	g.wakeAll(waitKey{actor: op.Actor})
	if op.Task != "" {
		g.wakeAll(waitKey{task: op.Task})
	}
	for s := range g.subs {
		s.send(op)
	}
}

// note tells the log and those who wait that an actor changed. Under mu.
func (g *Gateway) note(actor host.Name) {
	g.log.add(entry{actor: actor})
	g.wakeAll(waitKey{actor: actor})
}

func (g *Gateway) noteActor(actor host.Name) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note(actor)
}

func (g *Gateway) wakeAll(k waitKey) {
	for _, p := range g.waiting[k] {
		p.wake()
	}
}

// subscriber is one reader of changes.
type subscriber struct {
	p      Principal
	filter Filter
	ch     chan Change
	lagged bool
}

// Subscribe sends every change that p may see and f chooses until ctx ends; then the channel is closed. Changes of one
// operation come in order. Who is slow loses some and is told by Lagged.
func (g *Gateway) Subscribe(ctx context.Context, p Principal, f Filter) (<-chan Change, error) {
	if err := p.check(ScopeRead); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if len(g.subs) >= MaxSubscribed {
		return nil, Errorf(CodeCapacity, "%d subscriptions are open, the most there may be: end one", len(g.subs))
	}
	s := &subscriber{p: p, filter: f, ch: make(chan Change, 256)}
	g.subs[s] = struct{}{}
	context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.drop(s)
	})
	return s.ch, nil
}

// drop ends a subscription. Under mu.
func (g *Gateway) drop(s *subscriber) {
	if _, there := g.subs[s]; there {
		delete(g.subs, s)
		close(s.ch)
	}
}

// send never blocks. Under mu.
func (s *subscriber) send(op *operation.Operation) {
	if !s.p.Sees(op.Actor) || !s.filter.wants(op) {
		return
	}
	c := Change{Op: op.ID, Actor: op.Actor, Task: op.Task, Parent: op.Parent, State: op.State, Version: op.Version, Lagged: s.lagged}
	select {
	case s.ch <- c:
		s.lagged = false
	default:
		s.lagged = true
	}
}

// wants tells whether an operation is chosen.
func (f *Filter) wants(op *operation.Operation) bool {
	return (f.Actor == "" || f.Actor == op.Actor) && (f.Task == "" || f.Task == op.Task) &&
		(f.Parent == (host.OpID{}) || f.Parent == op.Parent) && (f.State == 0 || f.State == op.State)
}
