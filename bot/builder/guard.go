package builder

import (
	"fmt"
	"slices"
	"strings"

	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// admitted is an action that the guard admitted and whose mark is durable.
type admitted struct {
	permit journal.Sent
	mark   journal.Mark
	base   effects.Outcome   // everything of its record but the verdict
	at     sentinel.Standing // as it was bound
}

// proposal is one effect before the guard has seen it.
type proposal struct {
	step     int // -1 for none
	request  effects.Request
	post     effects.Postcondition
	least    effects.Grade
	pre      func(*bot.Tx) sentinel.Pin // what the binding rests on, as it is now
	spend    effects.Budgets
	key      effects.StepKey
	clicked  journal.ClickedCell
	complete func(*bot.Tx, *sentinel.Facts) // adds what belongs to this effect
}

// admit makes use of a leave: it asks the guard about what was bound, stores the mark, and asks the guard again right
// before the first packet. False means that nothing may be sent; it has been reported.
func (w *worker) admit(tx *bot.Tx, q *asked) (*admitted, bool) {
	p, b := q.prop, q.binding
	b.Action = q.leave.Op
	q.used = true
	if err := b.Issuable(); err != nil {
		w.site.Gate.Unused(b.Action, "internal", err.Error())
		w.fail(err)
		return nil, false
	}
	f := w.guardFacts(tx, p, &b, q.at)
	d := sentinel.Decide(&f)
	adm, ok := journal.Admit(d, &f)
	if !ok {
		w.site.Gate.Unused(b.Action, d.Rule.String(), why(d))
		w.denied(p, d)
		return nil, false
	}
	m := journal.Mark{
		Binding: b, Scope: w.site.Record.Scope, Admission: adm, Step: p.key, Clicked: p.clicked, Spend: p.spend,
		Counters: w.evidence.Counters(),
	}
	m.WorldAge, _ = tx.View().WorldAge()
	for _, o := range w.evidence.Open() {
		m.Outstanding = append(m.Outstanding, journal.Outstanding{Action: o.Action, Counted: o.Counted})
	}
	sent, err := w.site.Journal.Mark(m)
	if err != nil {
		w.site.Gate.Unused(b.Action, "internal", err.Error())
		w.fail(err)
		return nil, false
	}
	w.goOn()
	a := &admitted{permit: sent[0], mark: m, base: rejoin.OutcomeOf(&m), at: q.at}
	f = w.guardFacts(tx, p, &b, q.at)
	if d := sentinel.Decide(&f); !d.Admit {
		w.denied(p, d)
		w.neverSent(tx, a)
		return nil, false
	}
	return a, true
}

// neverSent closes a marked action of which not one deciding packet went out.
func (w *worker) neverSent(tx *bot.Tx, a *admitted) {
	w.store(tx, effects.Settled{Action: a.base.Action, Verdict: effects.NotExecuted, Code: effects.CodeNotSent,
		Evidence: effects.Evidence{Epoch: epoch(tx.View())}}.Outcome(a.base))
}

func (w *worker) denied(p proposal, d sentinel.Decision) {
	w.site.Report(Denied{Step: p.step, Capability: p.post.Capability(), Rule: d.Rule.String(), Why: why(d)})
}

// why is the guard's word for a denial without the name of its rule, which is told beside it.
func why(d sentinel.Decision) string {
	return strings.TrimPrefix(d.Explain(), "denied by rule "+d.Rule.String()+": ")
}

// bind freezes an effect, all but the action's id, which comes with the leave.
func (w *worker) bind(tx *bot.Tx, p proposal) (effects.Binding, error) {
	left, err := w.left()
	if err != nil {
		return effects.Binding{}, err
	}
	cursor := w.site.mission.Cursor()
	w.stood(cursor) // others may move it on at any moment
	uuid, _ := tx.Account()
	r := &w.site.Record
	b := effects.Binding{
		Mission: r.ID, Bot: uuid, Mode: effects.Attached, Server: r.Server, PlanRevision: r.Plan,
		AdapterRevision: AdapterRevision, Lease: w.site.lease(), Precondition: p.pre(tx), Cursor: &cursor,
		Deadline: w.deadline(), Budgets: left, Postcondition: p.post, LeastGrade: p.least,
		Rollback: p.post.Capability().Rollback("mission " + r.ID.String()),
	}
	return b, nil
}

func (w *worker) deadline() effects.Deadline {
	if d := w.site.Options.Deadline; !d.IsZero() {
		return effects.Deadline{UnixMilli: d.UnixMilli()}
	}
	return effects.Deadline{None: true}
}

// left is what the mission's budgets still hold.
func (w *worker) left() (effects.Budgets, error) {
	used, err := w.site.Journal.Spent(w.site.Record.ID)
	b := w.site.Record.Budgets
	return effects.Budgets{
		Uses: b.Uses - used.Uses, Quantity: b.Quantity - used.Quantity,
		Distance: b.Distance - used.Distance, Characters: b.Characters - used.Characters,
	}, err
}

// standing is what must be the same when an action is bound and when it is sent. Host and timeline epochs count from 1
// here: zero stands for unknown in the guard.
func (w *worker) standing(tx *bot.Tx, pre sentinel.Pin) sentinel.Standing {
	v := tx.View()
	e := v.Epoch()
	c := w.site.mission.Cursor()
	uuid, _ := tx.Account()
	return sentinel.Standing{
		Principal: sentinel.PinOf("principal", w.site.principal()), Policy: w.site.Terms.Policy, Lease: sentinel.PinOf("lease", w.site.lease()),
		Server: sentinel.PinOf(w.site.Record.Server), Bot: uuid,
		Epoch:  sentinel.Epoch{Host: e.Host + 1, World: e.World + 1, Timeline: e.Timeline + 1},
		Cursor: sentinel.PinOf("cursor", fmt.Sprint(c.Count), fmt.Sprint(c.Hash)), Precondition: pre,
	}
}

// guardFacts freezes everything that the guard looks at.
func (w *worker) guardFacts(tx *bot.Tx, p proposal, b *effects.Binding, bound sentinel.Standing) sentinel.Facts {
	v := tx.View()
	me, inv := v.Self(), v.Inventory()
	now := w.standing(tx, p.pre(tx))
	bound.Server, bound.Bot, bound.Precondition = sentinel.PinOf(b.Server), b.Bot, b.Precondition
	bound.Cursor = sentinel.PinOf("cursor", fmt.Sprint(b.Cursor.Count), fmt.Sprint(b.Cursor.Hash))
	if w.stood(*b.Cursor) { // nothing but steps of our own was proven since
		now.Cursor = bound.Cursor
	}
	builds := me.GameMode == worldstate.Survival || me.GameMode == worldstate.Creative
	f := sentinel.Facts{
		Capability: p.post.Capability(),
		Stopped:    sentinel.Known(w.site.stopped.Load()),
		Policy:     sentinel.Reads | sentinel.CapabilitySet(effects.MoveTo, effects.Equip, effects.PlaceBlock),
		Offered:    w.site.Terms.Offered, Reachable: w.reachable(p.post.Capability()), Least: b.LeastGrade,
		Classes: sentinel.ClassOrdinary,
		Mission: sentinel.MissionLive, Executes: sentinel.Yes, Bound: bound, Now: now, LeaseHeld: sentinel.Yes,
		Complete: sentinel.Known(b.Issuable() == nil), Consent: sentinel.ConsentNotNeeded,
		HasDeadline: sentinel.Known(!b.Deadline.None), Deadline: b.Deadline.UnixMilli, Clock: w.site.Now().UnixMilli(),
		PlotKnown: sentinel.Yes, Plot: w.site.Record.Plot,
		InDimension: sentinel.Known(v.DimensionName() == w.site.Record.Dimension),
		Dimension:   sentinel.DimensionOf(v.Dimension().Name),
		SelfKnown:   sentinel.Known(tx.Ready()), Self: geom.BlockAt(tx.Player().Pos),
		Able:     sentinel.Known(tx.Ready() && builds),
		Synced:   sentinel.Known(w.synced(&inv)),
		Count:    sentinel.Budget{Left: int64(b.Budgets.Uses), Want: 1},
		Distance: sentinel.Budget{Left: int64(b.Budgets.Distance), Want: int64(p.spend.Distance)},
		Quantity: sentinel.Budget{Left: int64(b.Budgets.Quantity), Want: int64(p.spend.Quantity)},
		Paced:    sentinel.Known(p.post.Capability() != effects.PlaceBlock || !tx.Now().Before(w.nextUse)),
		Pipeline: uint16(w.site.Options.Pipeline), Outstanding: uint16(w.evidence.Outstanding()),
	}
	p.complete(tx, &f)
	return f
}

// reachable is the best grade that this session can still prove.
func (w *worker) reachable(c effects.Capability) effects.Grade {
	switch c {
	case effects.MoveTo, effects.Equip:
		return effects.Processed
	case effects.PlaceBlock:
	default:
		return effects.GradeNone
	}
	switch {
	case !w.site.Terms.Fence || w.evidence != nil && w.evidence.Demoted():
		return effects.Observed
	case w.evidence != nil && w.evidence.Used() == effects.UsedFrozen:
		return effects.Acknowledged
	}
	return effects.Attributed
}

// mayReplace says whether the owner allowed to build over this block.
func (w *worker) mayReplace(name string) bool {
	return slices.Contains(w.site.Options.MayReplace, name)
}
