package builder

import (
	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/effects/path"
	"blockworld/sentinel/journal"
)

// reconcile judges what a cut left open, as soon as this join shows the cells; then the work begins.
func (w *worker) reconcile(tx *bot.Tx) {
	if w.walking != nil || w.way != nil {
		return
	}
	j := w.judge()
	open, err := j.Open()
	if err != nil {
		w.fail(err)
		return
	}
	if len(open.Marks) == 0 {
		if !w.allSeen(tx) && w.patient(tx) {
			tx.Wake(1)
			return
		}
		w.begin(tx)
		return
	}
	if unseen := open.Unseen(tx.View()); unseen != nil {
		if w.patient(tx) {
			tx.Wake(1)
			return
		}
		if w.approach(tx, unseen) {
			return
		}
	}
	if err := w.judgeOpen(tx, j, &open); err != nil {
		w.fail(err)
		return
	}
	w.begin(tx)
}

// begin starts the work proper.
func (w *worker) begin(tx *bot.Tx) {
	w.phase = working
	if _, err := w.site.Team.learn(w.site.Self); err != nil { // judged by another session of this bot
		w.fail(err)
		return
	}
	w.moveCursor()
	w.advance(tx)
}

// approach walks to where an open action's cells can be seen. False when that is not possible.
func (w *worker) approach(tx *bot.Tx, m *journal.Mark) bool {
	if m.Binding.Mission != w.site.Record.ID || w.failures[int(m.Step.Index)] > 0 {
		return false
	}
	step := int(m.Step.Index)
	if step >= len(w.site.Uses) {
		return false
	}
	if r := w.route(tx, step); r.Status != path.Reached {
		return false
	}
	w.walk(tx, step)
	w.failures[step]++
	return w.walking != nil || w.way != nil
}

// judge is who judges what a cut left open.
func (w *worker) judge() *rejoin.Judge {
	return &rejoin.Judge{
		Journal: w.site.Journal, Scope: w.site.Record.Scope, Used: w.site.Terms.Used, Demoted: w.site.demoted, States: w.site.States,
		Now: w.site.Now,
	}
}

// judgeOpen gives all open placements their verdicts, makes those durable, and tells the mission about its own.
func (w *worker) judgeOpen(tx *bot.Tx, j *rejoin.Judge, open *rejoin.Open) error {
	settled, err := j.Judge(open, tx.View(), w.full)
	if err != nil {
		return err
	}
	w.site.at(AfterEvidence)
	if _, err := j.Store(open, settled); err != nil {
		return err
	}
	for _, s := range settled {
		if m := open.Mark(s.Action); m != nil && m.Binding.Mission == w.site.Record.ID {
			w.told(int(m.Step.Index), s, true)
		}
	}
	return nil
}
