package physics_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blockworld/bot/physics"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func worldOf(g *grid) physics.World {
	return physics.World{Blocks: physics.NewBlocks(g.reg), Cells: g}
}

func run(w physics.World, p physics.Player, a physics.Attributes, phases ...phase) physics.Player {
	for _, ph := range phases {
		for range ph.ticks {
			p = physics.Step(w, p, ph.in, a)
		}
	}
	return p
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Speeds and heights that every player knows (minecraft.wiki "Walking", "Sprinting", "Jumping", "Flying", "Sneaking").
func TestKnownNumbers(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	w, a := worldOf(g), physics.DefaultAttributes()
	a.MayFly = true
	rest := run(w, physics.Player{Pos: geom.Vec3{0.5, 64, -15.5}}, a, in(3, south, 0, 0, ""))
	speed := func(p physics.Player, keys string) float64 {
		p = run(w, p, a, in(20, south, 1, 0, keys))
		return 20 * (run(w, p, a, in(1, south, 1, 0, keys)).Pos[2] - p.Pos[2])
	}
	near(t, "walking speed", speed(rest, ""), 4.317, 0.01)
	near(t, "sprinting speed", speed(rest, "r"), 5.612, 0.01)
	near(t, "sneaking speed", speed(rest, "s"), 1.295, 0.01)
	top := 0.0
	for p, i := rest, 0; i < 12; i++ {
		p = run(w, p, a, in(1, south, 0, 0, "j"))
		top = math.Max(top, p.Pos[1]-64)
	}
	near(t, "height of a jump", top, 1.2522, 0.001)
	flying := physics.Player{Pos: geom.Vec3{0.5, 80, -20}, Flying: true}
	near(t, "flying speed", speed(run(w, flying, a, in(30, south, 1, 0, "")), ""), 10.9, 0.1)
	up := run(w, flying, a, in(30, south, 0, 0, "j"))
	near(t, "climbing speed in flight", 20*(run(w, up, a, in(1, south, 0, 0, "j")).Pos[1]-up.Pos[1]), 7.5, 0.05)
}

func TestFlight(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	w, a := worldOf(g), physics.DefaultAttributes()
	fly := physics.Player{Pos: geom.Vec3{0.5, 70, 0.5}, Flying: true}
	if p := run(w, fly, a, in(5, south, 0, 0, "")); p.Flying || p.Vel[1] >= 0 {
		t.Error("flies without the server's leave")
	}
	a.MayFly = true
	if p := run(w, fly, a, in(50, south, 0, 0, "")); !p.Flying || p.Pos[1] != 70 {
		t.Errorf("does not hover: %v", show(p))
	}
	if p := run(w, fly, a, in(60, south, 0, 0, "s")); p.Flying || !p.OnGround || p.Pos[1] != 64 {
		t.Errorf("does not land: %v", show(p))
	}
}

func TestUnknownCellsStop(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	g.box.Max.Z = 3
	w, a := worldOf(g), physics.DefaultAttributes()
	p := run(w, physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}, a, in(10, south, 0, 0, ""))
	if p.Unknown {
		t.Error("reports unknown cells far away")
	}
	p = run(w, p, a, in(40, south, 1, 0, ""))
	if !p.Unknown || p.Pos[2] > 3.7 {
		t.Errorf("walks into cells that are not loaded: %v", show(p))
	}
	g.box = geom.BlockBox{}
	p = run(w, physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}, a, in(40, south, 1, 0, "j"))
	if !p.Unknown || p.Pos.Sub(geom.Vec3{0.5, 64, 0.5}).Len() > 1 {
		t.Errorf("moves in a world that is not loaded: %v", show(p))
	}
}

func TestCrouching(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	g.fill("stone_slab[type=top]", -2, 65, 2, 2, 65, 12)
	w, a := worldOf(g), physics.DefaultAttributes()
	start := physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}
	if p := run(w, start, a, in(40, south, 1, 0, "")); p.Pos[2] > 1.71 {
		t.Errorf("walks upright under a ceiling of 1.5: %v", show(p))
	}
	p := run(w, start, a, in(70, south, 1, 0, "s"))
	if p.Pos[2] < 3 {
		t.Fatalf("does not crouch under a ceiling of 1.5: %v", show(p))
	}
	if p = run(w, p, a, in(5, south, 0, 0, "")); !p.Sneaking || p.Height() != geom.PlayerHeightSneaking {
		t.Error("stands up in a ceiling")
	}
}

func TestStepIsFrugal(t *testing.T) {
	g := newGrid(t, registry.V1_21_7)
	g.floor()
	stairs(g, "south", 5)
	w, a := worldOf(g), physics.DefaultAttributes()
	p := physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}
	keys := physics.Input{Forward: 1, Sprint: true}
	if n := testing.AllocsPerRun(200, func() { p = physics.Step(w, p, keys, a) }); n != 0 {
		t.Errorf("%v allocations per tick, want none", n)
	}
}

// anyFloat draws numbers that foreign data may hold, NaN and infinity among them.
func anyFloat(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0}),
		rapid.Float64()).Draw(t, name)
}

func anyVec(t *rapid.T, name string) geom.Vec3 {
	return geom.Vec3{anyFloat(t, name), anyFloat(t, name), anyFloat(t, name)}
}

