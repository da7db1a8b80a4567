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

// principal is who asks for everything when no control plane stands in front.
var principal = sentinel.PinOf("principal", "local")

// proposal is one effect before the guard has seen it.
type proposal struct {
	post     effects.Postcondition
	pre      func(*bot.Tx) sentinel.Pin // what the binding rests on, as it is now
	spend    effects.Budgets
	key      effects.StepKey
	clicked  journal.ClickedCell
	complete func(*bot.Tx, *sentinel.Facts) // adds what belongs to this effect
}

// admitted is an action that the guard admitted and whose mark is durable.
type admitted struct {
	prop   proposal
	permit journal.Sent
	mark   journal.Mark
	base   effects.Outcome // everything of its record but the verdict
}

// admit binds an effect, asks the guard, stores the mark, and asks the guard again right before the first packet. An error
// means that nothing may be sent; a *Denied is the guard's.
func (a *Actor) admit(tx *bot.Tx, p proposal) (*admitted, error) {
	b, err := a.bind(tx, p)
	if err != nil {
		return nil, err
	}
	f := a.facts(tx, p, &b)
	d := sentinel.Decide(&f)
	adm, ok := journal.Admit(d, &f)
	if !ok {
		return nil, &Denied{f.Capability, d}
	}
	m := journal.Mark{
		Binding: b, Scope: a.cfg.Record.Scope, Admission: adm, Step: p.key, Clicked: p.clicked, Spend: p.spend,
		Counters: a.evidence.Counters(),
	}
	m.WorldAge, _ = tx.View().WorldAge()
	sent, err := a.cfg.Journal.Mark(m)
	if err != nil {
		return nil, err
	}
	out := &admitted{prop: p, permit: sent[0], mark: m, base: outcomeOf(&m)}
	if err := a.recheck(tx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// recheck asks the guard once more about a marked action; what it denies is closed as never sent.
func (a *Actor) recheck(tx *bot.Tx, m *admitted) error {
	f := a.facts(tx, m.prop, &m.mark.Binding)
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

// bind freezes an effect.
func (a *Actor) bind(tx *bot.Tx, p proposal) (effects.Binding, error) {
	id, err := effects.NewActionID(a.cfg.Rand)
	if err != nil {
		return effects.Binding{}, err
	}
	left, err := a.left()
	if err != nil {
		return effects.Binding{}, err
	}
	uuid, _ := tx.Account()
	cursor, rec := a.cursor, &a.cfg.Record
	b := effects.Binding{
		Action: id, Mission: rec.ID, Bot: uuid, Mode: effects.Attached, Server: rec.Server, PlanRevision: rec.Plan,
		AdapterRevision: AdapterRevision, Lease: rec.ID.String(), Precondition: p.pre(tx), Cursor: &cursor,
		Deadline: effects.Deadline{None: true}, Budgets: left, Postcondition: p.post,
		LeastGrade: a.cfg.Terms.least(p.post.Capability()), Rollback: p.post.Capability().Rollback(rec.ID.String()),
	}
	if t := a.cfg.Deadline; !t.IsZero() {
		b.Deadline = effects.Deadline{UnixMilli: t.UnixMilli()}
	}
	return b, nil
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
func (a *Actor) standing(tx *bot.Tx, pre sentinel.Pin) sentinel.Standing {
	uuid, _ := tx.Account()
	e := epoch(tx.View())
	return sentinel.Standing{
		Principal: principal, Policy: a.cfg.Terms.Policy, Lease: sentinel.PinOf("mission", a.cfg.Record.ID.String()),
		Server: sentinel.PinOf(tx.Identity().String()), Bot: uuid,
		Epoch:  sentinel.Epoch{Host: e.Host + 1, World: e.World + 1, Timeline: e.Timeline + 1},
		Cursor: cursorPin(a.now(tx.View())), Precondition: pre,
	}
}

func cursorPin(c effects.Cursor) sentinel.Pin {
	return sentinel.PinOf("cursor", fmt.Sprint(c.Count), fmt.Sprint(c.Hash))
}

// facts freezes everything that the guard looks at.
func (a *Actor) facts(tx *bot.Tx, p proposal, b *effects.Binding) sentinel.Facts {
	v := tx.View()
	me, inv := v.Self(), v.Inventory()
	now := a.standing(tx, p.pre(tx))
	bound := now
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
