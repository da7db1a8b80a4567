package rejoin

import (
	"blockworld/effects"
	"blockworld/sentinel/journal"
)

// marked lists the placements that the newest mark names with what has become of each, and the open ones.
func (j *Judge) marked(open *Open) ([]effects.MarkedPlacement, error) {
	byAction := map[effects.ActionID]*journal.Mark{}
	for i := range open.Marks {
		byAction[open.Marks[i].Binding.Action] = &open.Marks[i]
	}
	newest := &open.Newest
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
		past, err := j.past(o.Action)
		if err != nil {
			return nil, err
		}
		if o.Counted { // the mark's own counters hold its +1 already
			past.Fate = effects.FateNotAddedSince
		}
		out = append(out, past)
	}
	for i := range open.Marks { // open ones that the newest mark does not know: nothing can be said of them
		if m := &open.Marks[i]; byAction[m.Binding.Action] != nil {
			out = append(out, effects.MarkedPlacement{Placement: placementOf(m), Fate: effects.FateOpen})
		}
	}
	return out, nil
}

// past is a placement that got its verdict after the newest mark was written.
func (j *Judge) past(a effects.ActionID) (effects.MarkedPlacement, error) {
	o, _, err := LastOutcome(j.Journal, a)
	if err != nil {
		return effects.MarkedPlacement{}, err
	}
	p := effects.Placement{Action: a}
	if cells, ok := o.Postcondition.(effects.CellsBecome); ok {
		p.Item, p.Cells = cells.Item, cells.Cells
	}
	return effects.MarkedPlacement{Placement: p, Fate: effects.FateOf(o)}, nil
}

// LastOutcome is the receipt or the newest attempt of an action; false when there is neither.
func LastOutcome(j *journal.Journal, a effects.ActionID) (effects.Outcome, bool, error) {
	r, ok, err := j.Receipt(a)
	if err != nil || ok {
		return r.Outcome, ok, err
	}
	attempts, err := j.Attempts(a)
	if err != nil || len(attempts) == 0 {
		return effects.Outcome{Action: a}, false, err
	}
	return attempts[len(attempts)-1].Outcome, true, nil
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
