package controlplane

import (
	"maps"
	"sync/atomic"
	"time"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
)

// totals are the counts behind Stats. The maps are under Gateway.mu.
type totals struct {
	open     map[operation.State]int
	entered  map[operation.State]uint64
	receipts map[string]uint64
	refusals map[string]uint64
	waiters  int

	decisions, nanos atomic.Uint64
	unverified       uint64
}

func newTotals() totals {
	return totals{open: map[operation.State]int{}, entered: map[operation.State]uint64{}, receipts: map[string]uint64{}, refusals: map[string]uint64{}}
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

func (t *totals) decided(d *policy.Decision, took time.Duration) {
	t.decisions.Add(1)
	t.nanos.Add(uint64(max(0, took)))
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
		Refusals: maps.Clone(g.totals.refusals), Unverified: g.totals.unverified, Decisions: g.totals.decisions.Load(),
		DecisionNanos: g.totals.nanos.Load(), Actors: len(g.actors), Gateways: len(g.asks), Waiters: g.totals.waiters,
		Commits: engine.Commits, Writes: engine.Writes}
	for state, n := range g.totals.open {
		if n > 0 {
			s.Open[state] = n
		}
	}
	for _, h := range g.hosts {
		if h.live {
			s.Hosts++
		}
	}
	return s
}
