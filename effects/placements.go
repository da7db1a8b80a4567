package effects

import (
	"errors"
	"fmt"
	"slices"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// UsedTrust says what is known of a server's `used` statistic.
type UsedTrust uint8

// The three answers; they travel with the server profile.
const (
	UsedExpected UsedTrust = iota // nobody has seen it move yet
	UsedCounts                    // it has counted a use of ours
	UsedFrozen                    // a cell changed and it did not move: acknowledged is the best grade
)

// String returns the word that profiles use.
func (u UsedTrust) String() string { return pick(u, "expected", "counts", "frozen") }

// Options are the facts a Placements machine starts from.
type Options struct {
	Epoch    Epoch
	Fence    bool      // the server answers request-stats; without it one use at a time and observed at most
	Pipeline int       // most outstanding placements, at least 1
	Least    Grade     // least grade of place_block by the server's profile
	Used     UsedTrust // as the profile and the journal know it
	Demoted  bool      // demoted earlier in this mission
	Survival bool      // slot counts are checked; GameModeChanged facts update it
	States   States    // nil compares whole ids
}

// Placement is one use_item_on as sent.
type Placement struct {
	Action      ActionID
	Sequence    int32 // of use_item_on
	Item        registry.ItemID
	Clicked     geom.BlockPos
	Beside      geom.BlockPos    // the cell before the clicked face
	OtherBefore registry.StateID // last known state of the one of the two cells that is not the target
	OtherKnown  bool
	Cells       []Cell // target first
	Slot        int8   // hotbar slot 0..8 the item was in
	SlotCount   int32  // its count by the last server fact, below 0 when unknown
}

// Other returns the cell that the click could land in and must not: the clicked cell, or for a stacking step the cell
// before its face.
func (p *Placement) Other() geom.BlockPos {
	if p.Cells[0].Pos == p.Clicked {
		return p.Beside
	}
	return p.Clicked
}

// Settled is the verdict of one action.
type Settled struct {
	Action      ActionID
	Verdict     Verdict
	Grade       Grade
	Attribution Attribution
	Reconciled  bool
	Code        Code
	Evidence    Evidence
}

// Outcome fills what was found out into a record about the same action.
func (s Settled) Outcome(base Outcome) Outcome {
	base.Action, base.Verdict, base.Grade, base.Attribution = s.Action, s.Verdict, s.Grade, s.Attribution
	base.Reconciled, base.Code, base.Evidence = s.Reconciled, s.Code, s.Evidence
	return base
}

// Notice is news about the session rather than about one action.
type Notice struct {
	Code     Code   // CodeUsedFrozen, CodeUsedCounts, or why the session is demoted to observed
	Sequence uint64 // the fact that showed it
}

// Demotion tells whether the notice demotes the session.
func (n Notice) Demotion() bool { return n.Code != CodeUsedFrozen && n.Code != CodeUsedCounts }

// Findings are what one step of the machine found out.
type Findings struct {
	Settled []Settled
	Notices []Notice
}

// OpenUse is a placement without a verdict. Counted ones have shown their +1 already and only wait for their ack.
type OpenUse struct {
	Action  ActionID
	Counted bool
}

// Errors that keep a use from being sent now.
var (
	ErrNoFence    = errors.New("no fence has been sent since the last use")
	ErrNoCounters = errors.New("the server's statistics of this join are not known yet")
	ErrWindowFull = errors.New("as many placements as allowed are outstanding")
	ErrCut        = errors.New("the connection or world of this machine has ended")
	ErrBadUse     = errors.New("a use that cannot be judged")
	ErrDuplicate  = errors.New("this action has been sent before")
)

const (
	ackPatience    = 10  // ticks after the closing reply before a fence may say that the ack is missing; see NeedFence
	observedWindow = 40  // ticks without a fact after which a use without a bracket is unverified
	nearDistance   = 8.0 // blocks to a target within which another player makes it unknowable who placed the block
)

// Placements judges the placements of one connection by the bracket: fence, use, fence. It is a pure machine: tell it
// what was sent, what the server said and when a tick passed, and it returns verdicts. It is not safe for concurrent
// use. Every fence of the connection, from the first after the join, must be told to it.
type Placements struct {
	opt      Options
	states   States
	counters Counters
	fences   []fence // sent and not answered, oldest first
	sent     uint64  // fences sent in all
	answered uint64  // fences answered in all
	replySeq uint64  // fact of the newest answer
	lastUse  bool    // a use was sent after the last fence
	uses     []*use  // in send order; dropped when settled and closed
	slots    map[int8]*slotAccount
	tick     uint64
	others   []geom.Vec3
	seen     map[ActionID]bool
	dead     bool
	out      Findings
}

// fence is one request-stats on its way.
type fence struct{ tick uint64 }

// NewPlacements returns a machine for a fresh join: the first reply it sees is the full one.
func NewPlacements(o Options) *Placements {
	o.Pipeline = max(1, o.Pipeline)
	if o.States == nil {
		o.States = ExactStates{}
	}
	return &Placements{opt: o, states: o.States, slots: map[int8]*slotAccount{}, seen: map[ActionID]bool{}}
}

// Counters returns the server's counters as of the last reply, for the sent mark.
func (p *Placements) Counters() Counters { return p.counters.Clone() }

// Used returns what is known of the `used` statistic by now.
func (p *Placements) Used() UsedTrust { return p.opt.Used }

// Demoted tells whether the session can reach observed at most.
func (p *Placements) Demoted() bool { return p.opt.Demoted }

// observing tells whether uses are judged without a bracket.
func (p *Placements) observing() bool { return !p.opt.Fence || p.opt.Demoted }

// Open lists the placements without a verdict, in the order they were sent.
func (p *Placements) Open() []OpenUse {
	var out []OpenUse
	for _, u := range p.uses {
		if !u.settled {
			out = append(out, OpenUse{u.Action, u.closed && u.added})
		}
	}
	return out
}

// Outstanding counts the placements that hold a place in the pipeline: those whose closing reply is not in, or without
// brackets those without a verdict.
func (p *Placements) Outstanding() int {
	n := 0
	for _, u := range p.uses {
		if p.observing() && !u.settled || !p.observing() && !u.closed && !u.cut {
			n++
		}
	}
	return n
}

// CanSend returns nil when a use may be sent now, else why not.
func (p *Placements) CanSend() error {
	if p.dead {
		return ErrCut
	}
	limit := p.opt.Pipeline
	if p.observing() {
		limit = 1
	} else if p.sent == 0 || p.lastUse {
		return ErrNoFence
	} else if !p.counters.Known() {
		return ErrNoCounters
	}
	if p.Outstanding() >= limit {
		return ErrWindowFull
	}
	return nil
}

// NeedFence tells whether a fence should be sent now: one behind the last use, or a late one for an acknowledgement
// that has not come. The late one waits for ackPatience ticks of ours: up to 1.21.8 a fence is answered between two ticks
// of the server while the ack waits for the next one, and neither side's ticks come on time on a busy machine.
func (p *Placements) NeedFence() bool {
	if p.dead || !p.opt.Fence {
		return false
	}
	if p.lastUse || p.sent == 0 {
		return true
	}
	for _, u := range p.uses {
		if u.settled || !u.closed || u.ack != nil || p.tick < u.closeTick+ackPatience {
			continue
		}
		if n := len(p.fences); n == 0 || p.fences[n-1].tick < u.closeTick+ackPatience {
			return true
		}
	}
	return false
}

// FenceSent tells that request-stats was written.
func (p *Placements) FenceSent() {
	p.fences = append(p.fences, fence{p.tick})
	p.sent++
	p.lastUse = false
}

// UseSent tells that a use_item_on was written. It must be told before any fact that came after it. Errors say why this
// use cannot be judged; a use that was refused here must not have been sent.
func (p *Placements) UseSent(s Placement) error {
	if err := p.CanSend(); err != nil {
		return err
	}
	if err := (CellsBecome{s.Item, s.Cells}).check(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadUse, err)
	}
	if t := s.Cells[0].Pos; t != s.Clicked && t != s.Beside {
		return fmt.Errorf("%w: target %v is neither the clicked cell %v nor the one before its face", ErrBadUse, t, s.Clicked)
	}
	if p.seen[s.Action] || s.Action == (ActionID{}) {
		return fmt.Errorf("%w: %s", ErrDuplicate, s.Action)
	}
	p.seen[s.Action] = true
	s.Cells = slices.Clone(s.Cells)
	u := &use{Placement: s, opening: p.sent, sentTick: p.tick, cells: make([]cellSeen, len(s.Cells)), near: p.near(s.Cells)}
	if p.answered == p.sent {
		u.opened, u.openSeq = p.opt.Fence, p.replySeq // the opening reply is in already
	}
	p.uses = append(p.uses, u)
	p.lastUse = p.opt.Fence
	p.openAccount(u)
	return nil
}

