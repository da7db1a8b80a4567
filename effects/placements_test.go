package effects

import (
	"errors"
	"testing"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

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
	s.ticks(2)
	if !s.p.NeedFence() {
		s.t.Error("no fence is asked for after two ticks")
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

// TestNeeds drops each part of a proof in turn: only the whole set gives a receipt.
func TestNeeds(t *testing.T) {
	type parts struct{ clicked, target, counter, ack bool }
	run := func(t *testing.T, p parts, before func(s *script)) (receipt bool) {
		s := newScript(t, fenced())
		s.send(place(1))
		if before != nil {
			before(s)
		}
		s.reply(same)
		if p.clicked {
			s.cell(floor, stone)
		}
		if p.target {
			s.cell(target, brick)
		}
		if p.counter {
			s.reply(plus)
		} else {
			s.reply(same)
		}
		if p.ack {
			s.ack(1)
		} else {
			s.ticks(2)
			s.p.FenceSent()
			s.reply(same)
		}
		return s.only().Verdict == Proven
	}
	t.Run("SE-27/all", func(t *testing.T) {
		if !run(t, parts{true, true, true, true}, nil) {
			t.Error("no receipt")
		}
	})
	none := map[string]parts{
		"SE-27/ack only":      {ack: true},
		"SE-27/update only":   {clicked: true, target: true},
		"SE-27/counter only":  {counter: true},
		"SE-27/none":          {},
		"SE-27/no clicked":    {false, true, true, true},
		"SE-27/no target":     {true, false, true, true},
		"SE-27/no counter":    {true, true, false, true},
		"SE-27/no ack":        {true, true, true, false},
		"DC-08/no event ever": {counter: true, ack: true},
	}
	for name, p := range none {
		t.Run(name, func(t *testing.T) {
			if run(t, p, nil) {
				t.Error("a receipt")
			}
		})
	}
	early := func(s *script) { s.cell(floor, stone); s.cell(target, brick) }
	t.Run("SE-27/updates before the opening reply", func(t *testing.T) {
		if run(t, parts{false, false, true, true}, early) {
			t.Error("a receipt")
		}
	})
	t.Run("DC-08/event before the packet", func(t *testing.T) {
		s := newScript(t, fenced())
		s.p.FenceSent()
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		s.ack(1)
		if err := s.p.UseSent(place(1)); err != nil {
			t.Fatal(err)
		}
		s.p.FenceSent()
		s.reply(plus)
		s.ack(1)
		if got := s.only(); got.Verdict == Proven {
			t.Error("a receipt")
		}
	})
	for name, f := range map[string]func(s *script){
		"other position": func(s *script) { s.cell(floor, stone); s.cell(above, brick) },
		"other state":    func(s *script) { s.cell(floor, stone); s.cell(target, dirt) },
	} {
		t.Run("DC-08/"+name, func(t *testing.T) {
			if run(t, parts{false, false, true, true}, nil) {
				t.Error("a receipt")
			}
			s := newScript(t, fenced())
			s.send(place(1))
			s.reply(same)
			f(s)
			s.reply(plus)
			s.ack(1)
			if s.only().Verdict == Proven {
				t.Error("a receipt")
			}
		})
	}
	t.Run("DC-08/other bot", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick) // somebody else's brick: nothing is counted for us
		s.reply(same)
		s.ack(1)
		s.want(Refused, GradeNone, CodeSomebodyFaster)
	})
	t.Run("SE-27/another epoch", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		if open := s.p.NextEpoch(Epoch{World: 2}); len(open) != 1 {
			t.Fatalf("%d open", len(open))
		}
		s.cell(floor, stone)
		s.cell(target, brick)
		s.reply(plus)
		s.ack(1)
		s.silent()
		s.noticed()
		s.send(place(2)) // the next use is judged as if nothing had been
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		s.reply(plus)
		s.ack(2)
		s.want(Proven, Attributed, CodeBracketExact)
	})
}

