package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// scene is one search and what must come of it.
type scene struct {
	name     string
	build    func(t *testing.T, g *grid)
	from, to geom.BlockPos
	change   func(o *Options)
	status   Status
	why      Why
	cost     int32 // 0 not checked
}

func wall(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, 3, 8, 70, 3) }

var scenes = []scene{
	{name: "straight", from: at(0, 64, 0), to: at(0, 64, 6), status: Reached, cost: 60},
	{name: "diagonal", from: at(0, 64, 0), to: at(5, 64, 5), status: Reached, cost: 70},
	{name: "nowhere to go", from: at(0, 64, 0), to: at(0, 64, 0), status: Reached},
	{name: "start in the air", from: at(0, 66, 0), to: at(0, 64, 3), status: Reached, cost: 30},
	{name: "start at an edge", build: func(t *testing.T, g *grid) { g.fill(t, "air", 0, 60, 0, 0, 63, 0) },
		from: at(0, 64, 0), to: at(4, 64, 0), status: Reached, cost: 30},
	{name: "walled off", build: wall, from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "wall with a hole of one", build: func(t *testing.T, g *grid) { wall(t, g); g.fill(t, "air", 2, 64, 3, 2, 64, 3) },
		from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "wall with a hole of two", build: func(t *testing.T, g *grid) { wall(t, g); g.fill(t, "air", 2, 64, 3, 2, 65, 3) },
		from: at(0, 64, 0), to: at(0, 64, 6), status: Reached},
	{name: "unknown cells in the way", build: func(t *testing.T, g *grid) { g.box.Max.Z = 3 },
		from: at(0, 64, 0), to: at(0, 64, 6), status: Partial, why: GoalUnknown},
	{name: "walk box in the way", from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { o.WalkBox.Max.Z = 5 },
		status: NoPath, why: GoalOutside},
	{name: "start outside", from: at(0, 64, -7), to: at(0, 64, 6), change: func(o *Options) { o.WalkBox.Min.Z = -3 },
		status: NoPath, why: StartOutside},
	{name: "no options", from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { *o = Options{} },
		status: NoPath, why: StartOutside},
	{name: "goal in a block", from: at(0, 64, 0), to: at(0, 63, 6), status: NoPath, why: GoalBlocked},
	{name: "goal in the air", from: at(0, 64, 0), to: at(0, 66, 6), status: NoPath, why: GoalBlocked},
	{name: "start nowhere", build: func(t *testing.T, g *grid) { g.fill(t, "air", -8, 60, -8, 8, 63, 8) },
		from: at(0, 70, 0), to: at(0, 64, 6), status: NoPath, why: GoalBlocked},
	{name: "budget", build: wall, from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { o.NodeBudget = 20 },
		status: Budget, why: OutOfNodes},
	{name: "jump up one", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, 3, 8, 64, 8) },
		from: at(0, 64, 0), to: at(0, 65, 4), status: Reached, cost: 50},
	{name: "not up two", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, 3, 8, 65, 8) },
		from: at(0, 64, 0), to: at(0, 66, 4), status: NoPath, why: WalledOff},
	{name: "no jump under a ceiling", build: func(t *testing.T, g *grid) {
		g.fill(t, "stone", -8, 64, 3, 8, 64, 8)
		g.fill(t, "stone", -8, 66, -8, 8, 66, 2)
	}, from: at(0, 64, 0), to: at(0, 65, 4), status: NoPath, why: WalledOff},
	{name: "step onto a slab under a ceiling", build: func(t *testing.T, g *grid) {
		g.fill(t, "oak_slab", -8, 64, 3, 8, 64, 3)
		g.fill(t, "stone", -8, 66, 2, 8, 66, 4)
	}, from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "drop of three", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, -8, 8, 66, 0) },
		from: at(0, 67, 0), to: at(0, 64, 3), status: Reached, cost: 36},
	{name: "no drop of four", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, -8, 8, 67, 0) },
		from: at(0, 68, 0), to: at(0, 64, 3), status: NoPath, why: WalledOff},
	{name: "drop of four if allowed", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, -8, 8, 67, 0) },
		from: at(0, 68, 0), to: at(0, 64, 3), change: func(o *Options) { o.MaxDrop = 4 }, status: Reached},
	{name: "no drop at all", build: func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, -8, 8, 64, 0) },
		from: at(0, 65, 0), to: at(0, 64, 3), change: func(o *Options) { o.MaxDrop = -1 }, status: NoPath, why: WalledOff},
	{name: "slabs and a fence", build: func(t *testing.T, g *grid) {
		wall(t, g)
		g.fill(t, "air", 2, 64, 3, 2, 66, 3)
		g.fill(t, "oak_fence", 2, 64, 3, 2, 64, 3)
	}, from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "low wall", build: func(t *testing.T, g *grid) {
		wall(t, g)
		g.fill(t, "air", 2, 64, 3, 2, 66, 3)
		g.fill(t, "stone", 2, 64, 3, 2, 64, 3)
	}, from: at(0, 64, 0), to: at(0, 64, 6), status: Reached},
	{name: "closed door", build: func(t *testing.T, g *grid) { wall(t, g); door(t, g, false) },
		from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "open door", build: func(t *testing.T, g *grid) { wall(t, g); door(t, g, true) },
		from: at(0, 64, 0), to: at(0, 64, 6), status: Reached},
	{name: "no squeezing between corners", build: func(t *testing.T, g *grid) {
		wall(t, g)
		g.fill(t, "stone", -8, 64, 4, 8, 70, 4)
		g.fill(t, "air", 2, 64, 3, 2, 65, 3)
		g.fill(t, "air", 3, 64, 4, 3, 65, 4)
	}, from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "ladder", build: func(t *testing.T, g *grid) {
		g.fill(t, "stone", -8, 64, 3, 8, 68, 8)
		g.fill(t, "ladder[facing=north]", 0, 64, 2, 0, 68, 2)
	}, from: at(0, 64, 0), to: at(0, 69, 4), status: Reached},
	{name: "ladder with a gap", build: func(t *testing.T, g *grid) {
		g.fill(t, "stone", -8, 64, 3, 8, 68, 8)
		g.fill(t, "ladder[facing=north]", 0, 64, 2, 0, 68, 2)
		g.fill(t, "air", 0, 66, 2, 0, 66, 2)
	}, from: at(0, 64, 0), to: at(0, 69, 4), status: NoPath, why: WalledOff},
	{name: "no swimming", build: river, from: at(0, 64, 0), to: at(0, 64, 6), status: NoPath, why: WalledOff},
	{name: "swimming", build: river, from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { o.Swim = true }, status: Reached},
	{name: "no landing on farmland", build: func(t *testing.T, g *grid) {
		g.fill(t, "farmland", -8, 64, 1, 8, 64, 8)
		g.fill(t, "stone", -8, 64, -8, 8, 66, 0)
	}, from: at(0, 67, 0), to: at(0, 64, 3), status: NoPath, why: WalledOff},
	{name: "flight over a wall", build: wall, from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { o.CanFly = true }, status: Reached},
	{name: "flight to the air", from: at(0, 64, 0), to: at(0, 70, 6), change: func(o *Options) { o.CanFly = true }, status: Reached, cost: 120},
	{name: "flight walled off", build: func(t *testing.T, g *grid) {
		g.fill(t, "glass", -2, 63, 4, 2, 67, 8)
		g.fill(t, "air", -1, 64, 5, 1, 66, 7)
	}, from: at(0, 64, 0), to: at(0, 64, 6), change: func(o *Options) { o.CanFly = true }, status: NoPath, why: WalledOff},
}

