package effects

import "testing"

// TestBracket runs each line of the verdict table, with the facts in the order in which a server sends them.
func TestBracket(t *testing.T) {
	cases := []struct {
		name    string
		opt     func(*Options)
		use     func(*Placement)
		run     func(s *script)
		verdict Verdict
		grade   Grade
		code    Code
		notices []Code
	}{
		{"proven", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.silent()
			s.broadcast(target, brick)
			s.ack(1)
		}, Proven, Attributed, CodeBracketExact, nil},
		{"proven, a tick between use and fence", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.broadcast(target, brick)
			s.ack(1)
			s.silent()
			s.reply(plus)
		}, Proven, Attributed, CodeBracketExact, nil},
		{"proven, the opening reply long before", nil, nil, func(s *script) {
			s.reply(same)
			s.ticks(100)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.ticks(1)
			s.ack(5)
		}, Proven, Attributed, CodeBracketExact, nil},
		{"proven, broken again within the tick", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.cell(target, air)
			s.ack(1)
			s.reply(plus)
		}, Proven, Attributed, CodeBracketExact, nil},
		{"first count", func(o *Options) { o.Used = UsedExpected }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
		}, Proven, Attributed, CodeBracketExact, []Code{CodeUsedCounts}},
		{"wrong result", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, dirt)
			s.reply(plus)
			s.ack(1)
		}, WrongResult, GradeNone, CodeBracketWrongState, nil},
		{"landed in the other cell", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, brick)
			s.cell(target, air)
			s.reply(plus)
			s.ack(1)
		}, WrongResult, GradeNone, CodeBracketWrongState, nil},
		{"landed in the other cell while another made the target so", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, brick)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
		}, WrongResult, GradeNone, CodeBracketWrongState, nil},
		{"clicked block was swapped by somebody", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, dirt)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
		}, Proven, Attributed, CodeBracketExact, nil},
		{"counted, not acknowledged", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.lateFence()
			s.reply(same)
		}, UnverifiedEffect, GradeNone, CodeNoAck, nil},
		{"counted, nothing shown", nil, nil, func(s *script) {
			s.reply(same)
			s.reply(plus)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeCellNotShown, []Code{CodeCountedUnseen}},
		{"counted, clicked cell not shown", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeCellNotShown, []Code{CodeCountedUnseen}},
		{"another counter too", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(both)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeOtherCounter, []Code{CodeCounterMoved}},
		{"counted twice", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(two)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeOtherCounter, []Code{CodeCounterMoved}},
		{"refused with updates", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, air)
			s.reply(same)
			s.silent()
			s.ack(1)
		}, Refused, GradeNone, CodeRefusedAck, nil},
		{"refused with an ack alone", nil, nil, func(s *script) {
			s.reply(same)
			s.reply(same)
			s.ack(1)
		}, Refused, GradeNone, CodeRefusedAck, nil},
		{"not executed", nil, nil, func(s *script) {
			s.reply(same)
			s.reply(same)
			s.lateFence()
			s.silent()
			s.reply(same)
		}, NotExecuted, GradeNone, CodeNeverHandled, nil},
		{"a fence in the same tick does not miss the ack", nil, nil, func(s *script) {
			s.reply(same)
			s.reply(same)
			s.p.FenceSent()
			s.reply(same)
			s.silent()
			s.ack(1)
		}, Refused, GradeNone, CodeRefusedAck, nil},
		{"an ack before the opening reply is not of this use", nil, nil, func(s *script) {
			s.ack(1)
			s.reply(same)
			s.reply(same)
			s.lateFence()
			s.reply(same)
		}, NotExecuted, GradeNone, CodeNeverHandled, nil},
		{"an ack before the direct updates is not of this use", nil, nil, func(s *script) {
			s.reply(same)
			s.ack(1)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.lateFence()
			s.reply(same)
		}, UnverifiedEffect, GradeNone, CodeNoAck, nil},
		{"somebody was faster", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, dirt)
			s.reply(same)
			s.ack(1)
		}, Refused, GradeNone, CodeSomebodyFaster, nil},
		{"somebody placed the very block", nil, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(same)
			s.ack(1)
		}, Refused, GradeNone, CodeSomebodyFaster, nil},
		{"first counter stands still", func(o *Options) { o.Used = UsedExpected }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(same)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeFirstCounterStill, []Code{CodeUsedFrozen}},
		{"cells change behind the closing reply", nil, nil, func(s *script) {
			s.reply(same)
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeOutOfStep, nil},
		{"frozen, exact", func(o *Options) { o.Used, o.Least = UsedFrozen, Acknowledged }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(same)
			s.ack(1)
		}, Proven, Acknowledged, CodeFrozenExact, nil},
		{"frozen, below the least grade", func(o *Options) { o.Used = UsedFrozen }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(same)
			s.ack(1)
		}, UnverifiedEffect, Acknowledged, CodeBelowGrade, nil},
		{"frozen, refused", func(o *Options) { o.Used, o.Least = UsedFrozen, Acknowledged }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, air)
			s.reply(same)
			s.ack(1)
		}, Refused, GradeNone, CodeFrozenRefused, nil},
		{"frozen, wrong", func(o *Options) { o.Used, o.Least = UsedFrozen, Acknowledged }, nil, func(s *script) {
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, dirt)
			s.reply(same)
			s.ack(1)
		}, WrongResult, GradeNone, CodeBracketWrongState, nil},
		{"frozen, an ack alone", func(o *Options) { o.Used, o.Least = UsedFrozen, Acknowledged }, nil, func(s *script) {
			s.reply(same)
			s.reply(same)
			s.ack(1)
		}, UnverifiedEffect, GradeNone, CodeFrozenUnclear, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := fenced()
			if c.opt != nil {
				c.opt(&o)
			}
			s := newScript(t, o)
			p := place(1)
			if c.use != nil {
				c.use(&p)
			}
			s.send(p)
			c.run(s)
			s.want(c.verdict, c.grade, c.code)
			s.noticed(c.notices...)
		})
	}
}

