package effects_test

import (
	"fmt"

	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// One placement in its bracket: fence, use, fence. The server's answers come as facts, and only all of them together
// give a receipt.
func Example() {
	floor, target := geom.BlockPos{Y: 63}, geom.BlockPos{Y: 64}
	const stoneItem, air, stone = 1, 0, 1
	step := effects.CellsBecome{Item: stoneItem, Cells: []effects.Cell{{Pos: target, From: air, To: stone}}}
	action := effects.ActionID{1}

	p := effects.NewPlacements(effects.Options{Fence: true, Least: effects.Attributed})
	seq := uint64(0)
	observe := func(e worldstate.Event) effects.Findings {
		seq++
		return p.Observe(effects.Fact{Sequence: seq, Event: e})
	}

	p.FenceSent() // the first reply of a join is the full one
	observe(worldstate.StatsAwarded{})
	err := p.UseSent(effects.Placement{
		Action: action, Sequence: 1, Item: stoneItem, Clicked: floor, Beside: target,
		OtherBefore: stone, OtherKnown: true, Cells: step.Cells, SlotCount: 64,
	})
	fmt.Println("may be sent:", err == nil)
	p.FenceSent()

	observe(worldstate.BlockChanged{Pos: floor, State: stone})
	observe(worldstate.BlockChanged{Pos: target, State: stone})
	observe(worldstate.StatsAwarded{Entries: []worldstate.Stat{{Category: 2, ID: stoneItem, Value: 1}}})
	for _, s := range observe(worldstate.BlockAck{Sequence: 1}).Settled {
		fmt.Printf("%s, %s: %s\n", s.Verdict, s.Grade, s.Code.Words())
		r, err := effects.NewReceipt(s.Outcome(effects.Outcome{Postcondition: step, LeastGrade: effects.Attributed}))
		fmt.Println("receipt:", err == nil, len(r.Canonical()) > 0)
	}
	// Output:
	// may be sent: true
	// proven, attributed: the server counted exactly our use and showed every cell as wanted
	// receipt: true true
}
