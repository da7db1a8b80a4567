package builder

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
	"blockworld/sentinel"
)

// asked is a question on its way, or its leave waiting to be used.
type asked struct {
	prop    proposal
	binding effects.Binding   // all but the action's id
	at      sentinel.Standing // as it was bound
	use     *bound            // of a placement
	then    func(*bot.Tx, *admitted) bool

	heard bool // the answer is in
	leave Leave
	used  bool // or dropped

	mu     sync.Mutex
	inline bool // Ask has not returned yet
}

// ask binds an effect, asks the guard, and then the gate. Nil means that the guard would not have it, or that the work is
// over; it has been reported.
func (w *worker) ask(tx *bot.Tx, p proposal) *asked {
	if w.site.withheld[p.step] {
		return nil
	}
	b, err := w.bind(tx, p)
	if err != nil {
		w.fail(err)
		return nil
	}
	q := &asked{prop: p, binding: b, at: w.standing(tx, b.Precondition), inline: true}
	f := w.guardFacts(tx, p, &b, q.at)
	if w.site.Options.Ahead > 0 { // its moment comes later, and then these are asked again
		f.Paced, f.Outstanding = sentinel.Yes, 0
	}
	f.Complete = sentinel.Yes // but for the id
	if d := sentinel.Decide(&f); !d.Admit {
		w.denied(p, d)
		return nil
	}
	w.site.asks++
	w.site.Gate.Ask(Question{
		Key: fmt.Sprintf("%s-%d-%d", p.post.Capability(), p.step, w.site.asks), Step: p.step, Request: p.request, Distance: p.spend.Distance,
		Bind: func(id effects.ActionID) effects.Binding {
			b := b
			b.Action = id
			return b
		},
	}, func(l Leave) { w.reply(q, l) })
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inline = false
	return q
}

// reply takes an answer from any goroutine.
func (w *worker) reply(q *asked, l Leave) {
	q.mu.Lock()
	inline := q.inline
	if inline {
		q.heard, q.leave = true, l
	}
	q.mu.Unlock()
	if inline {
		return
	}
	go func() {
		if err := w.bot.Do(context.Background(), func(tx *bot.Tx) { w.hear(tx, q, l) }); err != nil && l.OK {
			w.site.Gate.Unused(l.Op, "interrupted", "the session ended before it could be used")
		}
	}()
}

// hear takes an answer on the loop.
func (w *worker) hear(tx *bot.Tx, q *asked, l Leave) {
	switch {
	case q.used && l.OK: // it was dropped while it was asked for
		w.site.Gate.Unused(l.Op, "interrupted", "it is not wanted any more")
	case q.used:
		if walk := w.walking; walk != nil && walk.walk != nil && walk.adm.base.Action == q.leave.Op {
			walk.walk.Stop()
		}
	case q.heard && q.leave.OK && l.OK: // said twice
	default:
		q.heard, q.leave = true, l
		if q == w.way {
			w.way = nil
			w.goWay(tx, q)
		}
		w.advance(tx)
		tx.Wake(1)
	}
}

// soon goes on with a walk or slot change as soon as there is an answer. Then gets nil when there is no leave.
func (w *worker) soon(tx *bot.Tx, q *asked, then func(*bot.Tx, *admitted) bool) bool {
	if q == nil {
		return then(tx, nil)
	}
	q.then = then
	if q.heard {
		return w.goWay(tx, q)
	}
	w.way = q
	return false
}

func (w *worker) goWay(tx *bot.Tx, q *asked) bool {
	switch {
	case w.phase == over || w.site.quits.Load():
		w.drop(q, "it is not wanted any more")
		return false
	case q.leave.OK:
		adm, ok := w.admit(tx, q)
		if !ok {
			adm = nil
		}
		return q.then(tx, adm)
	}
	q.used = true
	w.withheld(q)
	if q.prop.step >= 0 && w.phase == working {
		w.withhold(tx, q)
		return true
	}
	return q.then(tx, nil)
}

// isAsked tells whether a step's placement waits for leave or with leave for its moment.
func (w *worker) isAsked(step int) bool {
	for _, q := range w.line {
		if q.use.step == step {
			return true
		}
	}
	return false
}

// useLeaves sends the placements whose leave has come, as far as their moment has. False means that nothing else may be
// decided now.
func (w *worker) useLeaves(tx *bot.Tx) bool {
	for i := 0; i < len(w.line); {
		q := w.line[i]
		if !q.heard {
			i++
			continue
		}
		if claimed := w.holds(q.use.step); !claimed || w.site.quits.Load() || !q.leave.OK {
			w.line = append(w.line[:i:i], w.line[i+1:]...)
			w.letGo(tx, q, claimed)
			continue
		}
		turn, wait := w.turn(tx, q.use)
		ahead := turn && q.use.use.LookMatters == placement.LookNear6
		if !w.windowOpen(tx) || wait || ahead && len(w.open) > 0 || !w.supportProven(tx, q.use) {
			tx.Wake(1)
			return w.site.Options.Ahead > 0 && !wait
		}
		w.line = append(w.line[:i:i], w.line[i+1:]...)
		if !w.send(tx, q, turn, ahead) || w.phase != working || w.busy() {
			return false
		}
	}
	return w.site.Options.Ahead > 0 || len(w.line) == 0
}

