package controlplane

import (
	"time"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// openOp is what is kept in memory of an unfinished operation: where it belongs and when its host is to hear of it again.
// The store decides what it is; this is how it is found.
type openOp struct {
	id      host.OpID
	actor   host.Name
	host    host.Name
	task    host.Name
	parent  host.OpID
	macro   bool
	state   operation.State // as told last
	version uint64          // told last; 0: not told yet
	inQueue bool            // of its host
	asked   bool            // it is asked to end
	why     string
	retell  time.Time // when it is asked to end once more
	due     time.Time // when it is delivered again; zero: not by time
	wait    time.Duration
}

// collected tells whether a host has or had it.
func (o *openOp) collected() bool {
	switch o.state {
	case operation.Delivered, operation.Accepted, operation.Running, operation.OutcomeUnknown:
		return true
	}
	return false
}

// track puts an operation into the index before it is on disk. Under mu, or before anybody else is there.
func (g *Gateway) track(op *operation.Operation) *openOp {
	o := &openOp{id: op.ID, actor: op.Actor, host: op.Host, task: op.Task, parent: op.Parent, macro: op.Kind == host.KindMacro, state: op.State,
		asked: op.CancelRequested != "", why: op.CancelRequested}
	g.open[op.ID] = o
	g.actor(op.Actor).open[op.ID] = o
	g.totals.open[op.State]++
	if o.collected() {
		g.out[op.ID] = o
	}
	return o
}

// untrack forgets an operation that has ended or was never stored. Under mu.
func (g *Gateway) untrack(o *openOp) {
	delete(g.open, o.id)
	delete(g.out, o.id)
	delete(g.actors[o.actor].open, o.id)
	delete(g.challenges, o.id)
	g.totals.open[o.state]--
}

// openOf lists the unfinished operations of an actor. On the writer no operation can be missing.
func (g *Gateway) openOf(actor host.Name) []host.OpID {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[actor]
	if a == nil {
		return nil
	}
	ids := make([]host.OpID, 0, len(a.open))
	for id := range a.open {
		ids = append(ids, id)
	}
	sortIDs(ids)
	return ids
}

// childrenOf lists a macro's unfinished children.
func (g *Gateway) childrenOf(parent *operation.Operation) (ids []host.OpID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.actors[parent.Actor]
	if a == nil {
		return nil
	}
	for id, o := range a.open {
		if o.parent == parent.ID {
			ids = append(ids, id)
		}
	}
	sortIDs(ids)
	return ids
}

// openWhere lists the unfinished operations that want chooses.
func (g *Gateway) openWhere(want func(*openOp) bool) (ids []host.OpID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, o := range g.open {
		if want(o) {
			ids = append(ids, id)
		}
	}
	sortIDs(ids)
	return ids
}

// tell carries out what follows a commit: the index, words to hosts, and those who wait. Several callers may come here in
// another order than they committed; the version tells which word is the newer one.
func (g *Gateway) tell(all []told) {
	if len(all) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range all {
		op := &all[i].op
		o := g.open[op.ID]
		if o == nil || op.Version <= o.version {
			if op.Terminal() && o == nil && op.Version == 1 { // rejected at its creation: never in the index
				g.totals.enter(op)
				g.changed(op)
			}
			if o != nil && all[i].handed && o.state == operation.Delivered { // the newer word does not bring it to its host
				g.handOver(o, op)
			}
			continue
		}
		if o.state != op.State || o.version == 0 {
			g.totals.enter(op)
		}
		g.totals.open[o.state]--
		g.totals.open[op.State]++
		o.state, o.version = op.State, op.Version
		if op.CancelRequested != "" {
			o.asked, o.why = true, op.CancelRequested
		}
		g.route(o, op, all[i].effects, all[i].handed)
		if op.Terminal() {
			g.untrack(o)
		}
		g.changed(op)
	}
}

// route hands an operation's effects to its host. Under mu.
func (g *Gateway) route(o *openOp, op *operation.Operation, effects []operation.Effect, handed bool) {
	if o.collected() {
		g.out[o.id] = o
	}
	h := g.hosts[op.Host]
	if h == nil || !h.live {
		return
	}
	switch {
	case op.State == operation.Queued:
		h.enqueue(o)
	case handed:
		g.handOver(o, op)
	}
	for _, e := range effects {
		switch e := e.(type) {
		case operation.AskHost:
			h.cancel(host.Cancellation{Op: op.ID, Actor: op.Actor, Why: e.Why})
		case operation.Redeliver:
			h.enqueue(o)
		case operation.Finish:
			if op.Parent != (host.OpID{}) && op.Attempts == 0 { // its macro waits for it in vain
				h.cancel(host.Cancellation{Op: op.ID, Actor: op.Actor, Why: op.State.String()})
			}
		}
	}
}

// handOver puts a delivery up for the poll that waits for it. Under mu.
func (g *Gateway) handOver(o *openOp, op *operation.Operation) {
	h := g.hosts[op.Host]
	if h == nil || !h.live {
		return
	}
	h.ready = append(h.ready, delivery(op))
	o.due, o.wait = g.again(o, g.now())
	h.wake()
}