// lateFence waits for the machine to ask for one and sends it.
func (s *script) lateFence() {
	s.t.Helper()
	if s.p.NeedFence() {
		s.t.Error("a fence is asked for at once")
	}
	s.ticks(ackPatience)
	if !s.p.NeedFence() {
		s.t.Error("no fence is asked for in time")
	}
	s.p.FenceSent()
	if s.p.NeedFence() {
		s.t.Error("a second fence is asked for")
	}
}

// TestOpeningReplyFirst: the opening reply may be in before the use is sent.
func TestOpeningReplyFirst(t *testing.T) {
	s := newScript(t, fenced())
	for id := byte(1); id <= 3; id++ {
		s.got = Findings{}
		if err := s.p.UseSent(place(id)); err != nil {
			t.Fatal(err)
		}
		s.p.FenceSent()
		s.cell(floor, stone)
		s.cell(target, brick)
		s.reply(plus)
		s.ack(int32(id))
		s.want(Proven, Attributed, CodeBracketExact)
	}
}

// TestSecondCell: the upper half of a door comes with the broadcast, anywhere behind the direct updates.
func TestSecondCell(t *testing.T) {
	door := place(1, Cell{Pos: target, From: air, To: brick}, Cell{Pos: above, From: air, To: dirt})
	run := func(t *testing.T, f func(s *script)) Settled {
		s := newScript(t, fenced())
		s.send(door)
		s.reply(same)
		f(s)
		return s.only()
	}
	direct := func(s *script) { s.cell(floor, stone); s.cell(target, brick) }
	cases := []struct {
		name    string
		run     func(s *script)
		verdict Verdict
		code    Code
	}{
		{"behind the closing reply", func(s *script) {
			direct(s)
			s.reply(plus)
			s.broadcast(above, dirt)
			s.ack(1)
		}, Proven, CodeBracketExact},
		{"before the closing reply", func(s *script) {
			direct(s)
			s.broadcast(above, dirt)
			s.ack(1)
			s.reply(plus)
		}, Proven, CodeBracketExact},
		{"never", func(s *script) { direct(s); s.reply(plus); s.ack(1) }, UnverifiedEffect, CodeCellNotShown},
		{"only before the direct updates", func(s *script) {
			s.broadcast(above, dirt)
			direct(s)
			s.reply(plus)
			s.ack(1)
		}, UnverifiedEffect, CodeCellNotShown},
		{"in another state", func(s *script) {
			direct(s)
			s.reply(plus)
			s.broadcast(above, stone)
			s.ack(1)
		}, WrongResult, CodeBracketWrongState},
		{"behind the window", func(s *script) {
			direct(s)
			s.reply(plus)
			s.ack(1)
			s.broadcast(above, dirt)
		}, UnverifiedEffect, CodeCellNotShown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := run(t, c.run); got.Verdict != c.verdict || got.Code != c.code {
				t.Errorf("got %s because %s", got.Verdict, got.Code)
			}
		})
	}
}

// TestStacking: the target is the clicked cell itself, and the other cell is the one before its face.
func TestStacking(t *testing.T) {
	stack := place(1, Cell{Pos: floor, From: stone, To: brick})
	stack.OtherBefore = air
	s := newScript(t, fenced())
	s.send(stack)
	s.reply(same)
	s.cell(floor, brick)
	s.cell(target, air)
	s.reply(plus)
	s.ack(1)
	if got := s.only(); got.Verdict != Proven {
		t.Errorf("got %s because %s", got.Verdict, got.Code)
	}
	s = newScript(t, fenced())
	s.send(stack)
	s.reply(same)
	s.cell(floor, brick) // somebody stacked before us
	s.cell(target, brick)
	s.reply(plus)
	s.ack(1)
	if got := s.only(); got.Verdict != WrongResult {
		t.Errorf("landed before the face: got %s because %s", got.Verdict, got.Code)
	}
}
