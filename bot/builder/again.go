package builder

import (
	"errors"
	"time"

	"blockworld/bot"
	"blockworld/bot/scene"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
)

// A step that cannot be done now is offered again when what stood against it may be gone. Most of that the mission sees by
// itself each time it is asked: cells, items, who stands in the way. The rest is here, and none of it relies on a fact that
// comes at the right moment: what the guard denied is offered again after facts have come in, and by itself after a while.

// denial is a step that the guard denied, or that the bot found no way to.
type denial struct {
	at   time.Time
	wait time.Duration // until it is offered again by itself
	over bool          // it has been offered again; what is left says how often that was in vain
}

// How long it takes until a denied step is offered again: after facts have come in, by itself at first, and by itself at most.
const (
	denialStirred = time.Second
	denialFirst   = time.Second
	denialMost    = 16 * time.Second
)

// deny takes note of a step that is denied now.
func (w *worker) deny(tx *bot.Tx, step int) {
	d := w.denials[step]
	if d == nil {
		d = &denial{wait: denialFirst}
		w.denials[step] = d
	} else {
		d.wait = min(2*d.wait, denialMost)
	}
	d.at, d.over = tx.Now(), false
}

// reconsider offers steps again that the guard denied: what it denied them for may be gone. Nothing was sent for them.
func (w *worker) reconsider(tx *bot.Tx) {
	if len(w.denials) == 0 || w.phase != working {
		return
	}
	now := tx.Now()
	stirred := w.stirs && now.Sub(w.stirsAt) >= denialStirred
	if stirred {
		w.stirs, w.stirsAt = false, now
	}
	for step, d := range w.denials {
		if !d.over && (stirred || now.Sub(d.at) >= d.wait) {
			d.over = true
			w.wakeUp(step)
		}
	}
}

// wakeUp opens a refused step again, if it is still refused.
func (w *worker) wakeUp(step int) {
	if err := w.site.mission.Wake(step); err != nil && !errors.Is(err, mission.ErrState) {
		w.fail(err)
	}
}

// How near somebody must be to have been the reason of a server's refusal, in blocks: when the verdict is there, and, since
// who flies is far away by then, when the use goes out. And how often that is believed of one step in one session.
const (
	crowdMargin = 1.5
	crowdBefore = 6
	mostCrowds  = 8
)

// beside tells whether another player is near enough to the place of a use that the server may see them in it.
func (w *worker) beside(tx *bot.Tx, u placement.Use) bool {
	for _, b := range w.others {
		if _, near := scene.InWay(tx.Registry(), []scene.Body{b}, u, crowdBefore); near && b.Player {
			return true
		}
	}
	return false
}

// crowded takes note that the server refused a step while somebody stood so near that our view of them may have been late.
func (w *worker) crowded(tx *bot.Tx, s *sentUse) {
	st, _ := w.site.mission.Status(s.step)
	if st.State != mission.Refused || w.crowds[s.step] >= mostCrowds || !s.near && !scene.Crowded(tx.View(), w.site.Uses[s.step], crowdMargin) {
		return
	}
	w.crowds[s.step]++
	w.waits[s.step] = true
	tx.Wake(1)
}

// uncrowd opens those steps again whose place has become free: that is what they waited for.
func (w *worker) uncrowd(tx *bot.Tx) {
	for step := range w.waits {
		if scene.SpaceFree(tx.View(), w.site.Uses[step]) {
			delete(w.waits, step)
			w.wakeUp(step)
		}
	}
}
