package journal

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects"
)

// model is the journal as a few maps: what must be true after any sequence of calls and crashes.
type model struct {
	actions  map[effects.ActionID]Status
	order    []effects.ActionID // as marked
	step     map[effects.ActionID]uint32
	newest   map[uint32]effects.ActionID // by step
	receipts []effects.ActionID          // in chain order
	attempts map[effects.ActionID]int
	entries  []bool // confirmed
	cursor   effects.Cursor
	uses     int32
	next     uint32
}

func newModel() *model {
	return &model{actions: map[effects.ActionID]Status{}, step: map[effects.ActionID]uint32{}, newest: map[uint32]effects.ActionID{},
		attempts: map[effects.ActionID]int{}}
}

// barred says why a mark of the step must be refused.
func (m *model) barred(step uint32) error {
	id, ok := m.newest[step]
	switch s := m.actions[id]; {
	case !ok:
		return nil
	case s.Unresolved():
		return ErrStepBarred
	case !s.MaySendAgain():
		return ErrStepDone
	}
	return nil
}

func (m *model) done() (n uint32) {
	for _, id := range m.newest {
		if m.actions[id].Done() {
			n++
		}
	}
	return n
}

// machine runs the journal beside the model. A crash is a copy of the directory, taken at a random point of a call.
type machine struct {
	t       testing.TB
	j       *Journal
	m       *model
	crashAt Point
	crashed string // copy of the directory
	marks   map[effects.ActionID]Mark
}

func (x *machine) open(dir string) {
	opts := testOptions()
	opts.At = func(p Point) {
		if p == x.crashAt {
			x.crashed, x.crashAt = copied(x.t, dir), ""
		}
	}
	j, err := Open(dir, opts)
	if err != nil {
		x.t.Fatal(err)
	}
	x.j = j
}

// call runs one call, sometimes with a crash in it: before the mark is stored nothing of the call is there, after it all
// of it. It tells whether the call's effect is to be expected.
func (x *machine) call(rt *rapid.T, points []Point, f func() error) (stored bool) {
	crash := rapid.SampledFrom(append(points, "", "", "", "")).Draw(rt, "crash at")
	x.crashAt = crash
	err := f()
	x.crashAt = ""
	if x.crashed == "" {
		return err == nil
	}
	x.j.Close()
	dir := x.crashed
	x.crashed = ""
	x.open(dir)
	return crash != BeforeMark && err == nil
}

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := &machine{t: t, m: newModel(), marks: map[effects.ActionID]Mark{}}
		x.open(t.TempDir())
		defer func() { x.j.Close() }()
		withMission(t, x.j)
		rt.Repeat(map[string]func(*rapid.T){
			"mark":   x.mark,
			"settle": x.settle,
			"decide": x.decide,
			"entry":  x.entry,
			"cursor": x.cursor,
			"rotate": func(rt *rapid.T) {
				if _, err := x.j.RotateKey(); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) {
				dir := x.j.Dir()
				x.j.Close()
				x.open(dir)
			},
			"": x.check,
		})
	})
}

func (x *machine) mark(rt *rapid.T) {
	var marks []Mark
	var want error
	used := map[uint32]bool{}
	for range rapid.IntRange(1, 3).Draw(rt, "marks") {
		step := rapid.Uint32Range(0, 5).Draw(rt, "step")
		m := mark(x.m.next, step)
		if rapid.IntRange(0, 9).Draw(rt, "again") == 0 && len(x.m.order) > 0 {
			m = x.marks[rapid.SampledFrom(x.m.order).Draw(rt, "old action")]
			want = anyOf(want, ErrActionMarked)
		} else {
			x.m.next++
			if used[step] {
				want = anyOf(want, ErrStepBarred)
			}
			want = anyOf(want, x.m.barred(step))
		}
		used[step] = true
		marks = append(marks, m)
	}
	var sent []Sent
	stored := x.call(rt, []Point{BeforeMark, AfterMark}, func() (err error) {
		sent, err = x.j.Mark(marks...)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			rt.Fatalf("%v, want %v", err, want)
		}
		return err
	})
	if len(sent) != 0 && len(sent) != len(marks) {
		rt.Fatal("some of the permits")
	}
	if !stored {
		return
	}
	for _, m := range marks {
		id, step := m.Binding.Action, m.Step.Index
		x.marks[id] = m
		x.m.actions[id], x.m.step[id], x.m.newest[step] = StatusOpen, step, id
		x.m.order = append(x.m.order, id)
		x.m.uses++
	}
}

