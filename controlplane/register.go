package controlplane

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// HostService is the host's side of the gateway. A session token speaks for its own host and its own actors only: without a
// live session the code is unavailable (register again), with another's token forbidden.
type HostService struct {
	g   *Gateway
	own host.Name // whom nobody can register as here; empty: none
}

// Host returns the service that hosts talk to.
func (g *Gateway) Host() HostService { return HostService{g: g} }

// Remote returns the service that hosts of other processes talk to. The host of this process, own, is none of them, whoever
// asks and with whatever token: it could be taken over else before it is there, or when it is away.
func (g *Gateway) Remote(own host.Name) HostService { return HostService{g: g, own: own} }

// Register introduces a host and starts a new session; an older one of the same host ends. What the host had is delivered
// again; what it was running has a gap. Until it has published an actor again, that actor takes nothing.
func (s HostService) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	if err := m.Validate(); err != nil {
		return host.Session{}, invalid("manifest", err)
	}
	if s.own != "" && m.Host == s.own {
		return host.Session{}, Errorf(CodeForbidden, "host %s is the one of the daemon itself: give this one another name, and have a token made for it", m.Host).with("host", string(m.Host))
	}
	g := s.g
	var raw [32]byte
	if err := g.random(raw[:]); err != nil {
		return host.Session{}, err
	}
	h, err := g.begin(&m, hex.EncodeToString(raw[:]))
	if err != nil {
		return host.Session{}, err
	}
	session := h.session
	if err := g.resume(h.name, session.Generation); err != nil {
		return host.Session{}, err
	}
	return session, nil
}

// begin puts the new session in place.
func (g *Gateway) begin(m *host.Manifest, token string) (*hostState, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	for i := range m.Actors {
		if err := g.homeOf(m.Actors[i].ID, m.Host); err != nil {
			return nil, err
		}
	}
	h := g.hosts[m.Host]
	if h != nil && h.live && g.now().Sub(h.seen) < g.opt.SessionTTL && !h.man.Same(m) { // else they would throw each other out for ever
		return nil, Errorf(CodeConflict, "host %s is there already, with other journals than this one: give this one another name, or end the other one; "+
			"one that has gone without a word is forgotten after %s", m.Host, g.opt.SessionTTL).with("host", string(m.Host))
	}
	if h == nil {
		h = &hostState{name: m.Host}
		g.hosts[m.Host] = h
	}
	g.endSession(h)
	g.forget(h, m)
	now := g.now()
	h.live, h.seen, h.man = true, now, *m
	h.session = host.Session{Host: m.Host, Token: token, TTLMS: g.opt.SessionTTL.Milliseconds(),
		Generation: max(h.session.Generation+1, uint64(max(now.UnixMilli(), 1)))}
	for i := range m.Actors {
		spec := m.Actors[i]
		a := g.actor(spec.ID)
		a.host, a.spec, a.pub, a.n = h, spec, nil, 0
		a.caps = make(map[string]capability, len(spec.Capabilities))
		for _, c := range spec.Capabilities {
			a.caps[c.Name] = capability{c, c.Digest()}
		}
		g.note(a.id)
	}
	return h, nil
}

// homeOf refuses an actor that is another host's. It stays with the host that had it first also while that one is away: its
// operations, and what its journal knows of them, are there. Under mu.
func (g *Gateway) homeOf(actor, name host.Name) error {
	if home := g.opt.Homes[actor]; home != "" {
		if home == name {
			return nil
		}
		return Errorf(CodeConflict, "actor %s is one of the daemon's own configuration and belongs to host %s: give this one another id, "+
			"or take it out of the configuration first", actor, home).with("actor", string(actor))
	}
	a := g.actors[actor]
	if a == nil {
		return nil
	}
	for _, o := range a.open {
		if o.host != name {
			return Errorf(CodeConflict, "actor %s has operations under way at host %s: give this one another id, or see them to their end first",
				actor, o.host).with("actor", string(actor))
		}
	}
	if a.host == nil || a.host.name == name {
		return nil
	}
	return Errorf(CodeConflict, "actor %s belongs to host %s: give this one another id, or, if it has moved, register host %s without it "+
		"or start the daemon anew", actor, a.host.name, a.host.name).with("actor", string(actor))
}

