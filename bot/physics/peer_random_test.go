package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"blockworld/bot/physics"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// randomBlocks are what random grounds are strewn with: shapes only, none of the blocks on which the two differ.
var randomBlocks = []string{"stone", "stone", "oak_slab", "oak_slab[type=top]", "oak_stairs[facing=south]",
	"oak_stairs[facing=west,half=top]", "white_carpet", "snow[layers=5]", "oak_fence", "cobblestone_wall", "chest", "hopper",
	"oak_trapdoor[open=false,half=top]", "glass_pane[north=true,south=true]", "enchanting_table", "packed_ice", "ladder[facing=east]"}

// randomTerrain draws a ground and a walk over it. The walk keeps to the four directions, so that the order in which the
// horizontal axes move does not matter, and does not sprint, sneak or press keys against the walk.
func randomTerrain(seed uint64) terrain {
	rnd := rand.New(rand.NewPCG(seed, 3))
	tr := terrain{name: fmt.Sprintf("random %d", seed), start: geom.Vec3{0.5, 66, 0.5}}
	type put struct {
		state   string
		x, y, z int32
	}
	var puts []put
	for range 350 {
		puts = append(puts, put{randomBlocks[rnd.IntN(len(randomBlocks))], rnd.Int32N(25) - 12, 64 + rnd.Int32N(3)*rnd.Int32N(2), rnd.Int32N(25) - 12})
	}
	tr.build = func(g *grid) {
		g.fill("stone", -30, 63, -30, 30, 63, 30)
		for _, p := range puts {
			g.set(p.state, p.x, p.y, p.z)
		}
		g.fill("air", -1, 64, -1, 1, 70, 1)
	}
	for range 14 {
		keys := ""
		if rnd.IntN(2) == 0 {
			keys = "j"
		}
		tr.run = append(tr.run, in(5+rnd.IntN(25), []float32{south, west, north, east}[rnd.IntN(4)], 1, 0, keys), in(8, south, 0, 0, ""))
	}
	return tr
}

// oddities are the known ways in which a tick on random ground differs, first match wins. The run ends there.
var oddities = []struct {
	why  string
	test func(g *grid, p registry.Protocol, in physics.Input, before, ours, theirs physics.Player) bool
}{
	{"prismarine's boxes have no margin: a rounding error lets it into a wall that it touches",
		func(g *grid, _ registry.Protocol, _ physics.Input, _, _, theirs physics.Player) bool {
			_, ok := inside(g, theirs)
			return ok
		}},
	{"a jump at a low passage is cut short by the step into it, prismarine jumps first",
		func(_ *grid, _ registry.Protocol, in physics.Input, before, ours, theirs physics.Player) bool {
			return in.Jump && before.OnGround && ours.Pos[1]-before.Pos[1] < 0.42 && theirs.Pos[1]-before.Pos[1] > 0.41
		}},
	{"from 1.21 on a landing player steps up from where it lands, prismarine from where it was",
		func(_ *grid, p registry.Protocol, _ physics.Input, before, ours, theirs physics.Player) bool {
			return p >= registry.V1_21 && !before.OnGround && ours.OnGround && theirs.OnGround && theirs.Pos[1] > ours.Pos[1]
		}},
	{"the same rounding error holds it on an edge that it only touches, or blocks its step",
		func(g *grid, _ registry.Protocol, _ physics.Input, before, _, _ physics.Player) bool {
			return flush(g, before)
		}},
	{"the longer horizontal axis moves first, prismarine moves x first",
		func(_ *grid, _ registry.Protocol, _ physics.Input, before, ours, theirs physics.Player) bool {
			return math.Abs(ours.Pos[0]-before.Pos[0]) > 1e-4 && math.Abs(ours.Pos[2]-before.Pos[2]) > 1e-4 ||
				math.Abs(theirs.Pos[0]-before.Pos[0]) > 1e-4 && math.Abs(theirs.Pos[2]-before.Pos[2]) > 1e-4
		}},
	{"prismarine's step takes the room above only as far as it got, and forgets to fall on",
		func(_ *grid, _ registry.Protocol, in physics.Input, before, ours, theirs physics.Player) bool {
			landed := ours.OnGround && theirs.OnGround
			return (before.OnGround && !in.Jump || !before.OnGround && landed) && math.Abs(ours.Pos[1]-theirs.Pos[1]) <= 0.6
		}},
}

