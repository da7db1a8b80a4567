package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// touchFluids finds out how deep the player stands in water and lava and lets currents push it.
func (s *sim) touchFluids() {
	s.p.WaterDepth = s.fluid(false, waterPush)
	push := lavaPush
	if s.w.FastLava {
		push = lavaPushHot
	}
	s.p.LavaDepth = s.fluid(true, push)
	s.p.InWater = s.p.WaterDepth > 0
	s.p.InLava = s.p.LavaDepth > 0
	if s.p.InWater {
		s.p.FallDistance = 0
	} else if s.p.InLava {
		s.p.FallDistance /= 2
	}
	if s.flying {
		s.p.InWater, s.p.InLava = false, false
	}
}

// fluid returns how high one fluid stands above the feet and adds the mean current, times strength, to the speed.
func (s *sim) fluid(lava bool, strength float64) float64 {
	box := s.p.Box().Grow(-0.001)
	c := cellsOf(box)
	depth, count, flow := 0.0, 0, geom.Vec3{}
	for y := c.Min.Y; y <= c.Max.Y; y++ {
		for z := c.Min.Z; z <= c.Max.Z; z++ {
			for x := c.Min.X; x <= c.Max.X; x++ {
				pos := geom.BlockPos{X: x, Y: y, Z: z}
				top := s.surface(pos, lava)
				if top < box.Min[1] {
					continue
				}
				depth = math.Max(depth, top-box.Min[1])
				if s.flying {
					continue
				}
				f := s.current(pos, lava)
				if depth < liquidJumpLevel {
					f = f.Mul(depth)
				}
				flow, count = flow.Add(f), count+1
			}
		}
	}
	if count > 0 {
		s.push(flow.Mul(strength / float64(count)))
	}
	return depth
}

func (s *sim) push(d geom.Vec3) {
	if d.LenSqr() == 0 {
		return
	}
	v := s.p.Vel
	if math.Abs(v[0]) < negligible && math.Abs(v[2]) < negligible && d.Len() < leastPush {
		d = d.Normalize().Mul(leastPush)
	}
	s.p.Vel = v.Add(d)
}

// amount returns the fluid of a cell in eighths, 0 if it is another one or none, and whether it falls.
func (s *sim) amount(pos geom.BlockPos, lava bool) (n int, falling bool) {
	_, t, _ := s.w.at(pos)
	if t.fluid == 0 || (t.fluid&fluidLava != 0) != lava {
		return 0, false
	}
	return int(t.fluid & fluidAmount), t.fluid&fluidFalling != 0
}

// surface returns the height of the fluid's surface in a cell; minus infinity without the fluid.
func (s *sim) surface(pos geom.BlockPos, lava bool) float64 {
	n, _ := s.amount(pos, lava)
	if n == 0 {
		return math.Inf(-1)
	}
	if up, _ := s.amount(pos.Neighbour(geom.Up), lava); up > 0 {
		return float64(pos.Y) + 1
	}
	return float64(pos.Y) + float64(n)/9
}

// touchesFluid tells whether any cell of the box holds a fluid.
func (s *sim) touchesFluid(box geom.Box) bool {
	c := cellsOf(box)
	for y := c.Min.Y; y <= c.Max.Y; y++ {
		for z := c.Min.Z; z <= c.Max.Z; z++ {
			for x := c.Min.X; x <= c.Max.X; x++ {
				pos := geom.BlockPos{X: x, Y: y, Z: z}
				if s.surface(pos, false) > box.Min[1] || s.surface(pos, true) > box.Min[1] {
					return true
				}
			}
		}
	}
	return false
}

// current returns the unit vector of the flow in a cell, zero in still fluid.
func (s *sim) current(pos geom.BlockPos, lava bool) geom.Vec3 {
	own, falling := s.amount(pos, lava)
	var flow geom.Vec3
	for _, f := range geom.HorizontalFaces {
		side := pos.Neighbour(f)
		n := f.Normal()
		if d := s.fall(side, own, lava); d != 0 {
			flow = flow.Add(geom.Vec3{float64(n.X) * d, 0, float64(n.Z) * d})
		}
	}
	if flow.LenSqr() > 0 {
		flow = flow.Normalize()
	}
	if falling && s.beside(pos) {
		flow = flow.Add(geom.Vec3{0, -6, 0}).Normalize()
	}
	return flow
}

// fall returns by how much the fluid stands lower at a side than own, in ninths of a block.
func (s *sim) fall(side geom.BlockPos, own int, lava bool) float64 {
	_, t, known := s.w.at(side)
	if n, _ := s.amount(side, lava); n > 0 {
		return float64(own-n) / 9
	}
	if !known || t.solid || t.fluid != 0 {
		return 0
	}
	if below, _ := s.amount(side.Neighbour(geom.Down), lava); below > 0 {
		return float64(own-below+8) / 9
	}
	return 0
}

// beside tells whether something full stands at a side of a falling fluid: it runs down along it.
func (s *sim) beside(pos geom.BlockPos) bool {
	for _, f := range geom.HorizontalFaces {
		side := pos.Neighbour(f)
		if s.faceFull(side, f.Opposite()) || s.faceFull(side.Neighbour(geom.Up), f.Opposite()) {
			return true
		}
	}
	return false
}

func (s *sim) faceFull(pos geom.BlockPos, f geom.Face) bool {
	state, _, known := s.w.at(pos)
	return known && s.w.Blocks.reg.FaceFull(state, f)
}
