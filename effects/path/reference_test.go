package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// dumb is a second path finder for worlds of whole cubes: rules written down a second time, Dijkstra over every cell,
// no estimate, no heap.
type dumb struct {
	g   *grid
	box geom.BlockBox
}

func (d dumb) air(p geom.BlockPos) bool {
	s, ok := d.g.Block(p)
	return ok && s == 0
}

func (d dumb) stands(p geom.BlockPos) bool {
	s, ok := d.g.Block(above(p, -1))
	return d.box.Contains(p) && d.air(p) && d.air(above(p, 1)) && ok && s != 0
}

// moves lists where a player gets from p and what it costs.
func (d dumb) moves(p geom.BlockPos) map[geom.BlockPos]int32 {
	out := map[geom.BlockPos]int32{}
	for dx := int32(-1); dx <= 1; dx++ {
		for dz := int32(-1); dz <= 1; dz++ {
			q := p.Add(at(dx, 0, dz))
			switch {
			case dx == 0 && dz == 0:
			case dx != 0 && dz != 0:
				a, b := p.Add(at(dx, 0, 0)), p.Add(at(0, 0, dz))
				if d.stands(q) && d.air(a) && d.air(above(a, 1)) && d.air(b) && d.air(above(b, 1)) {
					out[q] = 14
				}
			case d.stands(q):
				out[q] = 10
			case d.stands(above(q, 1)) && d.air(above(p, 2)):
				out[above(q, 1)] = 20
			default:
				for n := int32(1); n <= 3 && d.air(q) && d.air(above(q, 1)) && d.air(above(q, -n)) && d.box.Contains(above(q, -n)); n++ {
					if d.stands(above(q, -n)) {
						out[above(q, -n)] = 10 + 2*n
						break
					}
				}
			}
		}
	}
	return out
}

// costs returns the least cost to every cell that can be reached.
func (d dumb) costs(from geom.BlockPos) map[geom.BlockPos]int32 {
	cost := map[geom.BlockPos]int32{from: 0}
	for todo := []geom.BlockPos{from}; len(todo) > 0; {
		p := todo[0]
		todo = todo[1:]
		for q, c := range d.moves(p) {
			if old, ok := cost[q]; !ok || cost[p]+c < old {
				cost[q] = cost[p] + c
				todo = append(todo, q)
			}
		}
	}
	return cost
}

func TestAgainstDumbReference(t *testing.T) {
	base := newGrid(t, 4)
	table := NewTable(base.reg)
	stone, err := base.reg.ParseState("stone")
	if err != nil {
		t.Fatal(err)
	}
	var scratch Scratch
	reached, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := *base
		g.cells = make([]registry.StateID, len(base.cells))
		for x := int32(-4); x <= 4; x++ {
			for z := int32(-4); z <= 4; z++ {
				top := rapid.SampledFrom([]int32{62, 63, 63, 63, 64, 64, 65, 66}).Draw(t, "height")
				for y := int32(60); y <= top; y++ {
					g.cells[g.index(at(x, y, z))] = stone
				}
				if rapid.IntRange(0, 4).Draw(t, "hangs") == 0 {
					g.cells[g.index(at(x, top+rapid.Int32Range(2, 4).Draw(t, "at"), z))] = stone
				}
			}
		}
		d := dumb{&g, g.inner()}
		cell := rapid.Custom(func(t *rapid.T) geom.BlockPos {
			c := rapid.Int32Range(-3, 3)
			p := at(c.Draw(t, "x"), 68, c.Draw(t, "z"))
			for p.Y > 61 && !d.stands(p) {
				p.Y--
			}
			return p
		})
		from, to := cell.Draw(t, "from"), cell.Draw(t, "to")
		if !d.stands(from) || !d.stands(to) {
			return
		}
		o := Options{WalkBox: d.box}
		r := Find(World{table, &g}, from, to, o, &scratch)
		want, ok := d.costs(from)[to]
		if ok != (r.Status == Reached) || ok && r.Cost != want {
			t.Fatalf("%v to %v: %v cost %d, reference %v cost %d\n%v", from, to, r.Status, r.Cost, ok, want, r.Nodes)
		}
		if ok {
			reached++
		} else {
			none++
		}
	})
	t.Logf("%d reached at the same cost, %d unreachable in both", reached, none)
}

var mixed = []string{"stone", "stone", "oak_slab", "oak_stairs[facing=east]", "oak_fence", "lava", "water", "white_carpet",
	"ladder[facing=north]", "snow[layers=4]", "cactus", "oak_trapdoor[open=true]", "scaffolding", "glass_pane", "fire", "chest",
	"hopper", "oak_slab[type=top]", "oak_door[half=lower]", "soul_sand", "honey_block", "vine", "cobweb"}

// mixedGrid draws a small world of everything that is awkward.
func mixedGrid(t *rapid.T, base *grid) *grid {
	g := *base
	g.cells = append([]registry.StateID(nil), base.cells...)
	for range rapid.IntRange(0, 120).Draw(t, "blocks") {
		c := rapid.Int32Range(-4, 4)
		s, err := g.reg.ParseState(rapid.SampledFrom(mixed).Draw(t, "block"))
		if err != nil {
			t.Fatal(err)
		}
		g.cells[g.index(at(c.Draw(t, "x"), rapid.Int32Range(63, 67).Draw(t, "y"), c.Draw(t, "z")))] = s
	}
	return &g
}

