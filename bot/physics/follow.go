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

	still    int     // ticks without getting nearer
	nearest  float64 // least distance to the next node so far; 0 not measured
	leg      int     // index of the node where the straight way to the next one began
	shortcut bool    // in flight, nodes were left out: the straight way began elsewhere
	yaw      float32
}

// NewFollower returns a follower of the nodes, from the first one on.
func NewFollower(nodes []path.Node, sprint bool) Follower {
	return Follower{Nodes: nodes, Sprint: sprint}
}

// Follow returns the keys for the next tick of a player who is at p, and how the walk is going. Once it says anything but
// Moving the keys are released.
func (f Follower) Follow(w World, p Player) (Follower, Input, Progress) {
	for f.Next < len(f.Nodes)-1 && f.reached(p) {
		f.leg, f.Next, f.still, f.nearest, f.shortcut = f.Next, f.Next+1, 0, 0, false
		for f.sameFlight() {
			f.Next++ // one long leg: flight needs room to brake
		}
	}
	for f.airAhead(w, p) {
		f.Next, f.still, f.nearest, f.shortcut = f.Next+1, 0, 0, true
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
	in := c.keys(f.yaw, f.Sprint)
	in.Sprint = in.Sprint || f.Sprint && f.straightAhead() && p.OnGround && in.Forward == 1 && !in.Sneak
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
	a, b, c := f.Nodes[f.Next-1], f.Nodes[f.Next], f.Nodes[f.Next+1]
	return b.Move == path.Fly && c.Move == path.Fly && b.Feet-a.Feet == float64(b.Pos.Y-a.Pos.Y) && c.Feet-b.Feet == float64(c.Pos.Y-b.Pos.Y) &&
		f.direction(f.Next) == f.direction(f.Next+1) // a fence to be crossed makes a leg of its own
}

// airAhead tells whether a flight may leave out the next node: the straight way to the one after it leads through nothing
// but air, with room on every side.
func (f *Follower) airAhead(w World, p Player) bool {
	if !p.Flying || f.Next+1 >= len(f.Nodes) || f.Nodes[f.Next].Move != path.Fly || f.Nodes[f.Next+1].Move != path.Fly {
		return false
	}
	goal := f.Nodes[f.Next+1].Centre().Add(geom.Vec3{0, hoverAbove, 0})
	way := goal.Sub(p.Pos)
	if math.Abs(way[1]) > shortcutRise { // heights change faster than places: any way between the two must be open
		here, there := wideBody(p.Pos), wideBody(goal)
		return w.air(geom.Box{
			Min: geom.Vec3{min(here.Min[0], there.Min[0]), min(here.Min[1], there.Min[1]), min(here.Min[2], there.Min[2])},
			Max: geom.Vec3{max(here.Max[0], there.Max[0]), max(here.Max[1], there.Max[1]), max(here.Max[2], there.Max[2])},
		})
	}
	steps := max(1, math.Ceil(way.Len()/0.4))
	for i := 0.0; i <= steps; i++ {
		if !w.air(wideBody(p.Pos.Add(way.Mul(i / steps)))) {
			return false
		}
	}
	return true
}

// wideBody is the room that a flying player needs at a place.
func wideBody(feet geom.Vec3) geom.Box {
	box := geom.PlayerBox(feet, geom.PlayerHeight+hoverAbove)
	box.Min[0], box.Min[2] = box.Min[0]-airMargin, box.Min[2]-airMargin
	box.Max[0], box.Max[2] = box.Max[0]+airMargin, box.Max[2]+airMargin
	return box
}

// shortcutRise is how far a straight shortcut may lead up or down, in blocks.
const shortcutRise = 0.6

// airMargin is how much wider than the player the way of a shortcut must be, in blocks: flight overshoots in bends.
const airMargin = 0.15

// air tells whether every cell that the box touches is known and air.
func (w World) air(box geom.Box) bool {
	cells := cellsOf(box)
	for y := cells.Min.Y; y <= cells.Max.Y; y++ {
		for z := cells.Min.Z; z <= cells.Max.Z; z++ {
			for x := cells.Min.X; x <= cells.Max.X; x++ {
				s, ok := w.Cells.Block(geom.BlockPos{X: x, Y: y, Z: z})
				if !ok || !w.Blocks.reg.IsAir(s) {
					return false
				}
			}
		}
	}
	return true
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
	return !f.shortcut && f.aside(c.p.Pos) > strayFlat || !c.p.InWater && !c.p.Flying && c.p.Pos[1] < low-strayBelow
}
