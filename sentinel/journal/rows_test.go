package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/effects"
	"blockworld/sentinel"
)

func receiptsOf(t testing.TB, j *Journal) (out []effects.Receipt) {
	t.Helper()
	err := j.Receipts(effects.MissionID{}, func(_ uint64, r effects.Receipt) bool { out = append(out, r); return true })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOneReceipt(t *testing.T) {
	t.Run("SE-28/duplicate event", func(t *testing.T) {
		j := withMission(t, openTest(t, t.TempDir()))
		m := mark(0, 0)
		mustMark(t, j, m)
		o := outcome(m, effects.Proven)
		mustSettle(t, j, o)
		mustSettle(t, j, o)
		mustSettle(t, j, o, o)
		if n := len(receiptsOf(t, j)); n != 1 {
			t.Error(n, "receipts")
		}
	})
	t.Run("SE-28/another outcome", func(t *testing.T) {
		j := withMission(t, openTest(t, t.TempDir()))
		m := mark(0, 0)
		mustMark(t, j, m)
		o := outcome(m, effects.Proven)
		mustSettle(t, j, o)
		o.UnixMilli++
		if err := j.Settle(o); !errors.Is(err, ErrSettled) {
			t.Error(err)
		}
		if err := j.Settle(outcome(m, effects.Refused)); !errors.Is(err, ErrSettled) {
			t.Error(err)
		}
		if n := len(receiptsOf(t, j)); n != 1 {
			t.Error(n, "receipts")
		}
	})
	t.Run("SE-28/replay after reopening", func(t *testing.T) {
		dir := t.TempDir()
		j := withMission(t, openTest(t, dir))
		m := mark(0, 0)
		mustMark(t, j, m)
		mustSettle(t, j, outcome(m, effects.Proven))
		j.Close()
		j = openTest(t, dir)
		mustSettle(t, j, outcome(m, effects.Proven))
		if n := len(receiptsOf(t, j)); n != 1 {
			t.Error(n, "receipts")
		}
	})
	t.Run("SE-54/a liar without facts", func(t *testing.T) {
		j := withMission(t, openTest(t, t.TempDir()))
		m := mark(0, 0)
		mustMark(t, j, m)
		o := outcome(m, effects.Proven)
		o.Evidence.Facts = nil
		if err := j.Settle(o); !errors.Is(err, effects.ErrNoReceipt) {
			t.Error(err)
		}
		if n := len(receiptsOf(t, j)); n != 0 {
			t.Error(n, "receipts")
		}
	})
}

func TestUnverifiedBarsItsCell(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	m := mark(0, 5)
	mustMark(t, j, m)
	if _, err := j.Mark(mark(1, 5)); !errors.Is(err, ErrStepBarred) {
		t.Error("open:", err)
	}
	mustSettle(t, j, outcome(m, effects.UnverifiedEffect))
	if _, err := j.Mark(mark(1, 5)); !errors.Is(err, ErrStepBarred) {
		t.Error("unverified:", err)
	}
	if err := j.Decide(m.Binding.Action, Release); err != nil {
		t.Fatal(err)
	}
	m = mark(1, 5)
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.NotExecuted))
	m = mark(2, 5)
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.UnverifiedEffect), outcome(m, effects.Proven)) // later facts resolve it
	if _, err := j.Mark(mark(3, 5)); !errors.Is(err, ErrStepDone) {
		t.Error("done:", err)
	}
	again := mark(4, 5)
	again.Step.Generation = 1 // a repair
	mustMark(t, j, again)
	mustSettle(t, j, outcome(again, effects.UnverifiedEffect))
	if err := j.Decide(again.Binding.Action, Accept); err != nil {
		t.Fatal(err)
	}
	if err := j.Decide(again.Binding.Action, Accept); err != nil {
		t.Error("a decision taken twice:", err)
	}
	if err := j.Decide(again.Binding.Action, Present); !errors.Is(err, ErrSettled) {
		t.Error(err)
	}
	steps, err := j.StepsOf(testMission)
	if err != nil || len(steps) != 2 || steps[1].Status != StatusAccepted {
		t.Error(steps, err)
	}
	if err := j.MoveCursor(testMission, effects.Cursor{Count: 1}); err != nil {
		t.Error("a repaired step counts once:", err)
	}
	if err := j.MoveCursor(testMission, effects.Cursor{Count: 2}); !errors.Is(err, ErrCursor) {
		t.Error("cursor ahead of the receipts:", err)
	}
}