func TestRefusalIsNoSuccess(t *testing.T) {
	t.Run("DC-09/old state", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, air)
		s.reply(same)
		s.ack(1)
		s.want(Refused, GradeNone, CodeRefusedAck)
		o := s.only().Outcome(Outcome{Postcondition: CellsBecome{brickItem, place(1).Cells}})
		if _, err := NewAttempt(o); err != nil {
			t.Error(err)
		}
	})
	t.Run("SE-14/seen but not provable", func(t *testing.T) {
		s := newScript(t, Options{Least: Attributed})
		s.send(place(1))
		s.cell(target, brick)
		s.want(UnverifiedEffect, GradeNone, CodeObservedNothing)
	})
	t.Run("SE-28/doubled events", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		for range 2 {
			s.cell(floor, stone)
			s.cell(target, brick)
		}
		s.reply(plus)
		s.ack(1)
		s.ack(1)
		s.cell(target, brick)
		s.want(Proven, Attributed, CodeBracketExact)
		if err := s.p.UseSent(place(1)); err == nil {
			t.Error("the same action was sent twice")
		}
	})
}

// TestDemotions: what does not fit together costs the session its counters.
func TestDemotions(t *testing.T) {
	cases := []struct {
		name string
		run  func(s *script)
		code Code
	}{
		{"reply that nobody asked for", func(s *script) { s.reply(same) }, CodeUnaskedReply},
		{"counter moves between fences", func(s *script) { s.p.FenceSent(); s.p.FenceSent(); s.reply(same); s.reply(plus) }, CodeCounterMoved},
		{"counter falls", func(s *script) {
			s.p.FenceSent()
			s.fact(worldstate.StatsAwarded{Entries: []worldstate.Stat{used(brickItem, 3)}})
		}, CodeCounterMoved},
		{"doubled entry", func(s *script) {
			s.p.FenceSent()
			s.fact(worldstate.StatsAwarded{Entries: []worldstate.Stat{used(brickItem, 7), used(brickItem, 7)}})
		}, CodeDoubledEntry},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, fenced())
			c.run(s)
			s.noticed(c.code)
			if !s.p.Demoted() {
				t.Fatal("not demoted")
			}
			s.send(place(1))
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.ack(1)
			s.want(UnverifiedEffect, GradeNone, CodeDemoted)
		})
	}
	t.Run("acknowledged by the way, accepted as observed", func(t *testing.T) {
		o := fenced()
		o.Demoted, o.Least = true, Observed
		s := newScript(t, o)
		s.send(place(1))
		s.cell(target, brick)
		s.want(Proven, Observed, CodeObservedExact)
	})
	t.Run("while a use waits for its ack", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		s.reply(plus)
		s.reply(same) // nobody asked
		s.ack(1)
		s.want(UnverifiedEffect, GradeNone, CodeDemoted)
	})
	t.Run("a doubled fence reply never makes a false refusal", func(t *testing.T) {
		s := newScript(t, fenced())
		s.send(place(1))
		s.reply(same)
		s.reply(same) // the doubled opening reply is taken for the closing one
		s.cell(floor, stone)
		s.cell(target, brick)
		s.ack(1)
		s.want(UnverifiedEffect, GradeNone, CodeOutOfStep)
		s.reply(plus) // the true closing reply
		s.noticed(CodeUnaskedReply)
	})
}

func slot(i int, n int32) worldstate.Event {
	return worldstate.ContainerSlot{Window: 0, Slot: int16(36 + i), Content: worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: brickItem, Count: n}}}
}

