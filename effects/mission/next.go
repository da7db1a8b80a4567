package mission

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Waiting names why a mission does not go on by itself. Every name is told to people.
type Waiting uint8

// The waiting states.
const (
	WaitNothing     Waiting = iota
	WaitOutstanding         // for the server's answers, or for other bots' steps: goes on by itself
	WaitPace                // the pipeline or the pace is full: goes on by itself
	WaitOutOfItems
	WaitDead
	WaitHungry
	WaitKicked
	WaitServerAway
	WaitOtherDimension
	WaitTargetOccupied
	WaitRefused // until a fact near a refused step changes
	WaitDisturbed
	WaitWrongResult
	WaitUnverified // until the owner decides
	WaitAbsent     // for a bot that is away and alone can tell what became of its steps
	WaitInTheWay   // for somebody to leave the place of a step
	waitingCount
)

var waitingNames = [waitingCount]string{"nothing", "outstanding", "pace", "out_of_items", "dead", "hungry", "kicked",
	"server_away", "other_dimension", "target_occupied", "refused", "disturbed", "wrong_result", "unverified", "absent", "entity_in_the_way"}

// String returns the name of the waiting state.
func (w Waiting) String() string {
	if w >= waitingCount {
		return "invalid"
	}
	return waitingNames[w]
}

// Passing tells whether the state ends by itself within moments, so that it is not worth telling people.
func (w Waiting) Passing() bool { return w <= WaitPace }

// Action is what a bot shall do next. The set is closed.
type Action interface{ action() }

// Walk goes to the stand of a step, or to where unknown cells can be seen.
type Walk struct {
	Step int
	To   geom.BlockPos
}

// Equip takes an item into the hand.
type Equip struct {
	Step int
	Item registry.ItemID
}

// Place binds, admits, marks and sends a step. The step is claimed; answer with Marked or Denied.
type Place struct{ Step int }

// Wait does nothing until something changes.
type Wait struct {
	For   Waiting
	Step  int        // the step it is about, -1 for none
	Short []Shortage // with WaitOutOfItems
}

// Rejoin leaves the server and joins again, so that the world is seen afresh.
type Rejoin struct{}

// Inspect compares every cell of the plan with this join's view of the world: call Mission.Inspect.
type Inspect struct{}

// Done ends the mission.
type Done struct{ Summary Summary }

func (Walk) action()    {}
func (Equip) action()   {}
func (Place) action()   {}
func (Wait) action()    {}
func (Rejoin) action()  {}
func (Inspect) action() {}
func (Done) action()    {}

// Decision is an action with the row of the table that took it.
type Decision struct {
	Do    Action
	Rule  string
	Index int
}

// rule is one row of the table: the first that matches decides.
type rule struct {
	name string
	when func(v *view) bool
	do   func(v *view) Action
}

func wait(w Waiting) func(*view) Action {
	return func(*view) Action { return Wait{For: w, Step: -1} }
}

// unable waits and gives the bot's claims back, so that others can take them.
func unable(w Waiting) func(*view) Action {
	return func(v *view) Action {
		v.m.release(v.bot)
		return Wait{For: w, Step: -1}
	}
}

// waitFor waits because of the first step in a state.
func waitFor(w Waiting, s State) func(*view) Action {
	return func(v *view) Action { return Wait{For: w, Step: v.m.firstIn(s)} }
}

