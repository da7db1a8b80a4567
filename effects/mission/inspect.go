package mission

import (
	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Difference is a cell that does not show its final state.
type Difference struct {
	Pos  geom.BlockPos
	Want registry.StateID
	Got  registry.StateID
	Step int // last step of the cell, -1 for none
}

// Inspection is the plan compared with the world.
type Inspection struct {
	Cells    int
	Matching int
	Unknown  []geom.BlockPos // not loaded: walk there and inspect again
	Accepted []Difference    // differing cells that the owner accepted
	Differ   []Difference
}

// Complete tells whether every cell is known and none differs that nobody accepted.
func (i Inspection) Complete() bool { return len(i.Unknown) == 0 && len(i.Differ) == 0 }

// Inspect compares every cell of the plan with its final state, under the masks. Done steps whose cells differ become
// disturbed. The join is the one of the bot whose view is given; without one nothing is completed by it.
func (m *Mission) Inspect(bot BotID, world effects.CellReader) Inspection {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.compare(world)
	for _, d := range out.Differ {
		if d.Step >= 0 && (m.steps[d.Step].State == Proven || m.steps[d.Step].State == Present) {
			m.set(d.Step, Disturbed)
			continue
		}
		m.checkCell(bot, d.Pos, world) // a done layer below the last one may be gone
	}
	m.look = out
	if b := m.bots[bot]; b != nil {
		m.looked, m.looker = b.join, bot
	}
	return out
}

// compare is the reading part of Inspect.
func (m *Mission) compare(world effects.CellReader) Inspection {
	out := Inspection{Cells: len(m.plan.Final)}
	for _, c := range m.plan.Final {
		got, ok := world.Block(c.Pos)
		switch {
		case !ok:
			out.Unknown = append(out.Unknown, c.Pos)
			continue
		case m.states.Same(c.State, got, c.Masked):
			out.Matching++
			continue
		}
		d := Difference{c.Pos, c.State, got, -1}
		if s := m.byCell[c.Pos]; len(s) > 0 {
			d.Step = s[len(s)-1]
		}
		if d.Step >= 0 && m.steps[d.Step].State == Accepted {
			out.Accepted = append(out.Accepted, d)
			continue
		}
		out.Differ = append(out.Differ, d)
	}
	return out
}

// Summary counts the steps by state.
type Summary struct {
	Steps      int
	Proven     int // one receipt each
	Present    int // there, but nobody can say who did it
	Accepted   int
	Refused    int
	Wrong      int
	Disturbed  int
	Unverified int
	Open       int // pending, claimed or sent
	Inspection Inspection
}

// Summary returns the counts as they stand, with the last inspection.
func (m *Mission) Summary() Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.summary()
}

func (m *Mission) summary() Summary {
	c := m.counts
	return Summary{
		Steps: len(m.steps), Proven: c[Proven], Present: c[Present], Accepted: c[Accepted], Refused: c[Refused],
		Wrong: c[Wrong], Disturbed: c[Disturbed], Unverified: c[Unverified],
		Open: c[Pending] + c[Claimed] + c[Sent], Inspection: m.look,
	}
}
