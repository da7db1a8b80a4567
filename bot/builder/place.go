package builder

import (
	"fmt"
	"maps"
	"time"

	"blockworld/bot"
	"blockworld/bot/egress"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// bound is a placement fixed to what the packets will say.
type bound struct {
	step  int
	use   placement.Use
	look  geom.Rotation
	sneak bool
	slot  int32
	stack worldstate.ItemStack
}

// staged is a marked placement that waits for the server to have taken its look.
type staged struct {
	bound  bound
	adm    *admitted
	handle *egress.Placing
	prop   proposal
	at     uint64 // tick of the use
}

// lookAhead is how many ticks before the use the look goes out where the head's direction decides the state: vanilla takes
// the head's yaw over in the player's own tick.
const lookAhead = 2

// place binds, admits, marks and sends one step. True asks for the next decision.
func (w *worker) place(tx *bot.Tx, step int) bool {
	b, err := w.bindUse(tx, step)
	if err != nil {
		w.site.Report(Denied{Step: step, Capability: effects.PlaceBlock, Rule: "binding", Why: err.Error()})
		w.refuse(tx, step)
		return true
	}
	turn, wait := w.turn(tx, &b)
	ahead := turn && b.use.LookMatters == placement.LookNear6
	if w.site.Options.Ahead == 0 && (wait || ahead && len(w.open) > 0) { // a use that waits for its look must not see the cursor move
		tx.Wake(1)
		return false
	}
	if !w.supportProven(tx, &b) { // the verdict that this waits for is on its way
		tx.Wake(1)
		return false
	}
	q := w.ask(tx, w.proposeUse(tx, &b))
	if q == nil {
		if w.phase == working {
			w.leaveOut(tx, step)
		}
		return w.phase == working
	}
	q.use = &b
	w.line = append(w.line, q)
	return w.useLeaves(tx)
}

// send marks and sends a placement that has its leave. True asks for the next decision.
func (w *worker) send(tx *bot.Tx, q *asked, turn, ahead bool) bool {
	b, step := *q.use, q.use.step
	adm, ok := w.admit(tx, q)
	if !ok {
		if w.phase == working {
			w.refuse(tx, step)
		}
		return w.phase == working
	}
	if err := w.site.mission.Marked(step, adm.base.Action); err != nil {
		w.fail(err)
		return false
	}
	handle, err := tx.Out().OpenPlace(adm.permit)
	if err == nil && turn {
		err = tx.LookFor(handle, b.look)
	}
	if err != nil {
		w.fail(err)
		return false
	}
	s := &staged{bound: b, adm: adm, handle: handle, prop: q.prop, at: tx.Ticks()}
	if ahead {
		s.at += lookAhead
		w.staged = s
		tx.Wake(lookAhead + 1)
		return false
	}
	return w.use(tx, s)
}

// refuse tells the mission that the guard would not have a step now.
func (w *worker) refuse(tx *bot.Tx, step int) {
	w.deny(tx, step)
	if err := w.site.mission.Denied(step); err != nil {
		w.fail(err)
	}
}

// leaveOut refuses a step that the guard denied; one without the gate's leave is not offered again by itself.
func (w *worker) leaveOut(tx *bot.Tx, step int) {
	w.refuse(tx, step)
	if w.site.withheld[step] {
		delete(w.denials, step)
	}
}

// turn says whether the look must be sent first, and whether that has to wait for the next tick's movement packet.
func (w *worker) turn(tx *bot.Tx, b *bound) (turn, wait bool) {
	told, ok := tx.Out().Told()
	if !ok {
		return false, true
	}
	if told.Rotation == b.look {
		return false, false
	}
	if b.use.LookMatters == placement.LookNone && w.site.Options.Rate == 0 {
		return false, false // any look gives this state, and nobody asked for manners
	}
	return true, !tx.Out().CanMove()
}

// stagedTick sends the use of a placement whose look is old enough. The guard is asked once more: ticks have passed.
func (w *worker) stagedTick(tx *bot.Tx) {
	s := w.staged
	if s == nil || tx.Ticks() < s.at {
		return
	}
	f := w.guardFacts(tx, s.prop, &s.adm.mark.Binding, s.adm.at)
	w.staged = nil
	if d := sentinel.Decide(&f); !d.Admit || tx.Rotation() != s.bound.look {
		if !d.Admit {
			w.denied(s.prop, d)
		}
		s.handle.Done()
		w.open[s.adm.base.Action] = &sentUse{step: s.bound.step, base: s.adm.base}
		w.carry(tx, effects.Findings{Settled: []effects.Settled{{Action: s.adm.base.Action, Verdict: effects.NotExecuted,
			Code: effects.CodeNotSent, Evidence: effects.Evidence{Epoch: epoch(tx.View())}}}})
		return
	}
	w.use(tx, s)
}

// use sends the one use of a placement and the fence behind it.
func (w *worker) use(tx *bot.Tx, s *staged) bool {
	b := &s.bound
	if err := w.evidence.CanSend(); err != nil {
		w.fail(fmt.Errorf("a placement that was admitted cannot be judged: %w", err))
		return false
	}
	err := s.handle.Sneak(b.sneak)
	if err == nil {
		err = s.handle.Hold(b.slot)
	}
	var seq int32
	if err == nil {
		c := b.use.Click
		seq, err = s.handle.Use(egress.Click{Pos: c.Pos, Face: c.Face, Cursor: c.Cursor, Inside: c.Inside})
	}
	if err != nil {
		w.fail(err)
		return false
	}
	s.handle.Done()
	w.open[s.adm.base.Action] = &sentUse{step: b.step, at: tx.Ticks(), near: w.beside(tx, b.use), slot: b.slot, drew: true, base: s.adm.base}
	w.drew(tx, b)
	if err := w.evidence.UseSent(w.sentPlacement(tx, s, seq)); err != nil {
		w.fail(err)
		return false
	}
	w.slotUsed[b.slot] = tx.Ticks()
	w.pace(tx)
	w.fence(tx, nil)
	tx.Wake(2)
	if tx.Out().Flush() != nil { // now: behind it other marks may wait for the disk, and a stop may come meanwhile
		return false // the session's loop ends with it, and the next session judges what was sent
	}
	w.site.at(AfterPacket)
	return w.phase == working
}

// slowest is the longest pause between two uses that a rate can ask for.
const slowest = time.Hour

// pace sets when the next use may go out.
func (w *worker) pace(tx *bot.Tx) {
	if r := w.site.Options.Rate; r > 0 {
		w.nextUse = tx.Now().Add(time.Duration(min(float64(time.Second)/r, float64(slowest))))
	}
}

// sentPlacement is the use as the evidence machine wants to know it.
func (w *worker) sentPlacement(tx *bot.Tx, s *staged, seq int32) effects.Placement {
	b := &s.bound
	p := effects.Placement{
		Action: s.adm.base.Action, Sequence: seq, Item: b.use.Item, Clicked: b.use.Click.Pos,
		Beside: b.use.Click.Pos.Neighbour(b.use.Click.Face), Cells: scene.Cells(b.use), Slot: int8(b.slot), SlotCount: b.stack.Count,
	}
	p.OtherBefore, p.OtherKnown = tx.View().Block(p.Other())
	return p
}

// bindUse finds the click that makes the step's state in the world as it is now: the planned one if it still does, else
// another. Errors wrap errNoBinding.
func (w *worker) bindUse(tx *bot.Tx, step int) (bound, error) {
	inv := w.inventory(tx)
	b := bound{step: step, slot: tx.Out().Held()}
	if hand := w.inHand(tx, &inv); hand.Known {
		b.stack = hand.Stack
	}
	planned := w.site.Uses[step]
	if w.fits(tx, &b, planned, planned) == nil {
		return b, nil
	}
	reg, v := tx.Registry(), tx.View()
	others, rejected := placement.Candidates(reg, v, planned.Target(), planned.Cells[0].To)
	for _, u := range others {
		if u.Item == planned.Item && w.fits(tx, &b, u, planned) == nil {
			return b, nil
		}
	}
	if rejected != nil {
		return b, fmt.Errorf("%w: %w", errNoBinding, rejected)
	}
	return b, fmt.Errorf("%w: %w", errNoBinding, w.fits(tx, &b, planned, planned))
}

// fits completes b with a use if that makes what was planned, from where the bot stands.
func (w *worker) fits(tx *bot.Tx, b *bound, u, planned placement.Use) error {
	reg, v, feet := tx.Registry(), tx.View(), tx.Player().Pos
	if _, ok := placement.FromFeet(reg, u, feet); !ok {
		return fmt.Errorf("the click at %v is out of reach from %v, or our own body is in the way", u.Click.Pos, geom.BlockAt(feet))
	}
	sneak := u.Sneak == placement.SneakMust || u.Sneak == placement.SneakAny && tx.Out().Sneaking()
	look := placement.LookFrom(reg, v, u, feet)
	cells, err := placement.Predict(reg, v, u.Item, u.Click, look, sneak)
	if other, err2 := placement.Predict(reg, v, u.Item, u.Click, look, !sneak); u.Sneak == placement.SneakAny && !exactly(cells, planned) && exactly(other, planned) {
		cells, err, sneak = other, err2, !sneak // chests pair or not by the sneak key, whatever order they come in
	}
	if err != nil {
		return err
	}
	if err := makes(reg, cells, planned); err != nil {
		return err
	}
	u.Cells = cells
	for i := range u.Cells {
		if i < len(planned.Cells) {
			u.Cells[i].Masked = planned.Cells[i].Masked // the plan knows what its later steps change
		}
	}
	b.use, b.look, b.sneak = u, look, sneak
	return nil
}

// exactly tells whether the predicted cells are the planned ones, masks or not.
func exactly(cells []placement.CellChange, planned placement.Use) bool {
	return len(cells) > 0 && len(planned.Cells) > 0 && cells[0].To == planned.Cells[0].To
}

// makes says why predicted cells are not what was planned.
func makes(reg *registry.Registry, cells []placement.CellChange, planned placement.Use) error {
	if len(cells) != len(planned.Cells) {
		return fmt.Errorf("the click would change %d cells, planned are %d", len(cells), len(planned.Cells))
	}
	for i, c := range cells {
		p := planned.Cells[i]
		if c.Pos != p.Pos || !placement.Same(reg, p.To, c.To, p.Masked) {
			return fmt.Errorf("the click would make %s at %v, planned is %s at %v", reg.FormatState(c.To), c.Pos, reg.FormatState(p.To), p.Pos)
		}
	}
	return nil
}

// proposeUse says what the guard looks at for a placement.
func (w *worker) proposeUse(tx *bot.Tx, b *bound) proposal {
	reg, v := tx.Registry(), tx.View()
	clicked, _ := v.Block(b.use.Click.Pos)
	key := w.site.mission.Key(b.step, w.site.Record.Dimension)
	pre := func(tx *bot.Tx) sentinel.Pin {
		v := tx.View()
		clicked, known := v.Block(b.use.Click.Pos)
		parts := []string{"use", reg.FormatState(clicked), fmt.Sprint(known, b.use.Item, b.slot, b.use.Click)}
		for _, c := range b.use.Cells {
			now, known := v.Block(c.Pos)
			parts = append(parts, c.Pos.String(), reg.FormatState(now), fmt.Sprint(known))
		}
		return sentinel.PinOf(parts...)
	}
	return proposal{
		request: effects.PlaceBlockRequest{Pos: effects.Position(b.use.Target()), State: reg.FormatState(b.use.Cells[0].To)},
		step:    b.step, post: effects.CellsBecome{Item: b.use.Item, Cells: scene.Cells(b.use)}, least: w.site.Terms.Least,
		pre: pre, spend: effects.Budgets{Uses: 1, Quantity: 1}, key: key,
		clicked: journal.ClickedCell{Pos: b.use.Click.Pos, State: clicked},
		complete: func(tx *bot.Tx, f *sentinel.Facts) {
			w.targetFacts(tx, b, f)
			w.itemFacts(tx, b.slot, b.use.Item, f)
			f.Classes = scene.Classes(tx.View(), b.use, b.sneak)
			f.Step = w.stepState(b.step)
			f.ClickedUsable = sentinel.Known(scene.Clickable(tx.View(), b.use, b.sneak))
			f.SupportProven = sentinel.Known(w.supportProven(tx, b))
		},
	}
}

// targetFacts are where the placement goes and what is there.
func (w *worker) targetFacts(tx *bot.Tx, b *bound, f *sentinel.Facts) {
	reg, v, feet := tx.Registry(), tx.View(), tx.Player().Pos
	u := b.use
	f.CellCount = uint8(len(u.Cells))
	copy(f.Cells[:], []geom.BlockPos{u.Cells[0].Pos, u.Cells[len(u.Cells)-1].Pos})
	f.Clicked = u.Click.Pos
	f.Landings = [2]geom.BlockPos{u.Click.Pos, u.Click.Pos.Neighbour(u.Click.Face)}
	f.Stand = geom.BlockAt(feet)
	f.TargetLoaded = sentinel.Known(scene.SurroundingsLoaded(v, u))
	f.FromMatches = sentinel.Known(scene.FromMatches(v, u))
	f.Replaces = scene.Replaces(v, u, w.mayReplace)
	_, err := placement.Predict(reg, v, u.Item, u.Click, b.look, b.sneak)
	f.Support = sentinel.Known(err == nil)
	_, clear := placement.FromFeet(reg, u, feet)
	f.SpaceFree = sentinel.Known(clear && scene.SpaceFree(v, u))
	f.Reach = float32(placement.Eye(u, feet).Sub(u.Click.Point()).Len())
	f.ReachLimit = placement.Reach
}

// itemFacts are what the slot holds.
func (w *worker) itemFacts(tx *bot.Tx, slot int32, item registry.ItemID, f *sentinel.Facts) {
	inv := w.inventory(tx)
	f.Slot, f.Need = int8(slot), 1
	if !w.synced(&inv) || slot < 0 || slot > 8 {
		return
	}
	s := inv.Slots[worldstate.SlotHotbar+int(slot)]
	f.HoldsItem = sentinel.Known(s.Known && !s.Stack.Empty() && s.Stack.Item == item)
	f.Plain, f.Have = s.Stack.Plain, s.Stack.Count
}

// stepState is the guard's word for where a step stands. A step whose look has gone out and whose use has not is as ready
// as before.
func (w *worker) stepState(i int) sentinel.StepState {
	st, ok := w.site.mission.Status(i)
	switch {
	case !ok:
		return sentinel.StepUnknown
	case w.staged != nil && w.staged.bound.step == i && w.staged.adm.base.Action == st.Action:
		return sentinel.StepReady
	case st.State.Done():
		return sentinel.StepDone
	case st.State == mission.Claimed && !w.holds(i):
		return sentinel.StepUnresolved // another bot is about to send it
	}
	return stepStates[st.State]
}

// supportProven says whether the placement would come out the same whatever becomes of what is still waiting for proof: with
// all of it there, with nothing of it there, and with any part of it there that the placement touches.
func (w *worker) supportProven(tx *bot.Tx, b *bound) bool {
	others := w.site.mission.SentByOthers(w.site.Self)
	if len(w.open)+len(others) == 0 {
		return true
	}
	near := map[geom.BlockPos]bool{b.use.Click.Pos: true}
	for _, c := range b.use.Cells {
		for _, f := range geom.Faces {
			near[c.Pos.Neighbour(f)] = true
		}
	}
	before := overlay{under: tx.View(), cells: map[geom.BlockPos]registry.StateID{}}
	var unproven [][]effects.Cell // placements that this one touches
	consider := func(cells []effects.Cell) {
		touches := false
		for _, c := range cells {
			before.cells[c.Pos] = c.From
			touches = touches || near[c.Pos]
		}
		if touches {
			unproven = append(unproven, cells)
		}
	}
	for _, s := range w.open {
		if p, ok := s.base.Postcondition.(effects.CellsBecome); ok {
			consider(p.Cells)
		}
	}
	for _, i := range others {
		consider(w.site.Plan.Steps[i].Cells)
	}
	if _, ok := before.cells[b.use.Click.Pos]; ok || len(unproven) > mostUnproven {
		return false
	}
	for which := range 1 << len(unproven) {
		if !w.comesOut(tx, b, before, unproven, which) {
			return false
		}
	}
	return true
}

// mostUnproven is how many placements without a verdict a further one may touch.
const mostUnproven = 4

// comesOut tells whether a placement makes what was bound if just these of the unproven ones are there.
func (w *worker) comesOut(tx *bot.Tx, b *bound, world overlay, unproven [][]effects.Cell, which int) bool {
	cells := maps.Clone(world.cells)
	for k, all := range unproven {
		for _, c := range all {
			if which>>k&1 == 1 {
				cells[c.Pos] = c.To
			}
		}
	}
	out, err := placement.Predict(tx.Registry(), overlay{world.under, cells}, b.use.Item, b.use.Click, b.look, b.sneak)
	return err == nil && makes(tx.Registry(), out, b.use) == nil
}