// TestAllOrNothing: of the marks of one call all are stored or none.
func TestAllOrNothing(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	mustMark(t, j, mark(0, 0))
	if _, err := j.Mark(mark(1, 1), mark(2, 2), mark(3, 0)); !errors.Is(err, ErrStepBarred) {
		t.Fatal(err)
	}
	if _, err := j.Mark(mark(1, 1), mark(1, 2)); !errors.Is(err, ErrActionMarked) {
		t.Fatal(err)
	}
	if open, err := j.Unresolved(testMission); err != nil || len(open) != 1 {
		t.Error(len(open), err)
	}
	if spent, _ := j.Spent(testMission); spent.Uses != 1 {
		t.Error("budget of refused marks was taken:", spent)
	}
	mustMark(t, j, mark(1, 1), mark(2, 2))
}

func TestBudget(t *testing.T) {
	j := openTest(t, t.TempDir())
	m := mission(testMission)
	m.Budgets = effects.Budgets{Uses: 2, Quantity: 9}
	if err := j.PutMission(m); err != nil {
		t.Fatal(err)
	}
	mustMark(t, j, mark(0, 0), mark(1, 1))
	if _, err := j.Mark(mark(2, 2)); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
	bad := mark(3, 3)
	bad.Spend.Uses = -5
	if _, err := j.Mark(bad); !errors.Is(err, effects.ErrNotIssuable) {
		t.Error("a budget given back:", err)
	}
	other := mark(4, 4)
	other.Binding.Mission = effects.MissionID{1}
	if _, err := j.Mark(other); !errors.Is(err, ErrUnknownMission) {
		t.Error(err)
	}
}

// TestMarkKeepsEveryField: what a binding and its mark name is there after a restart, and a binding that lacks a field is
// not stored.
func TestMarkKeepsEveryField(t *testing.T) {
	full := mark(0, 0)
	full.Outstanding = []Outstanding{{Action: actionID(9), Counted: true}, {Action: actionID(8)}}
	dir := t.TempDir()
	j := withMission(t, openTest(t, dir))
	n, err := j.BeginEntry(testScope)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	mustMark(t, j, full)
	j.Close()
	j = openTest(t, dir)
	got, err := j.Unresolved(testMission)
	if err != nil || len(got) != 1 {
		t.Fatal(len(got), err)
	}
	back := got[0]
	if back.Entry != 1 || back.Sequence != 1 || back.UnixMilli == 0 {
		t.Error("what the journal adds:", back.Entry, back.Sequence, back.UnixMilli)
	}
	back.Entry, back.Sequence, back.UnixMilli = 0, 0, 0
	if d := cmp.Diff(full, back, cmp.AllowUnexported(effects.Counters{})); d != "" {
		t.Error(d)
	}
	typ := reflect.TypeFor[effects.Binding]()
	rows := map[string]string{"Action": "SE-16", "Mission": "SE-16", "Bot": "SE-17", "Mode": "SE-17", "PlanRevision": "SE-18",
		"AdapterRevision": "SE-18", "Lease": "SE-19", "Precondition": "SE-19", "Cursor": "SE-19", "Deadline": "SE-20",
		"Budgets": "SE-20", "Postcondition": "SE-20"}
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if row, ok := rows[name]; ok {
			name = row + "/no mark without " + name
		}
		t.Run(name, func(t *testing.T) {
			m := mark(1, 1)
			reflect.ValueOf(&m.Binding).Elem().Field(i).SetZero()
			if sent, err := j.Mark(m); !errors.Is(err, effects.ErrNotIssuable) || sent != nil {
				t.Error(err)
			}
		})
	}
}

