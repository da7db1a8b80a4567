package physics

import (
	"math"

	"blockworld/effects/path"
	"blockworld/worldstate/geom"
)

// Progress is how a walk along a path is going.
type Progress uint8

// The states of a walk. The zero value is under way.
const (
	Moving  Progress = iota
	Arrived          // at rest within ArriveWithin of the middle of the last node
	Blocked          // no nearer to the next node for BlockedAfter ticks
	Strayed          // thrown off the path, or no longer able to follow it; search a new one
)

var progressNames = [...]string{"moving", "arrived", "blocked", "strayed"}

// String names the state.
func (p Progress) String() string {
	if int(p) >= len(progressNames) {
		return "invalid"
	}
	return progressNames[p]
}

const (
	// ArriveWithin is how near to the middle of the last cell a walk ends, horizontally, in blocks.
	ArriveWithin = 0.2
	// BlockedAfter is the number of ticks without getting nearer after which a walk gives up.
	BlockedAfter = 60

	strayFlat  = 2.5 // blocks beside the next node
	strayBelow = 1.6 // blocks below both the last and the next node
	settle     = 0.05
	pastEdge   = 0.15 // a drop is aimed so far past the middle of its cell
	hoverAbove = 0.2  // flight keeps so far above the floor: touching it ends the flight
)

// Follower walks a player along the nodes of a path. It is a value: Follow returns the next one, and the zero Follower
// has arrived. It presses the keys a person would press; only in flight and in narrow shafts it uses them partly, to stop
// where it wants.
type Follower struct {
	Nodes  []path.Node
	Next   int  // index of the node it makes for
	Sprint bool // sprint on long straight stretches

	still   int     // ticks without getting nearer
	nearest float64 // least distance to the next node so far; 0 not measured
	leg     int     // index of the node where the straight way to the next one began
	yaw     float32
}

// NewFollower returns a follower of the nodes, from the first one on.
func NewFollower(nodes []path.Node, sprint bool) Follower {
	return Follower{Nodes: nodes, Sprint: sprint}
}

// Follow returns the keys for the next tick of a player who is at p, and how the walk is going. Once it says anything but
// Moving the keys are released.
func (f Follower) Follow(w World, p Player) (Follower, Input, Progress) {
	for f.Next < len(f.Nodes)-1 && f.reached(p) {
		f.leg, f.Next, f.still, f.nearest = f.Next, f.Next+1, 0, 0
		for f.sameFlight() {
			f.Next++ // one long leg: flight needs room to brake
		}
	}
	rest := Input{Yaw: f.yaw}
	if len(f.Nodes) == 0 || f.Next >= len(f.Nodes) {
		return f, rest, Arrived
	}
	c := course{w: w, p: p, node: f.Nodes[f.Next], top: f.Nodes[f.Next].Feet, last: f.Next == len(f.Nodes)-1}
	if f.Next > 0 {
		c.way, c.top = f.direction(f.Next), max(c.top, f.Nodes[f.Next-1].Feet)
	}
	c.flat, c.err = c.measure()
	if c.last && c.settled() {
		rest.Sneak = p.Climbing && !p.OnGround // hold on
		return f, rest, Arrived
	}
	if f.strayed(&c) {
		return f, rest, Strayed
	}
	if f.noNearer(c.node.Centre().Sub(p.Pos).Len()) {
		return f, rest, Blocked
	}
	in := c.keys(f.yaw)
	in.Sprint = f.Sprint && f.straightAhead() && p.OnGround && in.Forward == 1 && !in.Sneak
	f.yaw = in.Yaw
	return f, in, Moving
}

// Resume goes on after the server has put the player somewhere: it makes for the last node that the player is at. False
// says that the player is at none of them; then a new path is needed.
func (f Follower) Resume(p Player) (Follower, bool) {
	for i := len(f.Nodes) - 1; i >= 0; i-- {
		d := f.Nodes[i].Centre().Sub(p.Pos)
		if math.Hypot(d[0], d[2]) < 1 && math.Abs(d[1]) < 1.3 {
			f.Next, f.leg, f.still, f.nearest = i, i, 0, 0
			return f, true
		}
	}
	return f, false
}

