package bot

import (
	"math"
	"time"

	"blockworld/bot/egress"
	"blockworld/bot/physics"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// reset forgets where we are; what the server said about our abilities stays.
func (d *body) reset() {
	flying := d.player.Flying
	d.player = physics.Player{Flying: flying}
	d.placed, d.loaded, d.dead, d.asked, d.riding = false, false, false, false, false
}

// rotation is where we look.
func (d *body) rotation() geom.Rotation { return geom.Rotation{Yaw: d.yaw, Pitch: d.pitch} }

// motion is what a movement packet says about us.
func (d *body) motion() egress.Motion {
	return egress.Motion{
		Position: d.player.Pos, Rotation: d.rotation(),
		OnGround: d.player.OnGround, HorizontalCollision: d.player.HorizontalCollision,
	}
}

// chunk is the column we stand in.
func (d *body) chunk() geom.ChunkPos {
	return geom.ChunkPos{X: int32(math.Floor(d.player.Pos[0])) >> 4, Z: int32(math.Floor(d.player.Pos[2])) >> 4}
}

// place applies a teleport: every part absolute or relative, as its bit says. False for a place that is none; then
// nothing has changed.
func (d *body) place(ev worldstate.Teleported) (egress.Motion, bool) {
	add := func(bit uint32, now, told float64) float64 {
		if ev.Relative&bit != 0 {
			return now + told
		}
		return told
	}
	p := d.player
	oldYaw, oldPitch := d.yaw, d.pitch
	yaw := add(worldstate.RelativeYaw, float64(d.yaw), float64(ev.Rotation.Yaw))
	pitch := add(worldstate.RelativePitch, float64(d.pitch), float64(ev.Rotation.Pitch))
	for i := range p.Pos {
		p.Pos[i] = add(worldstate.RelativeX<<i, p.Pos[i], ev.Position[i])
	}
	vel := p.Vel
	if ev.Relative&worldstate.RotateVelocity != 0 {
		vel = turnVelocity(vel, oldYaw-float32(yaw), oldPitch-float32(pitch))
	}
	for i := range vel {
		p.Vel[i] = add(worldstate.RelativeVelocityX<<i, vel[i], ev.Velocity[i])
	}
	r := geom.Rotation{Yaw: float32(yaw), Pitch: float32(max(-90, min(90, pitch)))}
	if !p.Valid() || !r.Finite() || math.IsNaN(pitch) {
		return egress.Motion{}, false
	}
	p.OnGround, p.HorizontalCollision, p.FallDistance = false, false, 0
	d.player, d.yaw, d.pitch = p, r.Yaw, r.Pitch
	return d.motion(), true
}

// turnVelocity rotates a velocity by the change of the look, first about the side axis, then about the vertical one.
func turnVelocity(v geom.Vec3, yaw, pitch float32) geom.Vec3 {
	sin, cos := math.Sincos(float64(pitch) * math.Pi / 180)
	v = geom.Vec3{v[0], v[1]*cos + v[2]*sin, v[2]*cos - v[1]*sin}
	sin, cos = math.Sincos(float64(yaw) * math.Pi / 180)
	return geom.Vec3{v[0]*cos + v[2]*sin, v[1], v[2]*cos - v[0]*sin}
}

func secondsToDuration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
