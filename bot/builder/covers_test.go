package builder

import (
	"testing"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

type cells map[geom.BlockPos]registry.StateID

func (c cells) Block(p geom.BlockPos) (registry.StateID, bool) { return c[p], true }

// TestCovers: what would stand over a body that has the open sky above it.
func TestCovers(t *testing.T) {
	reg, err := registry.Load(registry.Latest)
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
	middle, edge := geom.Vec3{0.5, 0, 0.5}, geom.Vec3{0.9, 0.3, 0.5}
	roof := cells{{Y: 6}: state("stone")}
	for name, c := range map[string]struct {
		world cells
		feet  geom.Vec3
		pos   geom.BlockPos
		to    string
		want  bool
	}{
		"right over the head":         {nil, middle, geom.BlockPos{Y: 2}, "stone", true},
		"far over the head":           {nil, middle, geom.BlockPos{Y: 5}, "stone_slab", true},
		"beside":                      {nil, middle, geom.BlockPos{X: 1, Y: 2}, "stone", false},
		"over half the body":          {nil, edge, geom.BlockPos{X: 1, Y: 3}, "stone", true},
		"below":                       {nil, middle, geom.BlockPos{Y: -1}, "stone", false},
		"what nobody bumps into":      {nil, middle, geom.BlockPos{Y: 2}, "torch", false},
		"there is a roof above":       {roof, middle, geom.BlockPos{Y: 2}, "stone", false},
		"there is a roof beside":      {roof, geom.Vec3{1.5, 0, 0.5}, geom.BlockPos{X: 1, Y: 2}, "stone", true},
		"there is a roof, but beyond": {cells{{Y: 9}: state("stone")}, middle, geom.BlockPos{Y: 2}, "stone", true},
	} {
		if got := covers(reg, c.world, []effects.Cell{{Pos: c.pos, To: state(c.to)}}, c.feet, 8); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
