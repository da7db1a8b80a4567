package builder

import (
	"errors"

	"blockworld/bot"
)

// ErrSilent says that a server does not answer request-stats although its profile says that it does.
var ErrSilent = errors.New("the server does not answer request-stats any more: probe it again")

const (
	fenceTicks = 600 // how long a fence may stay without its answer before the session is given up; 30 s at the usual pace
	mostSilent = 3   // sessions in a row that end so without a single answer
)

// asked notes a fence, answeredOne its answer.
func (w *worker) asked(tx *bot.Tx) { w.askedAt = append(w.askedAt, tx.Ticks()) }

func (w *worker) answeredOne() {
	w.site.silent = 0
	if len(w.askedAt) > 0 {
		w.askedAt = w.askedAt[1:]
	}
}

// impatient leaves a session in which a fence was never answered: what is open is judged after the next join.
func (w *worker) impatient(tx *bot.Tx) {
	if len(w.askedAt) == 0 || tx.Ticks() < w.askedAt[0]+fenceTicks {
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