// forget gives up the actors that a host had and does not name any more. Of one that nothing else is known of nothing is
// kept, so that a host cannot fill the memory with names; the others are anybody's to register. Under mu.
func (g *Gateway) forget(h *hostState, m *host.Manifest) {
	named := make(map[host.Name]bool, len(m.Actors))
	for i := range m.Actors {
		named[m.Actors[i].ID] = true
	}
	for i := range h.man.Actors {
		id := h.man.Actors[i].ID
		a := g.actors[id]
		if a == nil || named[id] || a.host != h {
			continue
		}
		a.host, a.spec, a.caps = nil, host.Actor{}, nil
		_, owned := g.opt.Owners[id]
		_, leased := g.leases[id]
		if !owned && !leased && len(a.open) == 0 && a.word == (host.Cancellation{}) {
			delete(g.actors, id)
		}
	}
}

// endSession ends what hangs on a host's session in memory. Under mu.
func (g *Gateway) endSession(h *hostState) {
	h.live = false
	h.asks, h.words, h.cancels, h.ready = nil, nil, nil, nil
	for _, o := range h.queue {
		o.inQueue = false
	}
	h.queue = nil
	for _, k := range g.asks {
		if k.host == h {
			g.endAsk(k, Errorf(CodeUnavailable, "the host went away while it was asked; nothing was stored: try again when it is back"))
		}
	}
	for _, a := range g.actors {
		if a.host == h {
			a.pub, a.n = nil, 0
			g.note(a.id)
		}
	}
	h.wake()
}

// resume tells the host's operations about the gap and puts up what it is to hear again.
func (g *Gateway) resume(name host.Name, session uint64) error {
	ids := g.openWhere(func(o *openOp) bool { return o.host == name && o.collected() })
	var stops []store.Stop
	err := g.view(func(tx store.Tx) error {
		return store.StopsOf(tx).Each(func(s store.Stop) bool {
			stops = append(stops, s)
			return true
		})
	})
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		if err := g.gap(ids); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[name]
	if h == nil || h.session.Generation != session {
		return nil
	}
	for _, s := range stops {
		if a := g.actors[s.Actor]; a != nil && a.host == h {
			if a.word == (host.Cancellation{}) { // else a word was heard since the gateway was opened, and is newer than what was read
				a.word = host.Cancellation{Actor: s.Actor, Why: s.Why, Stop: s.Latched, Clear: !s.Latched}
			}
			h.say(a)
		}
	}
	for _, id := range ids {
		if o := g.open[id]; o != nil && o.host == name {
			h.enqueue(o)
		}
	}
	return nil
}

// gap steps operations over a time in which host or gateway were away.
func (g *Gateway) gap(ids []host.OpID) error {
	return g.update(func(w *work) error {
		for _, id := range ids {
			if _, err := w.step(id, operation.Gap{}); err != nil && !over(err) {
				return err
			}
		}
		return nil
	})
}

// Renew keeps a session; any other call does too.
func (s HostService) Renew(ctx context.Context, se host.Session) (host.Session, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	h, err := s.g.sessionOf(&se)
	if err != nil {
		return host.Session{}, err
	}
	return h.session, nil
}

// Unregister ends a session: what is queued goes stale, what runs has a gap.
func (s HostService) Unregister(ctx context.Context, se host.Session) error {
	s.g.mu.Lock()
	h, err := s.g.sessionOf(&se)
	if err == nil {
		s.g.endSession(h)
	}
	s.g.mu.Unlock()
	if err != nil {
		return err
	}
	return s.g.lost(se.Host)
}

