package path

import (
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// grid is a small world for tests: a box of known cells, air where nothing was put.
type grid struct {
	reg   *registry.Registry
	box   geom.BlockBox
	size  geom.BlockPos
	cells []registry.StateID
}

// newGrid makes a box from -r to r sideways and from 60 to 80 upwards, with stone at 63: feet stand at 64.
func newGrid(t testing.TB, r int32) *grid {
	t.Helper()
	reg, err := registry.Load(registry.V1_21_7)
	if err != nil {
		t.Fatal(err)
	}
	g := &grid{reg: reg, box: geom.BlockBox{Min: geom.BlockPos{X: -r, Y: 60, Z: -r}, Max: geom.BlockPos{X: r, Y: 80, Z: r}}}
	g.size = g.box.Size()
	g.cells = make([]registry.StateID, g.box.Volume())
	g.fill(t, "stone", -r, 63, -r, r, 63, r)
	return g
}

func (g *grid) index(p geom.BlockPos) int {
	d := p.Sub(g.box.Min)
	return int((d.Y*g.size.Z+d.Z)*g.size.X + d.X)
}

func (g *grid) Block(p geom.BlockPos) (registry.StateID, bool) {
	if !g.box.Contains(p) {
		return 0, false
	}
	return g.cells[g.index(p)], true
}

func (g *grid) fill(t testing.TB, state string, x0, y0, z0, x1, y1, z1 int32) {
	t.Helper()
	s, err := g.reg.ParseState(state)
	if err != nil {
		t.Fatal(err)
	}
	b := geom.BoxOf(geom.BlockPos{X: x0, Y: y0, Z: z0}, geom.BlockPos{X: x1, Y: y1, Z: z1})
	for y := b.Min.Y; y <= b.Max.Y; y++ {
		for z := b.Min.Z; z <= b.Max.Z; z++ {
			for x := b.Min.X; x <= b.Max.X; x++ {
				g.cells[g.index(geom.BlockPos{X: x, Y: y, Z: z})] = s
			}
		}
	}
}

func at(x, y, z int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y, Z: z} }

func (g *grid) inner() geom.BlockBox {
	return geom.BlockBox{Min: g.box.Min.Add(at(1, 1, 1)), Max: g.box.Max.Sub(at(1, 2, 1))}
}
