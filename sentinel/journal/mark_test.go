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
