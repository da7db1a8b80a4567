package actor

import (
	"fmt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// local is who asks for everything when no control plane stands in front.
const local = "local"

// proposal is one effect before the guard has seen it.
type proposal struct {
	post     effects.Postcondition
	pre      func(*bot.Tx) sentinel.Pin // what the binding rests on, as it is now
	spend    effects.Budgets
	clicked  journal.ClickedCell
	complete func(*bot.Tx, *sentinel.Facts) // adds what belongs to this effect
}

// bound is an effect frozen to exact targets. Nothing in it changes any more.
type bound struct {
	prop    proposal
	order   Order
	binding effects.Binding
	at      sentinel.Standing // as it was then
}

// admitted is an action that the guard admitted and whose mark is durable.
type admitted struct {
	*bound
	permit journal.Sent
	mark   journal.Mark
	base   effects.Outcome // everything of its record but the verdict
}

// consider asks the guard about a bound effect; nothing is stored or sent. A *Denied is the guard's.
func (a *Actor) consider(tx *bot.Tx, b *bound) error {
	f := a.facts(tx, b)
	if d := sentinel.Decide(&f); !d.Admit {
		return &Denied{f.Capability, d}
	}
	return nil
}

// admit asks the guard about a bound effect, stores the mark, and asks the guard again right before the first packet. An
// error means that nothing may be sent; a *Denied is the guard's.
func (a *Actor) admit(tx *bot.Tx, b *bound) (*admitted, error) {
	f := a.facts(tx, b)
	d := sentinel.Decide(&f)
	adm, ok := journal.Admit(d, &f)
	if !ok {
		return nil, &Denied{f.Capability, d}
	}
	m := journal.Mark{
		Binding: b.binding, Scope: a.cfg.Record.Scope, Admission: adm, Clicked: b.prop.clicked, Spend: b.prop.spend,
		Counters: a.evidence.Counters(),
	}
	if p, ok := b.binding.Postcondition.(effects.CellsBecome); ok {
		m.Step = a.nextStep(p.Cells[0].Pos)
	}
	m.WorldAge, _ = tx.View().WorldAge()
	sent, err := a.cfg.Journal.Mark(m)
	if err != nil {
		return nil, err
	}
	out := &admitted{bound: b, permit: sent[0], mark: m, base: outcomeOf(&m)}
	if err := a.recheck(tx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// recheck asks the guard once more about a marked action; what it denies is closed as never sent.
func (a *Actor) recheck(tx *bot.Tx, m *admitted) error {
	f := a.facts(tx, m.bound)
	d := sentinel.Decide(&f)
	if d.Admit {
		return nil
	}
	if _, err := a.store(tx, m, effects.Settled{Verdict: effects.NotExecuted, Code: effects.CodeNotSent}); err != nil {
		return err
	}
	return &Denied{f.Capability, d}
}

// outcomeOf is the record of a marked action before its verdict.
func outcomeOf(m *journal.Mark) effects.Outcome {
	b := &m.Binding
	return effects.Outcome{
		Action: b.Action, Mission: b.Mission, Binding: b.Digest(), Bot: b.Bot, Server: b.Server, Step: m.Step,
		Postcondition: b.Postcondition, LeastGrade: b.LeastGrade,
	}
}

// nextStep is the key of the next placement on a cell.
func (a *Actor) nextStep(pos geom.BlockPos) effects.StepKey {
	return effects.StepKey{Dimension: a.cfg.Record.Dimension, Pos: pos, Index: a.steps, Ordinal: a.onCell[pos]}
}

// bind freezes an effect.
func (a *Actor) bind(tx *bot.Tx, o Order, p proposal) (*bound, error) {
	var err error
	if o.Op == (effects.ActionID{}) {
		if o.Op, err = effects.NewActionID(a.cfg.Rand); err != nil {
			return nil, err
		}
	}
	left, err := a.left()
	if err != nil {
		return nil, err
	}
	uuid, _ := tx.Account()
	cursor, rec := a.cursor, &a.cfg.Record
	b := effects.Binding{
		Action: o.Op, Mission: rec.ID, Bot: uuid, Mode: effects.Attached, Server: rec.Server, PlanRevision: rec.Plan,
		AdapterRevision: AdapterRevision, Lease: o.lease(rec.ID), Precondition: p.pre(tx), Cursor: &cursor,
		Deadline: effects.Deadline{None: true}, Budgets: left, Postcondition: p.post,
		LeastGrade: a.cfg.Terms.least(p.post.Capability()), Rollback: p.post.Capability().Rollback(rec.ID.String()),
	}
	if t := a.cfg.Deadline; !t.IsZero() {
		b.Deadline = effects.Deadline{UnixMilli: t.UnixMilli()}
	}
	return &bound{prop: p, order: o, binding: b, at: a.standing(tx, o, b.Precondition)}, nil
}

// left is what the mission's marks have not taken of its budgets yet.
func (a *Actor) left() (effects.Budgets, error) {
	spent, err := a.cfg.Journal.Spent(a.cfg.Record.ID)
	all := a.cfg.Record.Budgets
	return effects.Budgets{
		Uses: all.Uses - spent.Uses, Quantity: all.Quantity - spent.Quantity, Distance: all.Distance - spent.Distance,
		Characters: all.Characters - spent.Characters,
	}, err
}

// standing is how things are now, for the guard to compare with how they were bound.
func (a *Actor) standing(tx *bot.Tx, o Order, pre sentinel.Pin) sentinel.Standing {
	uuid, _ := tx.Account()
	e := epoch(tx.View())
	return sentinel.Standing{
		Principal: sentinel.PinOf("principal", o.principal()), Policy: a.cfg.Terms.Policy,
		Lease:  sentinel.PinOf("lease", o.lease(a.cfg.Record.ID)),
		Server: sentinel.PinOf(tx.Identity().String()), Bot: uuid,
		Epoch:  sentinel.Epoch{Host: e.Host + 1, World: e.World + 1, Timeline: e.Timeline + 1},
		Cursor: cursorPin(a.now(tx.View())), Precondition: pre,
	}
}

func cursorPin(c effects.Cursor) sentinel.Pin {
	return sentinel.PinOf("cursor", fmt.Sprint(c.Count), fmt.Sprint(c.Hash))
}

// facts freezes everything that the guard looks at.
func (a *Actor) facts(tx *bot.Tx, was *bound) sentinel.Facts {
	p, b := &was.prop, &was.binding
	v := tx.View()
	me, inv := v.Self(), v.Inventory()
	now, bound := a.standing(tx, was.order, p.pre(tx)), was.at
	bound.Server, bound.Bot = sentinel.PinOf(b.Server), b.Bot
	bound.Cursor, bound.Precondition = cursorPin(*b.Cursor), b.Precondition
	builds := me.GameMode == worldstate.Survival || me.GameMode == worldstate.Creative
	c := p.post.Capability()
	f := sentinel.Facts{
		Capability: c, Stopped: sentinel.Known(a.stopped.Load()), Policy: a.cfg.Policy, Offered: a.cfg.Terms.offered(),
		Reachable: a.reachable(c), Least: b.LeastGrade, Classes: sentinel.ClassOrdinary,
		Mission: sentinel.MissionLive, Executes: sentinel.Yes, Bound: bound, Now: now, LeaseHeld: sentinel.Yes,
		Complete: sentinel.Known(b.Issuable() == nil), Consent: sentinel.ConsentNotNeeded,
		HasDeadline: sentinel.Known(!b.Deadline.None), Deadline: b.Deadline.UnixMilli, Clock: a.cfg.Now().UnixMilli(),
		PlotKnown: sentinel.Yes, Plot: a.cfg.Record.Plot,
		InDimension: sentinel.Known(v.DimensionName() == a.cfg.Record.Dimension),
		Dimension:   sentinel.DimensionOf(v.Dimension().Name),
		SelfKnown:   sentinel.Known(tx.Ready()), Self: geom.BlockAt(tx.Player().Pos),
		Able:       sentinel.Known(tx.Ready() && (builds || c != effects.PlaceBlock && me.GameMode != worldstate.GameModeUnknown)),
		Synced:     sentinel.Known(a.synced(&inv)),
		Count:      sentinel.Budget{Left: int64(b.Budgets.Uses), Want: 1},
		Distance:   sentinel.Budget{Left: int64(b.Budgets.Distance), Want: int64(p.spend.Distance)},
		Quantity:   sentinel.Budget{Left: int64(b.Budgets.Quantity), Want: int64(p.spend.Quantity)},
		Characters: sentinel.Budget{Left: int64(b.Budgets.Characters), Want: int64(p.spend.Characters)},
		Paced:      sentinel.Yes, Pipeline: 1, Outstanding: uint16(a.evidence.Outstanding()),
	}
	if a.cfg.Record.State != journal.MissionOpen {
		f.Mission = sentinel.MissionStopped
	}
	p.complete(tx, &f)
	return f
}

// synced says whether the slots can be gone by: the whole inventory was told, or this server never tells it, and then each
// slot is known or unknown by itself.
func (a *Actor) synced(inv *worldstate.Inventory) bool { return inv.Known || a.cfg.Terms.Slots }

// store makes a verdict durable and returns it as the caller will read it.
func (a *Actor) store(tx *bot.Tx, m *admitted, s effects.Settled) (Effect, error) {
	s.Action = m.base.Action
	if s.Evidence.Epoch == (effects.Epoch{}) {
		s.Evidence.Epoch = epoch(tx.View())
	}
	o := s.Outcome(m.base)
	o.UnixMilli = a.cfg.Now().UnixMilli()
	a.at(AfterEvidence)
	if err := a.cfg.Journal.Settle(o); err != nil {
		return Effect{}, err
	}
	return a.effect(tx, m, s), nil
}

func (a *Actor) effect(tx *bot.Tx, m *admitted, s effects.Settled) Effect {
	return Effect{
		Action: m.base.Action, Capability: m.base.Postcondition.Capability(), Verdict: s.Verdict, Grade: s.Grade, Code: s.Code,
		Why: s.Code.Words(), Receipt: s.Verdict == effects.Proven && s.Grade > effects.Processed, Position: tx.Player().Pos,
	}
}

// settle stores a verdict and ends the run.
func (a *Actor) settle(tx *bot.Tx, m *admitted, s effects.Settled) {
	e, err := a.store(tx, m, s)
	a.end(e, err)
}
