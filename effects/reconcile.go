package effects

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Fate says what is already known of a placement that the newest sent mark names, or that it was made for.
type Fate uint8

// The fates. The zero value is the careful one: nothing is known, and Reconcile has to find out.
const (
	FateOpen          Fate = iota // no verdict: one of the k
	FateCounted                   // no verdict, but its +1 is in the newest mark's counters already
	FateAddedSince                // got a verdict after the newest mark, and the server had counted it
	FateNotAddedSince             // got a verdict after the newest mark, and the server had counted nothing
	FateUnknownSince              // got a verdict after the newest mark without its counters being known
)

// String returns the fate in words.
func (f Fate) String() string {
	return pick(f, "open", "counted", "added_since", "not_added_since", "unknown_since")
}

// FateOf tells the fate of a placement that got its verdict after the newest mark was written.
func FateOf(o Outcome) Fate {
	switch c := o.Evidence.Counter; {
	case o.Code == CodeNotSent:
		return FateNotAddedSince
	case !c.Known:
		return FateUnknownSince
	case c.After == c.Before+1:
		return FateAddedSince
	case c.After == c.Before:
		return FateNotAddedSince
	}
	return FateUnknownSince
}

// MarkedPlacement is one placement of the newest sent mark: the one it was written for and every other that had no
// verdict then.
type MarkedPlacement struct {
	Placement
	Fate Fate
}

// CellReader reads the world as the server shows it; false means unknown, never air.
type CellReader interface {
	Block(geom.BlockPos) (registry.StateID, bool)
}

// Rejoin is what is known after the first full reply of a new join. All cells of the marked placements should be
// loaded by then; those that are not make everything unverified.
type Rejoin struct {
	Epoch         Epoch
	Mark          Counters // of the newest sent mark: the whole `used` category and leave_game
	Confirmed     int32    // own play entries since that mark which reached play login
	Unconfirmed   int32    // own play entries since that mark which may have
	Reply         worldstate.StatsAwarded
	ReplySequence uint64
	World         CellReader
	WorldSequence uint64 // of the newest fact in World
	ClockBack     bool   // the world's age ran backwards
	Used          UsedTrust
	Demoted       bool
	States        States
}

// sessionRule is one row of the checks that come before any counting.
type sessionRule struct {
	name string
	when func(r *Rejoin, now Counters) bool
	code Code
}

// sessionRules say when the counters of a rejoin prove nothing at all. First match; none means they can be compared.
var sessionRules = [...]sessionRule{
	{"mark without counters", func(r *Rejoin, _ Counters) bool { return !r.Mark.Known() }, CodeReconciledMixed},
	{"doubled entries", func(r *Rejoin, _ Counters) bool { return doubled(r.Reply.Entries) }, CodeReconciledMalformed},
	{"demoted", func(r *Rejoin, _ Counters) bool { return r.Demoted }, CodeDemoted},
	{"frozen", func(r *Rejoin, _ Counters) bool { return r.Used == UsedFrozen }, CodeFrozenUnclear},
	{"clock went back", func(r *Rejoin, now Counters) bool {
		return r.ClockBack || now.PlayTime < r.Mark.PlayTime || now.WorldTime < r.Mark.WorldTime
	}, CodeReconciledClock},
	{"sessions do not add up", func(r *Rejoin, now Counters) bool {
		least := int64(r.Mark.LeaveGame) + int64(r.Confirmed)
		return int64(now.LeaveGame) < least || int64(now.LeaveGame) > least+int64(r.Unconfirmed)
	}, CodeReconciledSession},
}

// openFacts are the frozen facts of the k open placements, all together.
type openFacts struct {
	unknown bool // a cell of one of them is not loaded
	zero    bool // no `used` entry differs from what the mark and later verdicts explain
	exactly bool // the entries differ by exactly the multiset of the open items
	pre     bool // every target and clicked cell is in its pre-state
	post    bool // every cell is in its to-state
	counted bool // the server has counted one of our uses before
	gone    bool // an open item's entry moved further than its cells in their to-state explain: something ran and was taken away
}

// openRule is one row of the all-or-nothing table.
type openRule struct {
	name    string
	when    func(f *openFacts) bool
	verdict Verdict
	code    Code
}

// openRules decide for all k at once; first match.
var openRules = [...]openRule{
	{"cells unknown", func(f *openFacts) bool { return f.unknown }, UnverifiedEffect, CodeReconciledUnknownCells},
	{"none ran", func(f *openFacts) bool { return f.zero && f.pre && f.counted }, NotExecuted, CodeReconciledNothing},
	{"nothing moved, never counted", func(f *openFacts) bool { return f.zero && f.pre }, UnverifiedEffect, CodeReconciledNeverCounted},
	{"all ran", func(f *openFacts) bool { return f.exactly && f.post }, Proven, CodeReconciledExact},
	{"ran, and gone", func(f *openFacts) bool { return f.gone }, UnverifiedEffect, CodeReconciledGone},
	{"cells disagree", func(f *openFacts) bool { return f.zero || f.exactly }, UnverifiedEffect, CodeReconciledCells},
	{"some ran", func(f *openFacts) bool { return true }, UnverifiedEffect, CodeReconciledMixed},
}