// Tick tells that a tick of the server's length has passed and where the other players stand now.
func (p *Placements) Tick(others []geom.Vec3) Findings {
	p.tick++
	p.Others(others)
	if p.observing() {
		for _, u := range p.uses {
			if !u.settled && !u.trigger && p.tick >= u.sentTick+observedWindow {
				p.settle(u, UnverifiedEffect, GradeNone, p.silent())
			}
		}
	}
	return p.flush()
}

// silent is the reason of a use that nothing was heard of.
func (p *Placements) silent() Code {
	if p.opt.Demoted {
		return CodeDemoted
	}
	return CodeObservedNothing
}

// Others tells where the other players stand now; a use that any of them came near stays so.
func (p *Placements) Others(others []geom.Vec3) {
	p.others = others
	for _, u := range p.uses {
		u.near = u.near || p.near(u.Cells)
	}
}

func (p *Placements) near(cells []Cell) bool {
	for _, c := range cells {
		box := geom.Box{Min: c.Pos.Corner(), Max: c.Pos.Corner().Add(geom.Vec3{1, 1, 1})}
		for _, o := range p.others {
			if !geom.Finite(o) || box.Distance(o) <= nearDistance {
				return true
			}
		}
	}
	return false
}

// Observe takes one fact. Facts come in the order in which the server sent them.
func (p *Placements) Observe(f Fact) Findings {
	if p.dead {
		return Findings{}
	}
	switch e := f.Event.(type) {
	case worldstate.BlockChanged:
		p.cellShown(f.Sequence, e.Pos, e.State, true)
	case worldstate.SectionChanged:
		for _, c := range e.Changes {
			p.cellShown(f.Sequence, c.Pos, c.State, false)
		}
	case worldstate.BlockAck:
		p.acked(f.Sequence, e.Sequence)
	case worldstate.StatsAwarded:
		p.replied(f.Sequence, e)
	case worldstate.GameModeChanged:
		p.opt.Survival = e.Mode == worldstate.Survival || e.Mode == worldstate.Adventure
	case worldstate.HealthChanged:
		if e.Health <= 0 {
			clear(p.slots) // death empties the inventory
		}
	case worldstate.ContainerContent, worldstate.ContainerSlot, worldstate.InventorySlot:
		p.slotFacts(f)
	}
	p.judge()
	return p.flush()
}

