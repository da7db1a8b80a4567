package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// sim is one tick in the making; it lives on the stack of Step.
type sim struct {
	w      World
	p      Player
	in     Input
	a      Attributes
	flying bool
}

// Step returns the player one tick later. It does not fail: numbers that are not finite become zero, unknown cells stop
// the player. The order of things is the vanilla client's: fluids, keys, jump, travel.
func Step(w World, p Player, in Input, a Attributes) Player {
	s := sim{w: w, p: p.clean(), in: in.clean(), a: a.clean()}
	s.p.Unknown = false
	s.flying = s.p.Flying && s.a.MayFly
	s.p.Flying = s.flying
	s.touchFluids()
	s.pose()
	s.verticalKeys()
	s.forgetSlowness()
	s.jump()
	s.travel()
	if s.p.OnGround {
		s.p.Flying = false
	}
	s.p = s.p.clean()
	return s.p
}

// pose decides about crouching and sprinting for this tick.
func (s *sim) pose() {
	height := geom.PlayerBox(s.p.Pos, geom.PlayerHeight)
	crouched := geom.PlayerBox(s.p.Pos, geom.PlayerHeightSneaking)
	fits := s.p.Sneaking && !s.in.Sneak && !s.flying // only somebody crouched can be kept from rising
	s.p.Sneaking = !s.flying && (s.in.Sneak || fits && !s.free(height) && s.free(crouched))
	wall := s.p.HorizontalCollision && !s.p.MinorCollision
	s.p.Sprinting = s.in.Sprint && s.in.Forward > 0 && !s.p.Sneaking && !wall && (s.flying || !s.p.InWater)
}

// verticalKeys applies what the jump and sneak keys do in flight and in water.
func (s *sim) verticalKeys() {
	if s.flying {
		if s.in.Jump {
			s.p.Vel[1] += s.a.FlySpeed * 3
		}
		if s.in.Sneak {
			s.p.Vel[1] -= s.a.FlySpeed * 3
		}
		return
	}
	if s.p.InWater && s.in.Sneak {
		s.p.Vel[1] -= liquidJump
	}
}

// forgetSlowness zeroes speeds too small to matter.
func (s *sim) forgetSlowness() {
	v := &s.p.Vel
	if s.w.Blocks.features.joinedThreshold {
		if flatSqr(*v) < negligible*negligible {
			v[0], v[2] = 0, 0
		}
	} else {
		if math.Abs(v[0]) < negligible {
			v[0] = 0
		}
		if math.Abs(v[2]) < negligible {
			v[2] = 0
		}
	}
	if math.Abs(v[1]) < negligible {
		v[1] = 0
	}
}

// jump applies the jump key: from the ground, or upwards in a fluid.
func (s *sim) jump() {
	if s.p.JumpDelay > 0 {
		s.p.JumpDelay--
	}
	if !s.in.Jump || s.flying {
		s.p.JumpDelay = 0
		return
	}
	depth := s.p.WaterDepth
	if s.p.InLava {
		depth = s.p.LavaDepth
	}
	deep := depth > liquidJumpLevel
	switch {
	case s.p.InWater && s.p.WaterDepth > 0 && (!s.p.OnGround || deep), s.p.InLava && (!s.p.OnGround || deep):
		s.p.Vel[1] += liquidJump
	case (s.p.OnGround || s.p.InWater && s.p.WaterDepth > 0) && s.p.JumpDelay == 0:
		s.jumpFromGround()
	}
}

func (s *sim) jumpFromGround() {
	s.p.Vel[1] = s.a.JumpStrength*s.jumpFactor() + 0.1*float64(s.a.JumpBoost)
	if s.p.Sprinting {
		sin, cos := s.heading()
		s.p.Vel[0] -= sin * sprintBoost
		s.p.Vel[2] += cos * sprintBoost
	}
	s.p.JumpDelay = jumpDelay
}

// heading returns sine and cosine of the yaw. Vanilla reads them from a table of 65,536 steps, 1e-4 off at most.
func (s *sim) heading() (sin, cos float64) { return math.Sincos(float64(s.in.Yaw) * math.Pi / 180) }

// impulse returns the input in the player's own frame, as strong as the keys are.
func (s *sim) impulse() (strafe, forward float64) {
	strafe, forward = s.in.Strafe*inputFactor, s.in.Forward*inputFactor
	if s.p.Sneaking {
		strafe, forward = strafe*s.a.SneakSpeed, forward*s.a.SneakSpeed
	}
	return strafe, forward
}

// accelerate adds the input, turned by the yaw and no longer than 1, times speed.
func (s *sim) accelerate(speed float64) {
	strafe, forward := s.impulse()
	length := strafe*strafe + forward*forward
	if length < epsilon {
		return
	}
	if length > 1 {
		speed /= math.Sqrt(length)
	}
	sin, cos := s.heading()
	s.p.Vel[0] += (strafe*cos - forward*sin) * speed
	s.p.Vel[2] += (forward*cos + strafe*sin) * speed
}

func (s *sim) feet() geom.BlockPos { return geom.BlockAt(s.p.Pos) }

// under is the cell whose block acts on a player who stands on it.
func (s *sim) under() geom.BlockPos {
	return geom.BlockAt(geom.Vec3{s.p.Pos[0], s.p.Pos[1] - 0.500001, s.p.Pos[2]})
}

func (s *sim) kindAt(pos geom.BlockPos) kind {
	_, t, _ := s.w.at(pos)
	return t.kind
}

// jumpFactor weakens jumps on honey.
func (s *sim) jumpFactor() float64 {
	if s.kindAt(s.feet()) == kindHoney || s.kindAt(s.under()) == kindHoney {
		return honeyJump
	}
	return 1
}

// speedFactor slows down on soul sand and honey.
func (s *sim) speedFactor() float64 {
	if s.flying {
		return 1
	}
	_, t, _ := s.w.at(s.feet())
	k := t.kind
	if k != kindSoulSand && k != kindHoney {
		if t.fluid != 0 && t.fluid&fluidLava == 0 && !t.solid {
			return 1 // water hides the block below
		}
		k = s.kindAt(s.under())
	}
	factor := 1.0
	switch k {
	case kindSoulSand:
		factor = soulSandSpeed
	case kindHoney:
		factor = honeySpeed
	}
	return factor + (1-factor)*s.a.SoulEfficiency
}

func slipperiness(k kind) float64 {
	switch k {
	case kindIce:
		return slipIce
	case kindBlueIce:
		return slipBlueIce
	case kindSlime:
		return slipSlime
	}
	return slipDefault
}

// climbable tells whether the feet are in something to climb: a ladder, a vine, or an open trapdoor above a ladder that
// faces the same way.
func (s *sim) climbable() bool {
	if s.flying {
		return false
	}
	pos := s.feet()
	state, t, known := s.w.at(pos)
	switch t.kind {
	case kindLadder, kindClimbable, kindScaffolding:
		return true
	case kindOpenTrapdoor:
		below, bt, ok := s.w.at(pos.Neighbour(geom.Down))
		if !known || !ok || bt.kind != kindLadder {
			return false
		}
		a, _ := s.w.Blocks.reg.Prop(state, "facing")
		b, _ := s.w.Blocks.reg.Prop(below, "facing")
		return a == b
	}
	return false
}
