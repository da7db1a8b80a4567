package actor

import (
	"blockworld/bot"
	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// gesture is what move_to, look_at and equip have in common: after their last packet they wait for the reply to a fence,
// or for quiet ticks where there is none, and for a witness if somebody looks on.
type gesture struct {
	common
	adm         *admitted
	corrections uint64 // counted before the first packet
	since       uint64 // the witness' sequence before the first packet
	last        uint64 // tick of the last packet
	waiting     bool   // the last packet is out
	reply       *effects.FactRef
	more        func(*bot.Tx, *effects.GestureFacts) // what this gesture knows beside that
}

// witnessTicks is how long a witness may take to see what the fence says was run.
const witnessTicks = 20

// open admits the gesture.
func (g *gesture) open(tx *bot.Tx, b *bound) error {
	var err error
	g.corrections = tx.Corrections()
	if w := g.a.cfg.Witness; w != nil {
		g.since = w.sequence()
	}
	g.adm, err = g.a.admit(tx, b)
	return err
}

// sent starts the wait for the proof.
func (g *gesture) sent(tx *bot.Tx) {
	g.waiting, g.last = true, tx.Ticks()
	g.a.fence(tx, func(tx *bot.Tx, reply effects.FactRef) {
		g.reply = &reply
		g.judge(tx, false)
	})
	tx.Wake(3)
}

func (g *gesture) fact(*bot.Tx, effects.Fact) {}

func (g *gesture) tick(tx *bot.Tx) {
	if g.waiting {
		g.judge(tx, false)
	}
}

// cancel takes back what has not been sent; what has been is waited for.
func (g *gesture) cancel(*bot.Tx) {
	if g.adm == nil {
		g.a.end(Effect{}, ErrCancelled)
	}
}

// abandon judges by what is there.
func (g *gesture) abandon(tx *bot.Tx) {
	if g.adm == nil {
		g.a.end(Effect{}, ErrNotReady)
		return
	}
	g.judge(tx, true)
}

// judge gives the verdict when the facts are in, or by force.
func (g *gesture) judge(tx *bot.Tx, now bool) {
	if g.a.run == nil || g.adm == nil {
		return
	}
	t := &g.a.cfg.Terms
	quiet := int(tx.Ticks() - g.last)
	f := effects.GestureFacts{
		Action: g.adm.base.Action, Capability: g.adm.base.Postcondition.Capability(), Epoch: epoch(tx.View()),
		Least: g.adm.base.LeastGrade, Ready: tx.Ready(), Corrected: tx.Corrections() != g.corrections, FenceReply: g.reply,
		QuietTicks: quiet, HasFence: t.Fence,
	}
	if g.more != nil {
		g.more(tx, &f)
	}
	f.Witness, f.Elsewhere = g.witnessed(tx)
	processed := g.reply != nil || !t.Fence && quiet >= 2
	seen := g.a.cfg.Witness == nil || f.Witness != nil || quiet >= witnessTicks
	if now || f.Corrected || processed && seen {
		g.a.settle(tx, g.adm, effects.JudgeGesture(f))
	}
}

// witnessed asks the witness.
func (g *gesture) witnessed(tx *bot.Tx) (ref *effects.FactRef, elsewhere bool) {
	w := g.a.cfg.Witness
	if w == nil {
		return nil, false
	}
	r, ok := w.sees(g.adm.base.Postcondition, g.since)
	if ok {
		return &r, false
	}
	return nil, w.sequence() > g.since && tx.Ticks() >= g.last+witnessTicks && w.looking()
}

// custom is the sum of the distance statistics, in centimetres; false before the first reply.
func custom(v worldstate.View) (int64, bool) {
	s := v.Stats()
	return effects.Distance(s.Category(registry.StatCategoryCustom)), s.Known()
}
