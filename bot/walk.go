package bot

import (
	"fmt"
	"math"

	"blockworld/bot/egress"
	"blockworld/bot/physics"
	"blockworld/bot/wire"
	"blockworld/effects/path"
	"blockworld/worldstate/geom"
)

// WalkStatus says how a walk stands.
type WalkStatus uint8

// The statuses. The zero value is a walk under way.
const (
	WalkUnderway WalkStatus = iota
	WalkReached
	WalkSetBack    // the server corrected us more often than allowed, or off the path
	WalkStuck      // no progress towards the next node
	WalkTimedOut   // the tick budget ran out
	WalkEpochEnded // respawn, death, another world, or the end of the session
	WalkStopped    // stopped by us
)

func (s WalkStatus) String() string {
	names := [...]string{"underway", "reached", "set back", "stuck", "timed out", "epoch ended", "stopped"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("walk(%d)", s)
}

// WalkOptions bounds a walk. The zero value takes the defaults.
type WalkOptions struct {
	Setbacks int  // corrections survived before the walk fails; zero means 3, negative none
	Ticks    int  // budget; zero means 60 per node
	Sprint   bool // run where the path is level
	Sneak    bool // sneak all the way
	// Done runs on the loop when the walk ends; nil: nobody asks.
	Done func(tx *Tx, w *Walk)
}

// Walk is one move_to being carried out: nodes followed tick by tick. It belongs to the loop.
type Walk struct {
	b        *Bot
	handle   *egress.Walking
	nodes    []path.Node
	next     int // index of the node being walked to
	opts     WalkOptions
	status   WalkStatus
	detail   string
	setbacks int
	ticks    int
	stuck    int     // ticks without getting nearer to the next node
	nearest  float64 // best distance to it
	distance float64 // walked on the ground, horizontally, in blocks
	from     geom.Vec3
}

// stuckTicks is how long a walk may go without getting nearer to its next node.
const stuckTicks = 40

// Walk opens a move_to and follows nodes from the next tick on. One walk runs at a time: a walk under way is stopped. An
// empty path is reached at once.
func (tx *Tx) Walk(p egress.Permit, nodes []path.Node, o WalkOptions) (*Walk, error) {
	b := tx.b
	if b.walk != nil {
		b.walk.Stop()
	}
	handle, err := b.out.OpenMove(p)
	if err != nil {
		return nil, err
	}
	if o.Setbacks == 0 {
		o.Setbacks = 3
	}
	if o.Ticks <= 0 {
		o.Ticks = 60 * (len(nodes) + 1)
	}
	w := &Walk{b: b, handle: handle, nodes: nodes, opts: o, from: b.body.player.Pos}
	b.walk = w
	w.aim(0)
	w.skip()
	b.wakeTicks(2)
	return w, nil
}

// Status says how the walk stands, and in words why it ended.
func (w *Walk) Status() (WalkStatus, string) { return w.status, w.detail }

// Setbacks is how often the server corrected us under way.
func (w *Walk) Setbacks() int { return w.setbacks }

// Distance is what was walked on the ground so far, in blocks: at least so much must the server's own statistics grow.
func (w *Walk) Distance() float64 { return w.distance }

// Stop ends the walk where it is.
func (w *Walk) Stop() { w.finish(WalkStopped, "stopped") }

// finish ends the walk once. The keys are released with the last packet of the walk.
func (w *Walk) finish(s WalkStatus, detail string) {
	if w.status != WalkUnderway {
		return
	}
	w.status, w.detail = s, detail
	if w.b.walk == w {
		w.b.walk = nil
	}
	if w.handle.Live() {
		if err := w.handle.Release(); err != nil {
			w.b.opts.Log.Debug("releasing the keys after a walk", "error", err)
		}
		w.handle.Done()
	}
	w.b.wakeTicks(2)
	if w.opts.Done != nil {
		w.opts.Done(&Tx{w.b}, w)
	}
}

// aim makes node i the next one.
func (w *Walk) aim(i int) {
	w.next, w.stuck, w.nearest = i, 0, math.Inf(1)
}

// corrected is told when the server has put us somewhere: the node being walked to is given up, and the path goes on from
// the node that we now stand at, if there is one.
func (w *Walk) corrected() {
	w.setbacks++
	if w.setbacks > max(w.opts.Setbacks, 0) {
		w.finish(WalkSetBack, fmt.Sprintf("the server corrected the walk %d times", w.setbacks))
		return
	}
	pos := w.b.body.player.Pos
	for i := len(w.nodes) - 1; i >= 0; i-- {
		c := w.nodes[i].Centre()
		if flat(c.Sub(pos)) < 1 && math.Abs(c[1]-pos[1]) < 1.3 {
			w.aim(i)
			return
		}
	}
	w.finish(WalkSetBack, "the server put us off the path")
}

// progress looks after each tick whether nodes were reached and whether we get on at all.
func (w *Walk) progress() {
	if w.status != WalkUnderway {
		return
	}
	p := w.b.body.player
	if p.OnGround {
		w.distance += flat(p.Pos.Sub(w.from))
	}
	w.from = p.Pos
	w.skip()
	if w.next >= len(w.nodes) {
		w.finish(WalkReached, "")
		return
	}
	if w.ticks++; w.ticks > w.opts.Ticks {
		w.finish(WalkTimedOut, fmt.Sprintf("not there after %d ticks", w.opts.Ticks))
		return
	}
	if d := w.nodes[w.next].Centre().Sub(p.Pos).Len(); d < w.nearest-0.01 {
		w.nearest, w.stuck = d, 0
	} else if w.stuck++; w.stuck > stuckTicks {
		w.finish(WalkStuck, fmt.Sprintf("no way on at %s towards %s", geom.BlockAt(p.Pos), w.nodes[w.next].Pos))
	}
}

// skip passes over the nodes that are reached.
func (w *Walk) skip() {
	for w.next < len(w.nodes) && w.arrived(w.nodes[w.next], w.next == len(w.nodes)-1) {
		w.aim(w.next + 1)
	}
}

// arrived says whether a node counts as reached. The last one wants the middle of the cell and a standing player.
func (w *Walk) arrived(n path.Node, last bool) bool {
	p := w.b.body.player
	d := n.Centre().Sub(p.Pos)
	near, level := 0.35, 0.6
	if last {
		near, level = 0.2, 0.3
	}
	if flat(d) > near || math.Abs(d[1]) > level {
		return false
	}
	switch n.Move {
	case path.Fly, path.Swim, path.Climb:
		return true
	}
	return p.OnGround || p.InWater || p.Climbing
}

// steer says which keys the walk holds in this tick.
func (w *Walk) steer() (physics.Input, wire.Keys) {
	d := &w.b.body
	in := physics.Input{Yaw: d.yaw, Pitch: d.pitch, Sneak: w.opts.Sneak}
	if w.next >= len(w.nodes) {
		return in, w.pressed(in)
	}
	n := w.nodes[w.next]
	w.fly(n)
	way := n.Centre().Sub(d.player.Pos)
	dist := flat(way)
	if dist > 0.05 {
		in.Yaw = geom.RotationTo(geom.Vec3{}, geom.Vec3{way[0], 0, way[2]}).Yaw
		in.Forward = w.push(dist)
	}
	in.Sprint = w.sprints(n)
	w.vertical(&in, n, way, dist)
	return in, w.pressed(in)
}

// push is how hard to walk: less near the last node, so that we stop in its middle. Servers see keys as pressed or not;
// the speed is physics' own.
func (w *Walk) push(dist float64) float64 {
	v := w.b.body.player.Vel
	speed := math.Hypot(v[0], v[2])
	if w.next == len(w.nodes)-1 && dist < 0.5 {
		coast := speed * 1.2 // what friction lets us glide on ground, about
		if coast >= dist {
			return 0
		}
		return math.Min(1, dist*2)
	}
	return 1
}

// sprints says whether this stretch is run: level and straight on, with at least one more node behind the next.
func (w *Walk) sprints(n path.Node) bool {
	if !w.opts.Sprint || w.opts.Sneak || n.Move != path.Walk || w.next == 0 || w.next+1 >= len(w.nodes) {
		return false
	}
	before, after := w.nodes[w.next-1], w.nodes[w.next+1]
	straight := n.Pos.Sub(before.Pos) == after.Pos.Sub(n.Pos)
	return straight && after.Move == path.Walk && math.Abs(after.Feet-n.Feet) < 0.1
}

// vertical adds what jumping, climbing, swimming and flying need.
func (w *Walk) vertical(in *physics.Input, n path.Node, way geom.Vec3, dist float64) {
	p := w.b.body.player
	switch {
	case p.Flying:
		in.Jump, in.Sneak = way[1] > 0.15, way[1] < -0.15
	case n.Move == path.Jump && way[1] > 0.1:
		in.Jump = p.OnGround && dist < 1.3
	case n.Move == path.Climb:
		in.Jump = way[1] > 0.1
		in.Sneak = false
		if way[1] < -0.1 {
			in.Forward = math.Min(in.Forward, 0.3)
		}
	case p.InWater || p.InLava:
		in.Jump = way[1] > -0.2
	case way[1] > 0.7 && dist < 1 && p.OnGround:
		in.Jump = true
	case w.stuck > 8 && p.OnGround && p.HorizontalCollision:
		in.Jump = true
	}
}

// fly starts and stops creative flight as the next node wants it, where the server allows it.
func (w *Walk) fly(n path.Node) {
	d := &w.b.body
	want := n.Move == path.Fly
	if !want && (n.Move == path.Start || d.player.OnGround) {
		return
	}
	if want == d.player.Flying || want && !d.attrs.MayFly {
		return
	}
	d.player.Flying = want
	if want {
		d.player.OnGround = false
	}
	w.flightChanged()
}

// flightChanged tells the server about the start or end of flight.
func (w *Walk) flightChanged() {
	if err := w.handle.Fly(w.b.body.player.Flying); err != nil {
		w.finish(WalkEpochEnded, err.Error())
	}
}

// pressed is the input as the keys that the server hears of.
func (w *Walk) pressed(in physics.Input) (k wire.Keys) {
	for _, key := range []struct {
		on  bool
		bit wire.Keys
	}{{in.Forward > 0, wire.KeyForward}, {in.Jump, wire.KeyJump}, {in.Sneak, wire.KeySneak}, {in.Sprint, wire.KeySprint}} {
		if key.on {
			k |= key.bit
		}
	}
	return k
}

// tell sends the tick's keys and movement.
func (w *Walk) tell(keys wire.Keys, landed bool) error {
	if landed {
		w.flightChanged()
		if w.status != WalkUnderway {
			return nil
		}
	}
	return w.handle.Tick(keys, w.b.body.motion())
}

// flat is the horizontal length of a displacement.
func flat(d geom.Vec3) float64 { return math.Hypot(d[0], d[2]) }
