package builder

import (
	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/sentinel"
)

// stepStates maps the mission's states to the guard's words.
var stepStates = map[mission.State]sentinel.StepState{
	mission.Claimed:    sentinel.StepReady,
	mission.Pending:    sentinel.StepReady,
	mission.Sent:       sentinel.StepUnresolved,
	mission.Unverified: sentinel.StepUnresolved,
	mission.Wrong:      sentinel.StepDisturbed,
	mission.Disturbed:  sentinel.StepDisturbed,
}

// carry stores what the evidence machine found, then tells the mission and people, then moves the cursor.
func (w *worker) carry(tx *bot.Tx, found effects.Findings) {
	for _, n := range found.Notices {
		w.notice(n)
	}
	var outcomes []effects.Outcome
	for _, s := range found.Settled {
		if sent, ok := w.open[s.Action]; ok {
			o := s.Outcome(sent.base)
			o.UnixMilli = w.site.Now().UnixMilli()
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) == 0 {
		return
	}
	w.site.at(AfterEvidence)
	if err := w.site.Journal.Settle(outcomes...); err != nil {
		w.fail(err)
		return
	}
	for _, s := range found.Settled {
		if sent, ok := w.open[s.Action]; ok {
			delete(w.open, s.Action)
			w.judgedUse(sent, s.Verdict)
			delete(w.denials, sent.step) // what it waits for now, if anything, is another matter
			w.told(sent.step, s, false)
			if s.Verdict == effects.Refused && w.phase == working {
				w.forgive(sent.step, sent.at)
				w.crowded(tx, sent)
			}
		}
	}
	w.judged = true
	w.moveCursor()
}

// told passes a durable verdict on to the mission and to people.
func (w *worker) told(step int, s effects.Settled, rejoined bool) {
	if err := w.site.Team.settled(w.site, step, s, rejoined); err != nil {
		w.fail(err)
		return
	}
	pos := w.site.Plan.Steps[step].Cells[0].Pos
	w.site.Report(Settled{Step: step, Pos: pos, Verdict: s.Verdict, Grade: s.Grade, Code: s.Code, Joined: rejoined})
}

func (w *worker) moveCursor() {
	if w.phase == over {
		return
	}
	c := w.site.mission.Cursor()
	if w.site.shared() { // what others did is in their journals
		c.Count = w.site.mission.Own(w.site.Self)
	} else {
		c.Count -= w.site.mission.Outside() // what others built has no action that the journal could count
	}
	if err := w.site.Journal.MoveCursor(w.site.Record.ID, c); err != nil {
		w.fail(err)
	}
}

// store writes one record that no step of the mission waits for: a walk, a slot change, an action never sent.
func (w *worker) store(tx *bot.Tx, o effects.Outcome) {
	o.UnixMilli = w.site.Now().UnixMilli()
	if err := w.site.Journal.Settle(o); err != nil {
		w.fail(err)
	}
}

// notice keeps what was learned about the server's counters.
func (w *worker) notice(n effects.Notice) {
	w.site.Report(Noticed{n})
	if !n.Demotion() {
		w.site.Terms.Used = w.evidence.Used()
		if w.site.Used != nil {
			w.site.Used(w.site.Terms.Used)
		}
		return
	}
	w.site.demoted = true
	if err := w.site.Journal.Demote(w.site.Record.ID, effects.Observed, n.Code); err != nil {
		w.fail(err)
	}
}
