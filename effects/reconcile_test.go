package effects

import (
	"testing"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// world is a CellReader over a map.
type world map[geom.BlockPos]registry.StateID

func (w world) Block(p geom.BlockPos) (registry.StateID, bool) {
	s, ok := w[p]
	return s, ok
}

// spot gives the n-th of several placements side by side on the floor.
func spot(n byte, item registry.ItemID, fate Fate) MarkedPlacement {
	at := geom.BlockPos{X: int32(n), Y: 64}
	return MarkedPlacement{Placement{
		Action: ActionID{n}, Sequence: int32(n), Item: item, Clicked: at.Add(geom.BlockPos{Y: -1}), Beside: at,
		OtherBefore: stone, OtherKnown: true, Cells: []Cell{{Pos: at, From: air, To: brick}},
	}, fate}
}

func reply(leave int32, counts ...UsedCount) worldstate.StatsAwarded {
	out := worldstate.StatsAwarded{Entries: []worldstate.Stat{{Category: registry.StatCategoryCustom, ID: registry.StatLeaveGame, Value: leave}}}
	for _, c := range counts {
		out.Entries = append(out.Entries, used(c.Item, c.Count))
	}
	return out
}

func TestReconcile(t *testing.T) {
	// The mark: 7 bricks and 2 others used, 4 sessions ended. Since then one own entry.
	base := func() Rejoin {
		return Rejoin{
			Mark: NewCounters(4, UsedCount{brickItem, 7}, UsedCount{otherItem, 2}), Confirmed: 1,
			Reply: reply(5, UsedCount{brickItem, 7}, UsedCount{otherItem, 2}), ReplySequence: 9, WorldSequence: 12, Used: UsedCounts,
			World: world{
				{X: 1, Y: 63}: stone, {X: 2, Y: 63}: stone, {X: 3, Y: 63}: stone,
				{X: 1, Y: 64}: air, {X: 2, Y: 64}: air, {X: 3, Y: 64}: air,
			},
		}
	}
	build := func(r *Rejoin, xs ...int32) {
		for _, x := range xs {
			r.World.(world)[geom.BlockPos{X: x, Y: 64}] = brick
		}
	}
	bricks := func(n int32) func(r *Rejoin) {
		return func(r *Rejoin) { r.Reply = reply(5, UsedCount{brickItem, n}, UsedCount{otherItem, 2}) }
	}
	two := []MarkedPlacement{spot(1, brickItem, FateOpen), spot(2, brickItem, FateOpen)}
	one := two[:1]
	cases := []struct {
		name   string
		change func(r *Rejoin)
		marked []MarkedPlacement
		want   []Verdict
		code   Code // of the last one
	}{
		{"none ran", nil, two, []Verdict{NotExecuted, NotExecuted}, CodeReconciledNothing},
		{"none ran, never counted before", func(r *Rejoin) { r.Used = UsedExpected }, one, []Verdict{0}, CodeReconciledNeverCounted},
		{"none ran, but the cell changed", func(r *Rejoin) { build(r, 1) }, one, []Verdict{0}, CodeReconciledCells},
		{"none ran, but the clicked cell changed", func(r *Rejoin) { r.World.(world)[geom.BlockPos{X: 1, Y: 63}] = dirt }, one, []Verdict{0}, CodeReconciledCells},
		{"none ran, clicked cell never known", nil, func() []MarkedPlacement {
			m := spot(1, brickItem, FateOpen)
			m.OtherKnown = false
			return []MarkedPlacement{m}
		}(), []Verdict{0}, CodeReconciledCells},
		{"all ran", func(r *Rejoin) { bricks(9)(r); build(r, 1, 2) }, two, []Verdict{Proven, Proven}, CodeReconciledExact},
		{"all ran, first count ever", func(r *Rejoin) { bricks(8)(r); build(r, 1); r.Used = UsedExpected }, one, []Verdict{Proven}, CodeReconciledExact},
		{"all counted, one cell not there", func(r *Rejoin) { bricks(9)(r); build(r, 1) }, two, []Verdict{0, 0}, CodeReconciledGone},
		{"half ran", func(r *Rejoin) { bricks(8)(r); build(r, 1) }, two, []Verdict{0, 0}, CodeReconciledMixed},
		{"two items, both ran", func(r *Rejoin) {
			r.Reply = reply(5, UsedCount{brickItem, 8}, UsedCount{otherItem, 3})
			build(r, 1, 2)
		}, []MarkedPlacement{spot(1, brickItem, FateOpen), spot(2, otherItem, FateOpen)}, []Verdict{Proven, Proven}, CodeReconciledExact},
		{"two of one item instead", func(r *Rejoin) { bricks(9)(r); build(r, 1, 2) },
			[]MarkedPlacement{spot(1, brickItem, FateOpen), spot(2, otherItem, FateOpen)}, []Verdict{0, 0}, CodeReconciledGone},
		{"another item moved too", func(r *Rejoin) {
			r.Reply = reply(5, UsedCount{brickItem, 8}, UsedCount{otherItem, 3})
			build(r, 1)
		}, one, []Verdict{0}, CodeReconciledMixed},
		{"only another item moved", func(r *Rejoin) { r.Reply = reply(5, UsedCount{brickItem, 7}, UsedCount{otherItem, 3}) }, one, []Verdict{0}, CodeReconciledMixed},
		{"counter fell", bricks(6), one, []Verdict{0}, CodeReconciledMixed},
		{"counter gone", func(r *Rejoin) { r.Reply = reply(5, UsedCount{otherItem, 2}) }, one, []Verdict{0}, CodeReconciledMixed},
		{"cell not loaded", func(r *Rejoin) { delete(r.World.(world), geom.BlockPos{X: 1, Y: 64}) }, one, []Verdict{0}, CodeReconciledUnknownCells},
		{"no world", func(r *Rejoin) { r.World = nil }, one, []Verdict{0}, CodeReconciledUnknownCells},
		{"one session too many", func(r *Rejoin) { r.Confirmed = 0 }, one, []Verdict{0}, CodeReconciledSession},
		{"one session too few: killed server", func(r *Rejoin) { r.Confirmed = 2 }, one, []Verdict{0}, CodeReconciledSession},
		{"an entry that may have been", func(r *Rejoin) { r.Confirmed, r.Unconfirmed = 0, 1 }, one, []Verdict{NotExecuted}, CodeReconciledNothing},
		{"an entry that was not", func(r *Rejoin) { r.Unconfirmed = 1 }, one, []Verdict{NotExecuted}, CodeReconciledNothing},
		{"play time fell", func(r *Rejoin) { r.Mark.PlayTime = 1 }, one, []Verdict{0}, CodeReconciledClock},
		{"world age fell", func(r *Rejoin) { r.ClockBack = true }, one, []Verdict{0}, CodeReconciledClock},
		{"demoted", func(r *Rejoin) { r.Demoted = true }, one, []Verdict{0}, CodeDemoted},
		{"frozen", func(r *Rejoin) { r.Used = UsedFrozen }, one, []Verdict{0}, CodeFrozenUnclear},
		{"doubled entries", func(r *Rejoin) { r.Reply.Entries = append(r.Reply.Entries, r.Reply.Entries[0]) }, one, []Verdict{0}, CodeReconciledMalformed},
		{"mark without counters", func(r *Rejoin) { r.Mark = Counters{} }, one, []Verdict{0}, CodeReconciledMixed},
		{"counted before the mark", func(r *Rejoin) { build(r, 1) }, []MarkedPlacement{spot(1, brickItem, FateCounted)}, []Verdict{Proven}, CodeReconciledExact},
		{"counted before the mark, cell gone", nil, []MarkedPlacement{spot(1, brickItem, FateCounted)}, []Verdict{0}, CodeReconciledGone},
		{"counted and another session", func(r *Rejoin) { build(r, 1); r.Confirmed = 0 }, []MarkedPlacement{spot(1, brickItem, FateCounted)}, []Verdict{0}, CodeReconciledSession},
		{"one counted, one open and never ran", func(r *Rejoin) { build(r, 1) },
			[]MarkedPlacement{spot(1, brickItem, FateCounted), spot(2, brickItem, FateOpen)}, []Verdict{Proven, NotExecuted}, CodeReconciledNothing},
		{"proven since the mark, open one never ran", func(r *Rejoin) { bricks(8)(r); build(r, 1) },
			[]MarkedPlacement{spot(1, brickItem, FateAddedSince), spot(2, brickItem, FateOpen)}, []Verdict{NotExecuted}, CodeReconciledNothing},
		{"proven since the mark, open one ran", func(r *Rejoin) { bricks(9)(r); build(r, 1, 2) },
			[]MarkedPlacement{spot(1, brickItem, FateAddedSince), spot(2, brickItem, FateOpen)}, []Verdict{Proven}, CodeReconciledExact},
		{"refused since the mark", func(r *Rejoin) { bricks(8)(r); build(r, 2) },
			[]MarkedPlacement{spot(1, brickItem, FateNotAddedSince), spot(2, brickItem, FateOpen)}, []Verdict{Proven}, CodeReconciledExact},
		{"unknown since the mark", nil,
			[]MarkedPlacement{spot(1, brickItem, FateUnknownSince), spot(2, brickItem, FateOpen)}, []Verdict{0}, CodeReconciledMixed},
		{"nothing open", nil, nil, nil, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := base()
			if c.change != nil {
				c.change(&r)
			}
			got := Reconcile(r, c.marked)
			if len(got) != len(c.want) {
				t.Fatalf("%d verdicts, want %d", len(got), len(c.want))
			}
			for i, s := range got {
				if s.Verdict != c.want[i] {
					t.Errorf("verdict %d is %s because %s, want %s", i, s.Verdict, s.Code, c.want[i])
				}
				if s.Verdict == Proven {
					o := s.Outcome(Outcome{LeastGrade: Attributed})
					for _, m := range c.marked {
						if m.Action == s.Action {
							o.Postcondition = CellsBecome{m.Item, m.Cells}
						}
					}
					if _, err := NewReceipt(o); err != nil || !s.Reconciled {
						t.Errorf("receipt: %v", err)
					}
				}
			}
			if len(got) > 0 && got[len(got)-1].Code != c.code {
				t.Errorf("because %s, want %s", got[len(got)-1].Code, c.code)
			}
		})
	}
	t.Run("SE-57/somebody placed the same block while the link was cut", func(t *testing.T) {
		r := base()
		build(&r, 1)
		if got := Reconcile(r, one); got[0].Verdict != UnverifiedEffect {
			t.Errorf("got %s", got[0].Verdict)
		}
	})
}

