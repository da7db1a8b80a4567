package mission_test

import (
	"maps"
	"testing"

	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// cells is a bot's mirror, reduced to blocks.
type cells map[geom.BlockPos]registry.StateID

func (c cells) Block(p geom.BlockPos) (registry.StateID, bool) {
	s, ok := c[p]
	return s, ok
}

// mark is a sent mark as a journal would keep it.
type mark struct {
	counters effects.Counters
	open     []effects.OpenUse // of earlier actions, at that time
	action   effects.ActionID
}

// simClient is the loop around the machines: it asks the mission, marks, sends, and feeds facts back. It stands for the
// bot, and keeps what a journal keeps.
type simClient struct {
	t       testing.TB
	srv     *simServer
	m       *mission.Mission
	p       *effects.Placements
	opt     effects.Options
	mirror  cells
	seq     uint64
	useSeq  int32
	next    uint16
	joins   int32 // play entries since the newest mark
	newest  *mark
	places  map[effects.ActionID]effects.Placement
	step    map[effects.ActionID]int
	verdict map[effects.ActionID]effects.Settled
	log     *wireLog

	receipts   map[effects.ActionID]effects.Receipt
	unresolved int // uses sent on a step whose previous action was unresolved: must stay 0
	notices    []effects.Notice
	slots      map[registry.ItemID]int32 // as the server last showed them
	lastDo     mission.Decision
}

// join connects anew, reads the world and the full statistics, and reconciles what is open.
func (c *simClient) join() {
	c.srv.join()
	c.joins++
	c.opt.Epoch.Host++
	c.p = effects.NewPlacements(c.opt)
	c.mirror = cells(maps.Clone(c.srv.world))
	c.slots = maps.Clone(c.srv.slots)
	c.m.Joined("a")
	for p := range c.mirror {
		c.m.ChunkLoaded("a", p.Chunk(), c.mirror)
	}
	c.log.cut()
	c.fence()
	kept := c.srv.faults
	c.srv.faults = faults{frozen: kept.frozen}
	reply := worldstate.StatsAwarded{}
	c.srv.run()
	for _, e := range c.srv.out {
		if r, ok := e.(worldstate.StatsAwarded); ok {
			reply = r
		}
		c.observe(e)
	}
	c.srv.out = nil
	c.srv.faults = kept
	c.reconcile(reply)
}

// reconcile gives every action without a verdict its verdict from the newest mark and the full reply.
func (c *simClient) reconcile(reply worldstate.StatsAwarded) {
	if c.newest == nil {
		return
	}
	if !c.opt.Fence { // nothing was counted that could be compared
		for a := range c.places {
			if _, done := c.verdict[a]; !done {
				c.settle(effects.Settled{Action: a, Code: effects.CodeCut}, true)
			}
		}
		return
	}
	var marked []effects.MarkedPlacement
	add := func(a effects.ActionID, counted bool) {
		f := effects.FateOpen
		if s, done := c.verdict[a]; done {
			f = effects.FateOf(effects.Outcome{Evidence: s.Evidence})
		} else if counted {
			f = effects.FateCounted
		}
		marked = append(marked, effects.MarkedPlacement{Placement: c.places[a], Fate: f})
	}
	for _, o := range c.newest.open {
		add(o.Action, o.Counted)
	}
	add(c.newest.action, false)
	for _, s := range effects.Reconcile(effects.Rejoin{
		Epoch: c.opt.Epoch, Mark: c.newest.counters, Confirmed: c.joins, Reply: reply, ReplySequence: c.seq, World: c.mirror,
		WorldSequence: c.seq, Used: c.opt.Used, Demoted: c.opt.Demoted, States: c.opt.States,
	}, marked) {
		c.settle(s, true)
	}
}

func (c *simClient) fence() {
	if !c.opt.Fence {
		return
	}
	c.p.FenceSent()
	c.log.fence()
	c.srv.inbox = append(c.srv.inbox, packet{})
}

func (c *simClient) observe(e worldstate.Event) {
	c.seq++
	c.log.event(e)
	switch e := e.(type) {
	case worldstate.InventorySlot:
		c.slots[e.Content.Stack.Item] = e.Content.Stack.Count
	case worldstate.BlockChanged:
		c.mirror[e.Pos] = e.State
		c.m.CellChanged("a", e.Pos, c.mirror)
	case worldstate.SectionChanged:
		for _, b := range e.Changes {
			c.mirror[b.Pos] = b.State
		}
		for _, b := range e.Changes {
			c.m.CellChanged("a", b.Pos, c.mirror)
		}
	}
	c.take(c.p.Observe(effects.Fact{Sequence: c.seq, Event: e}))
}

func (c *simClient) take(f effects.Findings) {
	c.notices = append(c.notices, f.Notices...)
	c.opt.Used, c.opt.Demoted = c.p.Used(), c.p.Demoted()
	for _, s := range f.Settled {
		c.settle(s, false)
	}
}

// settle writes the record and tells the mission, in that order.
func (c *simClient) settle(s effects.Settled, rejoined bool) {
	if old, ok := c.verdict[s.Action]; ok {
		c.t.Errorf("a second verdict %s after %s", s.Verdict, old.Verdict)
	}
	c.verdict[s.Action] = s
	p := c.places[s.Action]
	o := s.Outcome(effects.Outcome{Postcondition: effects.CellsBecome{Item: p.Item, Cells: p.Cells}, LeastGrade: c.opt.Least})
	if s.Verdict == effects.Proven {
		r, err := effects.NewReceipt(o)
		if err != nil {
			c.t.Errorf("proven without its facts: %v", err)
		}
		c.receipts[s.Action] = r
	} else if _, err := effects.NewAttempt(o); err != nil {
		c.t.Error(err)
	}
	if err := c.m.Settled(c.step[s.Action], s, rejoined); err != nil {
		c.t.Errorf("the mission refuses a verdict: %v", err)
	}
}

// place marks and sends a step: fence if none is before it, use, fence.
func (c *simClient) place(i int) {
	st := c.m.Step(i)
	c.next++
	a := effects.ActionID{byte(c.next), byte(c.next >> 8), 1}
	c.useSeq++
	beside := st.Cells[0].Pos
	if st.Stacking() {
		beside = st.Clicked.Add(geom.BlockPos{Y: 1})
	}
	other := st.Clicked
	if st.Stacking() {
		other = beside
	}
	p := effects.Placement{Action: a, Sequence: c.useSeq, Item: st.Item, Clicked: st.Clicked, Beside: beside,
		OtherBefore: c.mirror[other], OtherKnown: true, Cells: st.Cells,
		Slot: int8(hotbar(st.Item)), SlotCount: c.slots[st.Item]}
	for b, j := range c.step {
		if _, done := c.verdict[b]; j == i && !done {
			c.unresolved++
		}
	}
	c.newest = &mark{c.p.Counters(), c.p.Open(), a}
	c.joins = 0
	c.places[a], c.step[a] = p, i
	if err := c.m.Marked(i, a); err != nil {
		c.t.Fatal(err)
	}
	if c.p.NeedFence() {
		c.fence()
	}
	if err := c.p.UseSent(p); err != nil {
		c.t.Fatalf("step %d: %v", i, err)
	}
	c.log.use(p)
	c.srv.inbox = append(c.srv.inbox, packet{use: &p})
	c.fence()
}

func (c *simClient) facts() mission.Facts {
	return mission.Facts{World: c.mirror, Unlimited: true, HeldKnown: true, Held: -1, Provable: !c.p.Demoted() && c.p.Used() != effects.UsedFrozen,
		Reach: func(*mission.Step) bool { return true }, WindowOpen: c.p.CanSend() == nil || c.p.NeedFence() && c.p.Outstanding() < c.opt.Pipeline}
}

// turn does one tick of the bot; it returns false when the mission is over or waits for people.
func (c *simClient) turn() bool {
	for {
		f := c.facts()
		c.lastDo = c.m.Next("a", f)
		if e, ok := c.lastDo.Do.(mission.Equip); ok {
			f.Held = e.Item
			c.lastDo = c.m.Next("a", f)
		}
		switch d := c.lastDo.Do.(type) {
		case mission.Place:
			c.place(d.Step)
			continue
		case mission.Rejoin:
			c.away()
			c.join()
			return true
		case mission.Inspect:
			c.m.Inspect("a", c.mirror)
			continue
		case mission.Done:
			return false
		case mission.Wait:
			if !d.For.Passing() {
				return false
			}
		}
		break
	}
	if c.p.NeedFence() {
		c.fence()
	}
	alive := c.srv.run()
	out := c.srv.out
	c.srv.out = nil
	for _, e := range out {
		c.observe(e)
	}
	if !alive {
		c.away()
		c.join()
		return true
	}
	c.log.tick()
	c.take(c.p.Tick(nil))
	return true
}

// away ends the session; open uses wait for the rejoin.
func (c *simClient) away() {
	c.p.Cut()
	c.m.Left("a", mission.AwayServer)
	c.srv.disconnect()
}