// TestSlotCounts: in survival the slot must lose what the counter gained.
func TestSlotCounts(t *testing.T) {
	placed := func(s *script, id byte, early bool, count int32) {
		s.send(place(id))
		s.reply(same)
		s.cell(floor, stone)
		s.cell(target, brick)
		if early {
			s.fact(slot(0, count))
			s.ack(int32(id))
			s.reply(plus)
			return
		}
		s.reply(plus)
		s.fact(slot(0, count))
		s.ack(int32(id))
	}
	cases := []struct {
		name   string
		mode   bool
		run    func(s *script)
		demote bool
	}{
		{"one each", true, func(s *script) { placed(s, 1, false, 63); placed(s, 2, false, 62) }, false},
		{"slot before the counter", true, func(s *script) { placed(s, 1, true, 63); placed(s, 2, true, 62); placed(s, 3, false, 61) }, false},
		{"slot stays although counted", true, func(s *script) { placed(s, 1, false, 64) }, true},
		{"slot falls too far", true, func(s *script) { placed(s, 1, false, 62) }, true},
		{"slot falls without a use", true, func(s *script) { placed(s, 1, false, 63); s.fact(slot(0, 62)) }, true},
		{"slot holds another item", true, func(s *script) {
			placed(s, 1, false, 63)
			s.fact(worldstate.InventorySlot{Slot: 0, Content: worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: otherItem, Count: 1}}})
		}, true},
		{"unknown content says nothing", true, func(s *script) { placed(s, 1, false, 63); s.fact(worldstate.InventorySlot{Slot: 0}) }, false},
		{"another slot says nothing", true, func(s *script) { placed(s, 1, false, 63); s.fact(slot(1, 5)) }, false},
		{"changed by ourselves", true, func(s *script) { placed(s, 1, false, 63); s.p.SlotChanged(0); s.fact(slot(0, 64)) }, false},
		{"creative is exempt", false, func(s *script) { placed(s, 1, false, 64) }, false},
		{"forced snapshot", true, func(s *script) {
			placed(s, 1, false, 63)
			slots := make([]worldstate.Slot, 46)
			slots[36] = worldstate.Slot{Known: true}
			s.fact(worldstate.ContainerContent{Window: 0, Slots: slots})
		}, true},
		{"the last item", true, func(s *script) {
			p := place(1)
			p.SlotCount = 1
			s.send(p)
			s.reply(same)
			s.cell(floor, stone)
			s.cell(target, brick)
			s.reply(plus)
			s.fact(slot(0, 0))
			s.ack(1)
		}, false},
	}
	for _, c := range cases {
		t.Run("DC-14/"+c.name, func(t *testing.T) {
			o := fenced()
			o.Survival = c.mode
			s := newScript(t, o)
			c.run(s)
			if s.p.Demoted() != c.demote {
				t.Errorf("demoted %v, want %v (%v)", s.p.Demoted(), c.demote, s.got.Notices)
			}
		})
	}
}

// TestWithoutFence: a server that answers no fence can show, but not attribute.
func TestWithoutFence(t *testing.T) {
	cases := []struct {
		name    string
		run     func(s *script)
		verdict Verdict
		grade   Grade
		code    Code
	}{
		{"exact", func(s *script) { s.broadcast(target, brick) }, Proven, Observed, CodeObservedExact},
		{"another state", func(s *script) { s.cell(target, dirt) }, WrongResult, GradeNone, CodeObservedWrong},
		{"the old state says nothing", func(s *script) { s.cell(target, air); s.silent(); s.ticks(40) }, UnverifiedEffect, GradeNone, CodeObservedNothing},
		{"nothing in 40 ticks", func(s *script) { s.ticks(39); s.silent(); s.ticks(1) }, UnverifiedEffect, GradeNone, CodeObservedNothing},
		{"landed in the clicked cell", func(s *script) { s.cell(floor, brick) }, WrongResult, GradeNone, CodeObservedWrong},
		{"another player near", func(s *script) {
			s.p.Tick([]geom.Vec3{{0.5, 64, 8.9}})
			s.p.Tick(nil)
			s.cell(target, brick)
		}, UnverifiedEffect, GradeNone, CodePlayerNear},
		{"another player far", func(s *script) {
			s.p.Tick([]geom.Vec3{{0.5, 64, 9.1}})
			s.cell(target, brick)
		}, Proven, Observed, CodeObservedExact},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, Options{Least: Observed, Pipeline: 8})
			s.send(place(1))
			if err := s.p.UseSent(place(2)); !errors.Is(err, ErrWindowFull) {
				t.Errorf("a second use: %v", err)
			}
			c.run(s)
			s.want(c.verdict, c.grade, c.code)
			if s.only().Attribution != AttributionNone {
				t.Error("attributed")
			}
		})
	}
	t.Run("SE-57/below the least grade", func(t *testing.T) {
		s := newScript(t, Options{Least: Attributed})
		s.send(place(1))
		s.cell(target, brick)
		s.want(UnverifiedEffect, GradeNone, CodeObservedNothing)
	})
}

