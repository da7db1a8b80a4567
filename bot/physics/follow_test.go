package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"blockworld/bot/physics"
	"blockworld/effects/path"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// walk is a path to be found and followed on some ground.
type walk struct {
	name     string
	build    func(g *grid)
	from, to geom.BlockPos
	o        path.Options
}

func pos(x, y, z int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y, Z: z} }

var walks = []walk{
	{name: "flat", build: (*grid).floor, from: pos(0, 64, 0), to: pos(12, 64, 9)},
	{name: "around a wall", build: func(g *grid) { g.floor(); g.fill("stone", -8, 64, 4, 8, 66, 4) }, from: pos(0, 64, 0), to: pos(0, 64, 8)},
	{name: "up and down blocks", build: func(g *grid) {
		g.floor()
		for i := range int32(4) {
			g.fill("stone", -2, 64, 3+2*i, 2, 64+i, 20)
		}
	}, from: pos(0, 64, 0), to: pos(0, 68, 15)},
	{name: "down blocks", build: func(g *grid) {
		g.floor()
		for i := range int32(4) {
			g.fill("stone", -2, 64, 3+2*i, 2, 64+i, 20)
		}
	}, from: pos(0, 68, 15), to: pos(0, 64, 0)},
	{name: "deep drop", build: func(g *grid) { g.floor(); g.fill("stone", -3, 64, -3, 3, 66, 3) }, from: pos(0, 67, 0), to: pos(9, 64, 0)},
	{name: "pillars", build: func(g *grid) {
		g.floor()
		for i := range int32(6) {
			g.fill("stone", i, 64, 3, i, 64+i, 3)
		}
	}, from: pos(-3, 64, 3), to: pos(5, 70, 3)},
	{name: "down pillars", build: func(g *grid) {
		g.floor()
		for i := range int32(6) {
			g.fill("stone", i, 64, 3, i, 64+i, 3)
		}
	}, from: pos(5, 70, 3), to: pos(-3, 64, 3)},
	{name: "spiral stairs", build: func(g *grid) { g.floor(); stairs(g, "south", 5) }, from: pos(0, 64, 0), to: pos(0, 69, 11)},
	{name: "stairs down", build: func(g *grid) { g.floor(); stairs(g, "south", 5) }, from: pos(0, 69, 11), to: pos(0, 64, -4)},
	{name: "slabs", build: func(g *grid) {
		g.floor()
		g.fill("oak_slab", -2, 64, 3, 2, 64, 4)
		g.fill("oak_slab[type=double]", -2, 64, 5, 2, 64, 6)
		g.fill("stone", -2, 64, 7, 2, 64, 9)
		g.fill("oak_slab", -2, 65, 7, 2, 65, 9)
	}, from: pos(0, 64, 0), to: pos(0, 65, 8)},
	{name: "snow layers", build: func(g *grid) {
		g.floor()
		for i := range int32(8) {
			g.fill(fmt.Sprintf("snow[layers=%d]", i+1), -2, 64, 4+i, 2, 64, 4+i)
		}
	}, from: pos(0, 64, 0), to: pos(0, 64, 11)},
	{name: "fence maze", build: func(g *grid) {
		g.floor()
		g.fill("oak_fence[east=true,west=true]", -6, 64, 3, 6, 64, 3)
		g.fill("oak_fence[east=true,west=true]", -6, 64, 6, 6, 64, 6)
		g.set("air", 6, 64, 3)
		g.set("air", -6, 64, 6)
		g.fill("stone", -7, 64, 2, -7, 66, 7)
		g.fill("stone", 7, 64, 2, 7, 66, 7)
		g.set("air", 7, 64, 3)
	}, from: pos(0, 64, 0), to: pos(0, 64, 9)},
	{name: "open door", build: func(g *grid) {
		g.floor()
		g.fill("stone", -8, 64, 4, 8, 66, 4)
		g.set("oak_door[facing=south,half=lower,open=true]", 2, 64, 4)
		g.set("oak_door[facing=south,half=upper,open=true]", 2, 65, 4)
	}, from: pos(0, 64, 0), to: pos(0, 64, 8)},
	{name: "ladder up", build: func(g *grid) {
		g.floor()
		g.fill("stone", -3, 64, 3, 3, 69, 8)
		g.fill("ladder[facing=north]", 0, 64, 2, 0, 69, 2)
	}, from: pos(-2, 64, -2), to: pos(2, 70, 6)},
	{name: "ladder down", build: func(g *grid) {
		g.floor()
		g.fill("stone", -3, 64, 3, 3, 69, 8)
		g.fill("ladder[facing=north]", 0, 64, 2, 0, 69, 2)
	}, from: pos(2, 70, 6), to: pos(-2, 64, -2)},
	{name: "ladder shaft", build: func(g *grid) {
		g.floor()
		g.fill("stone", -3, 64, 2, 3, 70, 8)
		g.fill("ladder[facing=west]", 0, 64, 4, 0, 70, 4)
		g.fill("air", 0, 64, 2, 0, 65, 3)
	}, from: pos(0, 64, 0), to: pos(2, 71, 6)},
	{name: "vines", build: func(g *grid) {
		g.floor()
		g.fill("stone", -3, 64, 3, 3, 69, 8)
		g.fill("vine[south=true]", 0, 64, 2, 0, 69, 2)
	}, from: pos(0, 64, -2), to: pos(0, 70, 5)},
	{name: "scaffolding up", build: func(g *grid) { g.floor(); g.fill("scaffolding", 0, 64, 2, 0, 67, 2) }, from: pos(-2, 64, 0), to: pos(0, 68, 2)},
	{name: "scaffolding down", build: func(g *grid) { g.floor(); g.fill("scaffolding", 0, 64, 2, 0, 67, 2) }, from: pos(0, 68, 2), to: pos(3, 64, 2),
		o: path.Options{MaxDrop: 2}},
	{name: "pool", build: func(g *grid) {
		g.fill("stone", -10, 58, -10, 10, 64, 10)
		g.fill("water", -20, 60, -2, 20, 64, 4)
		g.fill("stone", -20, 58, -2, 20, 59, 4)
	}, from: pos(0, 65, -6), to: pos(0, 65, 8), o: path.Options{Swim: true}},
	{name: "puddle", build: func(g *grid) {
		g.floor()
		g.fill("stone", -6, 64, -6, 6, 64, 6)
		g.fill("water", -6, 64, -1, 6, 64, 1)
	}, from: pos(0, 65, -4), to: pos(2, 65, 4), o: path.Options{Swim: true}},
	{name: "ice", build: func(g *grid) {
		g.floor()
		g.fill("packed_ice", -20, 63, -20, 20, 63, 20)
		g.fill("stone", -4, 64, 3, 12, 65, 3)
	}, from: pos(0, 64, 0), to: pos(3, 64, 9)},
	{name: "blue ice", build: func(g *grid) { g.floor(); g.fill("blue_ice", -20, 63, -20, 20, 63, 20) }, from: pos(0, 64, 0), to: pos(9, 64, 2)},
	{name: "soul sand", build: func(g *grid) { g.fill("soul_sand", -20, 62, -20, 20, 63, 20) }, from: pos(0, 63, 0), to: pos(5, 63, 3)},
	{name: "honey", build: func(g *grid) { g.fill("honey_block", -20, 62, -20, 20, 63, 20) }, from: pos(0, 63, 0), to: pos(5, 63, 3)},
	{name: "slime", build: func(g *grid) { g.floor(); g.fill("slime_block", -20, 63, -20, 20, 63, 20) }, from: pos(0, 64, 0), to: pos(5, 64, 3)},
	{name: "lava on both sides", build: func(g *grid) {
		g.floor()
		g.fill("lava", -20, 63, 2, 20, 63, 12)
		g.fill("stone", 0, 63, 2, 0, 63, 7)
		g.fill("stone", 0, 63, 7, 5, 63, 7)
		g.fill("stone", 5, 63, 7, 5, 63, 12)
	}, from: pos(0, 64, 0), to: pos(5, 64, 14)},
	{name: "narrow corridor", build: func(g *grid) {
		g.floor()
		g.fill("stone", -8, 64, 2, 8, 67, 14)
		g.fill("air", 0, 64, 2, 0, 65, 6)
		g.fill("air", 0, 64, 6, 5, 65, 6)
		g.fill("air", 5, 64, 6, 5, 65, 14)
	}, from: pos(0, 64, 0), to: pos(5, 64, 16)},
	{name: "stair tunnel", build: func(g *grid) {
		g.floor()
		g.fill("stone", -3, 64, 2, 3, 75, 14)
		for i := range int32(8) {
			g.fill("air", 0, 64+i, 2+i, 0, 66+i, 2+i)
		}
		g.fill("air", 0, 72, 10, 0, 73, 14)
	}, from: pos(0, 64, 0), to: pos(0, 72, 14)},
	{name: "carpet and plates", build: func(g *grid) {
		g.floor()
		g.fill("white_carpet", -9, 64, 2, 9, 64, 5)
		g.fill("stone_pressure_plate", -9, 64, 6, 8, 64, 6)
	}, from: pos(0, 64, 0), to: pos(0, 64, 9)},
}

