package builder

import (
	"blockworld/bot"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/path"
	"blockworld/effects/placement"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// perTurn bounds how many decisions are taken before the loop looks at the server again.
const perTurn = 64

// work asks the mission what to do and does it, until it has to wait.
func (w *worker) work(tx *bot.Tx) {
	w.searched = 0
	for range perTurn {
		if w.phase != working || w.busy() || !w.useLeaves(tx) || w.quit() {
			return
		}
		d, err := w.site.Team.next(w.site.Self, w.facts(tx))
		if err != nil {
			w.fail(err)
			return
		}
		if !w.do(tx, d.Do) {
			return
		}
	}
	tx.Wake(1)
}

// busy says that something under way must end first. Without a fence nothing says that the server carries our packets out in
// their order (flying-squid looks at the hand after it has read the next packets), so a use ends before anything follows it.
func (w *worker) busy() bool {
	return w.staged != nil || w.walking != nil || w.equip != nil || w.way != nil || !w.site.Terms.Fence && w.evidence.Outstanding() > 0
}

// do carries out one action; true asks for the next.
func (w *worker) do(tx *bot.Tx, a mission.Action) bool {
	wait, waits := a.(mission.Wait)
	if !waits {
		w.waiting = mission.WaitNothing
	}
	switch a.(type) {
	case mission.Rejoin, mission.Inspect, mission.Done:
		w.goOn()
	case mission.Walk, mission.Equip: // people hear that it goes on when it does: when something is admitted
		if len(w.line) > 0 { // what was asked for is bound to this place and this hand
			return false
		}
	}
	switch a := a.(type) {
	case mission.Walk:
		return w.walk(tx, a.Step)
	case mission.Equip:
		return w.takeInHand(tx, a.Step, a.Item)
	case mission.Place:
		return w.place(tx, a.Step)
	case mission.Rejoin:
		w.leave("to see the world afresh")
	case mission.Inspect:
		if !w.allSeen(tx) && w.patient(tx) {
			return false
		}
		w.site.Report(Inspected{w.site.mission.Inspect(w.site.Self, tx.View())})
		return true
	case mission.Done:
		w.complete(a.Summary)
	default:
		w.wait(tx, wait)
	}
	return false
}

// goOn tells that a waiting state is over.
func (w *worker) goOn() {
	if !w.said.Passing() {
		w.site.Report(Working{})
	}
	w.waiting, w.said = mission.WaitNothing, mission.WaitNothing
}

// wait tells people about a waiting state once, and ends the session when nobody wants to stay for it.
func (w *worker) wait(tx *bot.Tx, a mission.Wait) {
	if a.For.Passing() {
		if len(w.line) == 0 && w.way == nil { // else it waits for leave, and may not get it
			w.goOn()
		}
		w.waiting = a.For
		return
	}
	if a.For == mission.WaitAbsent {
		if n, err := w.site.Team.learn(""); err != nil {
			w.fail(err)
			return
		} else if n > 0 {
			tx.Wake(1)
		}
	}
	if a.For != w.said {
		said := Waiting{For: a.For, Step: a.Step, Short: a.Short}
		if a.For == mission.WaitInTheWay {
			if who, ok := scene.InWay(tx.Registry(), w.others, w.site.Uses[a.Step], 0); ok {
				said.Who = w.site.called(who)
			}
		}
		w.site.Report(said)
		w.saidAt = tx.Now()
	}
	w.waiting, w.said = a.For, a.For
	if a.For == mission.WaitInTheWay && tx.Now().Sub(w.saidAt) < w.site.Options.Patience { // most people move on
		return
	}
	if !w.site.Options.Stay && len(w.open) == 0 {
		w.finish(Result{Waiting: a.For, Step: a.Step, Short: a.Short, Summary: w.site.mission.Summary()})
	}
}

// complete stores that the mission is done.
func (w *worker) complete(s mission.Summary) {
	w.site.Record.State = journal.MissionComplete
	if err := w.site.Journal.PutMission(w.site.Record); err != nil {
		w.fail(err)
		return
	}
	w.finish(Result{Done: true, Step: -1, Summary: s})
}

// How many steps of the plan are looked at for one that needs no walk. In flight every place stays reachable, as long as
// the layers above it are open.
const (
	nearSteps    = 12
	flyingSteps  = 128
	flyingLayers = 3
)

// facts are what the mission may know of this bot now.
func (w *worker) facts(tx *bot.Tx) mission.Facts {
	v := tx.View()
	me := v.Self()
	inv := w.inventory(tx)
	f := mission.Facts{
		World: v, Dead: tx.Dead(), OtherDimension: v.DimensionName() != w.site.Record.Dimension,
		Feet: geom.BlockAt(tx.Player().Pos), InventoryKnown: w.synced(&inv), Unlimited: me.GameMode == worldstate.Creative,
		WindowOpen: w.windowOpen(tx), Provable: w.reachable(effects.PlaceBlock) >= w.site.Terms.Least,
		Reach: func(s *mission.Step) bool { return w.inReach(tx, s) }, Asked: w.isAsked,
	}
	if w.others = scene.Bodies(v); len(w.others) > 0 {
		f.Blocked = func(s *mission.Step) bool {
			_, blocked := scene.InWay(tx.Registry(), w.others, w.site.Uses[w.site.index[s]], 0)
			return blocked
		}
	}
	if w.site.shared() && !tx.Now().Before(w.asideAt) {
		f.Body = path.Body(tx.Player().Pos)
	}
	if w.site.Options.Ahead > 0 { // what is asked for now goes out later
		f.WindowOpen = len(w.line) < w.site.Options.Ahead
	}
	f.LookAhead = nearSteps
	if tx.MayFly() {
		f.LookAhead, f.Layers = flyingSteps, flyingLayers
	}
	f.Hungry = me.GameMode == worldstate.Survival && me.HealthKnown && me.Food == 0
	f.Items = plainItems(&inv)
	for _, q := range w.line {
		f.Items[q.use.use.Item]--
	}
	f.Held, f.HeldKnown = w.inHandFor(tx, &inv)
	return f
}

// inHand is the slot that the server has selected for us, as far as it was told.
func (w *worker) inHand(tx *bot.Tx, inv *worldstate.Inventory) worldstate.Slot {
	held := tx.Out().Held()
	if !w.synced(inv) || held < 0 || held > 8 {
		return worldstate.Slot{}
	}
	return inv.Slots[worldstate.SlotHotbar+int(held)]
}

// plainItems counts the plain stacks of main inventory and hotbar, by item.
func plainItems(inv *worldstate.Inventory) map[registry.ItemID]int32 {
	out := map[registry.ItemID]int32{}
	for _, s := range inv.Slots[worldstate.SlotMain:worldstate.SlotOffHand] {
		if s.Known && !s.Stack.Empty() && s.Stack.Plain == worldstate.PlainYes {
			out[s.Stack.Item] += s.Stack.Count
		}
	}
	return out
}

// windowOpen says whether a use may go out now: pipeline and pace have room.
func (w *worker) windowOpen(tx *bot.Tx) bool {
	if tx.Now().Before(w.nextUse) {
		tx.Wake(1)
		return false
	}
	err := w.evidence.CanSend()
	if err == effects.ErrNoFence {
		w.fence(tx, nil)
		err = w.evidence.CanSend()
	}
	return err == nil
}

// inReach says whether a step can be placed from where the bot stands: the clicked face in sight, unless the plan itself
// found no better place than this.
func (w *worker) inReach(tx *bot.Tx, s *mission.Step) bool {
	feet := tx.Player().Pos
	cell := geom.BlockAt(feet)
	i, ok := w.site.index[s]
	if !ok || !w.site.Record.Plot.Walk.Contains(cell) {
		return false
	}
	if s.Closing && cell != s.Stand && w.failures[i] == 0 || tx.MayFly() && (w.shutsIn(i, cell) || w.covers(tx, i, feet)) {
		return false
	}
	hidden, ok := placement.FromFeet(tx.Registry(), w.site.Uses[i], feet)
	return ok && (!hidden || cell == s.Stand || w.hiddenOK)
}

// allSeen says whether every column of the plot's build box is loaded.
func (w *worker) allSeen(tx *bot.Tx) bool {
	b, v := w.site.Record.Plot.Build, tx.View()
	lo, hi := b.Min.Chunk(), b.Max.Chunk()
	for x := lo.X; x <= hi.X; x++ {
		for z := lo.Z; z <= hi.Z; z++ {
			if !v.Loaded(geom.ChunkPos{X: x, Z: z}) {
				return false
			}
		}
	}
	return true
}

// patient says whether columns may still come by themselves.
func (w *worker) patient(tx *bot.Tx) bool {
	if n := len(tx.View().Columns()); n != w.columns {
		w.columns, w.grew = n, tx.Ticks()
	}
	return tx.Now().Sub(w.began) < w.site.Options.Patience && tx.Ticks() < w.grew+40
}
