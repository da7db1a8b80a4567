package effects

import (
	"testing"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Block states and items of the scripts; ExactStates compares them by number.
const (
	air   registry.StateID = 0
	stone registry.StateID = 1
	dirt  registry.StateID = 2
	brick registry.StateID = 3

	brickItem registry.ItemID = 30
	otherItem registry.ItemID = 31
)

var (
	floor  = geom.BlockPos{X: 0, Y: 63, Z: 0}
	target = geom.BlockPos{X: 0, Y: 64, Z: 0}
	above  = geom.BlockPos{X: 0, Y: 65, Z: 0}
)

// script drives a machine by hand and numbers the facts.
type script struct {
	t    *testing.T
	p    *Placements
	seq  uint64
	used map[registry.ItemID]int32
	got  Findings
}

// plainStates knows each block as one state: a landing is the very state that was meant for the target.
type plainStates struct{ ExactStates }

func (plainStates) Landed(before, after, placed registry.StateID) bool {
	return before != after && after == placed
}

// newScript starts a machine and answers its first fence with a full reply: seven bricks used so far.
func newScript(t *testing.T, o Options) *script {
	t.Helper()
	if o.Least == GradeNone {
		o.Least = Attributed
	}
	o.States = plainStates{}
	s := &script{t: t, p: NewPlacements(o), used: map[registry.ItemID]int32{brickItem: 7}}
	if o.Fence {
		s.p.FenceSent()
		s.reply(full)
	}
	return s
}

func fenced() Options { return Options{Fence: true, Pipeline: 1, Used: UsedCounts} }

type replyKind int

const (
	same  replyKind = iota // nothing moved
	plus                   // our item +1
	other                  // another item +1
	both                   // both +1
	two                    // our item +2
	full                   // everything
)

func (s *script) fact(e worldstate.Event) {
	s.seq++
	f := s.p.Observe(Fact{s.seq, e})
	s.got.Settled = append(s.got.Settled, f.Settled...)
	s.got.Notices = append(s.got.Notices, f.Notices...)
}

func used(item registry.ItemID, n int32) worldstate.Stat {
	return worldstate.Stat{Category: registry.StatCategoryUsed, ID: int32(item), Value: n}
}

func (s *script) reply(k replyKind) {
	var e []worldstate.Stat
	move := func(item registry.ItemID, n int32) {
		s.used[item] += n
		e = append(e, used(item, s.used[item]))
	}
	switch k {
	case plus:
		move(brickItem, 1)
	case other:
		move(otherItem, 1)
	case both:
		move(brickItem, 1)
		move(otherItem, 1)
	case two:
		move(brickItem, 2)
	case full:
		for item, n := range s.used {
			e = append(e, used(item, n))
		}
	}
	s.fact(worldstate.StatsAwarded{Entries: e})
}

func (s *script) cell(p geom.BlockPos, id registry.StateID) {
	s.fact(worldstate.BlockChanged{Pos: p, State: id})
}

func (s *script) broadcast(p geom.BlockPos, id registry.StateID) {
	s.fact(worldstate.SectionChanged{Changes: []worldstate.BlockChanged{{Pos: p, State: id}}})
}

func (s *script) ack(n int32) { s.fact(worldstate.BlockAck{Sequence: n}) }

func (s *script) ticks(n int) {
	for range n {
		f := s.p.Tick(nil)
		s.got.Settled = append(s.got.Settled, f.Settled...)
	}
}

// place returns a placement of a brick on the floor, or of a pillar of two cells.
func place(id byte, cells ...Cell) Placement {
	if cells == nil {
		cells = []Cell{{Pos: target, From: air, To: brick}}
	}
	return Placement{
		Action: ActionID{id}, Sequence: int32(id), Item: brickItem, Clicked: floor, Beside: target, OtherBefore: stone, OtherKnown: true,
		Cells: cells, Slot: 0, SlotCount: 64,
	}
}

// send brackets one use: fence, use, fence.
func (s *script) send(p Placement) {
	s.t.Helper()
	s.p.FenceSent()
	if err := s.p.UseSent(p); err != nil {
		s.t.Fatal(err)
	}
	if s.p.opt.Fence {
		s.p.FenceSent()
	}
}

// only returns the one verdict there is.
func (s *script) only() Settled {
	s.t.Helper()
	if len(s.got.Settled) != 1 {
		s.t.Fatalf("%d verdicts: %+v", len(s.got.Settled), s.got.Settled)
	}
	return s.got.Settled[0]
}

// want checks the one verdict; it also makes sure that a receipt exists exactly for a proven one.
func (s *script) want(v Verdict, g Grade, c Code) {
	s.t.Helper()
	got := s.only()
	if got.Verdict != v || got.Grade != g || got.Code != c {
		s.t.Errorf("got %s at %s because %s, want %s at %s because %s", got.Verdict, got.Grade, got.Code, v, g, c)
	}
	o := got.Outcome(Outcome{Postcondition: CellsBecome{brickItem, place(1).Cells}, LeastGrade: s.p.opt.Least})
	if _, err := NewReceipt(o); (err == nil) != (v == Proven) {
		s.t.Errorf("verdict %s, receipt: %v", v, err)
	}
}

func (s *script) silent() {
	s.t.Helper()
	if len(s.got.Settled) != 0 {
		s.t.Errorf("a verdict too early: %+v", s.got.Settled)
	}
}

func (s *script) noticed(want ...Code) {
	s.t.Helper()
	var got []Code
	for _, n := range s.got.Notices {
		got = append(got, n.Code)
	}
	if len(got) != len(want) {
		s.t.Errorf("notices %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			s.t.Errorf("notices %v, want %v", got, want)
		}
	}
}
