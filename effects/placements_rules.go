package effects

// bracketRule is one row of the verdict table of a closed bracket: the first that matches decides.
type bracketRule struct {
	name    string
	when    func(b *bracketFacts) bool
	verdict Verdict
	grade   Grade // of a proven verdict; attempts carry what was seen
	code    Code
}

// bracketFacts are the frozen facts of one closed bracket.
type bracketFacts struct {
	frozen    bool // the server's `used` is frozen
	counted   bool // the server has counted one of our uses
	added     bool // +1 on our item alone
	strange   bool // any other movement of a `used` entry
	direct    bool // both direct updates between the replies
	exact     bool // every cell shown in its to-state
	wrong     bool // a cell shown in another state, never in its to-state
	foreign   bool // a cell shown in a state that is neither from nor to
	landed    bool // the other cell has taken a block
	changed   bool // a cell of the step changed between the replies, or the other one took a block
	outOfStep bool // cells changed behind the closing reply, nothing direct before it
	ack       bool
}

// zero tells that no `used` entry moved.
func (b *bracketFacts) zero() bool { return !b.added && !b.strange }

// bracketRules is the verdict table. The closing reply is in, and either the acknowledgement is, or a fence that was
// sent ticks later has been answered without it.
var bracketRules = [...]bracketRule{
	{"out of step", func(b *bracketFacts) bool { return b.zero() && b.outOfStep }, UnverifiedEffect, GradeNone, CodeOutOfStep},
	{"frozen, exact", func(b *bracketFacts) bool { return b.frozen && !b.strange && b.direct && b.exact && !b.landed && b.ack }, Proven, Acknowledged, CodeFrozenExact},
	{"frozen, wrong", func(b *bracketFacts) bool {
		return b.frozen && !b.strange && b.direct && b.ack && (b.foreign || b.landed)
	}, WrongResult, GradeNone, CodeBracketWrongState},
	{"frozen, refused", func(b *bracketFacts) bool { return b.frozen && b.zero() && b.direct && b.ack && !b.changed }, Refused, GradeNone, CodeFrozenRefused},
	{"frozen, unclear", func(b *bracketFacts) bool { return b.frozen }, UnverifiedEffect, GradeNone, CodeFrozenUnclear},
	{"proven", func(b *bracketFacts) bool { return b.added && b.direct && b.exact && !b.landed && b.ack }, Proven, Attributed, CodeBracketExact},
	{"wrong result", func(b *bracketFacts) bool { return b.added && (b.wrong || b.landed) }, WrongResult, GradeNone, CodeBracketWrongState},
	{"counted, no ack", func(b *bracketFacts) bool { return b.added && !b.ack }, UnverifiedEffect, GradeNone, CodeNoAck},
	{"counted, not shown", func(b *bracketFacts) bool { return b.added }, UnverifiedEffect, GradeNone, CodeCellNotShown},
	{"another counter", func(b *bracketFacts) bool { return b.strange }, UnverifiedEffect, GradeNone, CodeOtherCounter},
	{"refused", func(b *bracketFacts) bool { return !b.changed && b.ack }, Refused, GradeNone, CodeRefusedAck},
	{"not executed", func(b *bracketFacts) bool { return !b.changed }, NotExecuted, GradeNone, CodeNeverHandled},
	{"somebody faster", func(b *bracketFacts) bool { return b.counted }, Refused, GradeNone, CodeSomebodyFaster},
	{"first counter still", func(b *bracketFacts) bool { return true }, UnverifiedEffect, GradeNone, CodeFirstCounterStill},
}

// judgeBracket returns the row that decides.
func judgeBracket(b *bracketFacts) *bracketRule {
	for i := range bracketRules {
		if bracketRules[i].when(b) {
			return &bracketRules[i]
		}
	}
	return nil // unreachable: the last row matches everything
}

// judge settles every use whose facts are complete.
func (p *Placements) judge() {
	for _, u := range p.uses {
		switch {
		case u.settled:
		case p.observing() && !u.trigger:
			p.judgeObserved(u)
		case u.closed && (u.ack != nil || u.noAck):
			p.judgeClosed(u)
		}
	}
}

func (p *Placements) judgeClosed(u *use) {
	b := bracketFacts{
		frozen: p.opt.Used == UsedFrozen, counted: p.opt.Used == UsedCounts,
		added: u.added, strange: u.strange, direct: u.direct(), exact: u.exact(), wrong: u.wrong(), foreign: u.foreign(),
		landed: p.landedElsewhere(u), changed: u.changed() || p.landedElsewhere(u), outOfStep: u.outOfStep, ack: u.ack != nil,
	}
	r := judgeBracket(&b)
	if r.code == CodeFirstCounterStill {
		p.opt.Used = UsedFrozen
		p.maybe(u)
		p.out.Notices = append(p.out.Notices, Notice{CodeUsedFrozen, u.closeSeq})
	}
	p.settle(u, r.verdict, r.grade, r.code)
}

// judgeObserved judges a use without a bracket, or in a session whose counters are not believed: the exact state after
// the send, or another one than before. Silence is judged by Tick.
func (p *Placements) judgeObserved(u *use) {
	wrong, exact := p.landedElsewhere(u), true
	for i := range u.cells {
		wrong = wrong || u.cells[i].strange != nil && u.cells[i].after == nil
		exact = exact && u.cells[i].after != nil
	}
	bracketOver := p.opt.Fence && u.closed && (u.ack != nil || u.noAck)
	switch {
	case wrong:
		p.settle(u, WrongResult, GradeNone, CodeObservedWrong)
	case exact && p.opt.Least > Observed:
		if !p.opt.Fence || bracketOver {
			p.settle(u, UnverifiedEffect, GradeNone, p.silent())
		}
	case exact && u.near:
		p.settle(u, UnverifiedEffect, GradeNone, CodePlayerNear)
	case exact:
		p.settle(u, Proven, Observed, CodeObservedExact)
	case p.opt.Least > Observed && bracketOver:
		p.settle(u, UnverifiedEffect, GradeNone, CodeDemoted)
	}
}

// settle gives the verdict of a use, capped by the least grade.
func (p *Placements) settle(u *use, v Verdict, g Grade, c Code) {
	if u.settled {
		return
	}
	u.settled = true
	s := Settled{Action: u.Action, Verdict: v, Grade: g, Code: c, Evidence: p.evidence(u)}
	if v == Proven && g < p.opt.Least {
		s.Verdict, s.Code = UnverifiedEffect, CodeBelowGrade
	}
	if s.Verdict == Proven && g == Attributed {
		s.Attribution = AttributionCounter
	}
	p.out.Settled = append(p.out.Settled, s)
}

// evidence lists the facts behind a use, oldest part first.
func (p *Placements) evidence(u *use) Evidence {
	e := Evidence{Epoch: p.opt.Epoch, UseSequence: u.Sequence, Counter: u.counter}
	if u.opened {
		e.Facts = append(e.Facts, FactRef{Kind: FactOpeningReply, Sequence: u.openSeq})
	}
	if u.other != nil {
		e.Facts = append(e.Facts, *u.other)
	}
	for i := range u.cells {
		for _, f := range []*FactRef{u.cells[i].exact, u.cells[i].after, u.cells[i].wrong, u.cells[i].strange} {
			if f != nil {
				e.Facts = append(e.Facts, *f)
				break
			}
		}
	}
	if u.closed {
		e.Facts = append(e.Facts, FactRef{Kind: FactClosingReply, Sequence: u.closeSeq})
	}
	if u.ack != nil {
		e.Facts = append(e.Facts, *u.ack)
	}
	return e
}