// flush tells whether a side of the player's box lies exactly on a side of a shape nearby.
func flush(g *grid, p physics.Player) bool {
	box := p.Box()
	around := box.Grow(0.7)
	low, high := geom.BlockAt(around.Min), geom.BlockAt(around.Max)
	for x := low.X; x <= high.X; x++ {
		for y := low.Y; y <= high.Y; y++ {
			for z := low.Z; z <= high.Z; z++ {
				cell := geom.BlockPos{X: x, Y: y, Z: z}
				for _, b := range g.reg.Shape(g.cells[cell]) {
					b = b.Move(cell.Corner())
					for _, axis := range [2]int{0, 2} {
						if math.Abs(box.Max[axis]-b.Min[axis]) < 1e-9 || math.Abs(b.Max[axis]-box.Min[axis]) < 1e-9 {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// TestBesidePrismarineRandom walks over random grounds on both sides until something differs, and knows each reason.
func TestBesidePrismarineRandom(t *testing.T) {
	p := startPeer(t)
	seeds := uint64(12)
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		seeds = 200
	}
	for _, protocol := range []registry.Protocol{registry.V1_20_3, registry.V1_21} {
		blocks, err := physics.Load(protocol)
		if err != nil {
			t.Fatal(err)
		}
		ticks, odd := 0, make([]int, len(oddities))
		for seed := range seeds {
			g := newGrid(t, protocol)
			n, i := compareRandom(t, p, g, physics.World{Blocks: blocks, Cells: g}, randomTerrain(seed))
			ticks += n
			if i >= 0 {
				odd[i]++
			}
		}
		t.Logf("%s: %d ticks equal on %d random grounds", protocol, ticks, seeds)
		if last := odd[len(odd)-1]; last > 1+int(seeds)/20 {
			t.Errorf("%d runs ended with the widest reason: too many to be believed", last)
		}
		for i, n := range odd {
			t.Logf("%d runs ended because: %s", n, oddities[i].why)
		}
	}
}

// compareRandom returns how many ticks were equal, and which oddity ended the run or -1.
func compareRandom(t *testing.T, p *peer, g *grid, w physics.World, tr terrain) (int, int) {
	t.Helper()
	tr.build(g)
	job := peerJob{Version: g.reg.Protocol().Name(), Blocks: g.list(), Pos: tr.start}
	var inputs []physics.Input
	for _, ph := range tr.run {
		for range ph.ticks {
			inputs = append(inputs, ph.in)
			job.Ticks = append(job.Ticks, peerTick{F: ph.in.Forward, Jump: ph.in.Jump, Yaw: float64(ph.in.Yaw)})
		}
	}
	player := physics.Player{Pos: tr.start}
	for i, want := range p.run(t, job) {
		before := player
		player = physics.Step(w, player, inputs[i], physics.DefaultAttributes())
		theirs := physics.Player{Pos: geom.Vec3(want[0:3]), Vel: geom.Vec3(want[3:6]), OnGround: want[6] != 0}
		d := 0.0
		for k := range 3 {
			d = math.Max(d, math.Max(math.Abs(player.Pos[k]-theirs.Pos[k]), math.Abs(player.Vel[k]-theirs.Vel[k])))
		}
		if d <= tolerance {
			continue
		}
		for o := range oddities {
			if oddities[o].test(g, g.reg.Protocol(), inputs[i], before, player, theirs) {
				return i, o
			}
		}
		t.Errorf("%s, %s, tick %d: no known reason\nbefore %s in %+v\nours   %s\ntheirs %s", g.reg.Protocol(), tr.name, i, show(before), inputs[i], show(player), show(theirs))
		return i, -1
	}
	return len(inputs), -1
}
