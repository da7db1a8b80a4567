package journal

import (
	"errors"
	"testing"

	"blockworld/effects"
)

func TestMarkSettleReopen(t *testing.T) {
	dir := t.TempDir()
	j := withMission(t, openTest(t, dir))
	m := mark(0, 0)
	sent := mustMark(t, j, m)
	if sent[0].Action() != m.Binding.Action || sent[0].Open() != nil || !errors.Is(sent[0].Open(), ErrSpent) {
		t.Error("a permit opens once")
	}
	if err := (Sent{}).Open(); !errors.Is(err, ErrSpent) {
		t.Error("the zero permit opens:", err)
	}
	mustSettle(t, j, outcome(m, effects.Proven))
	if err := j.MoveCursor(testMission, effects.Cursor{Count: 1, Hash: 9}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openTest(t, dir)
	if _, err := j.Mark(m); !errors.Is(err, ErrActionMarked) {
		t.Error("marked twice:", err)
	}
	if c, err := j.Cursor(testMission); err != nil || c.Hash != 9 {
		t.Error(c, err)
	}
	if _, ok, err := j.Receipt(m.Binding.Action); !ok || err != nil {
		t.Error("receipt lost", err)
	}
}

// TestNewestIsAPlacement: a walk to where an open placement can be seen is marked with counters of after that placement,
// so they must not be what its outcome is judged by.
func TestNewestIsAPlacement(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	walk := func(n uint32) Mark {
		m := mark(n, 0)
		m.Binding.Postcondition = effects.StandsIn{Pos: cellOf(0)}
		m.Binding.Rollback = effects.MoveTo.Rollback("mission")
		m.Binding.LeastGrade, m.Step, m.Clicked, m.Spend = effects.Processed, effects.StepKey{}, ClickedCell{}, effects.Budgets{Distance: 1}
		return m
	}
	mustMark(t, j, walk(1))
	if m, ok, err := j.Newest(testScope); ok || err != nil {
		t.Fatalf("nothing was placed, and yet %s is the newest: %v", m.Binding.Action, err)
	}
	mustMark(t, j, mark(2, 0))
	mustMark(t, j, walk(3))
	if m, ok, err := j.Newest(testScope); !ok || err != nil || m.Binding.Action != actionID(2) {
		t.Errorf("newest is %s, %v, %v", m.Binding.Action, ok, err)
	}
}
