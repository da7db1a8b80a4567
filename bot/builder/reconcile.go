package builder

import (
	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/sentinel/journal"
)

// reconcile judges what a cut left open, as soon as this join shows the cells; then the work begins.
func (w *worker) reconcile(tx *bot.Tx) {
	if w.walking != nil {
		return
	}
	open, newest, err := w.openMarks()
	if err != nil {
		w.fail(err)
		return
	}
	if len(open) == 0 {
		if !w.allSeen(tx) && w.patient(tx) {
			tx.Wake(1)
			return
		}
		w.begin(tx)
		return
	}
	if unseen := w.unseen(tx, open); unseen != nil {
		if w.patient(tx) {
			tx.Wake(1)
			return
		}
		if w.approach(tx, unseen) {
			return
		}
	}
	settled, err := w.judgeOpen(tx, open, newest)
	if err != nil {
		w.fail(err)
		return
	}
	if err := w.storeReconciled(tx, open, settled); err != nil {
		w.fail(err)
		return
	}
	w.begin(tx)
}

// begin starts the work proper.
func (w *worker) begin(tx *bot.Tx) {
	w.phase = working
	w.moveCursor()
	w.advance(tx)
}

// openMarks are the marks of placements that have no verdict yet, of every mission of this account on this server, and
// the newest mark of all.
func (w *worker) openMarks() ([]journal.Mark, journal.Mark, error) {
	newest, _, err := w.site.Journal.Newest(w.site.Record.Scope)
	if err != nil {
		return nil, newest, err
	}
	missions, err := w.site.Journal.Missions()
	if err != nil {
		return nil, newest, err
	}
	var open []journal.Mark
	for _, m := range missions {
		marks, err := w.site.Journal.Unresolved(m.ID)
		if err != nil {
			return nil, newest, err
		}
		for _, mark := range marks {
			a, err := w.site.Journal.Action(mark.Binding.Action)
			if err != nil {
				return nil, newest, err
			}
			if mark.Scope != w.site.Record.Scope || a.Status != journal.StatusOpen {
				continue
			}
			if a.Places {
				open = append(open, mark)
			} else if err := w.dropGesture(&mark); err != nil {
				return nil, newest, err
			}
		}
	}
	return open, newest, nil
}

// dropGesture closes a walk or slot change that a cut interrupted. Nothing rests on it: it may simply be done again.
func (w *worker) dropGesture(m *journal.Mark) error {
	o := effects.Settled{Action: m.Binding.Action, Code: effects.CodeCut}.Outcome(outcomeOf(m))
	o.UnixMilli = w.site.Now().UnixMilli()
	return w.site.Journal.Settle(o)
}

// unseen returns a mark with a cell that is not loaded, nil if there is none.
func (w *worker) unseen(tx *bot.Tx, open []journal.Mark) *journal.Mark {
	for i := range open {
		cells, ok := open[i].Binding.Postcondition.(effects.CellsBecome)
		if !ok {
			continue
		}
		for _, c := range cells.Cells {
			if _, known := tx.View().Block(c.Pos); !known {
				return &open[i]
			}
		}
		if _, known := tx.View().Block(open[i].Clicked.Pos); !known {
			return &open[i]
		}
	}
	return nil
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
	return w.walking != nil
}

// judgeOpen compares the server's counters with the newest mark's, all open placements together.
func (w *worker) judgeOpen(tx *bot.Tx, open []journal.Mark, newest journal.Mark) ([]effects.Settled, error) {
	if w.full == nil { // a server without a fence counts nothing that could be compared
		var out []effects.Settled
		for _, m := range open {
			out = append(out, effects.Settled{Action: m.Binding.Action, Code: effects.CodeCut,
				Evidence: effects.Evidence{Epoch: epoch(tx.View())}})
		}
		return out, nil
	}
	marked, err := w.marked(open, newest)
	if err != nil {
		return nil, err
	}
	confirmed, unconfirmed, err := w.site.Journal.EntriesSince(w.site.Record.Scope, newest.Entry)
	if err != nil {
		return nil, err
	}
	// The entry of this very session has not ended yet, so the server has not counted it; the one that the mark was made
	// in has.
	v := tx.View()
	age, known := v.WorldAge()
	return effects.Reconcile(effects.Rejoin{
		Epoch: epoch(v), Mark: newest.Counters, Confirmed: int32(confirmed), Unconfirmed: int32(unconfirmed),
		Reply: w.full.reply, ReplySequence: w.full.sequence, World: v, WorldSequence: uint64(v.Sequence()),
		ClockBack: known && newest.WorldAge > 0 && age < newest.WorldAge,
		Used:      w.site.Terms.Used, Demoted: w.site.demoted, States: w.site.States,
	}, marked), nil
}