func door(t *testing.T, g *grid, open bool) {
	state := map[bool]string{false: "open=false", true: "open=true"}[open]
	g.fill(t, "oak_door[facing=south,half=lower,"+state+"]", 2, 64, 3, 2, 64, 3)
	g.fill(t, "oak_door[facing=south,half=upper,"+state+"]", 2, 65, 3, 2, 65, 3)
}

func river(t *testing.T, g *grid) {
	g.fill(t, "water", -8, 62, 2, 8, 63, 4)
	g.fill(t, "stone", -8, 61, -8, 8, 61, 8)
}

func TestFind(t *testing.T) {
	table := NewTable(newGrid(t, 8).reg)
	var scratch Scratch
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			g := newGrid(t, 8)
			if s.build != nil {
				s.build(t, g)
			}
			o := Options{WalkBox: geom.BlockBox{Min: at(-8, 60, -8), Max: at(8, 78, 8)}}
			if s.change != nil {
				s.change(&o)
			}
			// beside the grid there is bedrock, not the unknown, so that what is walled off can be proved
			w := World{table, bounded{g}}
			r := Find(w, s.from, s.to, o, &scratch)
			if r.Status != s.status || r.Why != s.why {
				t.Fatalf("got %v (%v), want %v (%v); %d nodes, %d unknown: %v", r.Status, r.Why, s.status, s.why, r.Visited, r.Unknown, r.Nodes)
			}
			if s.cost != 0 && r.Cost != s.cost {
				t.Errorf("costs %d, want %d: %v", r.Cost, s.cost, r.Nodes)
			}
			if (r.Status == Reached) != (r.Goal == 0) {
				t.Errorf("%v with goal %d", r.Status, r.Goal)
			}
			checkNodes(t, g, o, r)
			if again := Find(w, s.from, s.to, o, nil); !cmp.Equal(r, again) {
				t.Errorf("the same question, another answer: %s", cmp.Diff(r, again))
			}
		})
	}
}

// bounded is a grid with bedrock around it; where the grid itself was cut the unknown begins.
type bounded struct{ g *grid }