func (x *machine) settle(rt *rapid.T) {
	if len(x.m.order) == 0 {
		rt.Skip("nothing sent")
	}
	id := rapid.SampledFrom(x.m.order).Draw(rt, "action")
	v := effects.Verdict(rapid.Uint8Range(0, 4).Draw(rt, "verdict"))
	old := x.m.actions[id]
	next := statusOf(v)
	var want error
	if !old.Unresolved() && next != old {
		want = ErrSettled
	}
	if old.Done() && old != StatusProven || old == StatusReleased {
		want = ErrSettled
		if next == StatusUnverified { // the very attempt that was there before the decision
			want = nil
		}
	}
	stored := x.call(rt, []Point{AfterReceipt}, func() error {
		err := x.j.Settle(outcome(x.marks[id], v))
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			rt.Fatalf("%s -> %s: %v, want %v", old, next, err, want)
		}
		return err
	})
	if !stored || !old.Unresolved() || old == next {
		return
	}
	x.m.actions[id] = next
	if next == StatusProven {
		x.m.receipts = append(x.m.receipts, id)
	} else {
		x.m.attempts[id]++
	}
}

func (x *machine) decide(rt *rapid.T) {
	if len(x.m.order) == 0 {
		rt.Skip("nothing sent")
	}
	id := rapid.SampledFrom(x.m.order).Draw(rt, "action")
	d := rapid.SampledFrom([]Decision{Present, Accept, Release}).Draw(rt, "decision")
	next := map[Decision]Status{Present: StatusPresent, Accept: StatusAccepted, Release: StatusReleased}[d]
	old := x.m.actions[id]
	err := x.j.Decide(id, d)
	if ok := old == StatusUnverified || old == next; ok != (err == nil) {
		rt.Fatal(old, next, err)
	}
	if err == nil {
		x.m.actions[id] = next
	}
}

func (x *machine) entry(rt *rapid.T) {
	n, err := x.j.BeginEntry(testScope)
	if err != nil || int(n) != len(x.m.entries)+1 {
		rt.Fatal(n, err)
	}
	yes := rapid.Bool().Draw(rt, "confirmed")
	if yes {
		err = x.j.ConfirmEntry(testScope, n)
	}
	if err != nil {
		rt.Fatal(err)
	}
	x.m.entries = append(x.m.entries, yes)
}

func (x *machine) cursor(rt *rapid.T) {
	c := effects.Cursor{Count: rapid.Uint32Range(0, 6).Draw(rt, "count"), Hash: rapid.Uint64().Draw(rt, "hash")}
	stored := x.call(rt, []Point{AfterCursor}, func() error {
		err := x.j.MoveCursor(testMission, c)
		if (c.Count <= x.m.done()) != (err == nil) {
			rt.Fatal(c, x.m.done(), err)
		}
		return err
	})
	if stored {
		x.m.cursor = c
	}
}

// check compares everything that can be read with the model.
func (x *machine) check(rt *rapid.T) {
	var open []effects.ActionID
	for _, id := range x.m.order {
		a, err := x.j.Action(id)
		if err != nil || a.Status != x.m.actions[id] {
			rt.Fatal(id, a.Status, x.m.actions[id], err)
		}
		if a.Status.Unresolved() {
			open = append(open, id)
		}
		attempts, err := x.j.Attempts(id)
		if err != nil || len(attempts) != x.m.attempts[id] {
			rt.Fatal(id, len(attempts), x.m.attempts[id], err)
		}
	}
	marks, err := x.j.Unresolved(testMission)
	if err != nil || len(marks) != len(open) {
		rt.Fatal(len(marks), len(open), err)
	}
	for i := range marks {
		if marks[i].Binding.Action != open[i] {
			rt.Fatal("unresolved marks are out of order")
		}
	}
	if n := len(x.m.order); n > 0 {
		if m, ok, err := x.j.Newest(testScope); !ok || err != nil || m.Binding.Action != x.m.order[n-1] {
			rt.Fatal("newest mark", ok, err)
		}
	}
	var chain []effects.ActionID
	if err := x.j.Receipts(testMission, func(_ uint64, r effects.Receipt) bool {
		chain = append(chain, r.Outcome.Action)
		return true
	}); err != nil || fmt.Sprint(chain) != fmt.Sprint(x.m.receipts) {
		rt.Fatal(chain, x.m.receipts, err)
	}
	spent, err := x.j.Spent(testMission)
	if err != nil || spent.Uses != x.m.uses {
		rt.Fatal(spent, x.m.uses, err)
	}
	if c, err := x.j.Cursor(testMission); err != nil || c != x.m.cursor {
		rt.Fatal(c, x.m.cursor, err)
	}
	var yes, no int
	for _, confirmed := range x.m.entries {
		if confirmed {
			yes++
		} else {
			no++
		}
	}
	if c, u, err := x.j.EntriesSince(testScope, 0); err != nil || c != yes || u != no {
		rt.Fatal(c, u, yes, no, err)
	}
}
