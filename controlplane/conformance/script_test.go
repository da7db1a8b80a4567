package conformance_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/effects/host"
)

// lies are the ways in which the scripted host breaks its word.
type lies struct {
	neverPublishesAgain bool // registers anew and does not publish
	sequencesFall       bool
	bindingSends        bool
	bindsOldEpochs      bool // binds in the epoch that it is asked about
	answersOnce         bool // keeps silent when a question comes again
	repeats             bool // carries out whatever is delivered, as often as it is
	changesOutcome      bool // reports another outcome when an operation comes again
	forgetsAcks         bool // acknowledges once only
	noOutbox            bool // reports an outcome once only
	takesAnything       bool // accepts what it never bound
	ignoresStop         bool
	outcomeFirst        bool // reports before it acknowledges
	oldToken            bool // goes on with a token of its own making
}

// scripted is a small host in memory. What it sends is a count.
type scripted struct {
	lies
	d api.HostService

	mu       sync.Mutex
	session  host.Session
	sequence uint64
	stopped  bool
	sent     int
	answered map[uint64]bool
	bound    map[host.OpID]host.Bound
	outcomes map[host.OpID]host.Outcome
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

var epoch = host.Epoch{Host: 7, World: 1, Timeline: 1}

func (s *scripted) manifest() host.Manifest {
	capability := func(name string, kind host.Kind) host.Capability {
		return host.Capability{Name: name, Kind: kind, Risk: "low", Cancellation: "cooperative", BudgetMS: 1000, Schema: json.RawMessage(`{}`)}
	}
	return host.Manifest{Host: "script", Revision: "1", Authority: host.ClientAdvisory, Actors: []host.Actor{{
		ID: "actor-1", Mode: "attached", Capabilities: []host.Capability{capability("look_at", host.KindEffect), capability("world_status", host.KindRead)},
	}}}
}

// live registers, publishes and polls, again whenever the session is over, until ctx ends.
func (s *scripted) live(ctx context.Context) {
	s.answered, s.bound, s.outcomes = map[uint64]bool{}, map[host.OpID]host.Bound{}, map[host.OpID]host.Outcome{}
	for first := true; ctx.Err() == nil; first = false {
		se, err := s.d.Register(ctx, s.manifest())
		if err != nil {
			return
		}
		if s.oldToken {
			_ = s.d.Publish(ctx, host.Session{Host: "script", Token: "made up", Generation: 1}, s.publication())
		}
		s.mu.Lock()
		s.session = se
		s.mu.Unlock()
		publishing, stop := context.WithCancel(ctx)
		if first || !s.neverPublishesAgain {
			go s.publish(publishing, se)
		}
		s.work(ctx, se)
		stop()
	}
}

func (s *scripted) publication() host.Publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	p := host.Publication{Actor: "actor-1", Epoch: epoch, Sequence: s.sequence, GameTick: -1, Ready: true, World: "minecraft:overworld"}
	if s.sequencesFall && s.sequence > 1 {
		p.Sequence = 1
	}
	return p
}

func (s *scripted) publish(ctx context.Context, se host.Session) {
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for ctx.Err() == nil {
		_ = s.d.Publish(ctx, se, s.publication())
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
}

func (s *scripted) work(ctx context.Context, se host.Session) {
	for {
		b, err := s.d.Poll(ctx, se, host.MaxBatch, 20*time.Second)
		if err != nil {
			return
		}
		for _, c := range b.Cancellations {
			s.mu.Lock()
			if c.Stop || c.Clear {
				s.stopped = c.Stop && !s.ignoresStop
			}
			s.mu.Unlock()
		}
		for _, g := range b.Gateways {
			if s.answersOnce && s.answered[g.ID] {
				continue
			}
			s.answered[g.ID] = true
			_ = s.d.Answer(ctx, se, s.answer(g))
		}
		for _, d := range b.Deliveries {
			s.deliver(ctx, se, d)
		}
	}
}

func (s *scripted) answer(g host.Gateway) host.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case g.Actor != "actor-1":
		return host.Answer{Gateway: g.ID, Code: "not_found", Message: "no such actor"}
	case g.Ask == host.AskRead:
		return host.Answer{Gateway: g.ID, Output: json.RawMessage(`{}`)}
	case s.stopped:
		return host.Answer{Gateway: g.ID, Code: "stopped", Message: "clear the stop"}
	}
	if s.bindingSends {
		s.sent++
	}
	b := host.Bound{Op: g.Op, Binding: append([]byte("look "), g.Op[:]...), Precondition: sha256.Sum256([]byte("as it is")), Epoch: epoch,
		Sequence: 1, ValidUntil: -1, Effects: []host.Preview{{Kind: "actor.look", Operation: "arrange", Ownership: "own", Risk: "low"}}}
	b.Digest = sha256.Sum256(b.Binding)
	if s.bindsOldEpochs {
		b.Epoch = g.Epoch
	}
	s.bound[g.Op] = b
	return host.Answer{Gateway: g.ID, Bound: &b}
}

func (s *scripted) deliver(ctx context.Context, se host.Session, d host.Delivery) {
	s.mu.Lock()
	bound, known := s.bound[d.Op]
	known = known && bound.Digest == d.Bound.Digest
	old, done := s.outcomes[d.Op]
	stopped := s.stopped
	s.mu.Unlock()
	switch {
	case done:
		s.again(ctx, se, d, old)
		return
	case !known && !s.takesAnything:
		_ = s.d.Ack(ctx, se, host.Ack{Op: d.Op, Code: host.CodeUnbound})
		return
	case stopped:
		_ = s.d.Ack(ctx, se, host.Ack{Op: d.Op, Code: "stopped"})
		return
	}
	o := host.Outcome{Op: d.Op, Status: host.Succeeded, Code: "proven", Sent: true}
	if s.outcomeFirst {
		_ = s.d.Outcome(ctx, se, o)
	}
	if err := s.d.Ack(ctx, se, host.Ack{Op: d.Op, Accepted: true, Digest: d.Bound.Digest}); err != nil && !s.forgetsAcks {
		return // it comes again
	}
	s.mu.Lock()
	s.sent++
	s.outcomes[d.Op] = o
	s.mu.Unlock()
	s.report(ctx, se, o)
}

// again answers a delivery of what was carried out.
func (s *scripted) again(ctx context.Context, se host.Session, d host.Delivery, o host.Outcome) {
	if s.repeats {
		s.mu.Lock()
		s.sent++
		s.mu.Unlock()
	}
	if s.changesOutcome {
		o.Status, o.Code = host.Failed, "refused"
	}
	if !s.forgetsAcks {
		_ = s.d.Ack(ctx, se, host.Ack{Op: d.Op, Accepted: true, Digest: d.Bound.Digest})
	}
	s.report(ctx, se, o)
}

// report tells an outcome until it is taken or refused for good.
func (s *scripted) report(ctx context.Context, se host.Session, o host.Outcome) {
	for range 10 {
		err := s.d.Outcome(ctx, se, o)
		if err == nil || s.noOutbox || controlplane.CodeOf(err) != controlplane.CodeTimeout {
			return
		}
	}
}