// The estimate never changes the answer: without it the search finds the same cost. Every node is sound, and the same
// question gives the same answer from fresh memory.
func TestSearchProperties(t *testing.T) {
	base := newGrid(t, 5)
	table := NewTable(base.reg)
	var scratch Scratch
	rapid.Check(t, func(t *rapid.T) {
		g := mixedGrid(t, base)
		c := rapid.Int32Range(-4, 4)
		from := at(c.Draw(t, "x"), rapid.Int32Range(63, 67).Draw(t, "y"), c.Draw(t, "z"))
		var goals []geom.BlockPos
		for range rapid.IntRange(1, 4).Draw(t, "goals") {
			goals = append(goals, at(c.Draw(t, "gx"), rapid.Int32Range(64, 67).Draw(t, "gy"), c.Draw(t, "gz")))
		}
		o := Options{WalkBox: g.inner(), Swim: rapid.Bool().Draw(t, "swim"), CanFly: rapid.Bool().Draw(t, "fly"),
			MaxDrop: rapid.Int32Range(-1, 5).Draw(t, "drop")}
		if rapid.Bool().Draw(t, "bold") {
			for h := range o.Pass {
				o.Pass[h] = rapid.Int32Range(0, 60).Draw(t, "pass")
			}
		}
		w := World{table, g}
		r := FindAny(w, from, goals, o, &scratch)
		if again := FindAny(w, from, goals, o, nil); !cmp.Equal(r, again) {
			t.Fatalf("not the same twice: %s", cmp.Diff(r, again))
		}
		blind := blindSearch(w, from, goals, o)
		if blind.Status != r.Status || r.Status == Reached && blind.Cost != r.Cost {
			t.Fatalf("%v cost %d; without the estimate %v cost %d\n%v\n%v", r.Status, r.Cost, blind.Status, blind.Cost, r.Nodes, blind.Nodes)
		}
		soundNodes(t, g, o, r)
	})
}

// blindSearch is the same search with no estimate: the walls of the goals' bounds are everywhere.
func blindSearch(w World, from geom.BlockPos, goals []geom.BlockPos, o Options) Result {
	s := new(Scratch)
	s.reset()
	f := finder{w: w, o: o, s: s, goals: goals, best: -1}
	if !o.WalkBox.Contains(from) {
		return Result{Status: NoPath}
	}
	if why := f.enterGoals(); why != WhyNone {
		if why == GoalUnknown {
			return Result{Status: Partial}
		}
		return Result{Status: NoPath}
	}
	f.bounds = o.WalkBox
	start, ok := f.start(from)
	if !ok {
		if f.unknown > 0 {
			return Result{Status: Partial}
		}
		return Result{Status: NoPath}
	}
	return f.search(start)
}

func soundNodes(t *rapid.T, g *grid, o Options, r Result) {
	for i, n := range r.Nodes {
		if !o.WalkBox.Contains(n.Pos) {
			t.Fatalf("node %v outside the walk box", n)
		}
		if i == 0 {
			continue
		}
		own, _ := g.Block(n.Pos)
		if h := traitsOf(g.reg, g.reg.BlockOf(own), own).hazard; h != HazardNone && o.Pass[h] <= 0 {
			t.Fatalf("node %v in %v", n, h)
		}
		if !o.Swim && g.reg.IsWater(own) {
			t.Fatalf("node %v in water", n)
		}
		body := geom.PlayerBox(n.Centre(), geom.PlayerHeight).Grow(-1e-6)
		for dy := int32(-1); dy <= 2; dy++ {
			p := above(n.Pos, dy)
			s, ok := g.Block(p)
			if !ok || g.reg.BlockOf(s).Name == "minecraft:scaffolding" {
				continue
			}
			for _, b := range g.reg.Shape(s) {
				if b.Move(p.Corner()).Overlaps(body) {
					t.Fatalf("node %v in %s", n, g.reg.FormatState(s))
				}
			}
		}
	}
}

// FuzzFind feeds worlds, options and goals that nobody would build.
func FuzzFind(f *testing.F) {
	base := newGrid(f, 3)
	table := NewTable(base.reg)
	f.Add([]byte("stone"), int32(0), int32(64), int32(0), int32(2), int32(64), int32(2), int32(3), uint8(0))
	f.Add([]byte{9, 200, 3, 77, 1, 1, 1, 254, 8}, int32(-3), int32(61), int32(3), int32(1<<30), int32(-64), int32(-1<<31), int32(1<<30), uint8(3))
	f.Fuzz(func(t *testing.T, blocks []byte, x, y, z, gx, gy, gz, drop int32, bits uint8) {
		g := *base
		g.cells = append([]registry.StateID(nil), base.cells...)
		for i, b := range blocks {
			if i < len(g.cells) {
				g.cells[(i*7919)%len(g.cells)] = registry.StateID(int(b) * 131 % (g.reg.StateCount() + 50))
			}
		}
		o := Options{WalkBox: geom.BoxOf(at(-4, 59, -4), at(4, 81, 4)), Swim: bits&1 != 0, CanFly: bits&2 != 0, MaxDrop: drop}
		r := Find(World{table, &g}, at(x, y, z), at(gx, gy, gz), o, nil)
		if r.Status == Unsearched {
			t.Error("no status")
		}
		for _, n := range r.Nodes {
			if !o.WalkBox.Contains(n.Pos) {
				t.Errorf("node %v outside the walk box", n)
			}
		}
	})
}
