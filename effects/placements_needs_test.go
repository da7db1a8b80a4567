package effects

import "testing"

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
			s.ticks(ackPatience)
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

// TestLandedUncounted: a block that landed in the other cell while the counter stood still is no honest refusal, as long as
// this server has never counted one of our uses.
func TestLandedUncounted(t *testing.T) {
	o := fenced()
	o.Used = UsedExpected
	s := newScript(t, o)
	s.send(place(1))
	s.reply(same)
	s.cell(floor, brick)
	s.cell(target, air)
	s.reply(same)
	s.ack(1)
	s.noticed(CodeUsedFrozen)
	s.want(UnverifiedEffect, GradeNone, CodeFirstCounterStill)
}