// noNearer counts ticks without progress.
func (f *Follower) noNearer(distance float64) bool {
	if f.nearest == 0 || distance < f.nearest-settle {
		f.nearest, f.still = distance, 0
	} else {
		f.still++
	}
	return f.still > BlockedAfter
}

// reached tells whether the player is near enough to the next node to make for the one after it.
func (f *Follower) reached(p Player) bool {
	n, after := f.Nodes[f.Next], f.Nodes[f.Next+1]
	within := 0.15
	switch {
	case after.Move == path.Fly:
		within = 0.3
	case after.Move == path.Walk && f.sameWay():
		within = 0.5
	case after.Move == path.Walk || after.Move == path.Swim:
		within = 0.25
	}
	d := n.Centre().Sub(p.Pos)
	if math.Hypot(d[0], d[2]) > within {
		return false
	}
	switch {
	case n.Move == path.Fly || p.Flying:
		return math.Abs(d[1]) < 0.5
	case p.InWater:
		return math.Abs(d[1]) < 1
	case n.Move == path.Climb || p.Climbing:
		return d[1] < 0.1 && d[1] > -0.5
	}
	return p.OnGround && math.Abs(d[1]) < 0.3
}

// sameWay tells whether the path goes straight on at the next node.
func (f *Follower) sameWay() bool {
	if f.Next == 0 || f.Next+1 >= len(f.Nodes) {
		return false
	}
	b, c := f.Nodes[f.Next], f.Nodes[f.Next+1]
	return f.direction(f.Next) == f.direction(f.Next+1) && b.Move == path.Walk && c.Move == path.Walk
}

// sameFlight tells whether the flight to the next node goes straight on to the one after it.
func (f *Follower) sameFlight() bool {
	if f.Next == 0 || f.Next+1 >= len(f.Nodes) {
		return false
	}
	b, c := f.Nodes[f.Next], f.Nodes[f.Next+1]
	return b.Move == path.Fly && c.Move == path.Fly && f.direction(f.Next) == f.direction(f.Next+1)
}

// direction is the way from the node before i to node i.
func (f *Follower) direction(i int) geom.BlockPos { return f.Nodes[i].Pos.Sub(f.Nodes[i-1].Pos) }

// aside returns the horizontal distance from the straight way to the next node.
func (f *Follower) aside(p geom.Vec3) float64 {
	a, b := f.Nodes[f.leg].Centre(), f.Nodes[f.Next].Centre()
	x, z := b[0]-a[0], b[2]-a[2]
	t := 0.0
	if l := x*x + z*z; l > 0 {
		t = max(0, min(1, ((p[0]-a[0])*x+(p[2]-a[2])*z)/l))
	}
	return math.Hypot(a[0]+t*x-p[0], a[2]+t*z-p[2])
}

// straightAhead tells whether the next three moves are walks in one direction on one level.
func (f *Follower) straightAhead() bool {
	if f.Next == 0 || f.Next+2 >= len(f.Nodes) {
		return false
	}
	d := f.direction(f.Next)
	for i := f.Next; i <= f.Next+2; i++ {
		if f.Nodes[i].Move != path.Walk || f.direction(i) != d {
			return false
		}
	}
	return true
}

// strayed tells whether the player is too far off to go on.
func (f *Follower) strayed(c *course) bool {
	if c.node.Move == path.Fly && !c.p.Flying && !c.last {
		return true
	}
	low := c.node.Feet
	if f.Next > 0 {
		low = min(low, f.Nodes[f.Next-1].Feet)
	}
	return f.aside(c.p.Pos) > strayFlat || !c.p.InWater && !c.p.Flying && c.p.Pos[1] < low-strayBelow
}

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

// keys chooses the input of this tick. Without anything to do the look stays where it is.
func (c *course) keys(yaw float32) Input {
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
		c.hover(&in, left)
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
	in.Jump = rise > stepOutHeight && c.node.Move != path.Walk && (c.p.HorizontalCollision || c.flat < 0.2)
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

// hover steers in flight: partly pressed keys, because one full tick carries half a block, and up or down only when the
// run-out does not do it.
func (c *course) hover(in *Input, left float64) {
	in.Forward *= min(1, left*1.8)
	dy := c.err[1] + hoverAbove - c.p.Vel[1]*2.5
	in.Jump = dy > 0.2
	in.Sneak = dy < -0.3
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
