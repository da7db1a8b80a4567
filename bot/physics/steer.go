package physics

import (
	"math"

	"blockworld/effects/path"
	"blockworld/worldstate/geom"
)

// course is one tick's view of the way to the next node.
type course struct {
	w    World
	p    Player
	node path.Node
	way  geom.BlockPos // from the node before to this one
	top  float64       // the higher one of the two
	last bool
	flat float64   // horizontal distance to the node
	err  geom.Vec3 // what is left to go after the player has run out
}

// measure returns the horizontal distance and the way that is left if all keys were released now.
func (c *course) measure() (float64, geom.Vec3) {
	d := c.node.Centre().Sub(c.p.Pos)
	flat := math.Hypot(d[0], d[2])
	if c.p.OnGround && d[1] < -stepOutHeight { // over the edge: the middle may still rest on the rim of a ladder
		d[0] += float64(c.way.X) * pastEdge
		d[2] += float64(c.way.Z) * pastEdge
	}
	k := c.runOut()
	return flat, geom.Vec3{d[0] - c.p.Vel[0]*k, d[1], d[2] - c.p.Vel[2]*k}
}

// runOut is how many ticks' worth of the present speed the player still travels without keys.
func (c *course) runOut() float64 {
	switch {
	case c.p.Flying:
		return 1 / (1 - airInertia)
	case c.p.InWater:
		return 1 / (1 - waterInertia)
	case c.p.InLava:
		return 1 / (1 - lavaInertia)
	case !c.p.OnGround, c.node.Feet < c.p.Pos[1]-stepOutHeight:
		return 5.9 // eight ticks in the air, the time of a drop by one block and a half
	}
	return c.glide()
}

// glide is runOut on the ground.
func (c *course) glide() float64 {
	s := sim{w: c.w, p: c.p}
	return 1 / (1 - airInertia*slipperiness(s.kindAt(s.under()))*s.speedFactor())
}

// settled tells whether the player rests at the node.
func (c *course) settled() bool {
	if c.flat > ArriveWithin-settle || math.Hypot(c.err[0], c.err[2]) > ArriveWithin-settle/2 {
		return false
	}
	dy := c.err[1]
	switch {
	case c.p.Flying:
		return math.Abs(dy) < 0.6 && math.Abs(c.p.Vel[1]) < 0.05
	case c.p.InWater:
		return math.Abs(dy) < 1
	case c.p.Climbing:
		return math.Abs(dy) < 0.5
	}
	return c.p.OnGround && math.Abs(dy) < 0.1
}

// keys chooses the input of this tick; sprint allows sprinting in flight. Without anything to do the look stays where it is.
func (c *course) keys(yaw float32, sprint bool) Input {
	in := Input{Yaw: yaw}
	left := math.Hypot(c.err[0], c.err[2])
	within := settle
	if c.upright() {
		within = 0.004
	}
	if left > within {
		in.Yaw = float32(math.Atan2(-c.err[0], c.err[2]) * 180 / math.Pi)
		in.Forward = 1
	}
	if c.p.HorizontalCollision && !c.p.Flying && (c.way.X != 0 || c.way.Z != 0) {
		c.squeeze(&in)
	}
	switch {
	case c.p.Flying:
		c.hover(&in, sprint)
	case c.p.InWater || c.p.InLava:
		if c.upright() {
			in.Forward *= min(1, left*8)
		}
		in.Jump = c.p.Pos[1] < c.node.Feet+0.3
		in.Sneak = c.p.Pos[1] > c.node.Feet+1.2
	case c.p.Climbing && !c.p.OnGround:
		c.climb(&in, left)
	case c.p.OnGround:
		c.walk(&in, left)
	}
	return in
}

// squeeze gets back to the middle of the way before going on: an open door or a ladder beside it leaves a hundredth of a
// block of room. The key is pressed as far as the run-out then carries.
func (c *course) squeeze(in *Input) {
	x, z := float64(c.way.X), float64(c.way.Z)
	l := math.Hypot(x, z)
	x, z = z/l, -x/l // across the way
	off := c.err[0]*x + c.err[2]*z
	if math.Abs(off) < 0.004 {
		return
	}
	in.Yaw = float32(math.Atan2(-x*off, z*off) * 180 / math.Pi)
	in.Forward = min(1, math.Abs(off)*4.6)
}

