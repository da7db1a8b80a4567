package permits

import (
	"crypto/rand"
	"fmt"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// TB is the part of testing.TB that is needed here.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Fatal(args ...any)
}

// Source hands out permits.
type Source struct {
	t       TB
	journal *journal.Journal
	mission effects.MissionID
}

// New opens a journal with one mission.
func New(t TB) *Source {
	t.Helper()
	j, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	s := &Source{t: t, journal: j, mission: effects.MissionID{1}}
	box := geom.BlockBox{Max: geom.BlockPos{X: 15, Y: 15, Z: 15}}
	err = j.PutMission(journal.Mission{ID: s.mission, Server: "test", Scope: "test", Dimension: "test", Steps: 1, Plot: sentinel.PlotOf(box)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Take marks one more action and returns its permit.
func (s *Source) Take() journal.Sent { return s.Batch(1)[0] }

// Batch marks n actions at once.
func (s *Source) Batch(n int) []journal.Sent {
	s.t.Helper()
	marks := make([]journal.Mark, n)
	for i := range marks {
		id, err := effects.NewActionID(rand.Reader)
		if err != nil {
			s.t.Fatal(err)
		}
		marks[i] = journal.Mark{
			Binding: effects.Binding{
				Action: id, Mission: s.mission, Bot: worldstate.UUID{1}, Mode: effects.Attached, Server: "test",
				PlanRevision: effects.Digest{1}, AdapterRevision: "test", Lease: "test", Precondition: effects.Digest{1},
				Cursor: &effects.Cursor{}, Deadline: effects.Deadline{None: true}, Budgets: effects.Budgets{Distance: 1},
				Postcondition: effects.StandsIn{}, LeastGrade: effects.Processed,
				Rollback: effects.Rollback{Mode: effects.RollbackCompensating},
			},
			Scope: "test", Admission: journal.Admission{Rule: "test", Facts: effects.Digest{1}},
		}
	}
	sent, err := s.journal.Mark(marks...)
	if err != nil {
		s.t.Fatal(fmt.Errorf("permit for a test: %w", err))
	}
	return sent
}