func (b bounded) Block(p geom.BlockPos) (s registry.StateID, ok bool) {
	if s, ok = b.g.Block(p); ok || p.Z > b.g.box.Max.Z && b.g.box.Max.Z < 8 {
		return s, ok
	}
	bedrock, _ := b.g.reg.Block("minecraft:bedrock")
	return bedrock.Default, true
}

// checkNodes tells whether every node is inside the walk box, known, free of shapes and of banned hazards.
func checkNodes(t testing.TB, g *grid, o Options, r Result) {
	t.Helper()
	for i, n := range r.Nodes {
		if !o.WalkBox.Contains(n.Pos) {
			t.Errorf("node %v outside the walk box", n)
		}
		if i == 0 {
			continue
		}
		for dy := int32(-1); dy <= 2; dy++ {
			p := above(n.Pos, dy)
			s, ok := g.Block(p)
			if !ok {
				if dy >= 0 && dy < 2 {
					t.Errorf("node %v leads into unknown cells", n)
				}
				continue
			}
			for _, b := range g.reg.Shape(s) {
				if name := g.reg.BlockOf(s).Name; name != "minecraft:scaffolding" && b.Move(p.Corner()).Overlaps(geom.PlayerBox(n.Centre(), geom.PlayerHeight).Grow(-1e-6)) {
					t.Errorf("node %v stands in %s", n, g.reg.FormatState(s))
				}
			}
		}
	}
}

func TestHazards(t *testing.T) {
	blocks := map[Hazard][]string{
		HazardLava: {"lava"}, HazardFire: {"fire", "soul_fire"}, HazardCampfire: {"campfire", "campfire[lit=false]"},
		HazardCactus: {"cactus"}, HazardMagma: {"magma_block"}, HazardBerryBush: {"sweet_berry_bush"},
		HazardWitherRose: {"wither_rose"}, HazardPowderSnow: {"powder_snow"}, HazardCobweb: {"cobweb"},
		HazardPortal: {"nether_portal"}, HazardFragile: {"turtle_egg"}, HazardTrigger: {"stone_pressure_plate", "tripwire"},
		HazardBubbles: {"bubble_column"},
	}
	table := NewTable(newGrid(t, 8).reg)
	for h := HazardNone + 1; h < hazardCount; h++ {
		if len(blocks[h]) == 0 {
			t.Errorf("%v is not tested", h)
		}
		for _, b := range blocks[h] {
			t.Run(h.String()+"/"+b, func(t *testing.T) {
				g := newGrid(t, 8)
				g.fill(t, "stone", -8, 64, 3, 8, 70, 3)
				g.fill(t, "air", 2, 64, 3, 2, 65, 3)
				y := int32(64)
				if h == HazardMagma {
					y = 63
				}
				g.fill(t, b, 2, y, 3, 2, y, 3)
				o := Options{WalkBox: geom.BlockBox{Min: at(-8, 60, -8), Max: at(8, 78, 8)}, Swim: true}
				if r := Find(World{table, bounded{g}}, at(0, 64, 0), at(0, 64, 6), o, nil); r.Status != NoPath {
					t.Errorf("banned: %v %v", r.Status, r.Nodes)
				}
				o.Pass[h] = 50
				r := Find(World{table, bounded{g}}, at(0, 64, 0), at(0, 64, 6), o, nil)
				if over := h == HazardCactus || h == HazardCampfire || h == HazardFragile; r.Status != Reached && !over {
					t.Errorf("allowed: %v %v", r.Status, r.Why)
				}
				if r.Status == Reached && r.Cost < 70+50 {
					t.Errorf("allowed: costs only %d", r.Cost)
				}
			})
		}
	}
}

// A way beside lava is avoided where there is another one.
func TestKeepsAwayFromLava(t *testing.T) {
	g := newGrid(t, 8)
	g.fill(t, "lava", 1, 63, -8, 1, 63, 8)
	r := Find(World{NewTable(g.reg), g}, at(-1, 64, -6), at(-1, 64, 6), Options{WalkBox: g.inner()}, nil)
	for _, n := range r.Nodes {
		if n.Pos.X == 0 {
			t.Errorf("walks along lava at %v", n.Pos)
		}
	}
}

func TestFindAny(t *testing.T) {
	g := newGrid(t, 8)
	wall(t, g)
	goals := []geom.BlockPos{at(0, 64, 6), at(0, 63, 0), at(-5, 64, 1), at(4, 64, 1), at(4, 64, 1)}
	r := FindAny(World{NewTable(g.reg), bounded{g}}, at(0, 64, 0), goals, Options{WalkBox: g.inner()}, nil)
	if r.Status != Reached || r.Goal != 3 || r.Nodes[len(r.Nodes)-1].Pos != at(4, 64, 1) {
		t.Errorf("%v %v goal %d: %v", r.Status, r.Why, r.Goal, r.Nodes)
	}
	if r = FindAny(World{NewTable(g.reg), bounded{g}}, at(0, 64, 0), nil, Options{WalkBox: g.inner()}, nil); r.Status == Reached {
		t.Error("reached one of no goals")
	}
}
