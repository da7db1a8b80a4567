package builder

import (
	"fmt"
	"math"
	"slices"
	"time"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/path"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// walking is a move_to under way.
type walking struct {
	step        int
	adm         *admitted
	walk        *bot.Walk
	corrections uint64
}

// walkTries is how often a walk to one step may fail before the step waits for a change; plannedTries is how many of them
// keep to the planned stand where the plan's order matters.
const (
	walkTries    = 6
	plannedTries = 3
)

// searchCells is what weighing one place to stand takes, in cells of a search.
const searchCells = 8

// mostSearched is after how many cells looked at in vain the loop looks at the server again.
const mostSearched = 10_000

// mostStands is how many places to stand are tried when the planned one cannot be reached.
const mostStands = 64

// walk goes to where a step can be placed, or seen. True asks for the next decision.
func (w *worker) walk(tx *bot.Tx, step int) bool {
	if w.evidence.Outstanding() > 0 && !tx.Out().CanMove() {
		tx.Wake(1)
		return false
	}
	r := w.route(tx, step)
	if r.Status == path.NoPath && w.phase == working && w.failures[step] < plannedTries {
		w.failures[step] = plannedTries // proved: only what failed walks lift can help
		r = w.route(tx, step)
	}
	if r.Status != path.Reached {
		if r.Status == path.NoPath && w.phase == working && w.failures[step] >= plannedTries {
			w.failures[step] = walkTries // as long as nothing changes every further search finds the same
		}
		more := w.walkFailed(tx, step, r.Words(path.World{Table: w.table, Cells: tx.View()}, w.targetOf(step)))
		if more && w.searched > mostSearched {
			tx.Wake(1)
			return false
		}
		return more
	}
	to := r.Nodes[len(r.Nodes)-1].Pos
	return w.soon(tx, w.ask(tx, w.proposeWalk(step, to, r.Nodes)), func(tx *bot.Tx, adm *admitted) bool {
		if adm == nil {
			if w.phase != working && w.phase != reconciling {
				return false
			}
			if w.phase == working && w.site.withheld[step] {
				w.leaveOut(tx, step)
				return true
			}
			return w.walkFailed(tx, step, "denied")
		}
		return w.setOut(tx, step, adm, r.Nodes)
	})
}

// setOut begins a walk that has its leave.
func (w *worker) setOut(tx *bot.Tx, step int, adm *admitted, nodes []path.Node) bool {
	walk := &walking{step: step, adm: adm, corrections: tx.Corrections()}
	w.walking = walk
	under, err := tx.Walk(adm.permit, nodes, bot.WalkOptions{Sprint: true, Done: func(tx *bot.Tx, done *bot.Walk) { w.walked(tx, walk, done) }})
	if err != nil {
		w.fail(err)
	}
	walk.walk = under
	return false
}

// route searches the way: to where the clicked face is in sight before where it is not; on foot or in flight, whichever is
// quicker, and the other one after a walk to this step has failed.
func (w *worker) route(tx *bot.Tx, step int) path.Result {
	foot := path.Options{WalkBox: w.site.Record.Plot.Walk, Swim: true}
	air := foot
	air.CanFly = true
	var last path.Result
	for _, hidden := range []bool{false, true} {
		last = w.routeBy(tx, step, foot, hidden)
		if tx.MayFly() {
			flight := w.routeBy(tx, step, air, hidden)
			if quicker := ticksOf(flight, flightTicks) < ticksOf(last, footTicks)+landingTicks(tx, last); quicker != (w.failures[step]%2 == 1) || last.Status != path.Reached {
				last = flight
			}
		}
		if last.Status == path.Reached {
			w.hiddenOK = hidden
			return last
		}
	}
	return last
}

// How long ways take, in ticks: to start and stop, and for each block.
var (
	footTicks   = [2]float64{8, 4.6}
	flightTicks = [2]float64{8, 1.5}
)

// landingTicks is what a way on foot takes longer that begins with coming down from flight. Off an edge it is no way at all.
func landingTicks(tx *bot.Tx, r path.Result) float64 {
	switch {
	case !tx.Player().Flying || r.Status != path.Reached:
		return 0
	case r.Nodes[0].Pos.Y < geom.BlockAt(tx.Player().Pos).Y:
		return math.Inf(1)
	}
	return 12
}

// ticksOf estimates how long a way takes; one that does not arrive takes for ever.
func ticksOf(r path.Result, pace [2]float64) float64 {
	if r.Status != path.Reached {
		return math.Inf(1)
	}
	return pace[0] + pace[1]*float64(len(r.Nodes)-1)
}

// routeBy searches one kind of way. On foot the planned stand comes first, since the plan knows which places stay open. In
// flight every place does, so the one is taken from which most of the next steps can be made.
func (w *worker) routeBy(tx *bot.Tx, step int, opt path.Options, hidden bool) path.Result {
	reg, v := tx.Registry(), tx.View()
	feet := geom.BlockAt(tx.Player().Pos)
	world := path.World{Table: w.table, Cells: v}
	_, seen := v.Block(w.site.Uses[step].Target())
	r := path.Result{Status: path.NoPath}
	if planned := w.site.Plan.Steps[step].Closing && w.failures[step] < plannedTries; !opt.CanFly || !seen || planned {
		r = path.FindFrom(world, tx.Player().Pos, []geom.BlockPos{w.site.Plan.Steps[step].Stand}, opt, &w.scratch)
		if planned && opt.CanFly || r.Status == path.Reached && w.standWorks(tx, step, r) {
			return r
		}
	}
	o := placement.StandOptions{Walk: opt.WalkBox, From: feet, CanFly: opt.CanFly, Hidden: hidden, Most: mostStands}
	if opt.CanFly {
		o.Most = 0
	}
	spots := placement.Stand(reg, v, w.site.Uses[step], o)
	if opt.CanFly {
		spots = slices.DeleteFunc(spots, func(s placement.Spot) bool { return w.covers(tx, step, s.Feet) })
		spots = w.busiest(tx, step, spots)
	}
	w.searched += searchCells * (len(spots) + 1)
	if len(spots) == 0 {
		if r.Status = path.NoPath; r.Why == path.WhyNone {
			r.Why = path.GoalBlocked
		}
		return r
	}
	var goals []geom.BlockPos
	for _, s := range spots {
		goals = append(goals, s.Cell)
	}
	r = path.FindFrom(world, tx.Player().Pos, goals, opt, &w.scratch)
	w.searched += r.Visited
	return r
}

// What a stand is worth, in ticks: each of the next steps that it reaches saves a part of another walk, each block to it
// costs flight.
const (
	ticksPerStep   = 10
	ticksPerBlock  = 1.8
	ticksUnderRoof = 40 // a bot in the open is not shut in when the building closes
)

// roofed tells whether the finished building stands above a place.
func (w *worker) roofed(cell geom.BlockPos) bool {
	top, ok := w.site.roof[[2]int32{cell.X, cell.Z}]
	return ok && top >= cell.Y+2
}

// shutsIn tells whether a step should rather not be done from a place: one of the last of the plan from under the
// finished roof, which may close the building around the bot. The first failed walk lifts that.
func (w *worker) shutsIn(step int, cell geom.BlockPos) bool {
	return step >= len(w.site.Uses)-lastSteps && w.failures[step] == 0 && w.roofed(cell)
}

// covers tells whether a step should not be done from a place because it would cover that. Walks that have failed lift it:
// then the step can be made from below only.
func (w *worker) covers(tx *bot.Tx, step int, feet geom.Vec3) bool {
	return w.failures[step] < plannedTries && covers(tx.Registry(), tx.View(), w.site.Plan.Steps[step].Cells, feet, w.site.Record.Plot.Walk.Max.Y)
}

// covers tells whether cells would close the sky over a body, which is open up to a height. The plan's order, which keeps a
// walking bot from shutting itself in, is not kept in flight; whoever flies gets out upwards as long as that way stays free.
func covers(reg *registry.Registry, world placement.Cells, cells []effects.Cell, feet geom.Vec3, top int32) bool {
	at := path.Body(feet)
	for _, c := range cells {
		over := slices.ContainsFunc(at, func(b geom.BlockPos) bool { return b.X == c.Pos.X && b.Z == c.Pos.Z && b.Y < c.Pos.Y })
		if over && len(reg.Shape(c.To)) > 0 && underSky(reg, world, geom.BlockPos{X: c.Pos.X, Y: at[0].Y, Z: c.Pos.Z}, top) {
			return true
		}
	}
	return false
}

// underSky tells whether nothing stands in a column from a cell up to a height.
func underSky(reg *registry.Registry, world placement.Cells, pos geom.BlockPos, top int32) bool {
	for ; pos.Y <= top; pos.Y++ {
		if s, known := world.Block(pos); !known || len(reg.Shape(s)) > 0 {
			return false
		}
	}
	return true
}

// lastSteps is how many steps at the end of a plan are done from outside if possible.
const lastSteps = 48

func (w *worker) targetOf(step int) geom.BlockPos { return w.site.Plan.Steps[step].Cells[0].Pos }

// busiest sorts out the places that are worth the most.
func (w *worker) busiest(tx *bot.Tx, step int, spots []placement.Spot) []placement.Spot {
	best := math.Inf(-1)
	worth := make([]float64, len(spots))
	top := w.targetOf(step).Y + flyingLayers
	for k, s := range spots {
		worth[k] = -ticksPerBlock * s.Feet.Sub(tx.Player().Pos).Len()
		for i := step; i < len(w.site.Uses) && i < step+flyingSteps; i++ {
			if st, _ := w.site.mission.Status(i); stepStates[st.State] != sentinel.StepReady || w.targetOf(i).Y > top {
				continue
			}
			if out, ok := placement.FromFeet(tx.Registry(), w.site.Uses[i], s.Feet); ok && !out && !w.covers(tx, i, s.Feet) {
				worth[k] += ticksPerStep
			}
		}
		if w.roofed(s.Cell) {
			worth[k] -= ticksUnderRoof
		}
		best = max(best, worth[k])
	}
	var out []placement.Spot
	for k, s := range spots {
		if worth[k] >= best-ticksPerStep && len(out) < mostStands {
			out = append(out, s)
		}
	}
	return out
}

// standWorks says whether the use can be made from the end of a way, or cannot be judged yet.
func (w *worker) standWorks(tx *bot.Tx, step int, r path.Result) bool {
	u := w.site.Uses[step]
	if _, known := tx.View().Block(u.Target()); !known {
		return true
	}
	feet := r.Nodes[len(r.Nodes)-1].Centre()
	_, ok := placement.FromFeet(tx.Registry(), u, feet)
	return ok && !(tx.MayFly() && w.covers(tx, step, feet))
}

// proposeWalk says what the guard looks at for a walk.
func (w *worker) proposeWalk(step int, to geom.BlockPos, nodes []path.Node) proposal {
	bounds := geom.BlockBox{Min: nodes[0].Pos, Max: nodes[0].Pos}
	for _, n := range nodes {
		bounds = bounds.Union(geom.BlockBox{Min: n.Pos, Max: n.Pos})
	}
	pre := func(tx *bot.Tx) sentinel.Pin { // where it begins, and what stands on the way
		v := tx.View()
		parts := []string{"walk", geom.BlockAt(tx.Player().Pos).String()}
		for _, n := range nodes {
			text := n.Pos.String()
			for dy := int32(-1); dy <= 1; dy++ {
				s, known := v.Block(n.Pos.Add(geom.BlockPos{Y: dy}))
				text += fmt.Sprint(" ", s, known)
			}
			parts = append(parts, text)
		}
		return sentinel.PinOf(parts...)
	}
	return proposal{
		request: effects.MoveToRequest{Pos: effects.Position(to)},
		step:    step, post: effects.StandsIn{Pos: to}, least: effects.Processed, pre: pre,
		spend: effects.Budgets{Distance: int32(len(nodes))},
		complete: func(_ *bot.Tx, f *sentinel.Facts) {
			f.PathNodes, f.PathBounds = uint32(len(nodes)), bounds
		},
	}
}

// walkFailed counts a walk that did not come about. A step that cannot be reached waits until something near it changes.
func (w *worker) walkFailed(tx *bot.Tx, step int, why string) bool {
	w.failures[step]++
	if w.failures[step] < walkTries && w.phase == working {
		tx.Wake(2)
		return false
	}
	w.failures[step] = 0
	w.site.Report(Walked{Step: step, Why: why})
	if w.phase != working {
		return false
	}
	if w.madeWay(step) { // it is somebody else's step, and we only stood in its way
		w.asideAt = tx.Now().Add(aside)
		return false
	}
	if st, ok := w.site.mission.Status(step); ok && stepStates[st.State] == sentinel.StepReady {
		w.refuse(tx, step)
		return true
	}
	w.finish(Result{Step: step, Stuck: why, Summary: w.site.mission.Summary()})
	return false
}

// aside is how long a bot that could not make way for others stays where it is.
const aside = 2 * time.Second

// madeWay tells whether a walk to a step was only to make way for who does it.
func (w *worker) madeWay(step int) bool {
	st, ok := w.site.mission.Status(step)
	return ok && w.site.shared() && !w.holds(step) && (stepStates[st.State] == sentinel.StepReady || st.State == mission.Refused)
}

// walked is the end of a walk. Its record waits for the fence behind it; the work goes on at once, since the placement's
// own proof covers where we stand.
func (w *worker) walked(tx *bot.Tx, walk *walking, done *bot.Walk) {
	if w.walking == walk {
		w.walking = nil
	}
	if w.phase == over || w.evidence == nil {
		return
	}
	status, detail := done.Status()
	g := &gesture{base: walk.adm.base, corrections: walk.corrections, ended: tx.Ticks()}
	if status == bot.WalkReached {
		w.judgeLater(tx, g)
		if _, known := tx.View().Block(w.site.Uses[walk.step].Target()); known && !w.inReach(tx, w.site.mission.Step(walk.step)) {
			w.walkFailed(tx, walk.step, "the click is out of reach from where the walk ended")
		} else {
			w.failures[walk.step] = 0
		}
	} else {
		w.store(tx, effects.Settled{Action: g.base.Action, Verdict: effects.Refused, Code: effects.CodeCorrected,
			Evidence: effects.Evidence{Epoch: epoch(tx.View())}}.Outcome(g.base))
		w.walkFailed(tx, walk.step, status.String()+": "+detail)
	}
	tx.Wake(1)
}

// gesture is a walk or slot change whose record waits for the fence behind it, or without fences for quiet ticks.
type gesture struct {
	base        effects.Outcome
	corrections uint64 // counted when its first packet went out
	ended       uint64 // tick of its last packet
}

// judgeLater sends the fence that a gesture is judged by.
func (w *worker) judgeLater(tx *bot.Tx, g *gesture) {
	if !w.site.Terms.Fence {
		w.gestures = append(w.gestures, g)
		tx.Wake(3)
		return
	}
	w.fence(tx, func(tx *bot.Tx, reply effects.FactRef) { w.judgeGesture(tx, g, &reply, 0) })
}

// gestureTick judges gestures on servers without a fence.
func (w *worker) gestureTick(tx *bot.Tx) {
	waiting := w.gestures[:0]
	for _, g := range w.gestures {
		if quiet := tx.Ticks() - g.ended; quiet >= 2 {
			w.judgeGesture(tx, g, nil, int(quiet))
		} else {
			waiting = append(waiting, g)
		}
	}
	w.gestures = waiting
}

func (w *worker) judgeGesture(tx *bot.Tx, g *gesture, reply *effects.FactRef, quiet int) {
	s := effects.JudgeGesture(effects.GestureFacts{
		Action: g.base.Action, Capability: g.base.Postcondition.Capability(), Epoch: epoch(tx.View()), Least: g.base.LeastGrade,
		Ready: tx.Ready(), Corrected: tx.Corrections() != g.corrections, FenceReply: reply, QuietTicks: quiet,
		HasFence: w.site.Terms.Fence,
	})
	w.store(tx, s.Outcome(g.base))
}
