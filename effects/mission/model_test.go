package mission

import (
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// TestCursorModel compares the incremental cursor, counts and frontier with a dumb recount after random turns.
func TestCursorModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{}
		for x := range int32(3) {
			p.Steps = append(p.Steps,
				Step{Item: slabs, Clicked: pos(x, 63), Cells: []effects.Cell{{Pos: pos(x, 64), From: air, To: slab}, {Pos: pos(x, 65), From: air, To: stone}}},
				Step{Item: slabs, Clicked: pos(x, 64), Cells: []effects.Cell{{Pos: pos(x, 64), From: slab, To: twin}}})
		}
		m, err := New(p, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 40).Draw(t, "turns") {
			i := rapid.IntRange(0, len(p.Steps)-1).Draw(t, "step")
			switch rapid.IntRange(0, 4).Draw(t, "turn") {
			case 0, 1:
				if m.steps[i].State == Pending && m.ready(i) {
					m.set(i, Proven)
				}
			case 2:
				if m.steps[i].State == Proven {
					m.set(i, Disturbed)
				}
			case 3:
				_ = m.Repair(i)
			case 4:
				_ = m.Accept(i)
			}
			m.recount(t)
		}
		saved := m.Statuses()
		again, err := New(p, Options{}, saved)
		if err != nil {
			t.Fatal(err)
		}
		if again.counts != m.counts || again.Cursor() != m.Cursor() || again.first != m.first {
			t.Errorf("after a restart %v %v, before %v %v", again.counts, again.Cursor(), m.counts, m.Cursor())
		}
	})
}

// recount is the dumb model: everything from the states alone.
func (m *Mission) recount(t *rapid.T) {
	var counts [stateCount]int
	cells := map[geom.BlockPos]registry.StateID{}
	first := len(m.steps)
	for i, s := range m.steps {
		counts[s.State]++
		if !s.State.Done() {
			first = min(first, i)
		}
		if s.State == Proven || s.State == Disturbed { // here only proven steps are ever disturbed
			for _, c := range m.plan.Steps[i].Cells {
				cells[c.Pos] = c.To
			}
		}
	}
	hash := uint64(0)
	for p, s := range cells {
		hash += effects.CellHash(p, s)
	}
	if counts != m.counts || first != m.first {
		t.Fatalf("counts %v first %d, want %v and %d", m.counts, m.first, counts, first)
	}
	if hash != m.hash {
		t.Fatal("the cursor's hash is not that of the proven cells")
	}
}
