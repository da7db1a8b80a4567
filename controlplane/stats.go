package controlplane

import (
	"maps"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// totals are the counts behind Stats. The maps are under Gateway.mu.
type totals struct {
	open     map[operation.State]int
	entered  map[operation.State]uint64
	receipts map[string]uint64
	refusals map[string]uint64
	waiters  int

	unverified uint64
	traffic    map[host.Name]*traffic

	decisions *times // of policy
	binds     *times // from the question to the host to the decision
}

func newTotals() totals {
	return totals{open: map[operation.State]int{}, entered: map[operation.State]uint64{}, receipts: map[string]uint64{}, refusals: map[string]uint64{},
		traffic: map[host.Name]*traffic{}, decisions: newTimes(decisionBounds[:]), binds: newTimes(bindBounds[:])}
}

// enter counts an operation that came to another state. Under mu.
func (t *totals) enter(op *operation.Operation) {
	t.entered[op.State]++
	switch op.State {
	case operation.Succeeded:
		if op.Outcome != nil && op.Outcome.Receipt != nil {
			t.receipts[op.Outcome.Receipt.Grade]++
		}
	case operation.Rejected:
		if op.Rejection != nil {
			t.refuse(op.Rejection.Code)
			for _, rule := range op.Rejection.Rules[:min(1, len(op.Rejection.Rules))] {
				t.refuse("rule " + rule)
			}
		}
	case operation.OutcomeUnknown:
		t.unverified++
	}
}

// maxRefusals bounds the codes that are counted apart: hosts choose their own.
const maxRefusals = 1024

// refuse counts a refusal. Under mu.
func (t *totals) refuse(code string) {
	if _, there := t.refusals[code]; !there && len(t.refusals) >= maxRefusals {
		code = "other"
	}
	t.refusals[code]++
}

// traffic is what one actor's bot has sent, received and missed since the gateway was opened.
type traffic struct{ last, sum host.Traffic }

// heard counts on from an actor's newest publication. A bot counts from the beginning of its session: a count that is
// lower than the last one is a new session's. Under mu.
func (t *totals) heard(p *host.Publication) {
	a := t.traffic[p.Actor]
	if a == nil {
		a = &traffic{}
		t.traffic[p.Actor] = a
	}
	now, last := p.Traffic, a.last
	if now.PacketsIn < last.PacketsIn || now.PacketsOut < last.PacketsOut || now.BytesIn < last.BytesIn || now.BytesOut < last.BytesOut ||
		now.TicksLate < last.TicksLate {
		last = host.Traffic{}
	}
	a.last = now
	a.sum.PacketsIn += now.PacketsIn - last.PacketsIn
	a.sum.PacketsOut += now.PacketsOut - last.PacketsOut
	a.sum.BytesIn += now.BytesIn - last.BytesIn
	a.sum.BytesOut += now.BytesOut - last.BytesOut
	a.sum.TicksLate += now.TicksLate - last.TicksLate
}

// refused counts a submit that was not stored.
func (g *Gateway) refused(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.totals.refuse(string(CodeOf(err)))
}

// Stats returns counts for metrics.
func (g *Gateway) Stats() Stats {
	engine := g.opt.Engine.Stats()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Open: map[operation.State]int{}, Entered: maps.Clone(g.totals.entered), Receipts: maps.Clone(g.totals.receipts),
		Refusals: maps.Clone(g.totals.refusals), Unverified: g.totals.unverified, Decisions: g.totals.decisions.read(),
		Binds: g.totals.binds.read(), Traffic: map[host.Name]host.Traffic{}, Actors: len(g.actors), Gateways: len(g.asks),
		Waiters: g.totals.waiters, Commits: engine.Commits, Writes: engine.Writes}
	for actor, t := range g.totals.traffic {
		s.Traffic[actor] = t.sum
	}
	for state, n := range g.totals.open {
		if n > 0 {
			s.Open[state] = n
		}
	}
	for _, a := range g.actors {
		if a.online() && a.pub.Ready {
			s.Ready++
		}
	}
	for _, h := range g.hosts {
		if h.live {
			s.Hosts++
		}
	}
	return s
}
