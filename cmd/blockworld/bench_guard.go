package main

import (
	"context"
	"fmt"
	"runtime"

	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// admittedFacts are facts of a placement that every rule lets pass: the decision has to look at all of them.
func admittedFacts() sentinel.Facts {
	pins := sentinel.Standing{
		Principal: sentinel.PinOf("local"), Policy: sentinel.PinOf("policy"), Lease: sentinel.PinOf("lease"),
		Server: sentinel.PinOf("server"), Bot: worldstate.UUID{1}, Epoch: sentinel.Epoch{Host: 1, World: 1, Timeline: 1},
		Cursor: sentinel.PinOf("cursor"), Precondition: sentinel.PinOf("pre"), Review: sentinel.PinOf("review"),
	}
	target, below, stand := geom.BlockPos{X: 3, Y: 64, Z: 3}, geom.BlockPos{X: 3, Y: 63, Z: 3}, geom.BlockPos{X: 4, Y: 64, Z: 3}
	plot := sentinel.PlotOf(geom.BoxOf(geom.BlockPos{Y: 64}, geom.BlockPos{X: 9, Y: 70, Z: 9}))
	return sentinel.Facts{
		Capability: effects.PlaceBlock, Stopped: sentinel.No, Policy: sentinel.Reads | sentinel.Effects, Offered: sentinel.Effects,
		Reachable: effects.Attributed, Least: effects.Acknowledged, Classes: sentinel.ClassOrdinary, Mission: sentinel.MissionLive,
		Executes: sentinel.Yes, Bound: pins, Now: pins, LeaseHeld: sentinel.Yes, Complete: sentinel.Yes, Consent: sentinel.ConsentGiven,
		HasDeadline: sentinel.Yes, Deadline: 2000, Clock: 1000, PlotKnown: sentinel.Yes, Plot: plot, InDimension: sentinel.Yes,
		Dimension: sentinel.DimensionOverworld, SelfKnown: sentinel.Yes, Self: stand, CellCount: 1, Cells: [2]geom.BlockPos{target},
		Clicked: below, Landings: [2]geom.BlockPos{below, target}, Stand: stand, Step: sentinel.StepReady, Pipeline: 1,
		Able: sentinel.Yes, TargetLoaded: sentinel.Yes, FromMatches: sentinel.Yes, Replaces: sentinel.ReplacesAir,
		ClickedUsable: sentinel.Yes, Support: sentinel.Yes, SupportProven: sentinel.Yes, SpaceFree: sentinel.Yes, Reach: 3, ReachLimit: 4.5,
		Synced: sentinel.Yes, HoldsItem: sentinel.Yes, Plain: worldstate.PlainYes, Have: 64, Need: 1,
		Count: sentinel.Budget{Left: 10, Want: 1}, Quantity: sentinel.Budget{Left: 10, Want: 1}, Paced: sentinel.Yes,
	}
}

// allocations counts what n calls of f allocate, for one call.
func allocations(n int, f func()) float64 {
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / uint64(n))
}

func benchSentinel(_ context.Context, b *bench) ([]figure, error) {
	f := admittedFacts()
	same := f
	if d := sentinel.Decide(&f); !d.Admit {
		return nil, fmt.Errorf("the facts to measure with are refused: %s", d.Explain())
	}
	ns := sideBySide(b.rounds,
		func(n int) {
			for range n {
				d := sentinel.Decide(&f)
				benchSink += uint64(d.Index)
			}
		},
		func(n int) {
			for range n {
				if f == same {
					benchSink++
				}
			}
		})
	allocs := allocations(1000, func() { benchSink += uint64(sentinel.Decide(&f).Index) })
	out := ns[0].figure("Sentinel decision, every rule asked", "ns").beside(ns[0], ns[1], "one comparison of all facts")
	out.Note = fmt.Sprintf("%d rules, a placement that all let pass; %.0f allocations", len(sentinel.Rules()), allocs)
	return []figure{out.goal(out.Median <= 100 && allocs == 0, "<= 100 ns, 0 allocations")}, nil
}

// wallWorld is superflat ground with a wall three high across the way.
type wallWorld struct {
	stone registry.StateID
	half  int32
}

// Block implements path.Cells. Feet stand at y 64.
func (w wallWorld) Block(p geom.BlockPos) (registry.StateID, bool) {
	if p.Y <= 63 || p.Z == 0 && p.Y <= 66 && p.X >= -w.half && p.X <= w.half {
		return w.stone, true
	}
	return 0, true
}

func benchPath(_ context.Context, b *bench) ([]figure, error) {
	reg, err := registry.Load(registry.V1_21_7)
	if err != nil {
		return nil, err
	}
	stone, err := reg.ParseState("stone")
	if err != nil {
		return nil, err
	}
	w := path.World{Table: path.NewTable(reg), Cells: wallWorld{stone, 30}}
	o := path.Options{WalkBox: geom.BoxOf(geom.BlockPos{X: -79, Y: 61, Z: -79}, geom.BlockPos{X: 79, Y: 79, Z: 79})}
	from, to := geom.BlockPos{Y: 64, Z: -30}, geom.BlockPos{Y: 64, Z: 30}
	var scratch path.Scratch
	var r path.Result
	flood := newFlood(30)
	ns := sideBySide(b.rounds,
		func(n int) {
			for range n {
				r = path.Find(w, from, to, o, &scratch)
			}
		},
		func(n int) {
			for range n {
				benchSink += uint64(flood.run())
			}
		})
	if r.Status != path.Reached {
		return nil, fmt.Errorf("no path around the wall: %s", r.Status)
	}
	ms := func(s spread) spread { return micros(micros(s)) }
	f := ms(ns[0]).figure("path over 60 blocks, wall 61 wide", "ms").beside(ns[0], ns[1], "a flood of the plain")
	f.Limit = ms(ns[1]).median()
	f.Note = fmt.Sprintf("%d cells looked at, %d nodes in the path, cost %d", r.Visited, len(r.Nodes), r.Cost)
	return []figure{f.goal(f.Median <= 5, "<= 5 ms")}, nil
}

// flood is the plainest search there is: rings of cells on a flat plain around the same wall, in eight directions, until
// the goal is reached. It knows no heights, no falls and no costs.
type flood struct {
	half  int32
	seen  [160 * 160]bool
	queue []int32
}

func newFlood(half int32) *flood { return &flood{half: half} }

// run returns how many cells the search has seen.
func (f *flood) run() int {
	const side, middle = 160, 80
	clear(f.seen[:])
	start, goal := int32((middle-30)*side+middle), int32((middle+30)*side+middle)
	for x := -f.half; x <= f.half; x++ {
		f.seen[int32(middle*side+middle)+x] = true
	}
	f.queue = append(f.queue[:0], start)
	f.seen[start] = true
	for i := 0; i < len(f.queue); i++ {
		at := f.queue[i]
		if at == goal {
			break
		}
		x, z := at%side, at/side
		if x == 0 || z == 0 || x == side-1 || z == side-1 {
			continue
		}
		for _, d := range [8]int32{1, -1, side, -side, side + 1, side - 1, -side + 1, -side - 1} {
			if n := at + d; !f.seen[n] {
				f.seen[n] = true
				f.queue = append(f.queue, n)
			}
		}
	}
	return len(f.queue)
}
