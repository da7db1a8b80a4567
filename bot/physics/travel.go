package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// travel moves the player through whatever it is in.
func (s *sim) travel() {
	switch {
	case s.flying:
		vy := s.p.Vel[1]
		s.walk()
		s.p.Vel[1] = vy * 0.6
		s.p.FallDistance = 0
	case s.p.InWater:
		s.swim()
	case s.p.InLava:
		s.wade()
	default:
		s.walk()
	}
	s.p.Climbing = s.climbable()
}

func (s *sim) gravity() float64 {
	if s.a.SlowFalling && s.p.Vel[1] <= 0 {
		return slowGravity
	}
	return gravity
}

// walk is movement on ground and in the air.
func (s *sim) walk() {
	g := s.gravity()
	slip := slipperiness(s.kindAt(s.under()))
	inertia := airInertia
	if s.p.OnGround {
		inertia *= slip
	}
	s.accelerate(s.walkSpeed(slip))
	s.holdLadder()
	s.move(s.p.Vel)
	v := &s.p.Vel
	if (s.p.HorizontalCollision || s.in.Jump) && s.climbable() {
		v[1] = climbSpeed
	}
	if s.a.Levitation > 0 {
		v[1] += (0.05*float64(s.a.Levitation) - v[1]) * 0.2
		s.p.FallDistance = 0
	} else {
		v[1] -= g
	}
	v[0], v[1], v[2] = v[0]*inertia, v[1]*airDrag, v[2]*inertia
}

// walkSpeed is the acceleration of one tick on ground of this slipperiness, in the air or in flight.
func (s *sim) walkSpeed(slip float64) float64 {
	switch {
	case s.p.OnGround && s.p.Sprinting:
		return s.a.Speed * sprintFactor * groundFactor / (slip * slip * slip)
	case s.p.OnGround:
		return s.a.Speed * groundFactor / (slip * slip * slip)
	case s.flying && s.p.Sprinting:
		return s.a.FlySpeed * 2
	case s.flying:
		return s.a.FlySpeed
	case s.p.Sprinting:
		return airSpeedSprnt
	}
	return airSpeed
}

// holdLadder bounds the speed on something climbable; sneaking stops there, except on scaffolding.
func (s *sim) holdLadder() {
	if !s.climbable() {
		return
	}
	s.p.FallDistance = 0
	v := &s.p.Vel
	v[0] = max(-climbLimit, min(climbLimit, v[0]))
	v[2] = max(-climbLimit, min(climbLimit, v[2]))
	v[1] = max(-climbLimit, v[1])
	if v[1] < 0 && s.in.Sneak && s.kindAt(s.feet()) != kindScaffolding {
		v[1] = 0
	}
}

// swim is movement in water.
func (s *sim) swim() {
	g, falling := s.gravity(), s.p.Vel[1] <= 0
	y := s.p.Pos[1]
	speed, inertia := liquidSpeed, waterInertia
	efficiency := s.a.WaterEfficiency
	if !s.p.OnGround {
		efficiency *= 0.5
	}
	if efficiency > 0 {
		inertia += (strideInertia - inertia) * efficiency
		speed += (s.a.Speed - speed) * efficiency
	}
	if s.a.DolphinsGrace {
		inertia = 0.96
	}
	s.accelerate(speed)
	s.move(s.p.Vel)
	v := &s.p.Vel
	if s.p.HorizontalCollision && s.climbable() {
		v[1] = climbSpeed
	}
	v[0], v[1], v[2] = v[0]*inertia, v[1]*waterInertia, v[2]*inertia
	v[1] = sink(v[1], g, falling)
	s.p.FallDistance = 0
	s.leaveFluid(y)
}

// sink is gravity in water: a sixteenth, with a floor so that a still player sinks slowly.
func sink(vy, g float64, falling bool) float64 {
	if falling && math.Abs(vy-0.005) >= negligible && math.Abs(vy-g/16) < negligible {
		return -negligible
	}
	return vy - g/16
}

