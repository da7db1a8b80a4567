package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// touchBlocks applies the blocks that the player's box is in.
func (s *sim) touchBlocks() {
	if s.flying {
		return
	}
	c := cellsOf(s.p.Box())
	for y := c.Min.Y; y <= c.Max.Y; y++ {
		for z := c.Min.Z; z <= c.Max.Z; z++ {
			for x := c.Min.X; x <= c.Max.X; x++ {
				s.touch(geom.BlockPos{X: x, Y: y, Z: z})
			}
		}
	}
}

func (s *sim) touch(pos geom.BlockPos) {
	switch k := s.kindAt(pos); k {
	case kindCobweb:
		s.hold(StuckCobweb)
	case kindBerryBush:
		s.hold(StuckBerryBush)
	case kindPowderSnow:
		if s.kindAt(s.feet()) == kindPowderSnow {
			s.hold(StuckPowderSnow)
		}
	case kindHoney:
		s.slideOnHoney(pos)
	case kindBubbleUp, kindBubbleDown:
		s.bubble(pos, k == kindBubbleDown)
	}
}

func (s *sim) hold(by Stuck) {
	s.p.Stuck = by
	s.p.FallDistance = 0
}

// slideOnHoney slows a fall along the side of a honey block.
func (s *sim) slideOnHoney(pos geom.BlockPos) {
	v := &s.p.Vel
	if s.p.OnGround || s.p.Pos[1] > float64(pos.Y)+0.9375-epsilon || v[1] >= -gravity {
		return
	}
	c := pos.Centre()
	const side = 0.4375 + geom.PlayerWidth/2
	if math.Abs(c[0]-s.p.Pos[0])+epsilon <= side && math.Abs(c[2]-s.p.Pos[2])+epsilon <= side {
		return
	}
	if v[1] < -0.13 {
		f := -0.05 / v[1]
		v[0], v[2] = v[0]*f, v[2]*f
	}
	v[1] = -0.05
	s.p.FallDistance = 0
}

// bubble applies one cell of a bubble column; the topmost cell pushes harder.
func (s *sim) bubble(pos geom.BlockPos, down bool) {
	above, t, known := s.w.at(pos.Neighbour(geom.Up))
	surface := known && t.fluid == 0 && s.w.Blocks.reg.IsAir(above)
	v := &s.p.Vel[1]
	switch {
	case surface && down:
		*v = max(-0.9, *v-0.03)
	case surface:
		*v = min(1.8, *v+0.1)
	case down:
		*v = max(-0.3, *v-0.03)
	default:
		*v = min(0.7, *v+0.06)
	}
	s.p.FallDistance = 0
}