// holds tells whether a step is claimed by this bot.
func (w *worker) holds(step int) bool { return w.site.mission.Holds(step, w.site.Self) }

// letGo ends a question whose placement will not be sent.
func (w *worker) letGo(tx *bot.Tx, q *asked, claimed bool) {
	switch {
	case q.leave.OK:
		w.drop(q, "the step is not to be done just now")
		return
	case !claimed:
		q.used = true
		return
	}
	q.used = true
	w.withheld(q)
	w.withhold(tx, q)
}

// withheld tells people that the gate gave no leave.
func (w *worker) withheld(q *asked) {
	w.site.Report(Denied{Step: q.prop.step, Capability: q.prop.post.Capability(), Rule: q.leave.Code, Why: q.leave.Message, Gate: true, Again: q.leave.Again})
}

// withhold tells the mission that a step has no leave. What may pass is asked again when facts change, the rest not in this
// run of the program.
func (w *worker) withhold(tx *bot.Tx, q *asked) {
	if q.leave.Again {
		w.refuse(tx, q.prop.step)
		w.again = append(w.again, again{q.prop.step, tx.Ticks() + againTicks})
		tx.Wake(1)
		return
	}
	if w.site.withheld == nil {
		w.site.withheld = map[int]bool{}
	}
	w.site.withheld[q.prop.step] = true
	if err := w.site.mission.Denied(q.prop.step); err != nil {
		w.fail(err)
		return
	}
	if p, ok := q.prop.request.(effects.PlaceBlockRequest); ok && q.leave.Alike {
		w.withholdAlike(tx, p.State)
	}
}

// withholdAlike withholds every step of one block, in whatever state.
func (w *worker) withholdAlike(tx *bot.Tx, state string) {
	reg := tx.Registry()
	id, err := reg.ParseState(state)
	if err != nil {
		return
	}
	w.site.mission.Withhold(w.site.Self, func(i int) bool {
		alike := reg.BlockOf(w.site.Uses[i].Cells[0].To) == reg.BlockOf(id)
		if alike {
			w.site.withheld[i] = true
		}
		return alike
	})
}

// again is a step that the gate may give leave for later.
type again struct {
	step int
	at   uint64 // tick
}

// againTicks is how long a step waits until the gate is asked again.
const againTicks = 10

// askAgain offers steps again whose time has come.
func (w *worker) askAgain(tx *bot.Tx) {
	for len(w.again) > 0 && tx.Ticks() >= w.again[0].at {
		step := w.again[0].step
		w.again = w.again[1:]
		delete(w.denials, step)
		if err := w.site.mission.Wake(step); err != nil && !errors.Is(err, mission.ErrState) {
			w.fail(err)
		}
	}
}

// drop gives a leave back unused.
func (w *worker) drop(q *asked, why string) {
	if q.used {
		return
	}
	q.used = true
	if q.heard && q.leave.OK {
		w.site.Gate.Unused(q.leave.Op, "interrupted", why)
	}
}

// dropAll gives back every leave and forgets every question.
func (w *worker) dropAll(why string) {
	for _, q := range w.line {
		w.drop(q, why)
	}
	if w.way != nil {
		w.drop(w.way, why)
	}
	w.line, w.way = nil, nil
}

// quit ends the session when its owner wants that and nothing is on its way any more.
func (w *worker) quit() bool {
	if !w.site.quits.Load() {
		return false
	}
	w.dropAll("the work ends")
	if len(w.open) == 0 && w.staged == nil && w.walking == nil && w.equip == nil {
		w.finish(Result{Quit: true, Step: -1, Summary: w.site.mission.Summary()})
	}
	return true
}

// stood tells whether the mission has stood at a cursor, and nothing but steps of our own was proven since.
func (w *worker) stood(c effects.Cursor) bool {
	s, now := w.site, w.site.mission.Cursor()
	if now != s.last {
		if now.Count < s.last.Count || now.Count == s.last.Count {
			clear(s.stands)
		}
		s.last = now
	}
	if s.stands == nil {
		s.stands = map[effects.Cursor]bool{}
	}
	s.stands[now] = true
	return s.stands[c]
}

// nudge makes the live session look at what its owner wants.
func (s *Site) nudge() {
	if w := s.current.Load(); w != nil {
		go w.bot.Do(context.Background(), func(tx *bot.Tx) {
			if w.walking != nil && w.walking.walk != nil {
				w.walking.walk.Stop()
			}
			if w.phase != over {
				w.advance(tx)
				tx.Wake(1)
			}
		})
	}
}
