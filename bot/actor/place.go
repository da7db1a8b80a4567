package actor

import (
	"fmt"
	"slices"

	"blockworld/bot"
	"blockworld/bot/egress"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// placing is a place_block: one use that makes a full block state, from where the bot stands and with an item of the
// hotbar. The look, the sneak and the held slot that it needs are part of it.
type placing struct {
	common
	pos    geom.BlockPos
	state  string
	use    placement.Use
	look   geom.Rotation
	sneak  bool
	slot   int8
	adm    *admitted
	handle *egress.Placing
	at     uint64 // tick of the use
	later  bool   // begin again at the next tick
	sent   bool
}

// lookAhead is how many ticks before the use the look goes out: vanilla takes the head's yaw over in the player's own tick,
// and some states are decided by it.
const lookAhead = 2

func (p *placing) begin(tx *bot.Tx) error {
	if _, told := tx.Out().Told(); !told || !tx.Out().CanMove() || p.a.evidence.CanSend() != nil {
		p.later = true
		tx.Wake(1)
		return nil
	}
	p.later = false
	b, err := p.bind(tx)
	if err != nil {
		return err
	}
	adm, err := p.a.admit(tx, b)
	if err != nil {
		return err
	}
	p.adm = adm
	p.a.steps++
	p.a.onCell[p.pos]++
	p.a.unresolved(&adm.mark)
	p.handle, err = tx.Out().OpenPlace(adm.permit)
	told, _ := tx.Out().Told()
	turn := told.Rotation != p.look
	if err == nil && turn {
		err = tx.LookFor(p.handle, p.look)
	}
	if err != nil {
		return p.a.failed(tx, adm, err)
	}
	p.at = tx.Ticks()
	if turn && p.use.LookMatters == placement.LookNear6 {
		p.at += lookAhead
		tx.Wake(lookAhead + 1)
		return nil
	}
	return p.click(tx)
}

// bind implements deed.
func (p *placing) bind(tx *bot.Tx) (*bound, error) {
	return p.fixed(tx, func() (proposal, error) {
		if err := p.choose(tx); err != nil {
			return proposal{}, err
		}
		return p.proposal(tx), nil
	})
}

// choose takes the click: the first candidate that makes the state from here, else the first of all, which the guard then
// refuses by what is wrong with it.
func (p *placing) choose(tx *bot.Tx) error {
	reg, v, feet := tx.Registry(), tx.View(), tx.Player().Pos
	want, err := reg.ParseState(p.state)
	if err != nil {
		return fmt.Errorf("%w: %w", effects.ErrBadRequest, err)
	}
	uses, rejected := placement.Solve(reg, v, p.pos, want)
	if rejected != nil {
		return fmt.Errorf("%w: %s at %v: %w", ErrNoClick, p.state, p.pos, rejected)
	}
	if len(uses) == 0 {
		return fmt.Errorf("%w: %s at %v", ErrNoClick, p.state, p.pos)
	}
	inv := v.Inventory()
	for _, hidden := range []bool{false, true} {
		for _, u := range uses {
			h, ok := placement.FromFeet(reg, u, feet)
			if !ok || h && !hidden {
				continue
			}
			if p.fix(tx, &inv, u, want) {
				return nil
			}
		}
	}
	p.use = uses[0]
	p.look = placement.LookFrom(reg, v, p.use, feet)
	p.sneak = p.use.Sneak == placement.SneakMust
	p.slot = p.slotOf(tx, &inv, p.use.Item)
	return nil
}

// fix takes a candidate if it makes the state from here.
func (p *placing) fix(tx *bot.Tx, inv *worldstate.Inventory, u placement.Use, want registry.StateID) bool {
	reg, v, feet := tx.Registry(), tx.View(), tx.Player().Pos
	sneak := u.Sneak == placement.SneakMust || u.Sneak == placement.SneakAny && tx.Out().Sneaking()
	look := placement.LookFrom(reg, v, u, feet)
	cells, err := placement.Predict(reg, v, u.Item, u.Click, look, sneak)
	if err != nil || len(cells) == 0 || cells[0].Pos != p.pos || !placement.Same(reg, want, cells[0].To, u.Cells[0].Masked) {
		return false
	}
	for i := range cells {
		if i < len(u.Cells) && len(cells[i].Masked) == 0 {
			cells[i].Masked = u.Cells[i].Masked
		}
	}
	u.Cells = cells
	p.use, p.look, p.sneak, p.slot = u, look, sneak, p.slotOf(tx, inv, u.Item)
	return true
}

// slotOf is the hotbar slot with the item: the selected one if it has it, else the first; without any the selected one, for
// the guard to refuse.
func (p *placing) slotOf(tx *bot.Tx, inv *worldstate.Inventory, item registry.ItemID) int8 {
	held := int8(tx.Out().Held())
	if held >= 0 && held <= 8 && scene.Plain(inv.Slots[worldstate.SlotHotbar+int(held)], item) {
		return held
	}
	if slot, ok := scene.Hotbar(inv, item); ok {
		return slot
	}
	return held
}

// proposal says what the guard looks at.
func (p *placing) proposal(tx *bot.Tx) proposal {
	reg := tx.Registry()
	clicked, _ := tx.View().Block(p.use.Click.Pos)
	return proposal{
		post:    effects.CellsBecome{Item: p.use.Item, Cells: scene.Cells(p.use)},
		spend:   effects.Budgets{Uses: 1, Quantity: 1},
		clicked: journal.ClickedCell{Pos: p.use.Click.Pos, State: clicked},
		pre: func(tx *bot.Tx) sentinel.Pin {
			now, _ := tx.View().Block(p.use.Click.Pos)
			pre := []string{"use", reg.FormatState(now), fmt.Sprint(p.use.Item, p.slot, p.use.Click)}
			for _, c := range p.use.Cells {
				got, known := tx.View().Block(c.Pos)
				pre = append(pre, c.Pos.String(), reg.FormatState(got), fmt.Sprint(known))
			}
			return sentinel.PinOf(pre...)
		},
		complete: p.complete,
	}
}

// complete adds where the placement goes, what is there, and what is in the hand.
func (p *placing) complete(tx *bot.Tx, f *sentinel.Facts) {
	reg, v, feet, u := tx.Registry(), tx.View(), tx.Player().Pos, p.use
	f.CellCount = uint8(len(u.Cells))
	f.Cells = [2]geom.BlockPos{u.Cells[0].Pos, u.Cells[len(u.Cells)-1].Pos}
	f.Clicked, f.Stand = u.Click.Pos, geom.BlockAt(feet)
	f.Landings = [2]geom.BlockPos{u.Click.Pos, u.Click.Pos.Neighbour(u.Click.Face)}
	f.TargetLoaded = sentinel.Known(scene.SurroundingsLoaded(v, u))
	f.FromMatches = sentinel.Known(scene.FromMatches(v, u))
	f.Replaces = scene.Replaces(v, u, func(name string) bool { return slices.Contains(p.a.cfg.MayReplace, name) })
	_, err := placement.Predict(reg, v, u.Item, u.Click, p.look, p.sneak)
	f.Support, f.SupportProven = sentinel.Known(err == nil), sentinel.Yes // one placement at a time: nothing else waits
	f.ClickedUsable = sentinel.Known(scene.Clickable(v, u, p.sneak))
	f.SpaceFree = sentinel.Known(scene.SpaceFree(v, u) && p.clear(tx))
	f.Reach, f.ReachLimit = float32(placement.Eye(u, feet).Sub(u.Click.Point()).Len()), placement.Reach
	f.Classes = scene.Classes(v, u, p.sneak)
	f.Step = sentinel.StepReady
	if s, ok := p.a.barred[p.pos]; ok && p.adm == nil {
		f.Step = s
	}
	inv := v.Inventory()
	f.Slot, f.Need = p.slot, 1
	if p.a.synced(&inv) && p.slot >= 0 && p.slot <= 8 {
		s := inv.Slots[worldstate.SlotHotbar+int(p.slot)]
		f.HoldsItem = sentinel.Known(s.Known && !s.Stack.Empty() && s.Stack.Item == u.Item)
		f.Plain, f.Have = s.Stack.Plain, s.Stack.Count
	}
}

// clear says whether our own body is out of the way.
func (p *placing) clear(tx *bot.Tx) bool {
	near := placement.Eye(p.use, tx.Player().Pos).Sub(p.use.Click.Point()).Len() <= placement.Reach
	_, ok := placement.FromFeet(tx.Registry(), p.use, tx.Player().Pos)
	return ok || !near // out of reach is another refusal
}

// click sends the one use and the fence behind it.
func (p *placing) click(tx *bot.Tx) error {
	err := p.handle.Sneak(p.sneak)
	if err == nil {
		err = p.handle.Hold(int32(p.slot))
	}
	var seq int32
	if err == nil {
		c := p.use.Click
		seq, err = p.handle.Use(egress.Click{Pos: c.Pos, Face: c.Face, Cursor: c.Cursor, Inside: c.Inside})
	}
	if err != nil {
		return p.a.failed(tx, p.adm, err)
	}
	p.handle.Done()
	p.sent = true
	s := effects.Placement{
		Action: p.adm.base.Action, Sequence: seq, Item: p.use.Item, Clicked: p.use.Click.Pos,
		Beside: p.use.Click.Pos.Neighbour(p.use.Click.Face), Cells: scene.Cells(p.use), Slot: p.slot, SlotCount: -1,
	}
	inv := tx.View().Inventory()
	if have := inv.Slots[worldstate.SlotHotbar+int(p.slot)]; have.Known {
		s.SlotCount = have.Stack.Count
	}
	s.OtherBefore, s.OtherKnown = tx.View().Block(s.Other())
	if err := p.a.evidence.UseSent(s); err != nil {
		return p.a.failed(tx, p.adm, err)
	}
	p.a.fence(tx, nil)
	return p.a.onWire(tx)
}

func (p *placing) fact(*bot.Tx, effects.Fact) {}

func (p *placing) tick(tx *bot.Tx) {
	switch {
	case p.later:
		if err := p.begin(tx); err != nil {
			p.a.end(Effect{}, err)
		}
	case p.adm != nil && !p.sent && tx.Ticks() >= p.at:
		err := p.a.recheck(tx, p.adm)
		if err == nil {
			err = p.click(tx)
		} else {
			delete(p.a.barred, p.pos) // it was closed as never sent
		}
		if err != nil {
			p.a.end(Effect{}, err)
		}
	}
}

// cut ends the run of a use whose world ended. Its action stays open in the journal for whoever reconciles it after a
// rejoin, and bars its cell until then.
func (p *placing) cut(tx *bot.Tx) {
	p.a.end(p.a.effect(tx, p.adm, effects.Settled{Code: effects.CodeCut}), nil)
}

// cancel takes back what has not been sent.
func (p *placing) cancel(tx *bot.Tx) {
	switch {
	case p.adm == nil:
		p.a.end(Effect{}, ErrCancelled)
	case !p.sent:
		p.abandon(tx)
	}
}

// abandon gives a sent use up as unverified.
func (p *placing) abandon(tx *bot.Tx) {
	switch {
	case p.adm == nil:
		p.a.end(Effect{}, ErrNotReady)
	case !p.sent:
		p.handle.Done()
		delete(p.a.barred, p.pos)
		p.a.settle(tx, p.adm, effects.Settled{Verdict: effects.NotExecuted, Code: effects.CodeNotSent})
	default:
		p.a.carry(tx, p.a.evidence.GiveUp(p.adm.base.Action))
	}
}

// carry stores what the evidence machine found.
func (a *Actor) carry(tx *bot.Tx, found effects.Findings) {
	for _, n := range found.Notices {
		if !n.Demotion() {
			a.cfg.Terms.Used = a.evidence.Used()
			continue
		}
		if err := a.cfg.Journal.Demote(a.cfg.Record.ID, effects.Observed, n.Code); err != nil {
			a.end(Effect{}, err)
		}
	}
	for _, s := range found.Settled {
		if a.run == nil {
			return
		}
		p, ok := a.run.deed.(*placing)
		if !ok || p.adm == nil || p.adm.base.Action != s.Action {
			continue
		}
		e, err := a.store(tx, p.adm, s)
		if err == nil && s.Verdict != effects.UnverifiedEffect && s.Verdict != effects.WrongResult {
			delete(a.barred, p.pos)
		}
		if err == nil && s.Verdict == effects.Proven {
			err = a.advanceCursor(tx.View(), p.adm.base.Postcondition)
		}
		a.end(e, err)
	}
}
