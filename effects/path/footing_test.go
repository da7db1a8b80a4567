package path

import (
	"strings"
	"testing"

	"blockworld/worldstate/geom"
)

// TestFindFrom: a body finds its way wherever it is, as long as one of the cells that it is in leads on.
func TestFindFrom(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(t *testing.T, g *grid)
		at    geom.Vec3
	}{
		{"on the ground", func(*testing.T, *grid) {}, geom.Vec3{0.5, 64, 0.5}},
		{"at the edge of a slab, a fence beside", func(t *testing.T, g *grid) {
			g.fill(t, "oak_slab[type=top]", 0, 64, 0, 0, 64, 0)
			g.fill(t, "oak_fence", 0, 65, 0, 0, 65, 0)
		}, geom.Vec3{0.3, 65, 0.075}},
		{"built over by others", func(t *testing.T, g *grid) { g.fill(t, "stone", 0, 64, 0, 0, 64, 0) }, geom.Vec3{0.5, 64, 0.5}},
		{"built over at the edge", func(t *testing.T, g *grid) {
			g.fill(t, "stone", -1, 64, -1, 0, 65, 1)
		}, geom.Vec3{0.9, 64, 0.5}},
		{"footing gone", func(t *testing.T, g *grid) { g.fill(t, "air", 0, 63, 0, 0, 63, 0) }, geom.Vec3{0.5, 64, 0.5}},
		{"over the edge of a stair", func(t *testing.T, g *grid) { g.fill(t, "oak_stairs", 0, 64, 0, 0, 64, 0) }, geom.Vec3{1.25, 64.5, 0.5}},
	} {
		for how, fly := range map[string]bool{"on foot": false, "in flight": true} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				g := newGrid(t, 8)
				c.build(t, g)
				w := World{Table: NewTable(g.reg), Cells: g}
				r := FindFrom(w, c.at, []geom.BlockPos{at(5, 64, 5)}, Options{WalkBox: g.inner(), CanFly: fly}, nil)
				if r.Status != Reached {
					t.Errorf("%s: %s", r.Status, r.Why)
				}
			})
		}
	}
}

// TestWords: who is shut in hears where, and what somebody else could do about it.
func TestWords(t *testing.T) {
	house := func(t *testing.T, g *grid) {
		g.fill(t, "stone", -3, 64, -3, 3, 67, 3)
		g.fill(t, "air", -2, 64, -2, 2, 66, 2)
	}
	for _, c := range []struct {
		name  string
		build func(t *testing.T, g *grid)
		to    geom.BlockPos
		want  []string
	}{
		{"free", func(*testing.T, *grid) {}, at(6, 64, 0), nil},
		{"house without a door", house, at(6, 64, 0), []string{"walled off", "of 25 cells that it can get to 2,64,0 comes nearest", "the way east of it is barred", "let somebody make a way"}},
		{"house with a shut door", func(t *testing.T, g *grid) {
			house(t, g)
			g.fill(t, "oak_door[facing=south,half=lower]", 0, 64, -3, 0, 64, -3)
			g.fill(t, "oak_door[facing=south,half=upper]", 0, 65, -3, 0, 65, -3)
		}, at(6, 64, 0), []string{"oak_door at 0,64,-3", "let somebody open one"}},
		{"house with an iron door", func(t *testing.T, g *grid) {
			house(t, g)
			g.fill(t, "iron_door[facing=south,half=lower]", 0, 64, -3, 0, 64, -3)
			g.fill(t, "iron_door[facing=south,half=upper]", 0, 65, -3, 0, 65, -3)
		}, at(0, 64, -6), []string{"the way north of it is barred"}},
		{"shaft", func(t *testing.T, g *grid) {
			g.fill(t, "stone", -1, 64, -1, 1, 66, 1)
			g.fill(t, "air", 0, 64, 0, 0, 65, 0)
		}, at(0, 64, 6), []string{"there is no way out of 0,64,0", "the way south of it"}},
		{"a block in its place", func(t *testing.T, g *grid) { g.fill(t, "stone", -8, 64, -8, 5, 68, 8) }, at(6, 64, 0), []string{"no footing at the start", "let somebody clear that"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGrid(t, 8)
			c.build(t, g)
			w := World{Table: NewTable(g.reg), Cells: g}
			r := FindFrom(w, geom.Vec3{0.5, 64, 0.5}, []geom.BlockPos{c.to}, Options{WalkBox: g.inner()}, nil)
			got := r.Words(w, c.to)
			if (got == "") != (c.want == nil) {
				t.Errorf("%q", got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q does not say %q", got, want)
				}
			}
		})
	}
}