var walkBox = geom.BlockBox{Min: pos(-20, 58, -20), Max: pos(20, 90, 20)}

// follow simulates the walk to its end and checks every tick.
func follow(t *testing.T, g *grid, w physics.World, a physics.Attributes, p physics.Player, nodes []path.Node, sprint bool) (physics.Player, int) {
	t.Helper()
	f := physics.NewFollower(nodes, sprint)
	limit := 100 + 45*len(nodes)
	tight := geom.BlockBox{Min: nodes[0].Pos, Max: nodes[0].Pos} // the smallest walk box that would have given this path
	for _, n := range nodes {
		tight = tight.Union(geom.BlockBox{Min: n.Pos, Max: n.Pos})
		if n.Move == path.Jump { // a search lets nobody jump where the height of the jump leads out of it
			tight.Max.Y = max(tight.Max.Y, n.Pos.Y+1)
		}
		if n.Move == path.Swim { // a search lets nobody swim where sinking leads out of the walk box
			tight.Min.Y = min(tight.Min.Y, n.Pos.Y-1)
		}
	}
	for tick := range limit {
		next, in, progress := f.Follow(w, p)
		switch progress {
		case physics.Arrived:
			return p, tick
		case physics.Blocked, physics.Strayed:
			t.Fatalf("%v after %d ticks at %s, before node %d of %d: %+v\npath %v", progress, tick, show(p), next.Next, len(nodes), nodes[next.Next], nodes)
		}
		f = next
		p = physics.Step(w, p, in, a)
		cell := geom.BlockAt(p.Pos)
		if cell.Y == tight.Max.Y+1 && p.OnGround {
			cell.Y-- // stepped onto the rim of an open door or a ladder beside the way, to come down again
		}
		if !tight.Contains(cell) {
			t.Fatalf("left the walk box at %s, before node %d %+v: path %v", show(p), f.Next, nodes[f.Next], nodes)
		}
		if p.InLava {
			t.Fatalf("walked into lava at %s, before node %d %+v: path %v", show(p), f.Next, nodes[f.Next], nodes)
		}
	}
	t.Fatalf("not there after %d ticks: %s, before node %d of %d: %+v\npath %v", limit, show(p), f.Next, len(nodes), nodes[f.Next], nodes)
	return p, 0
}