func TestNewestAndEntries(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	if _, ok, err := j.Newest(testScope); ok || err != nil {
		t.Error("a mark before the first:", err)
	}
	begin := func(confirm bool) {
		n, err := j.BeginEntry(testScope)
		if err == nil && confirm {
			err = j.ConfirmEntry(testScope, n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	begin(true)
	first, second := mark(0, 0), mark(1, 1)
	mustMark(t, j, first)
	begin(true)
	mustMark(t, j, second)
	mustSettle(t, j, outcome(second, effects.Proven))
	newest, ok, err := j.Newest(testScope)
	if err != nil || !ok || newest.Binding.Action != second.Binding.Action || newest.Entry != 2 {
		t.Error("the newest mark stays when it is settled", newest.Entry, ok, err)
	}
	begin(true)
	begin(false)
	begin(true)
	if c, u, err := j.EntriesSince(testScope, newest.Entry); c != 2 || u != 1 || err != nil {
		t.Error(c, u, err)
	}
	if c, u, _ := j.EntriesSince("another", 0); c != 0 || u != 0 {
		t.Error("another scope:", c, u)
	}
	if err := j.ConfirmEntry(testScope, 99); !errors.Is(err, ErrUnknownEntry) {
		t.Error(err)
	}
	third := mark(2, 2)
	mustMark(t, j, third)
	if _, err := read(j, func(t *txn) (Mark, error) { return t.mark(second.Binding.Action) }); !errors.Is(err, ErrUnknownAction) {
		t.Error("a superseded settled mark is kept:", err)
	}
	if open, _ := j.Unresolved(testMission); len(open) != 2 || open[0].Binding.Action != first.Binding.Action {
		t.Error(len(open))
	}
}

func TestOtherRecords(t *testing.T) {
	dir := t.TempDir()
	opts := testOptions()
	opts.Outbox = true
	j, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	withMission(t, j)
	changed := mission(testMission)
	changed.State, changed.Options = MissionStopped, []byte("x")
	if err := j.PutMission(changed); err != nil {
		t.Error(err)
	}
	if got, err := j.Mission(testMission); err != nil || got.State != MissionStopped || string(got.Options) != "x" {
		t.Error(got, err)
	}
	changed.Plan = effects.Digest{9}
	if err := j.PutMission(changed); !errors.Is(err, ErrMissionExists) {
		t.Error(err)
	}
	if all, err := j.Missions(); len(all) != 1 || err != nil {
		t.Error(all, err)
	}
	if err := j.Demote(testMission, effects.Observed, effects.CodeDoubledEntry); err != nil {
		t.Error(err)
	}
	if all, err := j.Demotions(testMission); err != nil || len(all) != 1 || all[0].Code != effects.CodeDoubledEntry || all[0].Best != effects.Observed {
		t.Error(all, err)
	}
	m := mark(0, 0)
	if u, err := j.Used(testServer, m.Binding.Bot); u != effects.UsedExpected || err != nil {
		t.Error(u, err)
	}
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.UnverifiedEffect))
	mustSettle(t, j, outcome(m, effects.Proven))
	if u, err := j.Used(testServer, m.Binding.Bot); u != effects.UsedCounts || err != nil {
		t.Error(u, err)
	}
	if a, err := j.Attempts(m.Binding.Action); err != nil || len(a) != 1 {
		t.Error(a, err)
	}
	box, err := j.Outbox()
	if err != nil || len(box) != 2 || box[1].Status != StatusProven {
		t.Fatal(box, err)
	}
	if err := j.AckOutbox(box[0].Number); err != nil {
		t.Error(err)
	}
	if box, _ := j.Outbox(); len(box) != 1 {
		t.Error(box)
	}
	walk := mark(1, 1)
	walk.Binding.Postcondition, walk.Binding.Rollback.Mode = effects.StandsIn{}, effects.RollbackCompensating
	walk.Step = effects.StepKey{}
	mustMark(t, j, walk)
	o := outcome(walk, effects.UnverifiedEffect)
	o.Verdict, o.Grade = effects.Proven, effects.Processed
	mustSettle(t, j, o)
	if a, err := j.Action(walk.Binding.Action); err != nil || a.Status != StatusProven || a.Places {
		t.Error(a, err)
	}
	if n := len(receiptsOf(t, j)); n != 1 {
		t.Error("a walk got a receipt:", n)
	}
}

func TestNothingVolatile(t *testing.T) {
	t.Run("SE-59/the directory holds journal, key and lock", func(t *testing.T) {
		dir := t.TempDir()
		j := withMission(t, openTest(t, dir))
		m := mark(0, 0)
		mustMark(t, j, m)
		mustSettle(t, j, outcome(m, effects.Proven))
		names := []string{}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, f.Name())
			if info, _ := f.Info(); info.Mode().Perm() != 0o600 {
				t.Error(f.Name(), info.Mode())
			}
		}
		if d := cmp.Diff([]string{FileName, lockFileName, KeyFileName}, names); d != "" {
			t.Error(d)
		}
	})
	t.Run("SE-59/a mark has no field for sockets, paths or animations", func(t *testing.T) {
		want := []string{"Binding", "Scope", "Admission", "Step", "Clicked", "Outstanding", "Counters", "WorldAge", "Spend", "Entry", "Sequence", "UnixMilli"}
		var got []string
		for i := range reflect.TypeFor[Mark]().NumField() {
			got = append(got, reflect.TypeFor[Mark]().Field(i).Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("SE-60/opening reads and changes nothing", func(t *testing.T) {
		dir := t.TempDir()
		j := withMission(t, openTest(t, dir))
		mustMark(t, j, mark(0, 0))
		j.Close()
		path := filepath.Join(dir, FileName)
		before, _ := os.ReadFile(path)
		j = openTest(t, dir)
		open, err := j.Unresolved(testMission)
		if err != nil || len(open) != 1 {
			t.Error(open, err)
		}
		j.Close()
		after, _ := os.ReadFile(path)
		if !bytes.Equal(before, after) {
			t.Error("the file changed by opening it")
		}
	})
	t.Run("SE-60/an unresolved action gets no second permit", func(t *testing.T) {
		dir := t.TempDir()
		j := withMission(t, openTest(t, dir))
		mustMark(t, j, mark(0, 0))
		j.Close()
		j = openTest(t, dir)
		if sent, err := j.Mark(mark(0, 0)); !errors.Is(err, ErrActionMarked) || sent != nil {
			t.Error(err)
		}
	})
}

func TestAdmit(t *testing.T) {
	f := sentinel.Facts{Capability: effects.WorldStatus, Policy: sentinel.Reads}
	if a, ok := Admit(sentinel.Decide(&f), &f); !ok || a.Rule != "admitted" || a.Facts == (effects.Digest{}) {
		t.Error(a, ok)
	}
	f = sentinel.Facts{}
	if _, ok := Admit(sentinel.Decide(&f), &f); ok {
		t.Error("a denial became an admission")
	}
	m := mark(0, 0)
	m.Admission = Admission{}
	if err := m.check(); !errors.Is(err, effects.ErrNotIssuable) {
		t.Error(err)
	}
}

func TestPoints(t *testing.T) {
	var seen []Point
	opts := testOptions()
	opts.At = func(p Point) { seen = append(seen, p) }
	j, err := Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	withMission(t, j)
	m := mark(0, 0)
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.Proven))
	if err := j.MoveCursor(testMission, effects.Cursor{Count: 1}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []Point{BeforeMark, AfterMark, AfterReceipt, AfterCursor}) {
		t.Error(seen)
	}
}
