package actor

import (
	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/effects"
	"blockworld/worldstate"
)

// seePatience is how many ticks the cells of open placements may take to be loaded.
const seePatience = 200

// judge gives what earlier sessions left open its verdicts, as soon as this join shows the cells. True when nothing waits
// any more.
func (a *Actor) judge(tx *bot.Tx) bool {
	j := rejoin.Judge{
		Journal: a.cfg.Journal, Scope: a.cfg.Record.Scope, Used: a.cfg.Terms.Used, Demoted: a.evidence.Demoted(),
		States: effects.RegistryStates{Registry: tx.Registry()}, Now: a.cfg.Now,
	}
	if a.old == nil {
		open, err := j.Open()
		if err != nil {
			a.end(Effect{}, err)
			return false
		}
		a.old = &open
	}
	v := tx.View()
	if (a.old.Unseen(v) != nil || a.missing(v)) && tx.Ticks() < a.opened+seePatience {
		tx.Wake(1)
		return false
	}
	err := a.catchUp(v)
	if err == nil {
		err = a.storeJudged(v, &j)
	}
	if err != nil {
		a.end(Effect{}, err)
		return false
	}
	a.judged = true
	return true
}

func (a *Actor) storeJudged(v worldstate.View, j *rejoin.Judge) error {
	reply := a.full
	if !a.cfg.Terms.Fence {
		reply = nil
	}
	settled, err := j.Judge(a.old, v, reply)
	if err != nil || len(settled) == 0 {
		return err
	}
	a.at(AfterEvidence)
	outcomes, err := j.Store(a.old, settled)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Mission != a.cfg.Record.ID {
			continue
		}
		if o.Verdict != effects.UnverifiedEffect && o.Verdict != effects.WrongResult {
			delete(a.barred, o.Step.Pos)
		}
		if o.Verdict == effects.Proven {
			if err := a.advanceCursor(v, o.Postcondition); err != nil {
				return err
			}
		}
	}
	return nil
}

// Judged says whether everything that earlier sessions left open has its verdict.
func (a *Actor) Judged(tx *bot.Tx) bool { return a.judged }
