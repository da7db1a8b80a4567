package mission_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

const (
	air   registry.StateID = 0
	stone registry.StateID = 1
	brick registry.StateID = 3
	slab  registry.StateID = 5
	twin  registry.StateID = 6
	door  registry.StateID = 8
	upper registry.StateID = 9

	brickItem registry.ItemID = 30
	slabItem  registry.ItemID = 31
	doorItem  registry.ItemID = 32
)

func pos(x, y int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y} }

// house is a plan of bricks, a pillar, a double slab and a door, and the ground it stands on.
func house() (mission.Plan, map[geom.BlockPos]registry.StateID) {
	var p mission.Plan
	add := func(item registry.ItemID, clicked geom.BlockPos, cells ...effects.Cell) {
		p.Steps = append(p.Steps, mission.Step{Item: item, Clicked: clicked, Cells: cells})
	}
	for x := range int32(6) {
		add(brickItem, pos(x, 63), effects.Cell{Pos: pos(x, 64), From: air, To: brick})
	}
	add(brickItem, pos(0, 64), effects.Cell{Pos: pos(0, 65), From: air, To: brick})
	add(slabItem, pos(7, 63), effects.Cell{Pos: pos(7, 64), From: air, To: slab})
	add(slabItem, pos(7, 64), effects.Cell{Pos: pos(7, 64), From: slab, To: twin})
	add(doorItem, pos(9, 63), effects.Cell{Pos: pos(9, 64), From: air, To: door}, effects.Cell{Pos: pos(9, 65), From: air, To: upper})
	add(brickItem, pos(11, 63), effects.Cell{Pos: pos(11, 64), From: air, To: brick})
	w := map[geom.BlockPos]registry.StateID{}
	for x := int32(-1); x < 13; x++ {
		w[pos(x, 63)] = stone
		for y := int32(64); y < 68; y++ {
			w[pos(x, y)] = air
		}
	}
	return p, w
}

// result is what one schedule came to.
type result struct {
	receipts, provable, reconciled int
	unverified, present, refused   int
	executed                       int
	sent                           int
	done                           bool
	faulty                         bool
}

// play runs one schedule to its end and checks what must hold in every one.
func play(t testing.TB, seed uint64, f faults, pipeline int, reconcileWorld bool) result {
	rng := rand.New(rand.NewPCG(seed, 7))
	plan, ground := house()
	m, err := mission.New(plan, mission.Options{ReconcileWorld: reconcileWorld}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &simClient{
		t: t, srv: newSimServer(rng, f, ground), m: m, log: &wireLog{},
		opt:    effects.Options{States: simStates{}, Fence: true, Pipeline: pipeline, Least: effects.Attributed},
		places: map[effects.ActionID]effects.Placement{}, step: map[effects.ActionID]int{},
		verdict: map[effects.ActionID]effects.Settled{}, receipts: map[effects.ActionID]effects.Receipt{},
	}
	c.join()
	for range 400 {
		if !c.turn() {
			break
		}
	}
	return c.check(t, f, reconcileWorld)
}

func (c *simClient) check(t testing.TB, f faults, reconcileWorld bool) result {
	lies := f.drop+f.delay+f.double+f.forgeAck+f.forgeCount+f.lost > 0
	own := map[effects.ActionID]bool{}
	r := result{receipts: len(c.receipts), sent: len(c.places)}
	for a, rec := range c.receipts {
		if rec.Outcome.Reconciled {
			r.reconciled++
			continue
		}
		own[a] = true
	}
	provable := c.log.provable(func(int) bool { return false })
	r.provable = len(provable)
	frozen := c.opt.Used == effects.UsedFrozen
	for a := range own {
		if !provable[a] {
			t.Errorf("step %d has a receipt that the log does not prove", c.step[a])
		}
	}
	for a := range provable {
		if !own[a] && !frozen && !c.receipted(a) {
			t.Errorf("step %d is proven by the log, but its verdict is %s because %s", c.step[a], c.verdict[a].Verdict, c.verdict[a].Code)
		}
	}
	perStep := map[int]int{}
	for a := range c.srv.executed {
		perStep[c.step[a]]++
		r.executed++
		v, settled := c.verdict[a]
		if settled && v.Verdict.MaySendAgain() && !lies && f.kill+f.session == 0 {
			t.Errorf("step %d ran, and its verdict is %s because %s", c.step[a], v.Verdict, v.Code)
		}
	}
	for i, n := range perStep {
		// An owner who chose reconcile: world and a player who undoes what was built can have it built twice.
		if n > 1 && !lies && f.kill+f.session == 0 && !(reconcileWorld && f.edit > 0) {
			t.Errorf("step %d ran %d times", i, n)
		}
	}
	if c.unresolved > 0 {
		t.Errorf("%d uses on steps with an unresolved action", c.unresolved)
	}
	if !lies && f.kill == 0 {
		for a := range c.receipts {
			if !c.srv.executed[a] && f.session == 0 {
				t.Errorf("step %d has a receipt and never ran", c.step[a])
			}
		}
	}
	s := c.m.Summary()
	r.unverified, r.present, r.refused = s.Unverified, s.Present, s.Refused
	_, r.done = c.lastDo.Do.(mission.Done)
	return r
}

func (c *simClient) receipted(a effects.ActionID) bool { _, ok := c.receipts[a]; return ok }

func schedules() int {
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		return 40_000
	}
	return 3_000
}

