package physics

import (
	"math"

	"blockworld/worldstate/geom"
)

// Stuck is a block that slows the player down in the tick after it was touched.
type Stuck uint8

// The blocks that hold a player. The zero value is none.
const (
	StuckNone Stuck = iota
	StuckCobweb
	StuckBerryBush
	StuckPowderSnow
)

var stuckNames = [...]string{"none", "cobweb", "berry bush", "powder snow"}

// String names the block.
func (s Stuck) String() string {
	if int(s) >= len(stuckNames) {
		return "invalid"
	}
	return stuckNames[s]
}

// factor is what is left of a movement inside the block.
func (s Stuck) factor() geom.Vec3 {
	switch s {
	case StuckCobweb:
		return geom.Vec3{0.25, 0.05, 0.25}
	case StuckBerryBush:
		return geom.Vec3{0.8, 0.75, 0.8}
	case StuckPowderSnow:
		return geom.Vec3{0.9, 1.5, 0.9}
	}
	return geom.Vec3{1, 1, 1}
}

// Player is the state of a player's movement between two ticks. Pos is the middle of the feet, in blocks; Vel is in
// blocks per tick. The caller sets Pos, Vel and Flying from the server's packets; everything else follows from Step.
type Player struct {
	Pos, Vel geom.Vec3

	OnGround            bool // stands on something; what movement packets report
	HorizontalCollision bool // pushed against something sideways; what movement packets report from 1.21.2 on
	MinorCollision      bool // that collision was a grazing one
	VerticalCollision   bool

	Sneaking  bool // in the crouching pose: 1.5 high, wanted or forced by a low ceiling
	Sprinting bool
	Flying    bool // creative flight; cleared by Step on landing, then the server must be told
	InWater   bool // feet in water at the start of the tick
	InLava    bool // feet in lava at the start of the tick
	Climbing  bool // the feet's cell is climbable
	Unknown   bool // the way of this tick touched a cell that is not loaded

	Stuck        Stuck
	WaterDepth   float64 // water above the feet, in blocks
	LavaDepth    float64
	FallDistance float64 // blocks fallen since the last support
	JumpDelay    uint8   // ticks until the held jump key jumps again
}

// Height returns the height of the player's collision box.
func (p Player) Height() float64 {
	if p.Sneaking {
		return geom.PlayerHeightSneaking
	}
	return geom.PlayerHeight
}

// Box returns the player's collision box.
func (p Player) Box() geom.Box { return geom.PlayerBox(p.Pos, p.Height()) }

// Valid tells whether position and speed are finite and within the world.
func (p Player) Valid() bool {
	for i := range p.Pos {
		if !(math.Abs(p.Pos[i]) <= worldLimit) || !(math.Abs(p.Vel[i]) <= terminal) {
			return false
		}
	}
	return true
}

// Input is what the player's keys and mouse say during one tick.
type Input struct {
	Forward float64 // -1..1, 1 forwards
	Strafe  float64 // -1..1, 1 to the left
	Jump    bool    // in flight: up
	Sneak   bool    // in flight: down
	Sprint  bool
	Yaw     float32 // degrees
	Pitch   float32 // degrees; no movement here depends on it, it is what packets report
}

// Attributes are the server's numbers for the player and its effects. DefaultAttributes gives the usual ones; the zero
// value cannot move.
type Attributes struct {
	Speed           float64 // movement_speed without the sprint modifier, effects included; 0.1
	FlySpeed        float64 // flying speed of the abilities; 0.05
	JumpStrength    float64 // jump_strength; 0.42
	StepHeight      float64 // step_height; 0.6
	SneakSpeed      float64 // sneaking_speed; 0.3
	MayFly          bool    // abilities allow creative flight
	JumpBoost       int     // level of the effect, 0 none
	Levitation      int     // level of the effect, 0 none
	SlowFalling     bool
	DolphinsGrace   bool
	WaterEfficiency float64 // water_movement_efficiency 0..1: depth strider level / 3
	SoulEfficiency  float64 // movement_efficiency 0..1 on soul sand
}

// DefaultAttributes returns the attributes of a player without effects and enchantments.
func DefaultAttributes() Attributes {
	return Attributes{Speed: 0.1, FlySpeed: 0.05, JumpStrength: 0.42, StepHeight: 0.6, SneakSpeed: 0.3}
}

// finite bounds v; NaN becomes 0.
func finite(v, lo, hi float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return math.Max(lo, math.Min(hi, v))
}

func (p Player) clean() Player {
	for i := range p.Pos {
		p.Pos[i] = finite(p.Pos[i], -worldLimit, worldLimit)
		p.Vel[i] = finite(p.Vel[i], -terminal, terminal)
	}
	p.FallDistance = finite(p.FallDistance, 0, worldLimit)
	return p
}

func (in Input) clean() Input {
	in.Forward, in.Strafe = finite(in.Forward, -1, 1), finite(in.Strafe, -1, 1)
	if !(geom.Rotation{Yaw: in.Yaw, Pitch: in.Pitch}).Finite() {
		in.Yaw, in.Pitch = 0, 0
	}
	return in
}

func (a Attributes) clean() Attributes {
	a.Speed = finite(a.Speed, 0, 1024)
	a.FlySpeed = finite(a.FlySpeed, 0, 10)
	a.JumpStrength = finite(a.JumpStrength, 0, 10)
	a.StepHeight = finite(a.StepHeight, 0, 10)
	a.SneakSpeed = finite(a.SneakSpeed, 0, 1)
	a.WaterEfficiency = finite(a.WaterEfficiency, 0, 1)
	a.SoulEfficiency = finite(a.SoulEfficiency, 0, 1)
	a.JumpBoost = max(0, min(a.JumpBoost, 255))
	a.Levitation = max(0, min(a.Levitation, 255))
	return a
}
