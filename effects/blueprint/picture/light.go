package picture

import (
	"image/color"

	"blockworld/worldstate/geom"
)

// shades is how bright a face is in the sun: nothing, top, south, east, glowing.
var shades = [5]float64{1, 1, 0.86, 0.68, 1.05}

// sun points from a surface towards the light, in view space.
var sun = geom.Vec3{-0.25, 0.85, 0.46}

const (
	shadow    = 0.66
	sunReach  = 9.0
	sunStride = 0.3
	maxGrid   = 1 << 24
)

// light colours every drawn sample: by its face, and darker where something stands between it and the sun.
func (s *scene) light() {
	for i, side := range s.side {
		if side == 0 {
			continue
		}
		look := &s.solids[s.owner[i]].look
		f := shades[side]
		if look.glow {
			f = shades[4]
		} else if s.shaded(s.point[i], side) {
			f *= shadow
		}
		c := look.at(s.point[i], side)
		s.pix[i] = color.RGBA{scale(c.R, f), scale(c.G, f), scale(c.B, f), 255}
	}
}

func scale(v uint8, f float64) uint8 { return uint8(min(255, float64(v)*f)) }

func (s *scene) shaded(p geom.Vec3, side uint8) bool {
	if side == 3 {
		return false // turned away from the sun anyway
	}
	p[1] += 0.02
	if side == 2 {
		p[2] += 0.02
	}
	for d := 0.05; d < sunReach; d += sunStride {
		q := p.Add(sun.Mul(d))
		if q[1] > s.filled.top {
			return false
		}
		for _, b := range s.filled.at(geom.BlockAt(q)) {
			if b.Contains(q) {
				return true
			}
		}
	}
	return false
}

// shadowGrid finds the boxes in a cell of view space.
type shadowGrid struct {
	box   geom.BlockBox
	size  geom.BlockPos
	cells [][]geom.Box
	top   float64
}

// newShadowGrid enters everything that casts a shadow. A scene too large for it has none.
func newShadowGrid(all geom.Box, bricks []brick) shadowGrid {
	inner := func(b geom.Box) (lo, hi geom.BlockPos) {
		const e = 1e-6 // faces belong to the cell inside
		return geom.BlockAt(b.Min.Add(geom.Vec3{e, e, e})), geom.BlockAt(b.Max.Sub(geom.Vec3{e, e, e}))
	}
	g := shadowGrid{top: all.Max[1]}
	g.box.Min, g.box.Max = inner(all)
	g.size = g.box.Size()
	if n := g.box.Volume(); n <= 0 || n > maxGrid {
		g.top = -1e9
		return g
	}
	g.cells = make([][]geom.Box, g.box.Volume())
	for _, b := range bricks {
		if b.look.glow {
			continue
		}
		lo, hi := inner(b.box)
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				for x := lo.X; x <= hi.X; x++ {
					if i := g.index(geom.BlockPos{X: x, Y: y, Z: z}); i >= 0 {
						g.cells[i] = append(g.cells[i], b.box)
					}
				}
			}
		}
	}
	return g
}

func (g *shadowGrid) index(p geom.BlockPos) int {
	if !g.box.Contains(p) {
		return -1
	}
	d := p.Sub(g.box.Min)
	return (int(d.Y)*int(g.size.Z)+int(d.Z))*int(g.size.X) + int(d.X)
}

func (g *shadowGrid) at(p geom.BlockPos) []geom.Box {
	if i := g.index(p); i >= 0 && i < len(g.cells) {
		return g.cells[i]
	}
	return nil
}
