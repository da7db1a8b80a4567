package mission

import (
	"fmt"
	"slices"
	"sync"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// BotID names one bot of the mission.
type BotID string

// Options are the choices of the mission's owner.
type Options struct {
	// ReconcileWorld lets the pre-state of an unverified step after a full rejoin open it again. Never for stacking
	// steps, whose pre-state does not say whether they ran.
	ReconcileWorld bool
	States         effects.States // nil compares whole ids
}

// Mission is the step machine of one plan. The zero value is not usable; see New. Its methods may be called from any
// goroutine; what they are given of a world is read before they return.
type Mission struct {
	mu     sync.Mutex
	plan   Plan
	opt    Options
	states effects.States
	steps  []step
	byCell map[geom.BlockPos][]int // steps that change the cell, ascending
	chunks map[geom.ChunkPos][]geom.BlockPos
	watch  map[geom.BlockPos][]int // steps that click or change the cell or a neighbour of it, for waking
	counts [stateCount]int
	first  int // every step before it is done
	bots   map[BotID]*botState
	joins  uint64 // joins of all bots, counted
	sentAt uint64 // value of joins when the last packet was sent
	hash   uint64
	proven map[geom.BlockPos]registry.StateID // cells of proven steps as journaled
	look   Inspection
	looked uint64 // value of joins of the last whole inspection, 0 for none
	looker BotID  // who made it

	sent     map[BotID]int    // steps without a verdict, by who sent them
	verdicts map[BotID]uint64 // value of joins at a bot's last verdict

	outside uint32 // done steps that no action of ours closed
}

// step is one step with its status.
type step struct {
	Status
	bot    BotID   // who has claimed it
	denied []BotID // of a refused step: whom the guard or the gate would not have, nothing sent; none: the server said no
	since  uint64  // value of joins when it became unverified
	doneAt uint64  // value of joins when it was done
	// refusedOn is what the cells a refused step rests on showed when it was refused; see restsOn.
	refusedOn []shown
	outside   bool // done, or was, without an action that says so
}

// shown is one cell as the mirror had it.
type shown struct {
	state registry.StateID
	known bool
}

type botState struct {
	join    uint64 // number of its current join, 0 while away
	joining uint64 // number of the join that has begun
	away    Away
	saw     map[geom.BlockPos]bool // cells that this join has shown as they shall be
}

// New returns a mission over a plan. Saved is what the journal kept, one status per step, or nil for a new mission. A
// claim does not survive: nothing was sent for it.
func New(plan Plan, opt Options, saved []Status) (*Mission, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	if saved != nil && len(saved) != len(plan.Steps) {
		return nil, fmt.Errorf("%w: %d steps, but the journal keeps %d", ErrPlan, len(plan.Steps), len(saved))
	}
	if opt.States == nil {
		opt.States = effects.ExactStates{}
	}
	m := &Mission{
		plan: plan, opt: opt, states: opt.States, steps: make([]step, len(plan.Steps)), bots: map[BotID]*botState{},
		byCell: map[geom.BlockPos][]int{}, chunks: map[geom.ChunkPos][]geom.BlockPos{}, watch: map[geom.BlockPos][]int{},
		proven: map[geom.BlockPos]registry.StateID{}, sent: map[BotID]int{}, verdicts: map[BotID]uint64{},
	}
	m.counts[Pending] = len(m.steps)
	for i := range plan.Steps {
		m.index(i)
	}
	if plan.Final == nil {
		m.plan.Final = m.finals()
	}
	for i, s := range saved {
		if s.State >= stateCount {
			return nil, fmt.Errorf("%w: step %d is in a state this version does not know", ErrPlan, i)
		}
		m.steps[i].Status = s
		m.steps[i].State = Pending
		if s.State != Claimed {
			m.set(i, s.State)
		}
		if s.Journaled {
			m.journal(i, true)
		}
	}
	return m, nil
}

func (m *Mission) index(i int) {
	s := &m.plan.Steps[i]
	near := map[geom.BlockPos]bool{}
	for _, c := range s.Cells {
		if m.byCell[c.Pos] == nil {
			m.chunks[c.Pos.Chunk()] = append(m.chunks[c.Pos.Chunk()], c.Pos)
		}
		m.byCell[c.Pos] = append(m.byCell[c.Pos], i)
		near[c.Pos] = true
		for _, f := range geom.Faces {
			near[c.Pos.Neighbour(f)] = true
		}
	}
	near[s.Clicked] = true
	for p := range near {
		m.watch[p] = append(m.watch[p], i)
	}
}

// finals takes the last step of each cell, in the order in which a building grows.
func (m *Mission) finals() []FinalCell {
	var out []FinalCell
	for pos, steps := range m.byCell {
		c := m.cell(steps[len(steps)-1], pos)
		out = append(out, FinalCell{pos, c.To, c.Masked})
	}
	slices.SortFunc(out, func(a, b FinalCell) int {
		if a.Pos.Less(b.Pos) {
			return -1
		}
		return 1
	})
	return out
}

// cell returns what a step does to a cell that it changes.
func (m *Mission) cell(i int, pos geom.BlockPos) effects.Cell {
	for _, c := range m.plan.Steps[i].Cells {
		if c.Pos == pos {
			return c
		}
	}
	return effects.Cell{Pos: pos}
}

// set moves a step to a state: the only writer of states, counts and cursor.
func (m *Mission) set(i int, s State) {
	st := &m.steps[i]
	was := st.State
	m.counts[was]--
	m.counts[s]++
	st.State = s
	if was == Sent {
		m.sent[st.By]--
	}
	if s == Sent {
		m.sent[st.By]++
	}
	if s.Done() {
		st.doneAt = m.joins
	}
	if st.outside && was.Done() {
		m.outside--
	}
	if s == Pending || s == Claimed || s == Sent {
		st.outside = false
	}
	if st.outside && s.Done() {
		m.outside++
	}
	if s != Claimed {
		st.bot = ""
	}
	if s != Claimed && s != Refused {
		st.denied = nil
	}
	switch {
	case s == Proven:
		m.journal(i, true)
	case was == Disturbed && s != Disturbed:
		m.journal(i, false)
	}
	if s != Refused {
		st.refusedOn = nil
	}
	for m.first < len(m.steps) && m.steps[m.first].State.Done() {
		m.first++
	}
	if !s.Done() {
		m.first = min(m.first, i)
	}
	m.looked = 0
}

// journal puts a step's cells into the cursor's hash or takes them out. Of several journaled steps on one cell the last
// one says what the cell holds.
func (m *Mission) journal(i int, in bool) {
	m.steps[i].Journaled = in
	for _, c := range m.plan.Steps[i].Cells {
		if old, ok := m.proven[c.Pos]; ok {
			m.hash -= effects.CellHash(c.Pos, old)
			delete(m.proven, c.Pos)
		}
		for _, j := range m.byCell[c.Pos] {
			if m.steps[j].Journaled {
				m.proven[c.Pos] = m.cell(j, c.Pos).To
			}
		}
		if now, ok := m.proven[c.Pos]; ok {
			m.hash += effects.CellHash(c.Pos, now)
		}
	}
}

// Cursor returns how many steps are done and the hash over the proven cells as journaled.
func (m *Mission) Cursor() effects.Cursor {
	m.mu.Lock()
	defer m.mu.Unlock()
	return effects.Cursor{Count: uint32(m.counts[Proven] + m.counts[Present] + m.counts[Accepted]), Hash: m.hash}
}

// Outside returns how many of the cursor's steps no action of ours closed: somebody else had built them, or their owner
// took a wrong result for done. The journal knows nothing of them.
func (m *Mission) Outside() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outside
}