func standAt(n path.Node) physics.Player {
	return physics.Player{Pos: n.Centre(), OnGround: true}
}

func TestFollow(t *testing.T) {
	for _, p := range []registry.Protocol{registry.First, registry.Latest} {
		t.Run(p.Name(), func(t *testing.T) { followAll(t, p) })
	}
}

func followAll(t *testing.T, protocol registry.Protocol) {
	blocks, err := physics.Load(protocol)
	if err != nil {
		t.Fatal(err)
	}
	table, err := path.Load(protocol)
	if err != nil {
		t.Fatal(err)
	}
	var scratch path.Scratch
	count, ticks := 0, 0
	for _, wk := range walks {
		for _, sprint := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/sprint %v", wk.name, sprint), func(t *testing.T) {
				g := newGrid(t, protocol)
				wk.build(g)
				o := wk.o
				o.WalkBox = walkBox
				r := path.Find(path.World{Table: table, Cells: g}, wk.from, wk.to, o, &scratch)
				if r.Status != path.Reached {
					t.Fatalf("%v: %v", r.Status, r.Why)
				}
				w := physics.World{Blocks: blocks, Cells: g}
				p, n := follow(t, g, w, physics.DefaultAttributes(), standAt(r.Nodes[0]), r.Nodes, sprint)
				centre := r.Nodes[len(r.Nodes)-1].Centre()
				if d := math.Hypot(p.Pos[0]-centre[0], p.Pos[2]-centre[2]); d > physics.ArriveWithin {
					t.Errorf("stopped %.3f from the middle", d)
				}
				p = run(w, p, physics.DefaultAttributes(), in(40, 0, 0, 0, ""))
				if d := math.Hypot(p.Pos[0]-centre[0], p.Pos[2]-centre[2]); d > physics.ArriveWithin {
					t.Errorf("slid on to %.3f from the middle", d)
				}
				count, ticks = count+1, ticks+n
			})
		}
	}
	t.Logf("%d walks on %d terrains arrived, %d ticks", count, len(walks), ticks)
}