// walk steers on the ground.
func (c *course) walk(in *Input, left float64) {
	rise := c.node.Feet - c.p.Pos[1]
	climbs := c.node.Move == path.Climb
	in.Jump = rise > stepOutHeight && c.node.Move != path.Walk && (c.p.HorizontalCollision || c.flat < 0.2) ||
		rise > stepOutHeight/2 && c.p.Climbing && c.flat < 0.3 // from a post within scaffolding
	in.Sneak = c.last && !climbs && c.kindBelowNode() != kindScaffolding && left < 0.15 && math.Abs(rise) < stepOutHeight && in.Forward != 0
	if rise > -settle || c.flat > 0.3 {
		return
	}
	if c.scaffoldBelow() {
		in.Sneak = true
	} else { // the rim of a ladder or of an open door still holds: the very middle is free
		d := c.node.Centre().Sub(c.p.Pos)
		k := c.glide()
		x, z := d[0]-c.p.Vel[0]*k, d[2]-c.p.Vel[2]*k
		in.Yaw, in.Forward = float32(math.Atan2(-x, z)*180/math.Pi), min(1, math.Hypot(x, z)*4.6)
	}
}

// upright tells whether the way leads straight up or down: the shaft of a ladder leaves a hundredth of a block of room.
func (c *course) upright() bool {
	return c.way.X == 0 && c.way.Z == 0 && c.way.Y != 0 && !c.p.Flying && !c.p.OnGround
}

// leaving tells whether the player is still in the column next to the node's.
func (c *course) leaving() bool { return (c.way.X != 0 || c.way.Z != 0) && c.flat > 0.35 }

// Flight glides: it keeps 91 % of its speed each tick, and one tick of a fully pressed key adds flyKey, twice that while
// sprinting. So the keys are pressed towards the speed from which the flight can still stop at the node, against the
// flight where that is less than the present one.
const (
	flyKey     = 0.049 // blocks per tick, at the default flying speed
	flyBrake   = 0.8   // share of a key's push that is counted on for braking
	flyFastest = 0.9   // blocks per tick
	flyCrawl   = 0.1   // blocks per tick in the last tick of braking
)

// hover steers in flight: partly pressed keys, because one full tick carries half a block, and up or down only when the
// run-out does not do it.
func (c *course) hover(in *Input, sprint bool) {
	d := c.node.Centre().Sub(c.p.Pos)
	key := flyKey
	if sprint = sprint && !c.p.HorizontalCollision; sprint {
		key *= 2
	}
	want := 0.0
	if c.flat > ArriveWithin-2*settle || !c.last {
		want = brakable(c.flat, flyBrake*key)
	}
	var x, z float64
	if c.flat > 0 {
		x, z = d[0]/c.flat*want, d[2]/c.flat*want
	}
	x, z = x-c.p.Vel[0]*airInertia, z-c.p.Vel[2]*airInertia
	push := math.Hypot(x, z)
	in.Forward = 0
	if push > 0.004 {
		in.Sprint = sprint && push > flyKey
		if !in.Sprint {
			key = flyKey
		}
		in.Yaw = float32(math.Atan2(-x, z) * 180 / math.Pi)
		in.Forward = min(1, push/key)
	}
	dy := c.err[1] + hoverAbove - c.p.Vel[1]*2.5
	in.Jump = dy > 0.2
	in.Sneak = dy < -0.3
}

// brakable is the most that a flight may move in this tick so that it still stops within a distance, when each further
// tick takes push off what the glide leaves.
func brakable(distance, push float64) float64 {
	v, way := 0.0, 0.0 // of the tick looked at, and of all from it to the end
	for next := flyCrawl; ; next = (next + push) / airInertia {
		if way+next > distance || next > flyFastest {
			// between two whole numbers of ticks: the way grows by what the speed grows, in each of them
			return min(flyFastest, distance, v+(next-v)*max(0, distance-way)/next)
		}
		v, way = next, way+next
	}
}

// climb goes up with the jump key and down by letting go; on scaffolding down is the sneak key.
func (c *course) climb(in *Input, left float64) {
	rise := c.node.Feet - c.p.Pos[1]
	if c.upright() {
		in.Forward *= min(1, left*8)
	}
	in.Jump = rise > settle
	if c.leaving() {
		in.Jump = c.p.Pos[1] < c.top // the way out is at this height
	}
	s := sim{w: c.w, p: c.p}
	in.Sneak = rise < -settle && !c.leaving() && (s.kindAt(s.feet()) == kindScaffolding || c.scaffoldBelow())
	if c.leaving() && c.p.Pos[1] > c.top+0.15 {
		in.Forward = 0 // too high for the way out: sink first, pushing against a wall would climb it
	}
}

// scaffoldBelow tells whether the player stands on scaffolding.
func (c *course) scaffoldBelow() bool {
	s := sim{w: c.w, p: c.p}
	y := c.p.Pos[1]
	return y-math.Floor(y) < 1e-3 && s.kindAt(geom.BlockAt(c.p.Pos.Sub(geom.Vec3{0, 0.5, 0}))) == kindScaffolding
}

// kindBelowNode is the kind of the block that the node stands on.
func (c *course) kindBelowNode() kind {
	s := sim{w: c.w}
	at := c.node.Centre()
	at[1] -= 1e-3
	return s.kindAt(geom.BlockAt(at))
}
