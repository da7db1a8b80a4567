package registry

import (
	"errors"
	"math/rand/v2"
	"testing"

	"blockworld/worldstate/geom"
)

// load returns the registry of a protocol or ends the test.
func load(t testing.TB, p Protocol) *Registry {
	t.Helper()
	r, err := Load(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCounts(t *testing.T) {
	counts := []struct {
		p                               Protocol
		blocks, states, items, entities int
	}{
		{764, 1003, 24276, 1255, 124}, {765, 1058, 26644, 1312, 126}, {766, 1060, 26684, 1330, 130}, {767, 1060, 26684, 1333, 130},
		{768, 1084, 27318, 1375, 150}, {769, 1095, 27866, 1385, 149}, {770, 1104, 27914, 1396, 150}, {771, 1105, 27946, 1415, 151},
		{772, 1105, 27946, 1416, 151}, {773, 1166, 29671, 1488, 153}, {774, 1166, 29671, 1505, 157}, {775, 1168, 29873, 1506, 157},
	}
	if len(counts) != len(Protocols()) {
		t.Fatalf("%d protocols, %d counts", len(Protocols()), len(counts))
	}
	for _, c := range counts {
		r := load(t, c.p)
		if len(r.Blocks()) != c.blocks || r.StateCount() != c.states || len(r.Items()) != c.items || len(r.entities) != c.entities {
			t.Errorf("%s: %d blocks %d states %d items %d entities, want %v", c.p, len(r.Blocks()), r.StateCount(), len(r.Items()), len(r.entities), c)
		}
		if r.StateCount() > 1<<15 {
			t.Errorf("%s: more states than 15 bits hold", c.p)
		}
		if s, err := r.ParseState("air"); err != nil || s != 0 {
			t.Errorf("%s: air is %d, %v", c.p, s, err)
		}
		if e := r.EntityTypeByID(r.PlayerType()); e == nil || e.Name != "minecraft:player" || e.Width != 0.6 || e.Height != 1.8 {
			t.Errorf("%s: player is %+v", c.p, e)
		}
	}
}

// TestDefaults proves the numbering of states (true before false, last property fastest) by the defaults that the game
// gives: read as words they must be what the game's own sources say.
func TestDefaults(t *testing.T) {
	want := map[string]string{
		"oak_stairs":       "minecraft:oak_stairs[facing=north,half=bottom,shape=straight,waterlogged=false]",
		"redstone_wire":    "minecraft:redstone_wire[east=none,north=none,power=0,south=none,west=none]",
		"redstone_lamp":    "minecraft:redstone_lamp[lit=false]",
		"oak_door":         "minecraft:oak_door[facing=north,half=lower,hinge=left,open=false,powered=false]",
		"oak_leaves":       "minecraft:oak_leaves[distance=7,persistent=false,waterlogged=false]",
		"grass_block":      "minecraft:grass_block[snowy=false]",
		"furnace":          "minecraft:furnace[facing=north,lit=false]",
		"campfire":         "minecraft:campfire[facing=north,lit=true,signal_fire=false,waterlogged=false]",
		"oak_log":          "minecraft:oak_log[axis=y]",
		"snow":             "minecraft:snow[layers=1]",
		"lever":            "minecraft:lever[face=wall,facing=north,powered=false]",
		"cobblestone_wall": "minecraft:cobblestone_wall[east=none,north=none,south=none,up=true,waterlogged=false,west=none]",
		"piston":           "minecraft:piston[extended=false,facing=north]",
		"hopper":           "minecraft:hopper[enabled=true,facing=down]",
		"sculk_sensor":     "minecraft:sculk_sensor[power=0,sculk_sensor_phase=inactive,waterlogged=false]",
	}
	for _, p := range Protocols() {
		r := load(t, p)
		for name, text := range want {
			b, ok := r.Block(name)
			if !ok {
				t.Fatalf("%s: no %s", p, name)
			}
			if got := r.FormatState(b.Default); got != text {
				t.Errorf("%s: default %s, want %s", p, got, text)
			}
		}
	}
}

// TestEveryState goes through all states of all versions: words and back, and each property changed and changed back.
func TestEveryState(t *testing.T) {
	for _, p := range Protocols() {
		r := load(t, p)
		for s := StateID(0); int(s) < r.StateCount(); s++ {
			text := r.FormatState(s)
			if back, err := r.ParseState(text); err != nil || back != s {
				t.Fatalf("%s: state %d is %s is %d, %v", p, s, text, back, err)
			}
			b := r.BlockOf(s)
			if s < b.Min || s > b.Max {
				t.Fatalf("%s: state %d not in its block's range", p, s)
			}
			if len(r.Shape(s)) > 24 {
				t.Fatalf("%s: %s has %d boxes", p, text, len(r.Shape(s)))
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			s := StateID(rng.IntN(r.StateCount()))
			props := r.Props(s)
			for name, value := range props {
				prop, _ := r.BlockOf(s).property(name)
				for _, other := range prop.Values {
					changed, ok := r.With(s, name, other)
					back, ok2 := r.With(changed, name, value)
					if got, _ := r.Prop(changed, name); !ok || !ok2 || got != other || back != s {
						t.Fatalf("%s: %s with %s=%s gives %s", p, r.FormatState(s), name, other, r.FormatState(changed))
					}
				}
			}
			if got, err := r.State(r.BlockOf(s), props); err != nil || got != s {
				t.Fatalf("%s: State(%v) = %d, %v", p, props, got, err)
			}
		}
	}
}

func TestKnownIDs(t *testing.T) {
	r := load(t, V1_21_7)
	for text, id := range map[string]StateID{"stone": 1, "oak_stairs[half=bottom]": 2949, "bedrock": 85, "minecraft:water": 86, "redstone_wire": 4202, "snow[layers=8]": 5957} {
		if got, err := r.ParseState(text); err != nil || got != id {
			t.Errorf("%s is %d (%v), want %d", text, got, err, id)
		}
	}
	stone, _ := r.Block("stone")
	if stone.Hardness != 1.5 || stone.Item != 1 || !stone.Solid {
		t.Errorf("stone is %+v", stone)
	}
	bedrock, _ := r.Block("minecraft:bedrock")
	if bedrock.Hardness != -1 {
		t.Errorf("bedrock has hardness %v", bedrock.Hardness)
	}
	water, _ := r.Block("water")
	if water.Item != NoItem || water.Solid {
		t.Errorf("water is %+v", water)
	}
	for name, stack := range map[string]int32{"stone": 64, "ender_pearl": 16, "diamond_sword": 1, "oak_sign": 16} {
		if it, ok := r.Item(name); !ok || it.StackSize != stack || r.ItemByID(it.ID) != it {
			t.Errorf("%s: %+v", name, it)
		}
	}
}

func TestUnknown(t *testing.T) {
	r := load(t, Latest)
	if _, err := Load(763); !errors.Is(err, ErrUnknownProtocol) {
		t.Errorf("Load(763): %v", err)
	}
	for text, want := range map[string]error{
		"minecraft:nonsense": ErrUnknownBlock, "": ErrUnknownBlock, "other:stone": ErrUnknownBlock,
		"stone[axis=y]": ErrUnknownProperty, "oak_log[axis=w]": ErrUnknownProperty, "oak_log[axis": ErrUnknownProperty,
		"oak_log[axis=y": ErrUnknownProperty, "oak_log[axis]": ErrUnknownProperty,
	} {
		if _, err := r.ParseState(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	out := StateID(r.StateCount())
	if r.BlockOf(out) != nil || r.IsAir(out) || r.Replaceable(out) || r.FaceFull(out, geom.Up) || !r.FullCube(out) || r.FormatState(65535) != "minecraft:unknown[65535]" {
		t.Error("a state out of range is not treated as unknown")
	}
	if r.ItemByID(-1) != nil || r.ItemByID(1<<20) != nil || r.EntityTypeByID(-1) != nil || r.EntityTypeByID(1<<20) != nil {
		t.Error("ids out of range give something")
	}
}

func TestSupport(t *testing.T) {
	r := load(t, V1_21_7)
	const d, u, n, s, w, e = geom.Down, geom.Up, geom.North, geom.South, geom.West, geom.East
	rows := []struct {
		state               string
		full, centre, rigid []geom.Face
	}{
		{"stone", []geom.Face{d, u, n, s, w, e}, []geom.Face{d, u, n, s, w, e}, []geom.Face{d, u, n, s, w, e}},
		{"air", nil, nil, nil},
		{"oak_leaves", nil, nil, nil},
		{"soul_sand", []geom.Face{d, u, n, s, w, e}, []geom.Face{u}, []geom.Face{u}},
		{"oak_slab[type=top]", []geom.Face{u}, []geom.Face{u}, []geom.Face{u}},
		{"oak_slab[type=bottom]", []geom.Face{d}, []geom.Face{d}, []geom.Face{d}},
		{"oak_stairs[facing=north,half=bottom]", []geom.Face{d, n}, []geom.Face{d, n}, []geom.Face{d, n}},
		{"oak_fence", nil, []geom.Face{d, u}, nil},
		{"cobblestone_wall", nil, []geom.Face{d, u}, nil},
		{"oak_fence_gate[facing=north]", nil, []geom.Face{u}, nil},
		{"farmland", []geom.Face{d}, []geom.Face{d}, []geom.Face{d}},
		{"snow[layers=8]", []geom.Face{d, u, n, s, w, e}, []geom.Face{u}, []geom.Face{u}},
		{"snow[layers=7]", []geom.Face{d}, nil, nil},
		{"hopper", nil, []geom.Face{d}, []geom.Face{u}},
		{"glass", []geom.Face{d, u, n, s, w, e}, []geom.Face{u}, []geom.Face{u}},
		{"scaffolding", []geom.Face{u}, []geom.Face{u}, []geom.Face{u}},
		{"iron_bars", nil, []geom.Face{d, u}, nil},
		{"lantern", nil, []geom.Face{d}, nil},
	}
	for _, row := range rows {
		id, err := r.ParseState(row.state)
		if err != nil {
			t.Fatal(err)
		}
		has := func(list []geom.Face, f geom.Face) bool {
			for _, x := range list {
				if x == f {
					return true
				}
			}
			return false
		}
		for _, f := range geom.Faces {
			if got := r.FaceFull(id, f); got != has(row.full, f) {
				t.Errorf("%s: full %s is %v", row.state, f, got)
			}
			if has(row.centre, f) && !r.FaceCentre(id, f) || row.centre == nil && row.full == nil && r.FaceCentre(id, f) {
				t.Errorf("%s: centre %s is %v", row.state, f, r.FaceCentre(id, f))
			}
			if has(row.rigid, f) && !r.FaceRigid(id, f) || row.rigid == nil && row.full == nil && r.FaceRigid(id, f) {
				t.Errorf("%s: rigid %s is %v", row.state, f, r.FaceRigid(id, f))
			}
		}
	}
	if gate, _ := r.ParseState("oak_fence_gate"); r.FaceCentre(gate, geom.Down) {
		t.Error("a fence gate supports from below")
	}
}

func TestKinds(t *testing.T) {
	for _, p := range Protocols() {
		r := load(t, p)
		is := func(f func(StateID) bool, yes, no []string) {
			t.Helper()
			for i, list := range [][]string{yes, no} {
				for _, text := range list {
					s, err := r.ParseState(text)
					if err != nil {
						t.Fatal(err)
					}
					if f(s) != (i == 0) {
						t.Errorf("%s: wrong for %s", p, text)
					}
				}
			}
		}
		is(r.IsAir, []string{"air", "cave_air", "void_air"}, []string{"stone", "light", "structure_void"})
		is(r.Replaceable, []string{"air", "water[level=3]", "lava", "fern", "vine", "fire", "snow[layers=1]", "tall_grass[half=upper]", "light[level=3]", "bubble_column"},
			[]string{"stone", "snow[layers=2]", "dandelion", "oak_sapling", "rail", "white_carpet", "torch", "kelp"})
		is(r.IsFluid, []string{"water", "lava[level=9]", "bubble_column"}, []string{"oak_stairs[waterlogged=true]", "kelp", "air"})
		is(r.IsWaterSource, []string{"water", "oak_stairs[waterlogged=true]", "kelp", "seagrass", "bubble_column"}, []string{"water[level=1]", "lava", "oak_stairs[waterlogged=false]", "water[level=8]"})
		is(r.IsWater, []string{"water[level=7]", "water[level=8]"}, []string{"lava", "air"})
		is(r.IsLava, []string{"lava", "lava[level=4]"}, []string{"water"})
	}
	r := load(t, Latest)
	s, _ := r.ParseState("water[level=6]")
	if got := r.Fluid(s); got != (Fluid{Kind: Water, Amount: 2}) {
		t.Errorf("water level 6 is %+v", got)
	}
	s, _ = r.ParseState("lava[level=8]")
	if got := r.Fluid(s); got != (Fluid{Kind: Lava, Amount: 8, Falling: true}) {
		t.Errorf("falling lava is %+v", got)
	}
}

func TestRenames(t *testing.T) {
	rows := []struct {
		p       Protocol
		from    int32
		name    string
		want    string
		changed bool
	}{
		{V1_21_7, 3578, "minecraft:grass", "minecraft:short_grass", true},
		{V1_20_2, 3578, "grass", "minecraft:grass", false},
		{V1_20_2, 4440, "minecraft:short_grass", "minecraft:grass", true},
		{V1_21_9, 4440, "chain", "minecraft:iron_chain", true},
		{V1_21_7, 4671, "iron_chain", "minecraft:chain", true},
		{V1_21_7, 4440, "chain", "minecraft:chain", false},
		{V26_1, 1631, "wall_sign", "minecraft:oak_wall_sign", true},
		{V26_1, 2586, "grass_path", "minecraft:dirt_path", true},
		{V26_1, 1, "other:grass", "other:grass", false},
	}
	for _, row := range rows {
		got, changed := load(t, row.p).RenameFrom(row.from, row.name)
		if got != row.want || changed != row.changed {
			t.Errorf("%s from %d: %s is %s (%v), want %s", row.p, row.from, row.name, got, changed, row.want)
		}
		if _, ok := load(t, row.p).Block(got); row.changed && !ok {
			t.Errorf("%s: no block %s", row.p, got)
		}
	}
}

func TestProtocols(t *testing.T) {
	if p, ok := ByVersionName("1.21.8"); !ok || p != V1_21_7 {
		t.Errorf("1.21.8 is %v", p)
	}
	if V1_21_7.String() != "1.21.8 (772)" || Protocol(5).String() != "unknown (5)" {
		t.Error(V1_21_7.String(), Protocol(5).String())
	}
	for dv, want := range map[int32]struct {
		p     Protocol
		exact bool
	}{3578: {V1_20_2, true}, 100: {V1_20_2, false}, 3839: {V1_20_5, true}, 3840: {V1_20_5, false}, 9999: {Latest, false}, 4440: {V1_21_7, true}} {
		if p, exact := ByDataVersion(dv); p != want.p || exact != want.exact {
			t.Errorf("data version %d is %s, %v", dv, p, exact)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		if _, err := build(Latest); err != nil {
			b.Fatal(err)
		}
	}
}