// hills puts random columns, slabs and some hazards.
func hills(g *grid, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for x := int32(-20); x <= 20; x++ {
		for z := int32(-20); z <= 20; z++ {
			h := 62 + int32(2*math.Sin(float64(x)/3+float64(seed))+2*math.Cos(float64(z)/4)) + rnd.Int32N(2)
			g.fill("stone", x, 58, z, x, h, z)
			switch rnd.IntN(14) {
			case 0:
				g.set("oak_slab", x, h+1, z)
			case 1:
				g.fill("oak_log", x, h+1, z, x, h+3, z)
			case 2:
				g.set("lava", x, h, z)
			case 3:
				g.set("oak_stairs[facing=east]", x, h+1, z)
			case 4:
				g.set("snow[layers=3]", x, h+1, z)
			case 5:
				g.set("oak_fence", x, h+1, z)
			}
		}
	}
}

func TestFollowHills(t *testing.T) {
	base := newGrid(t, registry.V1_21_7)
	blocks, table := physics.NewBlocks(base.reg), path.NewTable(base.reg)
	var scratch path.Scratch
	arrived, ticks, blocksWalked := 0, 0, 0
	seeds := uint64(30)
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		seeds = 600
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := newGrid(t, registry.V1_21_7)
			hills(g, seed)
			rnd := rand.New(rand.NewPCG(seed, 2))
			for range 4 {
				from, to := surface(g, rnd), surface(g, rnd)
				r := path.Find(path.World{Table: table, Cells: g}, from, to, path.Options{WalkBox: walkBox}, &scratch)
				if r.Status != path.Reached || g.reg.IsLava(g.cells[from]) {
					continue
				}
				w := physics.World{Blocks: blocks, Cells: g}
				_, n := follow(t, g, w, physics.DefaultAttributes(), standAt(r.Nodes[0]), r.Nodes, seed%2 == 0)
				arrived, ticks, blocksWalked = arrived+1, ticks+n, blocksWalked+len(r.Nodes)
			}
		})
	}
	t.Logf("%d of %d random walks had a path and arrived: %d nodes in %d ticks", arrived, 4*seeds, blocksWalked, ticks)
	if arrived < int(2*seeds) {
		t.Errorf("only %d walks had a path", arrived)
	}
}

// surface returns a random cell above the ground.
func surface(g *grid, rnd *rand.Rand) geom.BlockPos {
	p := pos(rnd.Int32N(41)-20, 75, rnd.Int32N(41)-20)
	for g.cells[pos(p.X, p.Y-1, p.Z)] == 0 {
		p.Y--
	}
	if s := g.cells[pos(p.X, p.Y-1, p.Z)]; !g.reg.FullCube(s) {
		p.Y--
	}
	return p
}

