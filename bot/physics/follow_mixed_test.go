package physics_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"blockworld/bot/physics"
	"blockworld/effects/path"
	"blockworld/worldstate/registry"
)

// clutter is what a building site may be full of.
var clutter = []string{"stone", "stone", "oak_slab", "oak_slab[type=top]", "oak_stairs[facing=east]", "oak_stairs[facing=north]",
	"oak_fence", "cobblestone_wall", "white_carpet", "snow[layers=4]", "ladder[facing=north]", "ladder[facing=east]", "scaffolding",
	"glass_pane[north=true,south=true]", "chest", "hopper", "cactus", "lava", "oak_trapdoor[open=true,facing=north]",
	"oak_trapdoor[half=top]", "oak_door[half=lower,open=true]", "soul_sand", "honey_block", "slime_block", "packed_ice", "vine[south=true]",
	"torch", "lantern", "cauldron", "anvil", "oak_fence_gate[open=true]", "oak_fence_gate", "farmland", "white_bed", "composter"}

func clutteredGrid(t testing.TB, seed uint64, wet bool) *grid {
	g := newGrid(t, registry.V1_21_7)
	rnd := rand.New(rand.NewPCG(seed, 4))
	g.fill("stone", -20, 60, -20, 20, 63, 20)
	for range 260 {
		g.set(clutter[rnd.IntN(len(clutter))], rnd.Int32N(17)-8, 64+rnd.Int32N(4)*rnd.Int32N(2), rnd.Int32N(17)-8)
	}
	if wet {
		for range 12 {
			x, z := rnd.Int32N(17)-8, rnd.Int32N(17)-8
			g.fill("water", x, 62, z, x+rnd.Int32N(3), 63, z+rnd.Int32N(3))
		}
	}
	return g
}

// TestFollowClutter walks through random clutter: where there is a path, the walk arrives.
func TestFollowClutter(t *testing.T) {
	blocks, err := physics.Load(registry.V1_21_7)
	if err != nil {
		t.Fatal(err)
	}
	table, err := path.Load(registry.V1_21_7)
	if err != nil {
		t.Fatal(err)
	}
	seeds := uint64(40)
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		seeds = 2000
	}
	var scratch path.Scratch
	arrived, nodes := 0, 0
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			wet := seed%3 == 0
			g := clutteredGrid(t, seed, wet)
			rnd := rand.New(rand.NewPCG(seed, 5))
			for range 4 {
				from, to := pos(rnd.Int32N(17)-8, 64+rnd.Int32N(3), -10), pos(rnd.Int32N(17)-8, 64+rnd.Int32N(4), rnd.Int32N(8))
				r := path.Find(path.World{Table: table, Cells: g}, from, to, path.Options{WalkBox: walkBox, Swim: wet}, &scratch)
				if r.Status != path.Reached {
					continue
				}
				w := physics.World{Blocks: blocks, Cells: g}
				follow(t, g, w, physics.DefaultAttributes(), standAt(r.Nodes[0]), r.Nodes, seed%2 == 0)
				arrived, nodes = arrived+1, nodes+len(r.Nodes)
			}
		})
	}
	t.Logf("%d of %d walks through clutter had a path and arrived: %d nodes", arrived, 4*seeds, nodes)
}
