package placement

import (
	"testing"

	"pgregory.net/rapid"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func TestNeighboursFollow(t *testing.T) {
	e := origin.Neighbour(geom.East)
	for _, c := range []struct{ name, neighbour, placed, want string }{
		{"a fence joins", "oak_fence", "oak_fence[east=true]", "oak_fence[west=true]"},
		{"a fence joins stone", "oak_fence", "stone", "oak_fence[west=true]"},
		{"a pane joins", "glass_pane", "glass", "glass_pane[west=true]"},
		{"a wall joins", "cobblestone_wall", "stone", "cobblestone_wall[west=low]"},
		{"stairs turn a corner", "oak_stairs[facing=west]", "oak_stairs[facing=north]", "oak_stairs[facing=west,shape=outer_right]"},
		{"stairs turn inwards", "oak_stairs[facing=east]", "oak_stairs[facing=north]", "oak_stairs[facing=east,shape=inner_left]"},
		{"a chest finds its half", "chest[facing=south]", "chest[facing=south,type=right]", "chest[facing=south,type=left]"},
		{"wire reaches out", "redstone_wire[north=side,south=side,east=side,west=side]", "redstone_wire[east=side,west=side]", "redstone_wire[east=side,west=side]"},
		{"a rail bends", "rail[shape=north_south]", "rail[shape=east_west]", "rail[shape=east_west]"},
		{"a gate sinks", "oak_fence_gate[facing=north]", "cobblestone_wall", "oak_fence_gate[facing=north,in_wall=true]"},
		{"glass stays", "glass", "stone", "glass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGrid(t, registry.V1_21).set(t, e, c.neighbour)
			g.set(t, origin.Neighbour(geom.Down), "stone").set(t, e.Neighbour(geom.Down), "stone")
			changes := Ripple(g.reg, g, []CellChange{{Pos: origin, To: parse(t, g.reg, c.placed)}})
			got := g.cells[e]
			for _, ch := range changes {
				if ch.Pos == e {
					got = ch.To
				}
			}
			if got != parse(t, g.reg, c.want) {
				t.Errorf("becomes %s, want %s", g.reg.FormatState(got), c.want)
			}
		})
	}
}

func TestAPlantLosesItsOtherHalf(t *testing.T) {
	g := newGrid(t, registry.V1_21).set(t, origin, "tall_grass[half=lower]")
	up := origin.Neighbour(geom.Up)
	g.set(t, up, "tall_grass[half=upper]")
	ch := Ripple(g.reg, g, []CellChange{{Pos: origin, From: g.cells[origin], To: parse(t, g.reg, "stone")}})
	if len(ch) != 1 || ch[0].Pos != up || ch[0].To != 0 {
		t.Errorf("%+v", ch)
	}
}

// TestUnknownIsNeverSupport hides cells one by one: what was decided without them must not change, and nothing is placed
// into or onto the unknown.
func TestUnknownIsNeverSupport(t *testing.T) {
	base := newGrid(t, registry.Latest)
	rapid.Check(t, func(rt *rapid.T) {
		g := base.room(t, rapid.IntRange(0, len(rooms)-1).Draw(rt, "room"))
		g.dark = map[geom.BlockPos]bool{}
		want := registry.StateID(rapid.IntRange(1, g.reg.StateCount()-1).Draw(rt, "state"))
		hide := geom.Faces[rapid.IntRange(0, 5).Draw(rt, "hide")]
		g.dark[origin.Neighbour(hide)] = true
		if rapid.Bool().Draw(rt, "target") {
			g.dark[origin] = true
		}
		uses, rej := Solve(g.reg, g, origin, want)
		if (rej == nil) == (len(uses) == 0) {
			rt.Fatalf("%d uses and %v", len(uses), rej)
		}
		for _, u := range uses {
			if g.dark[u.Click.Pos] || g.dark[u.Target()] {
				rt.Fatalf("clicks the unknown: %+v", u)
			}
			for _, c := range u.Cells {
				if g.dark[c.Pos] {
					rt.Fatalf("changes the unknown: %+v", u)
				}
			}
		}
	})
}

func TestStandsAreSound(t *testing.T) {
	g := newGrid(t, registry.V1_21)
	for x := int32(-8); x <= 8; x++ {
		for z := int32(-8); z <= 8; z++ {
			g.set(t, origin.Add(geom.BlockPos{X: x, Y: -1, Z: z}), "stone")
		}
	}
	g.set(t, origin.Add(geom.BlockPos{X: 3}), "oak_slab[type=bottom]").set(t, origin.Add(geom.BlockPos{X: -3}), "lava")
	uses, rej := Solve(g.reg, g, origin, parse(t, g.reg, "stone"))
	if rej != nil {
		t.Fatal(rej)
	}
	walk := geom.BoxOf(origin, origin).Grow(8)
	for _, fly := range []bool{false, true} {
		spots := Stand(g.reg, g, uses[0], StandOptions{Walk: walk, From: origin, CanFly: fly})
		if len(spots) < 20 {
			t.Fatalf("%d spots", len(spots))
		}
		half := false
		for _, s := range spots {
			if s.Flying && !fly || s.Hidden || !walk.Contains(s.Cell) || s.Cell == origin || s.Cell == origin.Add(geom.BlockPos{X: -3}) {
				t.Fatalf("%+v", s)
			}
			if Eye(uses[0], s.Feet).Sub(uses[0].Click.Point()).Len() > Reach {
				t.Fatalf("%+v is too far", s)
			}
			half = half || s.Feet[1] == float64(origin.Y)+0.5
		}
		if !half {
			t.Error("nobody stands on the slab")
		}
	}
	if n := len(Stand(g.reg, g, uses[0], StandOptions{Walk: walk, Most: 3})); n != 3 {
		t.Errorf("%d spots instead of 3", n)
	}
}
