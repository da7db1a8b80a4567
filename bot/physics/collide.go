package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// boxBuffer is how many collision boxes fit on the stack; a crowded way spills to the heap.
const boxBuffer = 48

// tallest is how far a collision shape may reach above its cell: fences and walls.
const tallest = 1

func floor(v float64) int32 { return int32(math.Floor(v)) }

// cellsOf returns the cells that a box touches, those it shares less than epsilon with left out.
func cellsOf(b geom.Box) geom.BlockBox {
	return geom.BlockBox{
		Min: geom.BlockPos{X: floor(b.Min[0] + epsilon), Y: floor(b.Min[1] + epsilon), Z: floor(b.Min[2] + epsilon)},
		Max: geom.BlockPos{X: floor(b.Max[0] - epsilon), Y: floor(b.Max[1] - epsilon), Z: floor(b.Max[2] - epsilon)},
	}
}

// gather appends the collision boxes that may touch the region. Unknown cells count as full cubes and set Unknown.
func (s *sim) gather(out []geom.Box, region geom.Box) []geom.Box {
	c := cellsOf(region)
	for y := c.Min.Y - tallest; y <= c.Max.Y; y++ {
		for z := c.Min.Z; z <= c.Max.Z; z++ {
			for x := c.Min.X; x <= c.Max.X; x++ {
				out = s.appendShape(out, geom.BlockPos{X: x, Y: y, Z: z}, y < c.Min.Y)
			}
		}
	}
	return out
}

// appendShape appends the boxes of one cell; of a cell below the region only those that are taller than the cell.
func (s *sim) appendShape(out []geom.Box, pos geom.BlockPos, below bool) []geom.Box {
	state, t, known := s.w.at(pos)
	if !t.solid {
		return out
	}
	corner := pos.Corner()
	if !known {
		if below {
			return out
		}
		s.p.Unknown = true
		return append(out, geom.Box{Min: corner, Max: corner.Add(geom.Vec3{1, 1, 1})})
	}
	if t.kind == kindScaffolding {
		return s.appendScaffolding(out, corner)
	}
	for _, b := range s.w.Blocks.reg.Shape(state) {
		if !below || b.Max[1] > 1 {
			out = append(out, b.Move(corner))
		}
	}
	return out
}

// appendScaffolding appends the top plate of scaffolding for those who stand on it and do not sneak; from inside and from
// below scaffolding is no obstacle.
func (s *sim) appendScaffolding(out []geom.Box, corner geom.Vec3) []geom.Box {
	if s.in.Sneak || s.p.Pos[1] < corner[1]+1-collideSlack {
		return out
	}
	return append(out, geom.Box{Min: corner.Add(geom.Vec3{0, 0.875, 0}), Max: corner.Add(geom.Vec3{1, 1, 1})})
}

// clip shortens a movement d of box along one axis so that it enters none of the obstacles.
func clip(box geom.Box, axis int, d float64, obstacles []geom.Box) float64 {
	if math.Abs(d) < epsilon {
		return 0
	}
	a, b := (axis+1)%3, (axis+2)%3
	for i := range obstacles {
		o := &obstacles[i]
		if box.Min[a] >= o.Max[a]-epsilon || box.Max[a] <= o.Min[a]+epsilon ||
			box.Min[b] >= o.Max[b]-epsilon || box.Max[b] <= o.Min[b]+epsilon {
			continue
		}
		if d > 0 {
			if gap := o.Min[axis] - box.Max[axis]; gap >= -epsilon {
				d = math.Min(d, gap)
			}
		} else if gap := o.Max[axis] - box.Min[axis]; gap <= epsilon {
			d = math.Max(d, gap)
		}
	}
	return d
}

// slide moves the box by d, the vertical axis first, then the longer horizontal one, and returns what was possible.
func slide(box geom.Box, d geom.Vec3, obstacles []geom.Box) geom.Vec3 {
	order := [3]int{1, 0, 2}
	if math.Abs(d[0]) < math.Abs(d[2]) {
		order = [3]int{1, 2, 0}
	}
	for _, axis := range order {
		d[axis] = clip(box, axis, d[axis], obstacles)
		box.Min[axis] += d[axis]
		box.Max[axis] += d[axis]
	}
	return d
}

func flatSqr(d geom.Vec3) float64 { return d[0]*d[0] + d[2]*d[2] }

// collide returns how much of the movement d is possible, stepping onto low obstacles from the ground.
func (s *sim) collide(d geom.Vec3) geom.Vec3 {
	var buf [boxBuffer]geom.Box
	box := s.p.Box()
	out := slide(box, d, s.gather(buf[:0], box.Stretch(d)))
	landed := d[1] != out[1] && d[1] < 0
	if s.a.StepHeight <= 0 || !(s.p.OnGround || landed) || d[0] == out[0] && d[2] == out[2] {
		return out
	}
	if s.w.Blocks.features.stepCandidates {
		return s.stepToCandidate(box, d, out, landed)
	}
	return s.stepFull(box, d, out)
}

