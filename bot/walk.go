package bot

import (
	"fmt"
	"math"
	"slices"

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

// String names the status in a word or two.
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
	follow   physics.Follower
	opts     WalkOptions
	status   WalkStatus
	detail   string
	setbacks int
	ticks    int
	progress physics.Progress // as of the last tick's keys
	distance float64          // walked on the ground, horizontally, in blocks
	from     geom.Vec3
}

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
	w := &Walk{b: b, handle: handle, follow: physics.NewFollower(nodes, o.Sprint && !o.Sneak), opts: o, from: b.body.player.Pos}
	b.walk = w
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

// corrected is told when the server has put us somewhere: the path goes on from the node that we now stand at, if there
// is one.
func (w *Walk) corrected() {
	w.setbacks++
	if w.setbacks > max(w.opts.Setbacks, 0) {
		w.finish(WalkSetBack, fmt.Sprintf("the server corrected the walk %d times", w.setbacks))
		return
	}
	follow, ok := w.follow.Resume(w.b.body.player)
	if !ok {
		w.finish(WalkSetBack, "the server put us off the path")
		return
	}
	w.follow = follow
}

// ticked counts what was walked, and ends the walk when it has come to an end.
func (w *Walk) ticked() {
	if w.status != WalkUnderway {
		return
	}
	p := w.b.body.player
	if p.OnGround {
		w.distance += flat(p.Pos.Sub(w.from))
	}
	w.from = p.Pos
	w.ticks++
	switch at := geom.BlockAt(p.Pos); {
	case w.progress == physics.Arrived:
		w.finish(WalkReached, "")
	case w.progress == physics.Blocked:
		w.finish(WalkStuck, fmt.Sprintf("no way on at %v", at))
	case w.progress == physics.Strayed:
		w.finish(WalkStuck, fmt.Sprintf("off the path at %v", at))
	case w.ticks > w.opts.Ticks:
		w.finish(WalkTimedOut, fmt.Sprintf("not there after %d ticks", w.opts.Ticks))
	}
}

// steer says which keys the walk holds in this tick.
func (w *Walk) steer() (physics.Input, wire.Keys) {
	d := &w.b.body
	takeOff := w.fly()
	var in physics.Input
	w.follow, in, w.progress = w.follow.Follow(w.b.world(), d.player)
	if in.Forward == 0 && in.Strafe == 0 {
		in.Yaw = d.yaw // nothing to go towards: the look stays
	}
	in.Pitch = d.pitch
	in.Jump = in.Jump || takeOff // touching the ground would end the flight at once
	in.Sneak = in.Sneak || w.opts.Sneak
	return in, w.pressed(in)
}

// fly starts creative flight when the path has a node in the air, and ends it when it has none. Landing ends it by itself.
// True in the tick of the take-off.
func (w *Walk) fly() bool {
	d := &w.b.body
	if !d.attrs.MayFly || w.follow.Next >= len(w.follow.Nodes) {
		return false
	}
	inAir := func(n path.Node) bool { return n.Move == path.Fly }
	if d.player.Flying == slices.ContainsFunc(w.follow.Nodes, inAir) {
		return false
	}
	if d.player.Flying { // a way on foot begins with coming down
		d.player.Flying = false
		w.flightChanged()
		return false
	}
	d.player.Flying, d.player.OnGround = true, false
	w.flightChanged()
	return true
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
