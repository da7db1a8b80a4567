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
}

// schedule is one run: a seed, the faults, and how the client is set up.
type schedule struct {
	seed           uint64
	faults         faults
	pipeline       int
	reconcileWorld bool
	survival       bool
	mute           bool // the server answers no fence
}

// play runs one schedule to its end and checks what must hold in every one.
func play(t testing.TB, s schedule) result {
	rng := rand.New(rand.NewPCG(s.seed, 7))
	plan, ground := house()
	m, err := mission.New(plan, mission.Options{ReconcileWorld: s.reconcileWorld, States: simStates{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	least := effects.Attributed
	if s.mute {
		least = effects.Observed
	}
	c := &simClient{
		t: t, srv: newSimServer(rng, s.faults, ground), m: m, log: &wireLog{},
		opt:    effects.Options{States: simStates{}, Fence: !s.mute, Pipeline: s.pipeline, Least: least, Survival: s.survival},
		places: map[effects.ActionID]effects.Placement{}, step: map[effects.ActionID]int{},
		verdict: map[effects.ActionID]effects.Settled{}, receipts: map[effects.ActionID]effects.Receipt{},
	}
	c.srv.mute = s.mute
	c.join()
	for range 600 {
		if !c.turn() {
			break
		}
	}
	if s.mute {
		return c.summary()
	}
	return c.check(t, s.faults, s.reconcileWorld)
}

func (c *simClient) check(t testing.TB, f faults, reconcileWorld bool) result {
	lies := !f.honest()
	own := map[effects.ActionID]bool{}
	r := c.summary()
	for a, rec := range c.receipts {
		own[a] = !rec.Outcome.Reconciled
	}
	provable := c.log.provable(func(int) bool { return false })
	r.provable = len(provable)
	frozen := c.opt.Used == effects.UsedFrozen
	for a, bracket := range own {
		if bracket && !provable[a] {
			t.Errorf("step %d has a receipt that the log does not prove", c.step[a])
		}
	}
	for a := range provable {
		if _, receipt := own[a]; !receipt && !frozen {
			t.Errorf("step %d is proven by the log, but its verdict is %s because %s", c.step[a], c.verdict[a].Verdict, c.verdict[a].Code)
		}
	}
	perStep := map[int]int{}
	for a := range c.srv.executed {
		perStep[c.step[a]]++
		v, settled := c.verdict[a]
		if settled && v.Verdict.MaySendAgain() && !lies && f.kill+f.session == 0 {
			t.Errorf("step %d ran, and its verdict is %s because %s", c.step[a], v.Verdict, v.Code)
		}
	}
	for i, n := range perStep {
		// An owner who chose reconcile: world and a player who undoes what was built can have it built twice.
		if n > 1 && !(reconcileWorld && f.edit > 0) {
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
	if c.opt.Demoted && !lies {
		t.Errorf("an honest server was demoted: %v", c.notices)
	}
	return r
}

// summary counts what a schedule came to.
func (c *simClient) summary() result {
	s := c.m.Summary()
	r := result{receipts: len(c.receipts), sent: len(c.places), executed: len(c.srv.executed), unverified: s.Unverified, present: s.Present, refused: s.Refused}
	for _, rec := range c.receipts {
		if rec.Outcome.Reconciled {
			r.reconciled++
		}
	}
	_, r.done = c.lastDo.Do.(mission.Done)
	return r
}

func schedules() int {
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		return 40_000
	}
	return 3_000
}

// TestNoFaults: on a server that keeps its word everything is proven, at every pipeline, in survival and creative.
func TestNoFaults(t *testing.T) {
	for pipeline := 1; pipeline <= 8; pipeline++ {
		t.Run(fmt.Sprintf("SE-58/no faults, pipeline %d", pipeline), func(t *testing.T) {
			for seed := range uint64(50) {
				r := play(t, schedule{seed: seed, pipeline: pipeline, survival: seed%2 == 0})
				if !r.done || r.receipts != 11 || r.present+r.unverified+r.refused != 0 || r.sent != 11 {
					t.Fatalf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

// TestMuteServer: a server that answers no fence proves by what it shows, one use at a time; silence and cuts leave
// steps that are present or unverified, never a second use.
func TestMuteServer(t *testing.T) {
	for seed := range uint64(100) {
		if r := play(t, schedule{seed: seed, pipeline: 8, mute: true}); !r.done || r.receipts != 11 || r.sent != 11 {
			t.Fatalf("seed %d: %+v", seed, r)
		}
		f := faults{refuse: 0.05, cut: 0.03, drop: 0.05, silent: 0.05}
		r := play(t, schedule{seed: seed, faults: f, pipeline: 8, mute: true})
		if r.receipts > r.executed || r.sent > 11 || r.receipts+r.unverified+r.present > 11 {
			t.Fatalf("seed %d: %+v", seed, r)
		}
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
	withReceipts, done := 0, 0
	n := schedules()
	t.Run("SE-58/random schedules", func(t *testing.T) {
		for i := range n {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			s := schedule{seed: uint64(i), pipeline: 1 + rng.IntN(8), reconcileWorld: rng.IntN(2) == 0}
			names := ""
			for range 1 + rng.IntN(3) {
				k := kinds[rng.IntN(len(kinds))]
				k.set(&s.faults, 0.005+0.1*rng.Float64())
				names += " " + k.name
			}
			s.survival = s.faults.honest() && rng.IntN(2) == 0
			r := play(t, s)
			if t.Failed() {
				t.Fatalf("schedule %d:%s, pipeline %d: %+v", i, names, s.pipeline, r)
			}
			sum.add(r)
			if r.receipts > 0 {
				withReceipts++
			}
			if r.done {
				done++
			}
		}
	})
	t.Logf("%d schedules: %d uses sent, %d ran, %d receipts (%d by reconciling), %d proven by the log alone, %d present, %d unverified; %d schedules with receipts, %d done",
		n, sum.sent, sum.executed, sum.receipts, sum.reconciled, sum.provable, sum.present, sum.unverified, withReceipts, done)
	if withReceipts*10 < n*3 {
		t.Errorf("only %d of %d faulty schedules end with receipts", withReceipts, n)
	}
}

// honest tells whether all that the server says is true and arrives once, in order.
func (f faults) honest() bool {
	return f.drop+f.delay+f.double+f.forgeAck+f.forgeCount+f.lost == 0 && !f.frozen
}

func (r *result) add(o result) {
	r.receipts += o.receipts
	r.provable += o.provable
	r.reconciled += o.reconciled
	r.unverified += o.unverified
	r.present += o.present
	r.sent += o.sent
	r.executed += o.executed
}
