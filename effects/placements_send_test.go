package effects

import (
	"errors"
	"testing"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

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
