package journal

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

const (
	testServer = "localhost:25565|seed 1|minecraft:overworld"
	testScope  = "bot@localhost:25565"
)

var testMission = effects.MissionID{0xAA}

func testOptions() Options {
	return Options{Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) }, Rand: rand.NewChaCha8([32]byte{1}), noSync: true}
}

func openTest(t testing.TB, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Close()
		if err := checkFile(dir+"/"+FileName, nil); err != nil { // every test leaves a sound file behind
			t.Error(err)
		}
	})
	return j
}

func withMission(t testing.TB, j *Journal) *Journal {
	t.Helper()
	if err := j.PutMission(mission(testMission)); err != nil {
		t.Fatal(err)
	}
	return j
}

func mission(id effects.MissionID) Mission {
	return Mission{
		ID: id, Server: testServer, Scope: testScope, Dimension: "minecraft:overworld", Plan: effects.Digest{1}, Steps: 1000,
		Plot:    sentinel.PlotOf(geom.BoxOf(geom.BlockPos{}, geom.BlockPos{X: 99, Y: 9, Z: 9})),
		Budgets: effects.Budgets{Uses: 1 << 20, Quantity: 1 << 20, Distance: 1 << 20, Characters: 1 << 20},
		Options: []byte(`{"pipeline":1}`),
	}
}

func actionID(n uint32) (id effects.ActionID) {
	binary.BigEndian.PutUint32(id[:], n+1)
	return id
}

func cellOf(step uint32) geom.BlockPos { return geom.BlockPos{X: int32(step), Y: 1, Z: 1} }

// mark returns a valid mark of action n for a step.
func mark(n, step uint32) Mark {
	return Mark{
		Binding: effects.Binding{
			Action: actionID(n), Mission: testMission, Bot: worldstate.UUID{1}, Mode: effects.Attached, Server: testServer,
			PlanRevision: effects.Digest{1}, AdapterRevision: "1", Lease: "mission", Precondition: effects.Digest{2},
			Cursor: &effects.Cursor{}, Deadline: effects.Deadline{None: true}, Budgets: effects.Budgets{Uses: 1},
			Postcondition: effects.CellsBecome{Item: 1, Cells: []effects.Cell{{Pos: cellOf(step), From: 0, To: 1}}},
			LeastGrade:    effects.Acknowledged, Rollback: effects.Rollback{Mode: effects.RollbackNotReversible, Ref: "mission"},
		},
		Scope: testScope, Admission: Admission{Rule: "admitted", Facts: effects.Digest{3}},
		Step:     effects.StepKey{Dimension: "minecraft:overworld", Pos: cellOf(step), Index: step},
		Clicked:  ClickedCell{Pos: geom.BlockPos{X: int32(step)}, State: 1},
		Counters: effects.NewCounters(4, effects.UsedCount{Item: 1, Count: int32(n)}, effects.UsedCount{Item: registry.ItemID(7), Count: 2}),
		WorldAge: 100, Spend: effects.Budgets{Uses: 1, Quantity: 1},
	}
}

// outcome returns an outcome of the mark with the evidence its verdict needs.
func outcome(m Mark, v effects.Verdict) effects.Outcome {
	o := effects.Outcome{
		Action: m.Binding.Action, Mission: m.Binding.Mission, Binding: m.Binding.Digest(), Bot: m.Binding.Bot,
		Server: m.Binding.Server, Step: m.Step, Postcondition: m.Binding.Postcondition, Verdict: v,
		LeastGrade: effects.Acknowledged, UnixMilli: 1,
	}
	if v != effects.Proven {
		return o
	}
	o.Grade, o.Attribution, o.Code = effects.Attributed, effects.AttributionCounter, effects.CodeBracketExact
	cell := m.Binding.Postcondition.(effects.CellsBecome).Cells[0]
	o.Evidence = effects.Evidence{
		Epoch: effects.Epoch{Host: 1, World: 1, Timeline: 1}, UseSequence: 1,
		Facts: []effects.FactRef{
			{Kind: effects.FactOpeningReply, Sequence: 1}, {Kind: effects.FactOtherCell, Sequence: 2, Pos: m.Clicked.Pos, State: 1},
			{Kind: effects.FactCell, Sequence: 3, Pos: cell.Pos, State: cell.To}, {Kind: effects.FactClosingReply, Sequence: 4},
			{Kind: effects.FactAck, Sequence: 5, Value: 1},
		},
		Counter: effects.CounterChange{Item: 1, Before: 1, After: 2, Known: true},
	}
	return o
}

func mustMark(t testing.TB, j *Journal, marks ...Mark) []Sent {
	t.Helper()
	sent, err := j.Mark(marks...)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

func mustSettle(t testing.TB, j *Journal, outcomes ...effects.Outcome) {
	t.Helper()
	if err := j.Settle(outcomes...); err != nil {
		t.Fatal(err)
	}
}