// lost fences what waits for a host that is gone, and tells what it had about the gap.
func (g *Gateway) lost(name host.Name) error {
	waits := g.openWhere(func(o *openOp) bool { return o.host == name && !o.collected() })
	had := g.openWhere(func(o *openOp) bool { return o.host == name && o.collected() })
	if len(waits)+len(had) == 0 {
		return nil
	}
	return g.update(func(w *work) error {
		for _, id := range waits {
			op, err := store.Ops(w.tx).Get(id)
			if err == nil && (op.State == operation.Queued || op.State == operation.AwaitingConfirmation) {
				_, err = w.apply(op, operation.Fenced{Why: operation.FenceHost})
			}
			if err != nil && !over(err) {
				return err
			}
		}
		for _, id := range had {
			if _, err := w.step(id, operation.Gap{}); err != nil && !over(err) {
				return err
			}
		}
		return nil
	})
}

// Publish brings the read model of one actor. A new epoch makes what waits under another one stale.
func (s HostService) Publish(ctx context.Context, se host.Session, p host.Publication) error {
	if err := p.Validate(); err != nil {
		return invalid("publication", err)
	}
	g := s.g
	fence, err := g.take(&se, &p)
	if err != nil || !fence {
		return err
	}
	g.opt.At(DuringEpoch)
	return g.update(func(w *work) error {
		for _, id := range g.openOf(p.Actor) {
			op, err := store.Ops(w.tx).Get(id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			waits := op.State == operation.Queued || op.State == operation.AwaitingConfirmation
			if waits && op.Bound.Epoch != p.Epoch {
				if _, err := w.apply(op, operation.Fenced{Why: operation.FenceEpoch}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// take puts a publication in place and says whether the epoch is another one than before.
func (g *Gateway) take(se *host.Session, p *host.Publication) (fence bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := g.sessionOf(se)
	if err != nil {
		return false, err
	}
	a := g.actors[p.Actor]
	if a == nil || a.host != h {
		return false, Errorf(CodeForbidden, "actor %s is not in the manifest of host %s: register with it", p.Actor, h.name).with("actor", string(p.Actor))
	}
	first := a.pub == nil
	if !first {
		if err := follows(a.pub, p); err != nil {
			return false, err
		}
	}
	fence = (first || a.pub.Epoch != p.Epoch) && len(a.open) > 0
	if first || a.pub.Epoch != p.Epoch || a.pub.Ready != p.Ready || a.pub.World != p.World || a.pub.Server != p.Server {
		g.note(a.id)
	}
	a.see(p)
	g.totals.heard(p)
	if first {
		for _, o := range a.open {
			if o.state == operation.Queued && o.host == h.name {
				h.enqueue(o)
			}
		}
	}
	return fence, nil
}

// follows refuses a publication that goes back.
func follows(old, p *host.Publication) error {
	switch {
	case old.Epoch == p.Epoch && p.Sequence <= old.Sequence:
		return Errorf(CodeStale, "publication %d of actor %s came after %d: sequences rise", p.Sequence, p.Actor, old.Sequence).with("field", "sequence")
	case old.Epoch == p.Epoch && p.GameTick >= 0 && p.GameTick < old.GameTick:
		return Errorf(CodeConflict, "the game time of actor %s went back from %d to %d within an epoch: begin a new epoch", p.Actor, old.GameTick, p.GameTick).with("field", "game_tick")
	case before(p.Epoch, old.Epoch):
		return Errorf(CodeStale, "epoch %v of actor %s came after %v: epochs rise", p.Epoch, p.Actor, old.Epoch).with("field", "epoch")
	}
	return nil
}

func before(a, b host.Epoch) bool {
	if a.Host != b.Host {
		return a.Host < b.Host
	}
	if a.World != b.World {
		return a.World < b.World
	}
	return a.Timeline < b.Timeline
}

// sessionsOver ends the sessions that were silent for too long and returns their hosts. Under mu.
func (g *Gateway) sessionsOver(now time.Time) (names []host.Name) {
	for _, h := range g.hosts {
		if h.live && now.Sub(h.seen) >= g.opt.SessionTTL {
			g.endSession(h)
			names = append(names, h.name)
		}
	}
	return names
}
