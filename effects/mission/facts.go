package mission

import (
	"slices"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Facts are what the bot that asks knows at this moment. The zero value lets it do nothing.
type Facts struct {
	World          effects.CellReader
	Dead           bool
	Hungry         bool // too hungry to walk or about to starve
	OtherDimension bool
	Feet           geom.BlockPos
	InventoryKnown bool
	Unlimited      bool // creative mode: items are not counted
	Items          map[registry.ItemID]int32
	Held           registry.ItemID
	HeldKnown      bool
	WindowOpen     bool // the evidence machine and the pace allow a use now
	Provable       bool // this session can still reach the least grade
	// LookAhead is how many steps behind the first one that could be done are looked at for one that needs no walk; 0 keeps
	// to the plan's order. A bot that walks should not look far: the plan's order is what keeps it from shutting itself in.
	LookAhead int
	// Layers is how many layers above the first step that could be done LookAhead goes; 0 is all of them. A roof that comes
	// before what belongs under it would shut that off.
	Layers int32
	// Reach tells whether a step can be placed from where the bot is; nil asks for the planned stand.
	Reach func(*Step) bool
	// Asked tells which of its claimed steps the bot waits for leave to do: they stay claimed and another one is looked for.
	// Nil: none.
	Asked func(step int) bool
	// Blocked tells whether somebody else stands where a step's blocks will be; nil: nobody. It is asked anew each time, so
	// that the step is offered again as soon as the place is free.
	Blocked func(*Step) bool
	// Body are the cells that the bot's own body is in, as far as it can leave them; with other bots on the mission it makes
	// way for their steps.
	Body []geom.BlockPos
}

// Shortage is one line of what is missing.
type Shortage struct {
	Item registry.ItemID
	Need int32 // for all open steps
	Have int32
}

// view is what the rules look at: the mission and the facts, taken together once.
type view struct {
	m   *Mission
	f   *Facts
	bot BotID
	b   botState

	candidate  int  // first step this bot could do now, -1 for none
	unverified int  // first unverified step, -1 for none
	unknown    bool // its cells are not loaded
	occupied   int  // first step whose target holds something else, -1
	blocked    int  // first step in whose place somebody stands, -1
	short      bool // a step is open but for its item
	inWay      int  // first step that the bot keeps others from by standing in it, -1
}

// gather takes mission and facts together. It also moves steps whose cells decide by themselves: unverified ones after a
// full rejoin, and pending ones that somebody has already built.
func (m *Mission) gather(bot BotID, f *Facts) *view {
	v := &view{m: m, f: f, bot: bot, candidate: -1, unverified: -1, occupied: -1, blocked: -1, inWay: -1}
	if b := m.bots[bot]; b != nil {
		v.b = *b
	}
	if v.b.join == 0 || f.World == nil {
		return v
	}
	m.resolve(v)
	m.wakeRefused(f.World)
	if m.counts[Unverified] == 0 {
		m.choose(v)
	}
	if v.candidate < 0 && m.team() {
		m.makeWay(v)
	}
	return v
}

// makeWay finds a step that is open to others and in whose cells this bot stands.
func (m *Mission) makeWay(v *view) {
	for _, pos := range v.f.Body {
		for _, i := range m.byCell[pos] {
			if s := m.steps[i].State; (s == Pending || s == Claimed || s == Refused) && m.ready(i) && (v.inWay < 0 || i < v.inWay) {
				v.inWay = i
			}
		}
	}
}

// wakeRefused opens refused steps whose facts have changed: a cell they rest on shows something else than when they
// were refused, or their target is not what they were bound to.
func (m *Mission) wakeRefused(world effects.CellReader) {
	if m.counts[Refused] == 0 {
		return
	}
	for i := range m.steps {
		s := &m.steps[i]
		if s.State != Refused {
			continue
		}
		now := m.restsOn(i, world)
		_, pre, known := m.shows(i, world)
		switch {
		case known && !pre, s.refusedOn != nil && !slices.Equal(s.refusedOn, now):
			m.set(i, Pending)
		case s.refusedOn == nil:
			s.refusedOn = now
		}
	}
}

// restsOn reads the cells that a refusal can rest on: the step's own, their neighbours, the clicked one.
func (m *Mission) restsOn(i int, world effects.CellReader) []shown {
	step := &m.plan.Steps[i]
	out := make([]shown, 0, 8*len(step.Cells))
	read := func(p geom.BlockPos) {
		s, ok := world.Block(p)
		out = append(out, shown{s, ok})
	}
	read(step.Clicked)
	for _, c := range step.Cells {
		read(c.Pos)
		for _, f := range geom.Faces {
			read(c.Pos.Neighbour(f))
		}
	}
	return out
}

// resolve judges unverified steps by what this join shows of their cells.
func (m *Mission) resolve(v *view) {
	if m.counts[Unverified] == 0 {
		return
	}
	for i := range m.steps {
		s := &m.steps[i]
		if s.State != Unverified {
			continue
		}
		if v.b.join > s.since {
			switch post, pre, known := m.shows(i, v.f.World); {
			case !known:
				v.unverified, v.unknown = i, true
				return
			case post:
				m.set(i, Present)
				continue
			case m.opt.ReconcileWorld && (pre && !s.Ran && !m.plan.Steps[i].Stacking() || m.undone(i, v.f.World)):
				m.set(i, Pending)
				continue
			}
		}
		if v.unverified < 0 {
			v.unverified = i
		}
	}
}

// undone tells whether a stacking step's cell shows what it was before a lower layer that is open by its owner's decision:
// whatever the step did went with that layer.
func (m *Mission) undone(i int, world effects.CellReader) bool {
	layers := m.byCell[m.plan.Steps[i].Cells[0].Pos]
	for k := slices.Index(layers, i) - 1; k >= 0; k-- {
		s := &m.steps[layers[k]]
		if s.State != Pending || s.Generation == 0 {
			return false
		}
		if _, pre, known := m.shows(layers[k], world); known && pre {
			return true
		}
	}
	return false
}

// shows compares a step's cells with the world. A cell that a later step has changed since counts as shown.
func (m *Mission) shows(i int, world effects.CellReader) (post, pre, known bool) {
	post, pre, known = true, true, true
	for _, c := range m.plan.Steps[i].Cells {
		got, ok := world.Block(c.Pos)
		known = known && ok
		post = post && ok && m.states.Same(c.To, got, c.Masked)
		pre = pre && ok && m.states.Same(c.From, got, c.Masked)
	}
	return post, pre, known
}

// choose finds the step that this bot works on next: the first in the plan's order, unless that needs a walk and one of
// the next few needs none. The step that the bot has claimed comes before all others.
func (m *Mission) choose(v *view) {
	seen := 0
	for i := m.first; i < len(m.steps) && seen <= v.f.LookAhead; i++ {
		if s := &m.steps[i]; s.State == Pending && s.Generation > 0 {
			i = m.deepen(i, v.f.World)
		}
		switch s := &m.steps[i]; {
		case s.State == Claimed && s.bot == v.bot && v.f.Asked != nil && v.f.Asked(i):
		case s.State == Claimed && s.bot == v.bot:
			if m.workable(i, v) && (v.candidate < 0 || v.inReach(i)) {
				v.candidate = i
				return
			}
			m.set(i, Pending)
		case (s.State == Pending || s.refusedOthers(v.bot)) && m.ready(i) && m.workable(i, v):
			if v.inReach(i) && (v.candidate < 0 || !m.plan.Steps[i].Closing && m.near(v.candidate, i, v.f.Layers)) {
				v.candidate = i
				return
			}
			if v.candidate < 0 {
				v.candidate = i
			}
		}
		if v.candidate >= 0 {
			seen++
		}
	}
}

// refusedOthers tells whether a step was denied to other bots, and not to this one: it may be able to do it.
func (s *step) refusedOthers(b BotID) bool {
	return s.State == Refused && len(s.denied) > 0 && !slices.Contains(s.denied, b)
}

// near tells whether a step lies at most so many layers above another one.
func (m *Mission) near(first, i int, layers int32) bool {
	return layers <= 0 || m.plan.Steps[i].Cells[0].Pos.Y <= m.plan.Steps[first].Cells[0].Pos.Y+layers
}

// deepen reopens what a repaired step stands on: when its cells show the from-state of an earlier step of the same cell
// (all of a double slab is gone, not only its upper half), the owner's decision covers that step and those between. It
// returns the step to go on with.
func (m *Mission) deepen(i int, world effects.CellReader) int {
	if _, pre, _ := m.shows(i, world); pre {
		return i
	}
	layers := m.byCell[m.plan.Steps[i].Cells[0].Pos]
	at := slices.Index(layers, i)
	for k := at - 1; k >= 0; k-- {
		if m.steps[layers[k]].State != Proven && m.steps[layers[k]].State != Present {
			return i
		}
		if _, pre, known := m.shows(layers[k], world); !known || !pre {
			continue
		}
		for _, j := range layers[k:at] {
			m.set(j, Disturbed)
			m.reopen(j)
		}
		return layers[k]
	}
	return i
}

// workable tells whether a step whose forerunners are done can be placed by this bot as the world is; it notes why not.
func (m *Mission) workable(i int, v *view) bool {
	post, pre, known := m.shows(i, v.f.World)
	switch {
	case !known:
		return true // walk there and see
	case post, m.built(i, v.f.World):
		m.closeOutside(i, Present)
		return false
	case !pre:
		if v.occupied < 0 {
			v.occupied = i
		}
		return false
	case !m.has(i, v.f):
		v.short = true
		return false
	case v.f.Blocked != nil && v.f.Blocked(&m.plan.Steps[i]):
		if v.blocked < 0 {
			v.blocked = i
		}
		return false
	}
	return true
}

// built tells whether the target already shows what a later step of the same cell makes of it.
func (m *Mission) built(i int, world effects.CellReader) bool {
	pos := m.plan.Steps[i].Cells[0].Pos
	got, ok := world.Block(pos)
	for _, j := range m.byCell[pos] {
		c := m.cell(j, pos)
		if ok && j > i && m.steps[j].State == Pending && m.states.Same(c.To, got, c.Masked) {
			return true
		}
	}
	return false
}

// ready tells whether everything a step rests on is done: the earlier steps on its own cells, on the cell it clicks, and
// those it names. A click on a cell whose own placement is not proven is never sent.
func (m *Mission) ready(i int) bool {
	s := &m.plan.Steps[i]
	for _, c := range s.Cells {
		if !m.doneBefore(c.Pos, i) {
			return false
		}
	}
	if !m.doneBefore(s.Clicked, i) {
		return false
	}
	return !slices.ContainsFunc(s.After, func(j int) bool { return !m.steps[j].State.Done() })
}

func (m *Mission) doneBefore(pos geom.BlockPos, i int) bool {
	for _, j := range m.byCell[pos] {
		if j >= i {
			return true
		}
		if !m.steps[j].State.Done() {
			return false
		}
	}
	return true
}

func (m *Mission) has(i int, f *Facts) bool {
	return f.Unlimited || f.InventoryKnown && f.Items[m.plan.Steps[i].Item] > 0
}

func (v *view) inReach(i int) bool {
	s := &v.m.plan.Steps[i]
	if v.f.Reach != nil {
		return v.f.Reach(s)
	}
	return v.f.Feet == s.Stand
}

// Shortages lists what the open steps need beyond what the bot has, by item id.
func (m *Mission) Shortages(f *Facts) []Shortage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shortages(f)
}

func (m *Mission) shortages(f *Facts) []Shortage {
	if f.Unlimited {
		return nil
	}
	need := map[registry.ItemID]int32{}
	for i := range m.steps {
		if s := m.steps[i].State; s == Pending || s == Claimed || s == Refused {
			need[m.plan.Steps[i].Item]++
		}
	}
	var out []Shortage
	for item, n := range need {
		if f.Items[item] < n {
			out = append(out, Shortage{item, n, f.Items[item]})
		}
	}
	slices.SortFunc(out, func(a, b Shortage) int { return int(a.Item) - int(b.Item) })
	return out
}