func judgeOpen(f *openFacts) *openRule {
	for i := range openRules {
		if openRules[i].when(f) {
			return &openRules[i]
		}
	}
	return nil // unreachable: the last row matches everything
}

// Reconcile judges the placements that a cut left without a verdict, after a rejoin: all or nothing for those whose +1
// nobody has seen, each by its cells for those that were counted. The result holds one entry per placement of fate open
// or counted, in the order given.
func Reconcile(r Rejoin, marked []MarkedPlacement) []Settled {
	if r.States == nil {
		r.States = ExactStates{}
	}
	now, _ := FullCounters(r.Reply)
	for _, rule := range sessionRules {
		if rule.when(&r, now) {
			return r.all(marked, rule.code)
		}
	}
	row := judgeOpen(r.openFacts(now, marked))
	var out []Settled
	for _, m := range marked {
		switch m.Fate {
		case FateCounted:
			out = append(out, r.judgeCounted(&m))
		case FateOpen:
			s := Settled{Action: m.Action, Verdict: row.verdict, Code: row.code, Evidence: r.evidence(&m)}
			s.Evidence.Counter = CounterChange{m.Item, r.Mark.Used(m.Item), now.Used(m.Item), true}
			out = append(out, proveReconciled(s))
		}
	}
	return out
}

// all gives every placement without a verdict the same unverified one.
func (r *Rejoin) all(marked []MarkedPlacement, why Code) []Settled {
	var out []Settled
	for _, m := range marked {
		if m.Fate == FateOpen || m.Fate == FateCounted {
			out = append(out, Settled{Action: m.Action, Code: why, Evidence: r.evidence(&m)})
		}
	}
	return out
}

// judgeCounted judges a placement whose +1 the server had shown before the cut: the cells decide.
func (r *Rejoin) judgeCounted(m *MarkedPlacement) Settled {
	s := Settled{Action: m.Action, Evidence: r.evidence(m)}
	n := r.Mark.Used(m.Item)
	s.Evidence.Counter = CounterChange{m.Item, n - 1, n, true}
	switch exact, unknown := r.exact(m); {
	case unknown:
		s.Code = CodeReconciledUnknownCells
	case exact:
		s.Verdict, s.Code = Proven, CodeReconciledExact
	default:
		s.Code = CodeReconciledGone
	}
	return proveReconciled(s)
}

func proveReconciled(s Settled) Settled {
	if s.Verdict == Proven {
		s.Grade, s.Attribution, s.Reconciled = Attributed, AttributionCounter, true
	}
	return s
}

// openFacts gathers the facts of all open placements.
func (r *Rejoin) openFacts(now Counters, marked []MarkedPlacement) *openFacts {
	f := &openFacts{pre: true, post: true, counted: r.Used == UsedCounts}
	expected := r.Mark.Clone()
	open, there := map[registry.ItemID]int32{}, map[registry.ItemID]int32{}
	muddled := false
	for i := range marked {
		m := &marked[i]
		switch m.Fate {
		case FateAddedSince:
			expected.set(m.Item, expected.Used(m.Item)+1)
			f.counted = true
		case FateUnknownSince:
			muddled = true
		case FateCounted:
			f.counted = true
		case FateOpen:
			open[m.Item]++
			exact, unknown := r.exact(m)
			if exact {
				there[m.Item]++
			}
			f.post = f.post && exact
			f.unknown = f.unknown || unknown
			f.pre = f.pre && r.untouched(m)
		}
	}
	moved := expected.sameUsed(now)
	f.zero = !muddled && len(moved) == 0
	f.exactly = !muddled && len(moved) == len(open)
	for item, n := range open {
		f.exactly = f.exactly && moved[item] == n
		f.gone = f.gone || !muddled && moved[item] > there[item]
	}
	return f
}

// exact tells whether every cell of a placement is in its to-state, and whether one is unknown.
func (r *Rejoin) exact(m *MarkedPlacement) (exact, unknown bool) {
	exact = true
	for _, c := range m.Cells {
		s, ok := r.block(c.Pos)
		unknown = unknown || !ok
		exact = exact && ok && r.States.Same(c.To, s, c.Masked)
	}
	return exact, unknown
}

// untouched tells whether every cell of a placement, and the clicked one, is in its pre-state.
func (r *Rejoin) untouched(m *MarkedPlacement) bool {
	for _, c := range m.Cells {
		s, ok := r.block(c.Pos)
		if !ok || !r.States.Same(c.From, s, c.Masked) {
			return false
		}
	}
	if m.Cells[0].Pos == m.Clicked {
		return true
	}
	s, ok := r.block(m.Clicked)
	return ok && m.OtherKnown && s == m.OtherBefore
}

func (r *Rejoin) block(pos geom.BlockPos) (registry.StateID, bool) {
	if r.World == nil {
		return 0, false
	}
	return r.World.Block(pos)
}

func (r *Rejoin) evidence(m *MarkedPlacement) Evidence {
	e := Evidence{Epoch: r.Epoch, UseSequence: m.Sequence}
	e.Facts = append(e.Facts, FactRef{Kind: FactFullReply, Sequence: r.ReplySequence})
	for _, c := range m.Cells {
		if s, ok := r.block(c.Pos); ok {
			e.Facts = append(e.Facts, FactRef{Kind: FactCellRead, Sequence: r.WorldSequence, Pos: c.Pos, State: s})
		}
	}
	return e
}
