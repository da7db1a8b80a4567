package controlplane

import (
	"context"
	"crypto/cipher"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// Gateway is the control plane's one door. Its methods are safe for concurrent use. Every refusal is an *Error.
type Gateway struct {
	opt    Options
	policy atomic.Pointer[policy.Engine]
	seal   cipher.AEAD // of cursors; its key lives as long as the gateway
	macKey [32]byte

	draw     sync.Mutex // guards opt.Rand; nothing else is taken under it
	stopping sync.Mutex // held from a latch or clear to its word, so that words leave in the order of the disk; the first of all

	mu         sync.Mutex // guards everything below; the store, hosts and callers are never called under it
	closed     bool
	hosts      map[host.Name]*hostState
	actors     map[host.Name]*actorState
	open       map[host.OpID]*openOp // what is not terminal; may hold more, never less, than the store's
	out        map[host.OpID]*openOp // of these, what a host has or had
	flights    map[flightKey]*flight
	asks       map[uint64]*ask
	lastAsk    uint64
	challenges map[host.OpID]*challenge
	leases     map[host.Name]operation.Instant // when each ends; a hint, the store's record decides
	parked     map[*parked]struct{}
	waiting    map[waitKey][]*parked
	log        changeLog
	subs       map[*subscriber]struct{}
	totals     totals
	nextResend time.Time
	nextPrune  time.Time
}

// New opens a gateway on a store. What the store holds goes on; what ran when the last gateway ended has a gap.
func New(opt Options) (*Gateway, error) {
	if opt.Engine == nil || opt.Policy == nil || opt.Now == nil || opt.Rand == nil {
		return nil, Errorf(CodeInvalid, "a gateway needs a store, a policy, a clock and a source of randomness")
	}
	g := &Gateway{
		opt: opt.withDefaults(), hosts: map[host.Name]*hostState{}, actors: map[host.Name]*actorState{},
		open: map[host.OpID]*openOp{}, out: map[host.OpID]*openOp{}, flights: map[flightKey]*flight{}, asks: map[uint64]*ask{},
		challenges: map[host.OpID]*challenge{}, leases: map[host.Name]operation.Instant{}, parked: map[*parked]struct{}{},
		waiting: map[waitKey][]*parked{}, subs: map[*subscriber]struct{}{}, totals: newTotals(),
	}
	g.policy.Store(opt.Policy)
	if err := g.newSeal(); err != nil {
		return nil, err
	}
	if err := g.load(); err != nil {
		return nil, err
	}
	return g, nil
}

// load reads what is unfinished and tells it about the gap.
func (g *Gateway) load() error {
	err := g.opt.Engine.View(func(tx store.Tx) error {
		if err := g.loadOpen(tx); err != nil {
			return err
		}
		err := store.LeasesOf(tx).Each(func(l store.Lease) bool {
			g.actor(l.Actor)
			g.leases[l.Actor] = l.Expires
			return true
		})
		if err != nil {
			return err
		}
		return store.StopsOf(tx).Each(func(s store.Stop) bool {
			g.actor(s.Actor)
			return true
		})
	})
	if err != nil {
		return failed(err)
	}
	for actor := range g.opt.Owners {
		g.actor(actor)
	}
	if ran := g.openWhere(func(o *openOp) bool { return o.state == operation.Running && !o.macro }); len(ran) > 0 {
		return g.gap(ran)
	}
	return nil
}

// loadOpen reads what is unfinished, on all processors: a restart should not take long.
func (g *Gateway) loadOpen(tx store.Tx) error {
	var records [][]byte
	tx.Scan(store.Unfinished, nil, nil, func(_, v []byte) bool {
		records = append(records, v)
		return true
	})
	var (
		workers sync.WaitGroup
		next    atomic.Int64
		failure error // under mu
	)
	for range min(runtime.GOMAXPROCS(0), 1+len(records)/1000) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(records)); i = next.Add(1) - 1 {
				op, err := operation.Decode(records[i])
				g.mu.Lock()
				if err != nil {
					failure = fmt.Errorf("%w: an unfinished operation: %w", store.ErrCorrupt, err)
				} else {
					g.track(&op)
				}
				g.mu.Unlock()
			}
		})
	}
	workers.Wait()
	return failure
}

// Run calls Sweep every Options.SweepEvery until ctx ends, and returns nil then. Without it no wait, lease or session ends
// by time.
func (g *Gateway) Run(ctx context.Context) error {
	t := time.NewTicker(g.opt.SweepEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := g.Sweep(); err != nil {
				g.opt.Log.Warn("what is due by the clock could not be stored", "error", err)
			}
		}
	}
}

// Close ends every wait and refuses every further call; the store stays open, it is its opener's.
func (g *Gateway) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, a := range g.asks {
		g.endAsk(a, errClosed)
	}
	for p := range g.parked {
		p.wake()
	}
	for s := range g.subs {
		g.drop(s)
	}
	return nil
}

var errClosed = Errorf(CodeUnavailable, "the daemon is closing: try again when it is back")

// SetPolicy puts another policy in force. What was decided under the old one and not delivered yet goes stale at its poll;
// what waits for confirmation is decided again.
func (g *Gateway) SetPolicy(e *policy.Engine) {
	if e != nil {
		g.policy.Store(e)
	}
}

func (g *Gateway) now() time.Time { return g.opt.Now() }

// random fills b from the source that was passed in.
func (g *Gateway) random(b []byte) error {
	g.draw.Lock()
	defer g.draw.Unlock()
	if _, err := io.ReadFull(g.opt.Rand, b); err != nil {
		return Errorf(CodeInternal, "no randomness: %v", err).because(err)
	}
	return nil
}

func (g *Gateway) newID() (host.OpID, error) {
	g.draw.Lock()
	defer g.draw.Unlock()
	id, err := operation.NewID(operation.InstantOf(g.now()), g.opt.Rand)
	if err != nil {
		return id, Errorf(CodeInternal, "no randomness: %v", err).because(err)
	}
	return id, nil
}

// known is sees for a principal that needs a scope. What is hidden and what is not there are answered alike.
func (g *Gateway) known(p *Principal, need Scope, actor host.Name) error {
	if err := p.check(need); err != nil {
		return err
	}
	return g.sees(p, actor)
}

// sees makes sure that the gateway is open and that p sees the actor.
func (g *Gateway) sees(p *Principal, actor host.Name) error {
	if err := actor.Check("actor"); err != nil {
		return Errorf(CodeInvalid, "%s", sentence(err)).because(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errClosed
	}
	if g.actors[actor] == nil || !p.Sees(actor) {
		return hidden(actor)
	}
	return nil
}