var oddBlocks = []string{"stone", "water", "lava", "cobweb", "soul_sand", "honey_block", "slime_block", "ladder", "vine",
	"scaffolding", "bubble_column", "oak_fence", "white_bed", "powder_snow", "packed_ice", "oak_stairs", "oak_slab",
	"sweet_berry_bush", "oak_trapdoor[open=true]", "water[level=3]", "water[level=9]", "air", "air", "air"}

func TestNothingInfiniteEnters(t *testing.T) {
	t.Run("any numbers", func(t *testing.T) {
		base := newGrid(t, registry.V1_21_7)
		blocks := physics.NewBlocks(base.reg)
		rapid.Check(t, func(t *rapid.T) {
			g := *base
			g.cells = map[geom.BlockPos]registry.StateID{}
			for range 25 {
				c := rapid.Int32Range(-2, 2)
				g.set(rapid.SampledFrom(oddBlocks).Draw(t, "block"), c.Draw(t, "x"), 64+c.Draw(t, "y"), c.Draw(t, "z"))
			}
			p := physics.Player{Pos: anyVec(t, "pos"), Vel: anyVec(t, "vel"), OnGround: rapid.Bool().Draw(t, "ground"),
				FallDistance: anyFloat(t, "fall"), Flying: rapid.Bool().Draw(t, "flying"), Stuck: physics.Stuck(rapid.Byte().Draw(t, "stuck"))}
			if rapid.Bool().Draw(t, "inside") {
				p.Pos = geom.Vec3{0.5, 64, 0.5}
			}
			a := physics.Attributes{Speed: anyFloat(t, "speed"), FlySpeed: anyFloat(t, "fly"), JumpStrength: anyFloat(t, "jump"),
				StepHeight: anyFloat(t, "step"), SneakSpeed: anyFloat(t, "sneak"), MayFly: rapid.Bool().Draw(t, "may"),
				JumpBoost: rapid.Int().Draw(t, "boost"), Levitation: rapid.IntRange(-5, 5).Draw(t, "levitation"),
				WaterEfficiency: anyFloat(t, "water"), SoulEfficiency: anyFloat(t, "soul")}
			w := physics.World{Blocks: blocks, Cells: &g}
			for range 3 {
				keys := physics.Input{Forward: anyFloat(t, "f"), Strafe: anyFloat(t, "s"), Yaw: float32(anyFloat(t, "yaw")),
					Jump: rapid.Bool().Draw(t, "j"), Sneak: rapid.Bool().Draw(t, "sneaks"), Sprint: rapid.Bool().Draw(t, "sprints")}
				p = physics.Step(w, p, keys, a)
				if !p.Valid() {
					t.Fatalf("invalid state: %+v", p)
				}
			}
		})
	})
}

// A player outside of every block never ends inside one.
func TestNeverInsideBlocks(t *testing.T) {
	base := newGrid(t, registry.V1_21_7)
	blocks := physics.NewBlocks(base.reg)
	solid := []string{"stone", "oak_slab", "oak_stairs", "oak_fence", "oak_slab[type=top]", "ladder", "soul_sand", "glass_pane[north=true]", "white_carpet"}
	rapid.Check(t, func(t *rapid.T) {
		g := *base
		g.cells = map[geom.BlockPos]registry.StateID{}
		g.floor()
		for range 30 {
			c := rapid.Int32Range(-3, 3)
			g.set(rapid.SampledFrom(solid).Draw(t, "block"), c.Draw(t, "x"), 66+c.Draw(t, "y")/2, c.Draw(t, "z"))
		}
		g.fill("air", 0, 64, 0, 0, 66, 0)
		w, a := physics.World{Blocks: blocks, Cells: &g}, physics.DefaultAttributes()
		p := physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}
		for range 60 {
			p = physics.Step(w, p, physics.Input{Forward: 1, Yaw: rapid.Float32Range(-180, 180).Draw(t, "yaw"),
				Jump: rapid.Bool().Draw(t, "jump"), Sprint: rapid.Bool().Draw(t, "sprint"), Sneak: rapid.IntRange(0, 5).Draw(t, "sneak") == 0}, a)
			if pos, ok := inside(&g, p); ok {
				t.Fatalf("inside %s at %v: %s", g.reg.FormatState(g.cells[pos]), pos, show(p))
			}
		}
	})
}

// inside finds a block whose shape the player overlaps by more than a rounding error.
func inside(g *grid, p physics.Player) (geom.BlockPos, bool) {
	box := p.Box().Grow(-1e-6)
	low, high := geom.BlockAt(box.Min), geom.BlockAt(box.Max)
	for x := low.X; x <= high.X; x++ {
		for y := low.Y - 1; y <= high.Y; y++ {
			for z := low.Z; z <= high.Z; z++ {
				pos := geom.BlockPos{X: x, Y: y, Z: z}
				for _, b := range g.reg.Shape(g.cells[pos]) {
					if box.Overlaps(b.Move(pos.Corner())) {
						return pos, true
					}
				}
			}
		}
	}
	return geom.BlockPos{}, false
}

func BenchmarkStep(b *testing.B) {
	g := newGrid(b, registry.V1_21_7)
	g.floor()
	w, a := worldOf(g), physics.DefaultAttributes()
	p := physics.Player{Pos: geom.Vec3{0.5, 64, 0.5}}
	b.ReportAllocs()
	for b.Loop() {
		p = physics.Step(w, p, physics.Input{}, a)
	}
}