// stepToCandidate is the step of 1.21 and later: the lowest block top within reach that lets the player get further.
func (s *sim) stepToCandidate(box geom.Box, d, plain geom.Vec3, landed bool) geom.Vec3 {
	var buf [boxBuffer]geom.Box
	if landed {
		box = box.Move(geom.Vec3{0, plain[1], 0})
	}
	region := box.Stretch(geom.Vec3{d[0], s.a.StepHeight, d[2]})
	if d[1] == plain[1] { // falling off an edge: a floor beyond, just as high as the feet, is a step of no height
		region.Min[1] -= collideSlack
	}
	obstacles := s.gather(buf[:0], region)
	for last := math.Inf(-1); ; {
		h, ok := nextHeight(obstacles, box.Min[1], last, s.a.StepHeight)
		if !ok {
			return plain
		}
		last = h
		if h == plain[1] {
			continue
		}
		if got := slide(box, geom.Vec3{d[0], h, d[2]}, obstacles); flatSqr(got) > flatSqr(plain) {
			got[1] += box.Min[1] - s.p.Pos[1]
			return got
		}
	}
}

// nextHeight returns the lowest top or bottom of an obstacle above last, measured from base, that is no higher than limit.
func nextHeight(obstacles []geom.Box, base, last, limit float64) (float64, bool) {
	best := math.Inf(1)
	for i := range obstacles {
		for _, y := range [2]float64{obstacles[i].Min[1], obstacles[i].Max[1]} {
			if h := y - base; h >= 0 && h > last && h < best {
				best = h
			}
		}
	}
	return best, best <= limit+epsilon
}

// stepFull is the step up to 1.20.6: up by the whole step height, over, and down again.
func (s *sim) stepFull(box geom.Box, d, plain geom.Vec3) geom.Vec3 {
	var buf [boxBuffer]geom.Box
	step := s.a.StepHeight
	obstacles := s.gather(buf[:0], box.Stretch(geom.Vec3{d[0], step, d[2]}).Stretch(geom.Vec3{0, min(0, d[1]), 0}))
	best := slide(box, geom.Vec3{d[0], step, d[2]}, obstacles)
	up := clip(box.Stretch(geom.Vec3{d[0], 0, d[2]}), 1, step, obstacles)
	if up < step {
		rise := geom.Vec3{0, up, 0}
		if over := slide(box.Move(rise), geom.Vec3{d[0], 0, d[2]}, obstacles).Add(rise); flatSqr(over) > flatSqr(best) {
			best = over
		}
	}
	if flatSqr(best) <= flatSqr(plain) {
		return plain
	}
	best[1] += clip(box.Move(best), 1, d[1]-best[1], obstacles)
	return best
}

// free tells whether nothing solid overlaps the box. Unknown cells are not free.
func (s *sim) free(box geom.Box) bool {
	var buf [boxBuffer]geom.Box
	for _, o := range s.gather(buf[:0], box) {
		if overlaps(box, o) {
			return false
		}
	}
	return true
}

// overlaps tells whether the boxes share more than epsilon on every axis.
func overlaps(a, b geom.Box) bool {
	for i := range a.Min {
		if a.Min[i] >= b.Max[i]-epsilon || b.Min[i] >= a.Max[i]-epsilon {
			return false
		}
	}
	return true
}

// keepFromEdge shortens the movement of a sneaking player on the ground so that it does not fall further than a step.
func (s *sim) keepFromEdge(d geom.Vec3) geom.Vec3 {
	if s.flying || !s.in.Sneak || d[1] > 0 || !s.nearGround() {
		return d
	}
	for d[0] != 0 && s.drops(d[0], 0, s.a.StepHeight) {
		d[0] = towardsZero(d[0])
	}
	for d[2] != 0 && s.drops(0, d[2], s.a.StepHeight) {
		d[2] = towardsZero(d[2])
	}
	for d[0] != 0 && d[2] != 0 && s.drops(d[0], d[2], s.a.StepHeight) {
		d[0], d[2] = towardsZero(d[0]), towardsZero(d[2])
	}
	return d
}

func towardsZero(v float64) float64 {
	switch {
	case v < edgeStep && v >= -edgeStep:
		return 0
	case v > 0:
		return v - edgeStep
	}
	return v + edgeStep
}

func (s *sim) nearGround() bool {
	return s.p.OnGround || s.p.FallDistance < s.a.StepHeight && !s.drops(0, 0, s.a.StepHeight-s.p.FallDistance)
}

// drops tells whether nothing within height below the feet would hold the player after moving by x and z.
func (s *sim) drops(x, z, height float64) bool {
	b := s.p.Box()
	b.Max[1] = b.Min[1]
	b.Min[1] -= height + epsilon
	return s.free(b.Move(geom.Vec3{x, 0, z}))
}
