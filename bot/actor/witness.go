package actor

import (
	"sync"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/worldstate"
)

// Watcher is a second connection that looks on: a listener of another session, which sees where the bot stands, where it
// looks and what it holds. A fact of a witness counts for move_to, look_at and equip.
type Watcher struct {
	mu   sync.Mutex
	of   *effects.Witness
	last uint64 // newest fact of the witness' connection
	over bool
}

// Watch makes a watcher of the bot with this id out of another session; it must be called before that session's Run.
func Watch(witness *bot.Bot, who worldstate.UUID) *Watcher {
	w := &Watcher{of: effects.NewWitness(who)}
	witness.Listen(w)
	return w
}

// Fact implements bot.Listener.
func (w *Watcher) Fact(_ *bot.Tx, f bot.Fact) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = uint64(f.Sequence)
	w.of.Observe(effects.Fact{Sequence: w.last, Event: f.Event})
}

// Tick implements bot.Listener.
func (w *Watcher) Tick(*bot.Tx) bool { return false }

// Ended implements bot.Listener.
func (w *Watcher) Ended(error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

func (w *Watcher) sequence() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// looking says whether the witness is still there.
func (w *Watcher) looking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.over
}

// sees gives the fact that the postcondition was seen after since.
func (w *Watcher) sees(p effects.Postcondition, since uint64) (effects.FactRef, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return effects.FactRef{}, false
	}
	switch p := p.(type) {
	case effects.StandsIn:
		return w.of.StandsIn(p.Pos, since)
	case effects.LooksTowards:
		return w.of.LooksTowards(p.Look, since)
	case effects.HoldsItem:
		return w.of.Holds(p.Item, since)
	}
	return effects.FactRef{}, false
}
