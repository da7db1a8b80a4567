package controlplane

import (
	"bytes"
	"crypto/subtle"
	"slices"
	"time"

	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// hostState is a host's session and what lies ready for its next poll. Under Gateway.mu.
type hostState struct {
	name    host.Name
	live    bool
	session host.Session
	seen    time.Time // its last call
	man     host.Manifest

	asks       []*ask              // gateway requests not handed out yet
	words      []*actorState       // whose word is to be said, stops first; it is what it is when it leaves
	cancels    []host.Cancellation // of operations
	queue      []*openOp           // to be delivered; the store decides at the poll whether they still are
	ready      []host.Delivery     // attempts that are durable already
	delivering bool                // attempts of others are on their way to the disk
	polls      []*parked           // who waits for the above
}

// actorState is an actor as its host tells it. Under Gateway.mu.
type actorState struct {
	id   host.Name
	host *hostState // the last that registered it; nil: none since the gateway was opened
	spec host.Actor
	caps map[string]capability
	open map[host.OpID]*openOp

	word     host.Cancellation // the last stop or clear, zero: none; said a few times, as an answer to a poll may be lost on its way
	wordLeft int
	wordNext time.Time

	lease    store.Lease // decoded from leaseRaw, the record as read last
	leaseRaw string

	pub  *host.Publication // the newest of this session; nil: none yet
	seqs [Window]uint64    // the last publications of this epoch, newest at (n-1)%Window
	n    int
}

// capability is what was published of one, with its digest.
type capability struct {
	host.Capability
	digest effects.Digest
}

// actor finds or makes an actor's state. Under mu.
func (g *Gateway) actor(id host.Name) *actorState {
	a := g.actors[id]
	if a == nil {
		a = &actorState{id: id, open: map[host.OpID]*openOp{}}
		g.actors[id] = a
	}
	return a
}

// online tells whether the actor's host is there and has published it. Under mu.
func (a *actorState) online() bool { return a.host != nil && a.host.live && a.pub != nil }

// see takes a publication into the window. Under mu.
func (a *actorState) see(p *host.Publication) {
	if a.pub == nil || a.pub.Epoch != p.Epoch {
		a.n = 0
	}
	a.seqs[a.n%Window] = p.Sequence
	a.n++
	a.pub = p
}

// oldest is the least sequence that a submit may name. Under mu.
func (a *actorState) oldest() uint64 {
	if a.n <= Window {
		return a.seqs[0]
	}
	return a.seqs[a.n%Window]
}

// clock reads the actor's clock in ticks: its server's game time, or, where that was never seen, the gateway's own in
// steps of 50 ms. Never both within an epoch. Under mu.
func (g *Gateway) clock(a *actorState) (tick int64, servers bool) {
	if a.pub != nil && a.pub.GameTick >= 0 {
		return a.pub.GameTick, true
	}
	return g.now().UnixMilli() / 50, false
}

// enqueue puts an operation up for delivery, once. Under mu.
func (h *hostState) enqueue(o *openOp) {
	if o.inQueue {
		return
	}
	o.inQueue = true
	h.queue = append(h.queue, o)
	h.wake()
}

// cancel puts the wish to end an operation up for the next poll. Under mu.
func (h *hostState) cancel(c host.Cancellation) {
	if len(h.cancels) < 64 && slices.Contains(h.cancels, c) { // a repeat is harmless, only not wanted
		return
	}
	h.cancels = append(h.cancels, c)
	h.wake()
}

// say puts an actor's last word up for the next poll, a stop before everything else. Whatever word of the actor has not left
// yet is void: a clear must not come behind the stop that came after it. Under mu.
func (h *hostState) say(a *actorState) {
	h.words = slices.DeleteFunc(h.words, func(o *actorState) bool { return o == a })
	if a.word.Stop {
		h.words = slices.Insert(h.words, 0, a)
	} else {
		h.words = append(h.words, a)
	}
	h.wake()
}

// awaited tells whether a host's poll waits for something to do.
func (g *Gateway) awaited(name host.Name) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[name]
	return h != nil && h.live && len(h.polls) > 0 && len(h.ready) < host.MaxBatch
}

// wake lets every waiting poll look again. Under mu.
func (h *hostState) wake() {
	for _, p := range h.polls {
		p.wake()
	}
}

// sessionOf checks a token and counts the call as a sign of life. Under mu.
func (g *Gateway) sessionOf(s *host.Session) (*hostState, error) {
	if g.closed {
		return nil, errClosed
	}
	h := g.hosts[s.Host]
	if h == nil || !h.live {
		return nil, Errorf(CodeUnavailable, "host %s has no session: register again and publish every actor", s.Host)
	}
	if subtle.ConstantTimeCompare([]byte(h.session.Token), []byte(s.Token)) != 1 {
		return nil, Errorf(CodeForbidden, "this is not the token of host %s's session: a newer process has registered under this name", s.Host)
	}
	h.seen = g.now()
	return h, nil
}

func sortIDs(ids []host.OpID) {
	slices.SortFunc(ids, func(a, b host.OpID) int { return bytes.Compare(a[:], b[:]) })
}