// wade is movement in lava.
func (s *sim) wade() {
	g, falling := s.gravity(), s.p.Vel[1] <= 0
	y := s.p.Pos[1]
	s.accelerate(liquidSpeed)
	s.move(s.p.Vel)
	v := &s.p.Vel
	if s.p.LavaDepth <= liquidJumpLevel {
		v[0], v[1], v[2] = v[0]*lavaInertia, sink(v[1]*waterInertia, g, falling), v[2]*lavaInertia
	} else {
		*v = v.Mul(lavaInertia)
	}
	v[1] -= g / 4
	s.leaveFluid(y)
}

// leaveFluid lifts a player who swims against a wall that is low enough to climb out over. y is where the tick began.
func (s *sim) leaveFluid(y float64) {
	v := s.p.Vel
	if !s.p.HorizontalCollision {
		return
	}
	box := s.p.Box().Move(geom.Vec3{v[0], v[1] + stepOutHeight - s.p.Pos[1] + y, v[2]})
	if s.free(box) && !s.touchesFluid(box) {
		s.p.Vel[1] = liquidExit
	}
}

// move carries the player by d as far as the world lets it, and applies what the touched blocks do.
func (s *sim) move(d geom.Vec3) {
	if s.p.Stuck != StuckNone && !s.flying {
		f := s.p.Stuck.factor()
		d = geom.Vec3{d[0] * f[0], d[1] * f[1], d[2] * f[2]}
		s.p.Vel = geom.Vec3{}
	}
	s.p.Stuck = StuckNone
	d = s.keepFromEdge(d)
	got := s.collide(d)
	s.p.Pos = s.p.Pos.Add(got)
	blockedX, blockedZ := math.Abs(d[0]-got[0]) > collideSlack, math.Abs(d[2]-got[2]) > collideSlack
	s.p.HorizontalCollision = blockedX || blockedZ
	s.p.VerticalCollision = d[1] != got[1]
	s.p.OnGround = s.p.VerticalCollision && d[1] < 0
	s.p.MinorCollision = s.p.HorizontalCollision && s.grazes(got)
	if s.p.OnGround {
		s.p.Pos[1] = snap(s.p.Pos[1])
	}
	s.countFall(got[1])
	if blockedX {
		s.p.Vel[0] = 0
	}
	if blockedZ {
		s.p.Vel[2] = 0
	}
	if s.p.VerticalCollision {
		s.land()
	}
	s.touchBlocks()
	f := s.speedFactor()
	s.p.Vel[0] *= f
	s.p.Vel[2] *= f
}

// snap rounds a height that is a rounding error away from a sixteenth, so that feet on a block are never in it.
func snap(y float64) float64 {
	if r := math.Round(y*16) / 16; math.Abs(r-y) < 1e-9 {
		return r
	}
	return y
}

func (s *sim) countFall(dy float64) {
	switch {
	case s.p.OnGround:
		s.p.FallDistance = 0
	case dy < 0:
		s.p.FallDistance -= dy
	}
}

// grazes tells whether the collision leaves the movement in nearly the wanted direction.
func (s *sim) grazes(got geom.Vec3) bool {
	strafe, forward := s.impulse()
	sin, cos := s.heading()
	x, z := strafe*cos-forward*sin, forward*cos+strafe*sin
	want, have := x*x+z*z, flatSqr(got)
	if want < collideSlack || have < collideSlack {
		return false
	}
	return math.Acos(max(-1, min(1, (x*got[0]+z*got[2])/math.Sqrt(want*have)))) < minorAngle
}

// land applies a vertical collision to the speed: it ends, except that slime and beds throw back.
func (s *sim) land() {
	v := &s.p.Vel
	k := s.kindAt(geom.BlockAt(s.p.Pos.Sub(geom.Vec3{0, 0.2, 0})))
	switch {
	case s.in.Sneak || k != kindSlime && k != kindBed:
		v[1] = 0
	case v[1] < 0 && k == kindSlime:
		v[1] = -v[1]
	case v[1] < 0:
		v[1] *= -bedBounce
	}
	if !s.p.OnGround || s.in.Sneak || s.kindAt(geom.BlockAt(s.p.Pos.Sub(geom.Vec3{0, 1e-5, 0}))) != kindSlime {
		return
	}
	if y := math.Abs(v[1]); y < 0.1 {
		f := 0.4 + y*0.2
		v[0], v[2] = v[0]*f, v[2]*f
	}
}
