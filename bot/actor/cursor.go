package actor

import (
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// restore reads what the journal knows of the mission: the cursor, the proven cells, the barred ones.
func (a *Actor) restore() error {
	j, id := a.cfg.Journal, a.cfg.Record.ID
	steps, err := j.StepsOf(id)
	if err != nil {
		return err
	}
	a.proven, a.onCell = map[geom.BlockPos]registry.StateID{}, map[geom.BlockPos]uint32{}
	a.barred = map[geom.BlockPos]sentinel.StepState{}
	for _, s := range steps {
		a.steps = max(a.steps, s.Key.Index+1)
		a.onCell[s.Key.Pos]++
		if s.Status.Unresolved() {
			a.barred[s.Key.Pos] = sentinel.StepUnresolved
		}
	}
	if a.cursor, err = j.Cursor(id); err != nil {
		return err
	}
	counted := uint32(0)
	err = j.Receipts(id, func(_ uint64, r effects.Receipt) bool {
		cells, places := r.Outcome.Postcondition.(effects.CellsBecome)
		switch {
		case !places:
		case counted < a.cursor.Count:
			counted++
			a.keep(cells)
		default:
			a.missed = append(a.missed, cells)
		}
		return true
	})
	if err != nil {
		return err
	}
	return a.dropGestures()
}

// missing tells whether cells of such steps are not loaded yet.
func (a *Actor) missing(v worldstate.View) bool {
	for _, p := range a.missed {
		for _, c := range p.Cells {
			if _, loaded := v.Block(c.Pos); !loaded {
				return true
			}
		}
	}
	return false
}

// catchUp moves the cursor over the steps whose receipts were stored when the last process ended, and the cursor was not.
// It does so only if the world shows these steps, and nothing else has changed but what touches them, since a neighbour may
// have decided some of its properties; otherwise the cursor stays behind, and effects are denied until the owner decides.
func (a *Actor) catchUp(v worldstate.View) error {
	if len(a.missed) == 0 {
		return nil
	}
	missed, touched, shown := a.missed, map[geom.BlockPos]bool{}, map[geom.BlockPos]registry.StateID{}
	a.missed = nil
	for _, p := range missed {
		for _, c := range p.Cells {
			touched[c.Pos], shown[c.Pos] = true, c.To
			for _, f := range geom.Faces {
				touched[c.Pos.Neighbour(f)] = true
			}
		}
	}
	as := true
	for pos, s := range shown {
		got, loaded := v.Block(pos)
		as = as && loaded && got == s
	}
	hash := uint64(0)
	for pos, s := range a.proven {
		if got, loaded := v.Block(pos); loaded && !touched[pos] {
			s = got
		}
		hash += effects.CellHash(pos, s)
	}
	for _, p := range missed {
		a.keep(p)
	}
	if !as || hash != a.cursor.Hash {
		return nil
	}
	a.look(v)
	a.cursor.Count += uint32(len(missed))
	return a.storeCursor()
}

// dropGestures closes what a cut left open and nothing rests on: walks, looks, lines and slot changes. An open placement
// stays open, and its cell barred, until a session of the builder reconciles it.
func (a *Actor) dropGestures() error {
	open, err := a.cfg.Journal.Unresolved(a.cfg.Record.ID)
	if err != nil {
		return err
	}
	for i := range open {
		act, err := a.cfg.Journal.Action(open[i].Binding.Action)
		if err != nil {
			return err
		}
		if act.Places || act.Status != journal.StatusOpen {
			continue
		}
		o := effects.Settled{Action: act.ID, Code: effects.CodeCut}.Outcome(outcomeOf(&open[i]))
		o.UnixMilli = a.cfg.Now().UnixMilli()
		if err := a.cfg.Journal.Settle(o); err != nil {
			return err
		}
	}
	return nil
}

// keep notes the cells of a proven placement.
func (a *Actor) keep(p effects.Postcondition) {
	if cells, ok := p.(effects.CellsBecome); ok {
		for _, c := range cells.Cells {
			a.proven[c.Pos] = c.To
		}
	}
}

// now is the cursor as the world shows it: the states of the proven cells as they are. A cell that is not loaded counts as
// it was.
func (a *Actor) now(v worldstate.View) effects.Cursor {
	c := effects.Cursor{Count: a.cursor.Count}
	for pos, s := range a.proven {
		if got, ok := v.Block(pos); ok {
			s = got
		}
		c.Hash += effects.CellHash(pos, s)
	}
	return c
}

// advanceCursor stores that one more step is done. The cells count in the states that the server shows, since properties
// that neighbours decide may differ from the step's own.
func (a *Actor) advanceCursor(v worldstate.View, p effects.Postcondition) error {
	a.keep(p)
	a.look(v)
	a.cursor.Count++
	return a.storeCursor()
}

// look takes the proven cells' states from the world.
func (a *Actor) look(v worldstate.View) {
	a.cursor.Hash = 0
	for pos, s := range a.proven {
		if got, ok := v.Block(pos); ok {
			s = got
		}
		a.proven[pos] = s
		a.cursor.Hash += effects.CellHash(pos, s)
	}
}

func (a *Actor) storeCursor() error { return a.cfg.Journal.MoveCursor(a.cfg.Record.ID, a.cursor) }

// unresolved bars the cell of a step until its action is resolved.
func (a *Actor) unresolved(m *journal.Mark) { a.barred[m.Step.Pos] = sentinel.StepUnresolved }