// marked lists the placements that the newest mark names with what has become of each, and the open ones.
func (w *worker) marked(open []journal.Mark, newest journal.Mark) ([]effects.MarkedPlacement, error) {
	byAction := map[effects.ActionID]*journal.Mark{}
	for i := range open {
		byAction[open[i].Binding.Action] = &open[i]
	}
	named := newest.Outstanding
	if _, places := newest.Binding.Postcondition.(effects.CellsBecome); places {
		named = append(named[:len(named):len(named)], journal.Outstanding{Action: newest.Binding.Action})
	}
	var out []effects.MarkedPlacement
	for _, o := range named {
		if m, ok := byAction[o.Action]; ok {
			fate := effects.FateOpen
			if o.Counted {
				fate = effects.FateCounted
			}
			out = append(out, effects.MarkedPlacement{Placement: placementOf(m), Fate: fate})
			delete(byAction, o.Action)
			continue
		}
		past, err := w.past(o.Action)
		if err != nil {
			return nil, err
		}
		if o.Counted { // the mark's own counters hold its +1 already
			past.Fate = effects.FateNotAddedSince
		}
		out = append(out, past)
	}
	for _, m := range byAction { // open ones that the newest mark does not know: nothing can be said of them
		out = append(out, effects.MarkedPlacement{Placement: placementOf(m), Fate: effects.FateOpen})
	}
	return out, nil
}

// past is a placement that got its verdict after the newest mark was written.
func (w *worker) past(a effects.ActionID) (effects.MarkedPlacement, error) {
	o, err := w.lastOutcome(a)
	if err != nil {
		return effects.MarkedPlacement{}, err
	}
	p := effects.Placement{Action: a}
	if cells, ok := o.Postcondition.(effects.CellsBecome); ok {
		p.Item, p.Cells = cells.Item, cells.Cells
	}
	return effects.MarkedPlacement{Placement: p, Fate: effects.FateOf(o)}, nil
}

// lastOutcome is the receipt or the newest attempt of an action.
func (w *worker) lastOutcome(a effects.ActionID) (effects.Outcome, error) {
	r, ok, err := w.site.Journal.Receipt(a)
	if err != nil || ok {
		return r.Outcome, err
	}
	attempts, err := w.site.Journal.Attempts(a)
	if err != nil || len(attempts) == 0 {
		return effects.Outcome{Action: a}, err
	}
	return attempts[len(attempts)-1].Outcome, nil
}

// placementOf reads a placement out of its mark.
func placementOf(m *journal.Mark) effects.Placement {
	p := effects.Placement{Action: m.Binding.Action, Clicked: m.Clicked.Pos, OtherBefore: m.Clicked.State, OtherKnown: true}
	if cells, ok := m.Binding.Postcondition.(effects.CellsBecome); ok {
		p.Item, p.Cells = cells.Item, cells.Cells
		p.Beside = cells.Cells[0].Pos
	}
	return p
}

// storeReconciled makes the verdicts durable and tells the mission about its own.
func (w *worker) storeReconciled(tx *bot.Tx, open []journal.Mark, settled []effects.Settled) error {
	byAction := map[effects.ActionID]*journal.Mark{}
	for i := range open {
		byAction[open[i].Binding.Action] = &open[i]
	}
	var outcomes []effects.Outcome
	for _, s := range settled {
		if m, ok := byAction[s.Action]; ok {
			o := s.Outcome(outcomeOf(m))
			o.UnixMilli = w.site.Now().UnixMilli()
			outcomes = append(outcomes, o)
		}
	}
	w.site.at(AfterEvidence)
	if err := w.site.Journal.Settle(outcomes...); err != nil {
		return err
	}
	for _, s := range settled {
		if m, ok := byAction[s.Action]; ok && m.Binding.Mission == w.site.Record.ID {
			w.told(int(m.Step.Index), s, true)
		}
	}
	return nil
}
