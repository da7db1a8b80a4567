package placement

import (
	"math"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Sees tells whether nothing with a collision shape lies on the straight line from an eye to the clicked point, the clicked
// block itself aside. An unknown cell hides what is behind it.
func Sees(reg *registry.Registry, w Cells, use Use, eye geom.Vec3) bool {
	to := use.Click.Point()
	d := to.Sub(eye)
	at := geom.BlockAt(eye)
	var step [3]int32
	var next, delta [3]float64
	cell := [3]int32{at.X, at.Y, at.Z}
	for i := range 3 {
		switch {
		case d[i] > 0:
			step[i], delta[i] = 1, 1/d[i]
			next[i] = (float64(cell[i]) + 1 - eye[i]) / d[i]
		case d[i] < 0:
			step[i], delta[i] = -1, -1/d[i]
			next[i] = (float64(cell[i]) - eye[i]) / d[i]
		default:
			next[i], delta[i] = math.Inf(1), math.Inf(1)
		}
	}
	for range 64 {
		p := geom.BlockPos{X: cell[0], Y: cell[1], Z: cell[2]}
		if p == use.Click.Pos {
			return true
		}
		s, ok := w.Block(p)
		if !ok {
			return false
		}
		for _, b := range reg.Shape(s) {
			if t, _, hit := b.Move(p.Corner()).Ray(eye, to); hit && t < 1-1e-6 {
				return false
			}
		}
		i := 0
		if next[1] < next[i] {
			i = 1
		}
		if next[2] < next[i] {
			i = 2
		}
		if next[i] > 1 {
			return true
		}
		cell[i] += step[i]
		next[i] += delta[i]
	}
	return true
}
