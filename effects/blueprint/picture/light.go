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
)

// light shades every drawn sample: by its face, and darker where something stands between it and the sun.
func (s *scene) light() {
	for i, side := range s.side {
		if side == 0 {
			continue
		}
		f := shades[side]
		if side != 4 && s.shaded(s.point[i], side) {
			f *= shadow
		}
		c := &s.pix[i]
		*c = color.RGBA{scale(c.R, f), scale(c.G, f), scale(c.B, f), 255}
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
		for _, b := range s.filled[geom.BlockAt(q)] {
			if b.Contains(q) {
				return true
			}
		}
	}
	return false
}
