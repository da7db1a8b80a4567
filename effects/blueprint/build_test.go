package blueprint

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// layout makes a blueprint of rows of states: one string per cell along X.
func layout(t testing.TB, rows ...[]string) *Blueprint {
	t.Helper()
	b, err := New("layout", geom.BlockPos{X: int32(len(rows[0])), Y: int32(len(rows)), Z: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = 3955
	for y, row := range rows {
		for x, text := range row {
			if text == "" {
				continue
			}
			s, ok := ParseState(text)
			if !ok {
				t.Fatalf("%q is no state", text)
			}
			if err := b.Set(geom.BlockPos{X: int32(x), Y: int32(y)}, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func load(t testing.TB, p registry.Protocol) *registry.Registry {
	t.Helper()
	reg, err := registry.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

var corner = geom.BlockPos{X: 5, Y: 70, Z: 5}

func mustPlan(t testing.TB, reg *registry.Registry, b *Blueprint, o Options) *Plan {
	t.Helper()
	p, err := MakePlan(context.Background(), reg, b, corner, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStepsOfSeveralCellsAndSeveralUses(t *testing.T) {
	reg := load(t, registry.V1_21)
	for _, c := range []struct {
		name         string
		rows         [][]string
		steps, cells int
	}{
		{"a door is one step of two cells", [][]string{{"stone"}, {"oak_door[half=lower]"}, {"oak_door[half=upper]"}}, 2, 3},
		{"a double slab is two steps of one cell", [][]string{{"oak_slab[type=double]"}}, 2, 1},
		{"four candles are four steps", [][]string{{"candle[candles=4]"}}, 4, 1},
		{"three snow layers are three steps", [][]string{{"snow[layers=3]"}}, 3, 1},
		{"a bed is one step of two cells", [][]string{{"red_bed[facing=east,part=foot]", "red_bed[facing=east,part=head]"}}, 1, 2},
		{"a tall plant is one step", [][]string{{"dirt"}, {"lilac[half=lower]"}, {"lilac[half=upper]"}}, 2, 3},
		{"a double chest pairs", [][]string{{"chest[facing=north,type=right]", "chest[facing=north,type=left]"}}, 0, 0},
		{"a double chest pairs the right way round", [][]string{{"chest[facing=north,type=left]", "chest[facing=north,type=right]"}}, 2, 2},
		{"bamboo turns its sapling", [][]string{{"dirt"}, {"bamboo"}, {"bamboo"}}, 3, 3},
		{"vines on two sides are two steps", [][]string{{"stone", "", "stone"}, {"stone", "vine[west=true,east=true]", "stone"}}, 6, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustPlan(t, reg, layout(t, c.rows...), Options{CanFly: true})
			if len(p.Steps) != c.steps || len(p.Final) != c.cells {
				t.Errorf("%d steps, %d cells, rejected %v; want %d, %d", len(p.Steps), len(p.Final), p.Rejected, c.steps, c.cells)
			}
			for _, f := range p.Final {
				for _, d := range f.Differs {
					if placement.ClassOf(blockName(f.Block), d) == placement.Chosen {
						t.Errorf("%s ends as %s", f.Block, reg.FormatState(f.State))
					}
				}
			}
			checkPlan(t, reg, p, nil)
		})
	}
}

func blockName(state string) string {
	s, _ := ParseState(state)
	return s.Name
}

func TestRejectionsNameTheirReason(t *testing.T) {
	reg := load(t, registry.V1_21)
	for _, c := range []struct {
		state string
		code  placement.Code
	}{
		{"water", placement.NeedsInteraction}, {"potted_poppy", placement.NeedsInteraction}, {"farmland", placement.NeedsInteraction},
		{"repeater[delay=3]", placement.NeedsInteraction}, {"lily_pad", placement.NeedsInteraction}, {"piston_head", placement.UnplaceableState},
		{"oak_leaves[persistent=false]", placement.UnplaceableState}, {"oak_door[half=upper]", placement.UnplaceableState},
		{"oak_door[half=lower]", placement.UnplaceableState}, {"red_bed[part=head]", placement.UnplaceableState},
		{"chest[type=left]", placement.UnplaceableState}, {"poppy", placement.NoSupport}, {"wall_torch[facing=north]", placement.NoClick},
		{"lantern[hanging=true]", placement.NoClick}, {"cheese", Unknown}, {"oak_log[axis=q]", Unknown}, {"sand", ""},
		{"oak_stairs[waterlogged=true]", placement.NeedsInteraction},
	} {
		t.Run(c.state, func(t *testing.T) {
			p := mustPlan(t, reg, layout(t, []string{c.state}), Options{CanFly: true})
			if c.code == "" {
				if len(p.Rejected) > 0 {
					t.Errorf("rejected: %v", p.Rejected)
				}
				return
			}
			if len(p.Rejected) != 1 || p.Rejected[0].Code != c.code || p.Rejected[0].Detail == "" {
				t.Errorf("%+v, want %s", p.Rejected, c.code)
			}
		})
	}
}

func TestWhatStandsThere(t *testing.T) {
	reg := load(t, registry.V1_21)
	stone, _ := reg.Block("stone")
	w := &sim{flat{corner.Y, stone.Default}, map[geom.BlockPos]registry.StateID{}}
	put := func(x int32, s string) {
		id, err := reg.ParseState(s)
		if err != nil {
			t.Fatal(err)
		}
		w.cells[corner.Add(geom.BlockPos{X: x})] = id
	}
	put(0, "oak_planks")
	put(1, "dirt")
	put(2, "short_grass")
	put(4, "bricks")
	b := layout(t, []string{"oak_planks", "oak_planks", "oak_planks", "oak_planks", "air"})
	p := mustPlan(t, reg, b, Options{World: w})
	if len(p.Present) != 1 || len(p.Rejected) != 2 || len(p.Steps) != 1 || len(p.Standing) != 1 || p.LeftOut.Air != 1 {
		t.Errorf("present %v, rejected %v, %d steps, standing %v", p.Present, p.Rejected, len(p.Steps), p.Standing)
	}
	p = mustPlan(t, reg, b, Options{World: w, MayReplace: []string{"short_grass"}})
	if len(p.Steps) != 2 || len(p.Rejected) != 1 || p.Rejected[0].Code != placement.Occupied {
		t.Errorf("may_replace: %d steps, rejected %v", len(p.Steps), p.Rejected)
	}
	checkPlan(t, reg, p, w)
}

func TestUnknownCellsAreNotBuiltInto(t *testing.T) {
	reg := load(t, registry.V1_21)
	p := mustPlan(t, reg, layout(t, []string{"stone"}), Options{World: darkness{}})
	if len(p.Steps) != 0 || len(p.Rejected) != 1 || p.Rejected[0].Code != placement.UnknownCell {
		t.Errorf("%d steps, %v", len(p.Steps), p.Rejected)
	}
}

type darkness struct{}

func (darkness) Block(geom.BlockPos) (registry.StateID, bool) { return 0, false }

func TestPlotTooSmall(t *testing.T) {
	reg := load(t, registry.V1_21)
	_, err := MakePlan(context.Background(), reg, layout(t, []string{"stone", "stone"}), corner, Options{Build: geom.BlockBox{Min: corner, Max: corner}})
	if !errors.Is(err, ErrOutsidePlot) {
		t.Errorf("got %v", err)
	}
	_, err = MakePlan(context.Background(), reg, layout(t, []string{"stone"}), corner, Options{Walk: geom.BoxOf(geom.BlockPos{}, geom.BlockPos{X: 5000, Y: 300, Z: 5000})})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestPlanIsOneValue(t *testing.T) {
	reg := load(t, registry.V1_21)
	b := layout(t, []string{"stone", "oak_slab[type=double]"}, []string{"torch", "oak_fence"})
	p := mustPlan(t, reg, b, Options{})
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, &back); d != "" {
		t.Errorf("JSON there and back: %s", d)
	}
	if p.Digest() != back.Digest() || p.Digest() != mustPlan(t, reg, b, Options{}).Digest() {
		t.Error("equal plans have different digests")
	}
	back.Steps[1].Use.Cells[0].To++
	if p.Digest() == back.Digest() {
		t.Error("another state does not change the digest")
	}
}

// TestAnyPlanKeepsItsPromises plans random heaps of states and walks through the plans from the outside.
func TestAnyPlanKeepsItsPromises(t *testing.T) {
	reg := load(t, registry.Latest)
	steps, rejected := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		b := anyBlueprint(rt, reg, 4)
		o := Options{CanFly: rapid.Bool().Draw(rt, "fly"), Strict: rapid.Bool().Draw(rt, "strict")}
		p, err := MakePlan(context.Background(), reg, b, corner, o)
		if err != nil {
			rt.Fatal(err)
		}
		checkPlan(t, reg, p, nil)
		steps, rejected = steps+len(p.Steps), rejected+len(p.Rejected)
		for _, s := range p.Steps {
			if s.Hidden && o.Strict {
				rt.Fatal("a hidden face in a strict plan")
			}
		}
	})
	t.Logf("%d steps, %d rejected", steps, rejected)
}

// TestLargePlanInTime plans a hollow tower of ten thousand blocks, flying and walking.
func TestLargePlanInTime(t *testing.T) {
	reg := load(t, registry.Latest)
	b, err := New("tower", geom.BlockPos{X: 40, Y: 40, Z: 40})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"stone_bricks", "oak_planks", "oak_stairs[facing=east]", "glass_pane", "oak_log[axis=z]"}
	n := 0
	for y := range int32(40) {
		for z := range int32(40) {
			for x := range int32(40) {
				wall := x == 0 || z == 0 || x == 39 || z == 39
				if wall || y%8 == 0 && (x+z)%2 == 0 || y == 0 {
					s, _ := ParseState(kinds[(int(x)/3+int(y)+int(z)/5)%len(kinds)])
					if err := b.Set(geom.BlockPos{X: x, Y: y, Z: z}, s); err != nil {
						t.Fatal(err)
					}
					n++
				}
			}
		}
	}
	for _, fly := range []bool{true, false} {
		begin := time.Now()
		p := mustPlan(t, reg, b, Options{CanFly: fly})
		took := time.Since(begin)
		t.Logf("fly=%v: %d cells, %d steps, %d rejected, %d unreachable, %v", fly, n, len(p.Steps), len(p.Rejected), len(p.Unreachable), took)
		if limit := 20 * time.Second; took > limit { // hours would be a fault, seconds are the machine
			t.Errorf("took %v", took)
		}
	}
}