// NextEpoch tells that the world changed under the same connection (respawn). Open uses can no longer be proven by
// their bracket: they are returned and need a rejoin. Fences on their way stay on their way.
func (p *Placements) NextEpoch(e Epoch) []OpenUse {
	open := p.Open()
	for _, u := range p.uses {
		u.settled, u.cut = true, true
	}
	p.opt.Epoch = e
	clear(p.slots)
	p.sweep()
	return open
}

// Cut tells that the connection or the play phase ended. The open uses are returned; Reconcile judges them after the
// next join. The machine takes no facts from here on.
func (p *Placements) Cut() []OpenUse {
	open := p.Open()
	p.dead = true
	p.uses = nil
	return open
}

// GiveUp settles an action as unverified because its owner will not wait longer. It returns nothing for an action that
// has its verdict already.
func (p *Placements) GiveUp(a ActionID) Findings {
	for _, u := range p.uses {
		if u.Action == a && !u.settled {
			p.settle(u, UnverifiedEffect, GradeNone, CodeCut)
		}
	}
	return p.flush()
}

func (p *Placements) flush() Findings {
	out := p.out
	p.out = Findings{}
	p.sweep()
	return out
}

// sweep forgets uses that can no longer change anything. A cut or settled use stays until its closing reply is in, so
// that its +1 is not taken for somebody else's.
func (p *Placements) sweep() {
	p.uses = slices.DeleteFunc(p.uses, func(u *use) bool { return u.settled && (p.answered > u.opening || !p.opt.Fence) })
}

// demote caps the session at observed and says why, once.
func (p *Placements) demote(seq uint64, why Code) {
	if p.opt.Demoted {
		return
	}
	p.opt.Demoted = true
	p.out.Notices = append(p.out.Notices, Notice{why, seq})
}
