package builder

import (
	"testing"

	"blockworld/effects/path"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

type cells map[geom.BlockPos]registry.StateID

func (c cells) Block(p geom.BlockPos) (registry.StateID, bool) { return c[p], true }

// TestFooting: a body at the edge of a block finds its way although a fence stands in its feet's cell.
func TestFooting(t *testing.T) {
	reg, err := registry.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	table, err := path.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	state := func(text string) registry.StateID {
		s, err := reg.ParseState(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	world := cells{}
	for x := int32(-8); x <= 8; x++ {
		for z := int32(-8); z <= 8; z++ {
			world[geom.BlockPos{X: x, Y: -1, Z: z}] = state("stone")
		}
	}
	edge := geom.BlockPos{}
	world[edge], world[edge.Neighbour(geom.Up)] = state("oak_slab[type=top]"), state("oak_fence")
	box := geom.BlockBox{Min: geom.BlockPos{X: -8, Z: -8}, Max: geom.BlockPos{X: 8, Y: 8, Z: 8}}
	for name, o := range map[string]path.Options{"on foot": {WalkBox: box}, "in flight": {WalkBox: box, CanFly: true}} {
		r := find(path.World{Table: table, Cells: world}, geom.Vec3{0.3, 1, 0.075}, []geom.BlockPos{{X: 4, Z: 4}}, o, &path.Scratch{})
		if r.Status != path.Reached {
			t.Errorf("%s: %s: %s", name, r.Status, r.Why)
		}
	}
}
