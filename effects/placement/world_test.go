package placement

import (
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// grid is a small world for tests: what is not set is air, cells listed in dark are unknown.
type grid struct {
	reg   *registry.Registry
	cells map[geom.BlockPos]registry.StateID
	dark  map[geom.BlockPos]bool
}

func (g *grid) Block(p geom.BlockPos) (registry.StateID, bool) {
	if g.dark[p] {
		return 0, false
	}
	return g.cells[p], true
}

func newGrid(t testing.TB, p registry.Protocol) *grid {
	t.Helper()
	reg, err := registry.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	return &grid{reg: reg, cells: map[geom.BlockPos]registry.StateID{}, dark: map[geom.BlockPos]bool{}}
}

func (g *grid) set(t testing.TB, p geom.BlockPos, state string) *grid {
	t.Helper()
	g.cells[p] = parse(t, g.reg, state)
	return g
}

func parse(t testing.TB, reg *registry.Registry, state string) registry.StateID {
	t.Helper()
	s, err := reg.ParseState(state)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var origin = geom.BlockPos{X: 8, Y: 64, Z: 8}