func TestFollowFlight(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	g.fill("stone", -20, 64, 5, 20, 80, 5)
	g.fill("air", 3, 70, 5, 3, 72, 5)
	g.fill("glass", 3, 70, 6, 3, 72, 6)
	table := path.NewTable(g.reg)
	o := path.Options{WalkBox: walkBox, CanFly: true}
	a := physics.DefaultAttributes()
	a.MayFly = true
	for _, goal := range []geom.BlockPos{pos(0, 64, 9), pos(7, 75, -3), pos(0, 75, 9), pos(-15, 64, -15), pos(0, 66, 4)} {
		r := path.Find(path.World{Table: table, Cells: g}, pos(0, 66, 0), goal, o, nil)
		if r.Status != path.Reached {
			t.Fatalf("%v: %v %v", goal, r.Status, r.Why)
		}
		p := standAt(r.Nodes[0])
		p.Flying, p.OnGround = true, false
		w := worldOf(g)
		p, n := follow(t, g, w, a, p, r.Nodes, false)
		d := p.Pos.Sub(r.Nodes[len(r.Nodes)-1].Centre())
		if !p.Flying || math.Hypot(d[0], d[2]) > physics.ArriveWithin || math.Abs(d[1]) > 0.6 {
			t.Errorf("%v: ended %v off, flying %v", goal, d, p.Flying)
		}
		t.Logf("%v: %d nodes, %d ticks", goal, len(r.Nodes), n)
	}
}

// Now and then the server puts the player back by up to a block.
func TestFollowThroughSetbacks(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	hills(g, 7)
	g.fill("stone", 0, 66, 0, 0, 66, 12)
	g.fill("air", 0, 67, 0, 0, 75, 12)
	r := path.Find(path.World{Table: path.NewTable(g.reg), Cells: g}, pos(0, 67, 0), pos(0, 67, 12), path.Options{WalkBox: walkBox}, nil)
	if r.Status != path.Reached {
		t.Fatal(r.Status, r.Why)
	}
	w, a := worldOf(g), physics.DefaultAttributes()
	f, p := physics.NewFollower(r.Nodes, true), standAt(r.Nodes[0])
	before := p
	for tick := range 600 {
		next, keys, progress := f.Follow(w, p)
		if progress == physics.Arrived {
			return
		}
		if progress != physics.Moving {
			t.Fatalf("%v at %s", progress, show(p))
		}
		f, p = next, physics.Step(w, p, keys, a)
		if tick%9 == 8 {
			p.Pos, p.Vel, before = before.Pos, geom.Vec3{}, p
			var ok bool
			if f, ok = f.Resume(p); !ok {
				t.Fatalf("lost at %s", show(p))
			}
		}
		if tick%9 == 5 {
			before = p
		}
	}
	t.Errorf("not there: %s", show(p))
}

func TestFollowGivesUp(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	w, a := worldOf(g), physics.DefaultAttributes()
	r := path.Find(path.World{Table: path.NewTable(g.reg), Cells: g}, pos(0, 64, 0), pos(0, 64, 8), path.Options{WalkBox: walkBox}, nil)
	g.fill("stone", -9, 64, 4, 9, 68, 4) // somebody builds a wall meanwhile
	f, p := physics.NewFollower(r.Nodes, true), standAt(r.Nodes[0])
	for tick := range 400 {
		next, keys, progress := f.Follow(w, p)
		if progress == physics.Blocked {
			if keys.Forward != 0 || tick < physics.BlockedAfter {
				t.Errorf("gives up at tick %d with keys %+v", tick, keys)
			}
			p.Pos[0] += 5
			if _, _, progress = f.Follow(w, p); progress != physics.Strayed {
				t.Errorf("thrown aside by five blocks: %v", progress)
			}
			return
		}
		f, p = next, physics.Step(w, p, keys, a)
	}
	t.Error("never gives up")
}
