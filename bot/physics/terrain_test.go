package physics_test

import (
	"fmt"
	"slices"
	"testing"

	"blockworld/bot/physics"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// grid is a small world for tests: cells inside the box are known, air where nothing was put.
type grid struct {
	t     testing.TB
	reg   *registry.Registry
	box   geom.BlockBox
	cells map[geom.BlockPos]registry.StateID
}

func newGrid(t testing.TB, p registry.Protocol) *grid {
	reg, err := registry.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	return &grid{
		t: t, reg: reg, cells: map[geom.BlockPos]registry.StateID{},
		box: geom.BlockBox{Min: geom.BlockPos{X: -32, Y: 40, Z: -32}, Max: geom.BlockPos{X: 32, Y: 120, Z: 32}},
	}
}

func (g *grid) Block(p geom.BlockPos) (registry.StateID, bool) {
	if !g.box.Contains(p) {
		return 0, false
	}
	return g.cells[p], true
}

// fill puts a state into every cell between two corners, both included.
func (g *grid) fill(state string, x0, y0, z0, x1, y1, z1 int32) {
	s, err := g.reg.ParseState(state)
	if err != nil {
		g.t.Fatal(err)
	}
	b := geom.BoxOf(geom.BlockPos{X: x0, Y: y0, Z: z0}, geom.BlockPos{X: x1, Y: y1, Z: z1})
	for x := b.Min.X; x <= b.Max.X; x++ {
		for y := b.Min.Y; y <= b.Max.Y; y++ {
			for z := b.Min.Z; z <= b.Max.Z; z++ {
				g.cells[geom.BlockPos{X: x, Y: y, Z: z}] = s
			}
		}
	}
}

func (g *grid) set(state string, x, y, z int32) { g.fill(state, x, y, z, x, y, z) }

// floor puts stone under the whole middle of the world; feet stand at 64.
func (g *grid) floor() { g.fill("stone", -20, 63, -20, 20, 63, 20) }

// list returns the cells as [x, y, z, state], sorted.
func (g *grid) list() [][4]int32 {
	out := make([][4]int32, 0, len(g.cells))
	for p, s := range g.cells {
		out = append(out, [4]int32{p.X, p.Y, p.Z, int32(s)})
	}
	slices.SortFunc(out, func(a, b [4]int32) int { return slices.Compare(a[:], b[:]) })
	return out
}

// phase is the same input for some ticks.
type phase struct {
	ticks int
	in    physics.Input
}

func in(ticks int, yaw float32, f, s float64, keys string) phase {
	p := phase{ticks, physics.Input{Forward: f, Strafe: s, Yaw: yaw}}
	for _, k := range keys {
		switch k {
		case 'j':
			p.in.Jump = true
		case 's':
			p.in.Sneak = true
		case 'r':
			p.in.Sprint = true
		}
	}
	return p
}

// terrain is one comparison: a world, a start and a script. The player starts at rest.
type terrain struct {
	name  string
	build func(g *grid)
	start geom.Vec3
	vel   geom.Vec3
	run   []phase
	attrs func(*physics.Attributes)
}

const (
	south = float32(0)
	west  = float32(90)
	north = float32(180)
	east  = float32(-90)
)

func stairs(g *grid, facing string, n int32) {
	for i := range n {
		g.set(fmt.Sprintf("oak_stairs[facing=%s]", facing), 0, 64+i, 3+i)
		g.fill("stone", 0, 63, 4+i, 0, 64+i, 4+i)
	}
	g.fill("stone", -2, 63+n, 3+n, 2, 63+n, 10+n)
}

// terrains are the grounds on which this package is compared with prismarine-physics.
var terrains = []terrain{
	{name: "flat walk", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(5, south, 0, 0, ""), in(30, south, 1, 0, ""), in(10, south, 0, 0, ""), in(20, west, 1, 0, ""), in(10, 33.3, -1, 0, "")}},
	{name: "strafe", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(20, 12.5, 1, 1, ""), in(20, 12.5, 0, -1, ""), in(20, 200, -1, 1, "")}},
	{name: "sprint", build: (*grid).floor, start: geom.Vec3{0.5, 64, -10.5},
		run: []phase{in(40, south, 1, 0, "r"), in(15, east, 1, 0, "r"), in(10, east, 0, 0, "")}},
	{name: "sneak", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(5, south, 0, 0, "s"), in(30, 45, 1, 0, "s"), in(10, 45, 0, 0, "")}},
	{name: "jump on the spot", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(3, south, 0, 0, ""), in(40, south, 0, 0, "j"), in(20, south, 0, 0, "")}},
	{name: "sprint jumps", build: (*grid).floor, start: geom.Vec3{0.5, 64, -15.5},
		run: []phase{in(5, south, 1, 0, "r"), in(60, 10, 1, 0, "rj"), in(20, 10, 0, 0, "")}},
	{name: "fall", build: (*grid).floor, start: geom.Vec3{0.5, 90, 0.5},
		run: []phase{in(60, south, 1, 0, "")}},
	{name: "walk off an edge", build: func(g *grid) { g.floor(); g.fill("stone", -3, 64, -3, 3, 68, 3) }, start: geom.Vec3{0.5, 69, 0.5},
		run: []phase{in(40, 20, 1, 0, ""), in(20, 20, 0, 0, "")}},
	{name: "wall", build: func(g *grid) { g.floor(); g.fill("stone", -8, 64, 4, 8, 66, 4) }, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(40, south, 1, 0, ""), in(30, 30, 1, 0, ""), in(20, 150, 1, 0, "")}},
	{name: "jump up blocks", build: func(g *grid) {
		g.floor()
		for i := range int32(4) {
			g.fill("stone", -2, 64, 3+2*i, 2, 64+i, 20)
		}
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(90, south, 1, 0, "j"), in(20, south, 0, 0, "")}},
	{name: "slabs", build: func(g *grid) {
		g.floor()
		g.fill("oak_slab[type=bottom]", -2, 64, 3, 2, 64, 4)
		g.fill("oak_slab[type=double]", -2, 64, 5, 2, 64, 6)
		g.fill("oak_slab[type=bottom]", -2, 65, 7, 2, 65, 9)
		g.fill("stone", -2, 64, 7, 2, 64, 9)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(70, south, 1, 0, ""), in(10, south, 0, 0, "")}},
	{name: "slabs sprinting", build: func(g *grid) {
		g.floor()
		for i := range int32(6) {
			g.fill("oak_slab[type=bottom]", -2, 64, 2+3*i, 2, 64, 3+3*i)
		}
	}, start: geom.Vec3{0.5, 64, -0.5},
		run: []phase{in(70, south, 1, 0, "r")}},
	{name: "stairs", build: func(g *grid) { g.floor(); stairs(g, "south", 5) }, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(70, south, 1, 0, ""), in(80, north, 1, 0, "")}},
	{name: "fences and walls", build: func(g *grid) {
		g.floor()
		g.fill("oak_fence[east=true,west=true]", -8, 64, 4, 8, 64, 4)
		g.fill("cobblestone_wall[east=low,west=low]", -8, 64, -4, 8, 64, -4)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(40, south, 1, 0, "j"), in(20, 40, 1, 0, ""), in(60, north, 1, 0, "j")}},
	{name: "carpets and snow", build: func(g *grid) {
		g.floor()
		g.fill("white_carpet", -2, 64, 2, 2, 64, 3)
		for i := range int32(8) {
			g.fill(fmt.Sprintf("snow[layers=%d]", i+1), -2, 64, 4+i, 2, 64, 4+i)
		}
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(80, south, 1, 0, ""), in(60, north, 1, 0, "")}},
	{name: "doors and trapdoors", build: func(g *grid) {
		g.floor()
		g.set("oak_door[facing=south,half=lower,open=false]", 0, 64, 3)
		g.set("oak_door[facing=south,half=upper,open=false]", 0, 65, 3)
		g.set("oak_door[facing=south,half=lower,open=true]", 2, 64, 3)
		g.set("oak_door[facing=south,half=upper,open=true]", 2, 65, 3)
		g.set("oak_trapdoor[half=bottom,open=false]", 2, 64, 5)
		g.set("oak_trapdoor[half=bottom,open=true,facing=north]", 2, 64, 7)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(30, south, 1, 0, ""), in(9, east, 1, 0, ""), in(60, south, 1, 0, "")}},
	{name: "ladder up and down", build: func(g *grid) {
		g.floor()
		g.fill("stone", -1, 64, 3, 1, 69, 6)
		g.fill("ladder[facing=north]", 0, 64, 2, 0, 69, 2)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(80, south, 1, 0, ""), in(14, north, 1, 0, ""), in(60, north, 0, 0, ""), in(20, south, 1, 0, "j")}},
	{name: "ladder held sneaking", build: func(g *grid) {
		g.floor()
		g.fill("stone", -1, 64, 3, 1, 72, 6)
		g.fill("ladder[facing=north]", 0, 64, 2, 0, 72, 2)
	}, start: geom.Vec3{0.5, 70, 2.5},
		run: []phase{in(20, south, 0, 0, ""), in(20, south, 0, 0, "s"), in(40, south, 0, 0, "j")}},
	{name: "vines", build: func(g *grid) {
		g.floor()
		g.fill("stone", -1, 64, 3, 1, 69, 6)
		g.fill("vine[south=true]", 0, 64, 2, 0, 69, 2)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(60, south, 1, 0, ""), in(20, south, 0, 0, "j")}},
	{name: "ice", build: func(g *grid) { g.floor(); g.fill("packed_ice", -20, 63, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 64, -10.5},
		run: []phase{in(40, south, 1, 0, ""), in(20, south, 0, 0, ""), in(40, west, 1, 0, "r"), in(30, west, 1, 0, "rj")}},
	{name: "blue ice", build: func(g *grid) { g.floor(); g.fill("blue_ice", -20, 63, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 64, -10.5},
		run: []phase{in(40, south, 1, 0, ""), in(40, 70, 1, 0, ""), in(20, south, 0, 0, "")}},
	{name: "slime bounce", build: func(g *grid) { g.floor(); g.fill("slime_block", -20, 63, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 75, 0.5},
		run: []phase{in(120, south, 0, 0, "")}},
	{name: "slime walk", build: func(g *grid) { g.floor(); g.fill("slime_block", -20, 63, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(30, south, 1, 0, "")}},
	{name: "soul sand", build: func(g *grid) { g.fill("soul_sand", -20, 61, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 63.875, 0.5},
		run: []phase{in(40, south, 1, 0, ""), in(30, 45, 1, 0, "rj"), in(20, 45, 0, 0, "")}},
	{name: "honey", build: func(g *grid) { g.fill("honey_block", -20, 61, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 63.9375, 0.5},
		run: []phase{in(40, south, 1, 0, ""), in(20, 45, 0, 0, "")}},
	{name: "honey jump", build: func(g *grid) { g.fill("honey_block", -20, 61, -20, 20, 63, 20) }, start: geom.Vec3{0.5, 63.9375, 0.5},
		run: []phase{in(40, south, 0, 0, "j")}},
	{name: "cobweb", build: func(g *grid) { g.floor(); g.fill("cobweb", -3, 64, 3, 3, 66, 5) }, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(120, south, 1, 0, ""), in(10, south, 0, 0, "")}},
	{name: "deep water", build: func(g *grid) {
		g.fill("stone", -10, 40, -10, 10, 64, 10)
		g.fill("water", -8, 44, -8, 8, 63, 8)
	}, start: geom.Vec3{0.5, 55, 0.5},
		run: []phase{in(30, south, 0, 0, ""), in(40, 30, 1, 0, ""), in(60, 30, 0, 1, "j"), in(20, 10, 0, 0, "")}},
	{name: "shallow water", build: func(g *grid) {
		g.floor()
		g.fill("stone", -6, 64, -6, 6, 64, 6)
		g.fill("water", -5, 64, -5, 5, 64, 5)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(20, south, 1, 0, ""), in(40, 60, 1, 0, ""), in(20, 60, 0, 0, "")}},
	{name: "water surface", build: func(g *grid) {
		g.fill("stone", -10, 55, -10, 10, 64, 10)
		g.fill("water", -8, 58, -8, 8, 63, 8)
	}, start: geom.Vec3{0.5, 62, 0.5},
		run: []phase{in(120, south, 1, 0, "j")}},
	{name: "falling into water", build: func(g *grid) {
		g.fill("stone", -10, 55, -10, 10, 64, 10)
		g.fill("water", -8, 56, -8, 8, 64, 8)
	}, start: geom.Vec3{0.5, 80, 0.5},
		run: []phase{in(70, south, 0, 0, "")}},
	{name: "flowing water", build: func(g *grid) {
		g.floor()
		g.fill("stone", -2, 64, -1, 2, 65, 12)
		for i := range int32(8) {
			g.fill(fmt.Sprintf("water[level=%d]", i), -1, 64, i, 1, 64, i)
			g.fill("air", -1, 65, i, 1, 65, i)
		}
	}, start: geom.Vec3{0.5, 64, 1.5},
		run: []phase{in(60, south, 0, 0, "")}},
	{name: "lava", build: func(g *grid) {
		g.fill("stone", -10, 40, -10, 10, 64, 10)
		g.fill("lava", -8, 44, -8, 8, 63, 8)
	}, start: geom.Vec3{0.5, 60, 0.5},
		run: []phase{in(30, south, 1, 0, ""), in(30, 30, 1, 0, "j")}},
	{name: "edge held sneaking", build: func(g *grid) { g.floor(); g.fill("stone", -3, 64, -3, 3, 68, 3) }, start: geom.Vec3{0.5, 69, 0.5},
		run: []phase{in(60, south, 1, 0, "s"), in(40, 45, 1, 0, "s"), in(60, 100, 1, 0, "s")}},
	{name: "slow falling", build: (*grid).floor, start: geom.Vec3{0.5, 75, 0.5},
		run: []phase{in(100, south, 1, 0, "")}, attrs: func(a *physics.Attributes) { a.SlowFalling = true }},
	{name: "levitation", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(60, south, 1, 0, "")}, attrs: func(a *physics.Attributes) { a.Levitation = 2 }},
	{name: "jump boost", build: (*grid).floor, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(60, south, 1, 0, "j")}, attrs: func(a *physics.Attributes) { a.JumpBoost = 2 }},
	{name: "thrown", build: (*grid).floor, start: geom.Vec3{0.5, 70, 0.5}, vel: geom.Vec3{0.7, 0.9, -0.4},
		run: []phase{in(60, south, 0, 0, "")}},
	{name: "narrow corridor", build: func(g *grid) {
		g.floor()
		g.fill("stone", -1, 64, 0, -1, 66, 12)
		g.fill("stone", 1, 64, 0, 1, 66, 12)
		g.fill("stone", 0, 66, 0, 0, 66, 12)
	}, start: geom.Vec3{0.5, 64, 0.5},
		run: []phase{in(40, 20, 1, 0, ""), in(40, -20, 1, 0, "j")}},
	{name: "open trapdoor above a ladder", build: func(g *grid) {
		g.floor()
		g.fill("stone", -1, 64, 3, 1, 68, 6)
		g.fill("ladder[facing=north]", 0, 64, 2, 0, 67, 2)
		g.set("oak_trapdoor[facing=north,open=true,half=bottom]", 0, 68, 2)
	}, start: geom.Vec3{0.5, 64, 1.5},
		run: []phase{in(70, south, 1, 0, "")}},
	{name: "bubble column", build: func(g *grid) {
		g.fill("stone", -10, 50, -10, 10, 64, 10)
		g.fill("water", -4, 52, -4, 4, 63, 4)
		g.fill("bubble_column[drag=false]", 0, 52, 0, 0, 63, 0)
	}, start: geom.Vec3{0.5, 55, 0.5},
		run: []phase{in(20, south, 0, 0, "")}},
	{name: "scaffolding", build: func(g *grid) {
		g.floor()
		g.fill("scaffolding", 0, 64, 2, 0, 67, 2)
	}, start: geom.Vec3{0.5, 68, 2.5},
		run: []phase{in(10, south, 0, 0, ""), in(30, south, 0, 0, "s")}},
}