// TestOpenRulesFirstMatch: every row of the all-or-nothing table has a case of its own.
func TestOpenRulesFirstMatch(t *testing.T) {
	cases := map[string]openFacts{
		"cells unknown":                {unknown: true, zero: true, pre: true, counted: true},
		"none ran":                     {zero: true, pre: true, counted: true},
		"nothing moved, never counted": {zero: true, pre: true},
		"all ran":                      {exactly: true, post: true, counted: true},
		"ran, and gone":                {exactly: true, counted: true, gone: true},
		"cells disagree":               {zero: true, counted: true},
		"some ran":                     {counted: true, post: true},
	}
	for i, r := range openRules {
		f, ok := cases[r.name]
		if !ok {
			t.Fatalf("rule %q has no case", r.name)
		}
		if got := judgeOpen(&f); got.name != r.name {
			t.Errorf("case %q is decided by %q", r.name, got.name)
		}
		for j := range openRules {
			if j != i && openRules[j].when(&f) {
				if openRules[j].verdict == r.verdict && openRules[j].code == r.code {
					t.Errorf("dropping rule %q changes nothing", r.name)
				}
				break
			}
		}
	}
}

func TestFateOf(t *testing.T) {
	counter := func(before, after int32) Outcome {
		return Outcome{Evidence: Evidence{Counter: CounterChange{brickItem, before, after, true}}}
	}
	for name, c := range map[string]struct {
		o    Outcome
		want Fate
	}{
		"unknown": {Outcome{}, FateUnknownSince}, "+1": {counter(3, 4), FateAddedSince}, "+0": {counter(3, 3), FateNotAddedSince},
		"+2": {counter(3, 5), FateUnknownSince}, "-1": {counter(3, 2), FateUnknownSince},
		"never sent": {Outcome{Verdict: NotExecuted, Code: CodeNotSent}, FateNotAddedSince},
	} {
		if got := FateOf(c.o); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestRan: what the server counted is known to have run, whatever became of the cells.
func TestRan(t *testing.T) {
	up := CounterChange{Item: brickItem, Before: 7, After: 8, Known: true}
	still := CounterChange{Item: brickItem, Before: 7, After: 7, Known: true}
	full := []FactRef{{Kind: FactFullReply, Sequence: 1}}
	for _, c := range []struct {
		e    Evidence
		code Code
		want bool
	}{
		{Evidence{Counter: up}, CodeNoAck, true},
		{Evidence{Counter: still}, CodeFirstCounterStill, false},
		{Evidence{}, CodeCut, false},
		{Evidence{Counter: up, Facts: full}, CodeReconciledMixed, false},
		{Evidence{Counter: up, Facts: full}, CodeReconciledUnknownCells, true},
		{Evidence{Counter: up, Facts: full}, CodeReconciledGone, true},
	} {
		if got := c.e.Ran(c.code); got != c.want {
			t.Errorf("%s %+v: %v", c.code, c.e, got)
		}
	}
}