// rules is the table of what to do next, what forbids before what allows. One slice is order and index.
var rules = [...]rule{
	{"kicked", func(v *view) bool { return v.b.join == 0 && v.b.away == AwayKicked }, unable(WaitKicked)},
	{"server away", func(v *view) bool { return v.b.join == 0 || v.f.World == nil }, unable(WaitServerAway)},
	{"dead", func(v *view) bool { return v.f.Dead }, unable(WaitDead)},
	{"other dimension", func(v *view) bool { return v.f.OtherDimension }, unable(WaitOtherDimension)},
	{"hungry", func(v *view) bool { return v.f.Hungry }, unable(WaitHungry)},
	{"wrong result", func(v *view) bool { return v.m.counts[Wrong] > 0 }, waitFor(WaitWrongResult, Wrong)},
	{"disturbed", func(v *view) bool { return v.m.counts[Disturbed] > 0 }, waitFor(WaitDisturbed, Disturbed)},
	{"unverified, answers out", func(v *view) bool { return v.unverified >= 0 && v.m.answersOut() }, waitFor(WaitOutstanding, Sent)},
	{"unverified, not rejoined", func(v *view) bool {
		return v.unverified >= 0 && v.b.join <= v.m.steps[v.unverified].since
	}, func(*view) Action { return Rejoin{} }},
	{"unverified, cells unknown", func(v *view) bool { return v.unverified >= 0 && v.unknown }, func(v *view) Action {
		return Walk{v.unverified, v.m.plan.Steps[v.unverified].Stand}
	}},
	{"unverified", func(v *view) bool { return v.unverified >= 0 }, func(v *view) Action {
		return Wait{For: WaitUnverified, Step: v.unverified}
	}},
	{"complete", func(v *view) bool { return v.m.finished() && v.m.inspected(v) && v.m.look.Complete() }, func(v *view) Action {
		return Done{v.m.summary()}
	}},
	{"finished, stale view", func(v *view) bool {
		return v.m.finished() && (v.b.join <= v.m.sentAt || v.m.olderThanOthers(v.bot, v.b.join))
	}, func(*view) Action { return Rejoin{} }},
	{"finished, not inspected", func(v *view) bool { return v.m.finished() && !v.m.inspected(v) }, func(*view) Action { return Inspect{} }},
	{"finished, cells unseen", func(v *view) bool { return v.m.finished() && len(v.m.look.Unknown) > 0 }, func(v *view) Action {
		i := v.m.stepOf(v.m.look.Unknown[0])
		return Walk{i, v.m.plan.Steps[i].Stand}
	}},
	{"finished, cells differ", func(v *view) bool { return v.m.finished() }, wait(WaitDisturbed)},
	{"cannot be proven", func(v *view) bool { return !v.f.Provable && v.m.sent[v.bot] == 0 }, wait(WaitUnverified)},
	{"cannot be proven, answers out", func(v *view) bool { return !v.f.Provable }, waitFor(WaitOutstanding, Sent)},
	{"walk later, answers out", func(v *view) bool {
		return v.candidate >= 0 && !v.inReach(v.candidate) && v.m.sent[v.bot] > 0
	}, waitFor(WaitOutstanding, Sent)},
	{"walk", func(v *view) bool { return v.candidate >= 0 && !v.inReach(v.candidate) }, func(v *view) Action {
		v.claim()
		return Walk{v.candidate, v.m.plan.Steps[v.candidate].Stand}
	}},
	{"window full", func(v *view) bool { return v.candidate >= 0 && !v.f.WindowOpen }, wait(WaitPace)},
	{"equip", func(v *view) bool {
		return v.candidate >= 0 && !(v.f.HeldKnown && v.f.Held == v.m.plan.Steps[v.candidate].Item)
	}, func(v *view) Action {
		v.claim()
		return Equip{v.candidate, v.m.plan.Steps[v.candidate].Item}
	}},
	{"place", func(v *view) bool { return v.candidate >= 0 }, func(v *view) Action {
		v.claim()
		return Place{v.candidate}
	}},
	{"own answers out", func(v *view) bool { return v.m.sent[v.bot] > 0 }, waitFor(WaitOutstanding, Sent)},
	{"in the way of others", func(v *view) bool { return v.inWay >= 0 }, func(v *view) Action {
		return Walk{v.inWay, v.m.plan.Steps[v.inWay].Stand}
	}},
	{"answers out", func(v *view) bool { return v.m.answersOut() }, waitFor(WaitOutstanding, Sent)},
	{"others at work", func(v *view) bool { return v.m.counts[Claimed] > 0 }, waitFor(WaitOutstanding, Claimed)},
	{"out of items", func(v *view) bool { return v.short }, func(v *view) Action {
		return Wait{For: WaitOutOfItems, Step: -1, Short: v.m.shortages(v.f)}
	}},
	{"sender away", func(v *view) bool { return v.m.counts[Sent] > 0 }, waitFor(WaitAbsent, Sent)},
	{"target occupied", func(v *view) bool { return v.occupied >= 0 }, func(v *view) Action {
		return Wait{For: WaitTargetOccupied, Step: v.occupied}
	}},
	{"somebody in the way", func(v *view) bool { return v.blocked >= 0 }, func(v *view) Action {
		return Wait{For: WaitInTheWay, Step: v.blocked}
	}},
	{"refused", func(v *view) bool { return true }, waitFor(WaitRefused, Refused)},
}

// Next decides what a bot does now. The same mission and facts give the same decision; a step that is decided on is
// claimed for the bot.
func (m *Mission) Next(bot BotID, f Facts) Decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.gather(bot, &f)
	for i := range rules {
		if rules[i].when(v) {
			return Decision{rules[i].do(v), rules[i].name, i}
		}
	}
	return Decision{Wait{For: WaitNothing, Step: -1}, "none", len(rules)} // unreachable: the last row matches everything
}

func (v *view) claim() {
	s := &v.m.steps[v.candidate]
	if s.State != Claimed {
		v.m.set(v.candidate, Claimed)
	}
	s.bot = v.bot
}

// finished tells whether no step is left to do.
func (m *Mission) finished() bool {
	return m.counts[Proven]+m.counts[Present]+m.counts[Accepted] == len(m.steps)
}

// inspected tells whether the plan was compared on this bot's join, or on another bot's, with nothing sent or changed since.
func (m *Mission) inspected(v *view) bool {
	return m.looked != 0 && m.looked > m.sentAt && (m.looked == v.b.join || m.looker != v.bot)
}

func (m *Mission) firstIn(s State) int {
	for i := range m.steps {
		if m.steps[i].State == s {
			return i
		}
	}
	return -1
}

// stepOf returns the last step of a cell, the first step of the plan when none changes it.
func (m *Mission) stepOf(pos geom.BlockPos) int {
	if s := m.byCell[pos]; len(s) > 0 {
		return s[len(s)-1]
	}
	return 0
}