// Own returns how many of the cursor's steps an action of this bot closed.
func (m *Mission) Own(b BotID) (n uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.steps {
		if s := &m.steps[i]; s.State.Done() && !s.outside && s.By == b {
			n++
		}
	}
	return n
}

// Holds tells whether a step is claimed by this bot.
func (m *Mission) Holds(i int, b BotID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return i >= 0 && i < len(m.steps) && m.steps[i].State == Claimed && m.steps[i].bot == b
}

// SentByOthers lists the steps that other bots have sent and that have no verdict.
func (m *Mission) SentByOthers(b BotID) (out []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts[Sent] == m.sent[b] {
		return nil
	}
	for i := range m.steps {
		if s := &m.steps[i]; s.State == Sent && s.By != b {
			out = append(out, i)
		}
	}
	return out
}

// present tells whether a bot is on the server, or on its way to it.
func (m *Mission) present(b BotID) bool {
	s := m.bots[b]
	return s != nil && s.join+s.joining > 0
}

// answersOut tells whether the server still owes an answer to a bot that is there to hear it.
func (m *Mission) answersOut() bool {
	for b, n := range m.sent {
		if n > 0 && m.present(b) {
			return true
		}
	}
	return false
}

// team tells whether more than one bot has worked on the mission since it was opened.
func (m *Mission) team() bool { return len(m.bots) > 1 }

// olderThanOthers tells whether a bot's join began before the last verdict of another one, so that its view may lack what
// that one did.
func (m *Mission) olderThanOthers(b BotID, join uint64) bool {
	for o, at := range m.verdicts {
		if o != b && join <= at {
			return true
		}
	}
	return false
}

// closeOutside makes a step done without an action that says so.
func (m *Mission) closeOutside(i int, s State) {
	m.set(i, s)
	if !m.steps[i].outside {
		m.steps[i].outside = true
		m.outside++
	}
}

// Status returns what is known of a step; false for no such step.
func (m *Mission) Status(i int) (Status, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i < 0 || i >= len(m.steps) {
		return Status{}, false
	}
	return m.steps[i].Status, true
}

// Statuses returns what is known of every step, for the journal.
func (m *Mission) Statuses() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Status, len(m.steps))
	for i := range m.steps {
		out[i] = m.steps[i].Status
	}
	return out
}

// Len returns the number of steps.
func (m *Mission) Len() int { return len(m.steps) }

// Step returns a step of the plan, which must not be changed.
func (m *Mission) Step(i int) *Step { return &m.plan.Steps[i] }

// Key returns the key of exactly-once of a step as it stands now.
func (m *Mission) Key(i int, dimension string) effects.StepKey {
	m.mu.Lock()
	defer m.mu.Unlock()
	target := m.plan.Steps[i].Cells[0].Pos
	ordinal := uint32(slices.Index(m.byCell[target], i))
	return effects.StepKey{Dimension: dimension, Pos: target, Index: uint32(i), Ordinal: ordinal, Generation: m.steps[i].Generation}
}

func (m *Mission) at(i int, allowed ...State) (*step, error) {
	if i < 0 || i >= len(m.steps) {
		return nil, fmt.Errorf("%w: %d of %d", ErrStep, i, len(m.steps))
	}
	if s := &m.steps[i]; slices.Contains(allowed, s.State) {
		return s, nil
	}
	return nil, fmt.Errorf("%w: step %d is %s", ErrState, i, m.steps[i].State)
}
