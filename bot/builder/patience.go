package builder

import (
	"errors"
	"time"

	"blockworld/bot"
)

// ErrSilent says that a server does not answer request-stats although its profile says that it does.
var ErrSilent = errors.New("the server does not answer request-stats any more: probe it again")

const (
	fenceTicks = 600 // how long a fence may stay without its answer before the session is given up; 30 s at the usual pace
	mostSilent = 3   // sessions in a row that end so without a single answer
)

// wonderTicks is how long a fence may stay without its answer before people are told what is waited for.
const wonderTicks = 40

// asked notes a fence, answeredOne its answer.
func (w *worker) asked(tx *bot.Tx) { w.askedAt = append(w.askedAt, moment{tx.Ticks(), tx.Now()}) }

// moment is a time, in ticks and by the clock.
type moment struct {
	tick uint64
	at   time.Time
}

func (w *worker) answeredOne() {
	w.site.silent = 0
	if len(w.askedAt) > 0 {
		w.askedAt = w.askedAt[1:]
	}
}

// impatient leaves a session in which a fence was never answered: what is open is judged after the next join.
func (w *worker) impatient(tx *bot.Tx) {
	if len(w.askedAt) == 0 {
		return
	}
	if waited := tx.Ticks() - w.askedAt[0].tick; waited < fenceTicks {
		w.wonder(tx, waited)
		return
	}
	if w.full == nil {
		w.site.silent++
	}
	if w.site.silent >= mostSilent {
		w.fail(ErrSilent)
		return
	}
	w.leave("the server did not answer request-stats")
}

// wonder tells people of a fence that has been without its answer for long, once.
func (w *worker) wonder(tx *bot.Tx, waited uint64) {
	if waited < wonderTicks || w.wondered == w.askedAt[0] {
		return
	}
	w.wondered = w.askedAt[0]
	step := -1
	for _, s := range w.open {
		if step < 0 || s.step < step {
			step = s.step
		}
	}
	so := tx.Now().Sub(w.askedAt[0].at)
	w.site.Report(Unanswered{Step: step, For: so, Left: so * time.Duration(fenceTicks-waited) / time.Duration(waited)})
}