// TestSending: what may be sent when.
func TestSending(t *testing.T) {
	p := NewPlacements(Options{Fence: true, Pipeline: 2, Least: Attributed})
	step := func(name string, want error) {
		t.Helper()
		if err := p.CanSend(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	step("nothing sent", ErrNoFence)
	p.FenceSent()
	step("statistics unknown", ErrNoCounters)
	p.Observe(Fact{1, worldstate.StatsAwarded{}})
	step("ready", nil)
	use := func(id byte) {
		t.Helper()
		if err := p.UseSent(place(id)); err != nil {
			t.Fatal(err)
		}
	}
	use(1)
	step("no fence behind the use", ErrNoFence)
	if !p.NeedFence() {
		t.Error("no fence asked for")
	}
	p.FenceSent()
	use(2)
	p.FenceSent()
	step("full", ErrWindowFull)
	if got := p.Open(); len(got) != 2 || got[0].Counted {
		t.Errorf("open: %v", got)
	}
	p.Observe(Fact{2, worldstate.BlockChanged{Pos: floor, State: stone}})
	p.Observe(Fact{3, worldstate.BlockChanged{Pos: target, State: brick}})
	p.Observe(Fact{4, worldstate.StatsAwarded{Entries: []worldstate.Stat{used(brickItem, 1)}}})
	step("outstanding ends at the closing reply", nil)
	if got := p.Open(); len(got) != 2 || !got[0].Counted || got[1].Counted {
		t.Errorf("open: %v", got)
	}
	if got := p.Counters().Used(brickItem); got != 1 {
		t.Errorf("counter %d", got)
	}
	bad := place(3, Cell{Pos: above, From: air, To: brick})
	if err := p.UseSent(bad); !errors.Is(err, ErrBadUse) {
		t.Errorf("target away from the click: %v", err)
	}
	if open := p.Cut(); len(open) != 2 {
		t.Errorf("%d open after the cut", len(open))
	}
	step("cut", ErrCut)
	if f := p.Observe(Fact{5, worldstate.BlockAck{Sequence: 9}}); len(f.Settled) != 0 {
		t.Error("a verdict after the cut")
	}
}

// TestBracketRulesFirstMatch: every row is reached by a case of its own, and dropping it changes that case's decision.
func TestBracketRulesFirstMatch(t *testing.T) {
	cases := map[string]bracketFacts{
		"out of step":         {outOfStep: true, ack: true, counted: true},
		"frozen, exact":       {frozen: true, direct: true, exact: true, ack: true, changed: true},
		"frozen, wrong":       {frozen: true, direct: true, foreign: true, wrong: true, ack: true, changed: true},
		"frozen, refused":     {frozen: true, direct: true, wrong: true, ack: true},
		"frozen, unclear":     {frozen: true, ack: true},
		"proven":              {added: true, direct: true, exact: true, ack: true, changed: true},
		"wrong result":        {added: true, direct: true, wrong: true, ack: true},
		"counted, no ack":     {added: true, direct: true, exact: true},
		"counted, not shown":  {added: true, ack: true},
		"another counter":     {strange: true, direct: true, exact: true, ack: true, changed: true},
		"refused":             {ack: true, direct: true},
		"not executed":        {},
		"somebody faster":     {counted: true, changed: true, ack: true},
		"first counter still": {changed: true, ack: true},
	}
	for i, r := range bracketRules {
		f, ok := cases[r.name]
		if !ok {
			t.Errorf("rule %q has no case", r.name)
			continue
		}
		if got := judgeBracket(&f); got.name != r.name {
			t.Errorf("case %q is decided by %q", r.name, got.name)
		}
		without := Verdict(99)
		code := Code(0)
		for j := range bracketRules {
			if j != i && bracketRules[j].when(&f) {
				without, code = bracketRules[j].verdict, bracketRules[j].code
				break
			}
		}
		if without == r.verdict && code == r.code {
			t.Errorf("dropping rule %q changes nothing", r.name)
		}
	}
}
