package journal

import (
	"fmt"

	"blockworld/effects"
)

// Mark stores sent marks and returns their permits. When it returns without an error every mark is on disk; with an
// error none is. All marks of one call are one transaction; calls of several goroutines share one disk write.
//
// It refuses an action that was marked before, ever (ErrActionMarked), a cell with an unresolved action
// (ErrStepBarred), a step that is done (ErrStepDone) and a spend beyond the mission's budgets (ErrBudget).
func (j *Journal) Mark(marks ...Mark) ([]Sent, error) {
	for i := range marks {
		if err := marks[i].check(); err != nil {
			return nil, err
		}
	}
	j.at(BeforeMark)
	err := j.update(func(t *txn) error {
		for i := range marks {
			if err := t.addMark(marks[i]); err != nil {
				return fmt.Errorf("mark of action %s: %w", marks[i].Binding.Action, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sent := make([]Sent, len(marks))
	for i := range marks {
		sent[i] = newSent(marks[i].Binding.Action)
	}
	j.at(AfterMark)
	return sent, nil
}

func (t *txn) addMark(m Mark) error {
	id := m.Binding.Action
	if old, err := t.get(actionsBucket, id[:]); err != nil || old != nil {
		return anyOf(err, ErrActionMarked)
	}
	mission, err := t.mission(m.Binding.Mission)
	if err != nil {
		return err
	}
	if err := t.spend(&mission, m.Spend); err != nil {
		return err
	}
	var cell []byte
	if m.places() {
		cell = cellKey(m.Binding.Server, m.Step)
		if err := t.takeStep(&m, cell); err != nil {
			return err
		}
	}
	if m.Entry, _, err = t.lastEntry(m.Scope); err != nil {
		return err
	}
	m.Sequence, m.UnixMilli = t.next(counterBucket, []byte("marks")), t.now
	a := Action{
		ID: id, Mission: m.Binding.Mission, Binding: m.Binding.Digest(), Step: m.Step, Places: m.places(),
		Sequence: m.Sequence, UnixMilli: t.now, Status: StatusOpen,
	}
	e := newEncoder()
	e.raw(id[:])
	all := []entry{
		{actionsBucket, id[:], a.encode()},
		{marksBucket, id[:], m.encode()},
		{openBucket, openKey(cell, id), e.b},
	}
	if m.places() { // a walk's counters may be of a later session than the placements that are still open
		if err := t.dropNewest(m.Scope); err != nil {
			return err
		}
		all = append(all, entry{newestBucket, []byte(m.Scope), e.b})
	}
	return t.putAll(all...)
}

// takeStep refuses a barred or finished step and notes the new action as its newest.
func (t *txn) takeStep(m *Mark, cell []byte) error {
	barred := t.any(openBucket, cell)
	if barred {
		return fmt.Errorf("%w: cell %v", ErrStepBarred, m.Step.Pos)
	}
	key := stepKey(m.Binding.Mission, m.Step)
	record, err := t.get(stepsBucket, key)
	if err != nil {
		return err
	}
	if record != nil {
		s, err := decodeStepRecord(record)
		if err != nil {
			return err
		}
		if !s.Status.MaySendAgain() {
			return fmt.Errorf("%w: step %d is %s", ErrStepDone, m.Step.Index, s.Status)
		}
	}
	return t.putStep(m.Binding.Mission, &Step{Key: m.Step, Action: m.Binding.Action, Status: StatusOpen})
}

// dropNewest drops the mark that is about to be superseded, if its action is closed: only unresolved marks and the
// newest are ever read again.
func (t *txn) dropNewest(scope string) error {
	id, err := t.newest(scope)
	if err != nil || id == (effects.ActionID{}) {
		return err
	}
	a, err := t.action(id)
	if err != nil || a.Status.Unresolved() {
		return err
	}
	return t.delete(marksBucket, id[:])
}

func anyOf(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