// TestNoFaults: on a server that keeps its word everything is proven, at every pipeline.
func TestNoFaults(t *testing.T) {
	for pipeline := 1; pipeline <= 8; pipeline++ {
		t.Run(fmt.Sprintf("SE-58/pipeline %d", pipeline), func(t *testing.T) {
			for seed := range uint64(50) {
				r := play(t, seed, faults{}, pipeline, false)
				if !r.done || r.receipts != 11 || r.present+r.unverified+r.refused != 0 || r.sent != 11 {
					t.Fatalf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

// TestAdversary runs random schedules of faults and compares what was proven with what the log proves.
func TestAdversary(t *testing.T) {
	kinds := []struct {
		name string
		set  func(f *faults, p float64)
	}{
		{"drop", func(f *faults, p float64) { f.drop = p }},
		{"delay", func(f *faults, p float64) { f.delay = p }},
		{"double", func(f *faults, p float64) { f.double = p }},
		{"refuse", func(f *faults, p float64) { f.refuse = p }},
		{"silent", func(f *faults, p float64) { f.silent = p }},
		{"edit", func(f *faults, p float64) { f.edit = p }},
		{"cut", func(f *faults, p float64) { f.cut = p }},
		{"kill", func(f *faults, p float64) { f.cut, f.kill = p, 0.5 }},
		{"session", func(f *faults, p float64) { f.cut, f.session = p, 0.5 }},
		{"forged ack", func(f *faults, p float64) { f.forgeAck = p }},
		{"forged count", func(f *faults, p float64) { f.forgeCount = p }},
		{"lost count", func(f *faults, p float64) { f.lost = p }},
		{"frozen", func(f *faults, p float64) { f.frozen = true }},
	}
	var sum result
	withReceipts, done, failed := 0, 0, 0
	n := schedules()
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		var f faults
		names := ""
		for range 1 + rng.IntN(3) {
			k := kinds[rng.IntN(len(kinds))]
			k.set(&f, 0.005+0.1*rng.Float64())
			names += " " + k.name
		}
		pipeline := 1 + rng.IntN(8)
		ok := t.Run(fmt.Sprintf("SE-58/schedule %d", i), func(t *testing.T) {
			r := play(t, uint64(i), f, pipeline, rng.IntN(2) == 0)
			if t.Failed() {
				t.Logf("faults:%s, pipeline %d: %+v", names, pipeline, r)
			}
			sum.receipts += r.receipts
			sum.provable += r.provable
			sum.reconciled += r.reconciled
			sum.unverified += r.unverified
			sum.present += r.present
			sum.sent += r.sent
			sum.executed += r.executed
			if r.receipts > 0 {
				withReceipts++
			}
			if r.done {
				done++
			}
		})
		if !ok {
			if failed++; failed == 5 {
				break
			}
		}
	}
	t.Logf("%d schedules, %d uses sent, %d ran, %d receipts (%d by reconciling), %d proven by the log alone, %d present, %d unverified; %d schedules with receipts, %d done",
		n, sum.sent, sum.executed, sum.receipts, sum.reconciled, sum.provable, sum.present, sum.unverified, withReceipts, done)
	if withReceipts*10 < n*3 {
		t.Errorf("only %d of %d faulty schedules end with receipts", withReceipts, n)
	}
}
