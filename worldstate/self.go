package worldstate

import (
	"fmt"

	"blockworld/worldstate/geom"
)

// Self is what the server said about the player itself. Position is the server's last word, not where physics has moved
// since: a mirror never holds predictions.
type Self struct {
	Identified bool // UUID and Name are known
	UUID       UUID
	Name       string
	Joined     bool // in the play phase
	EntityID   int32
	Hardcore   bool
	GameMode   GameMode // zero is unknown

	Placed   bool // Position is known: the last player_position was absolute
	Position geom.Vec3
	Turned   bool // Rotation is known
	Rotation geom.Rotation
	// Teleports counts player_position packets of this world, LastTeleport and TeleportSeen name the last one.
	Teleports    uint64
	LastTeleport int32
	TeleportSeen Sequence

	HealthKnown bool
	Health      float32
	Food        int32
	Saturation  float32
	Dead        bool // known to be dead

	AbilitiesKnown bool
	Abilities      AbilitiesChanged

	Pose    Pose
	Riding  bool // sits on Vehicle
	Vehicle int32
}

// Bits of Teleported.Relative and EntityPlaced.Relative: what is added to what there was, instead of taking its place. The
// last one turns the velocity that there was by the change of the look.
const (
	RelativeX = 1 << iota
	RelativeY
	RelativeZ
	RelativeYaw
	RelativePitch
	RelativeVelocityX
	RelativeVelocityY
	RelativeVelocityZ
	RotateVelocity
)

const (
	relativePosition = RelativeX | RelativeY | RelativeZ
	relativeRotation = RelativeYaw | RelativePitch
)

func (m *Mirror) applySelf(ev Event) error {
	s := &m.self
	switch ev := ev.(type) {
	case Teleported:
		if err := checkPoint(ev.Position, ev.Velocity); err != nil {
			return err
		}
		if err := checkRotation(ev.Rotation); err != nil {
			return err
		}
		// A relative part adds to where the client is, which only the client knows.
		s.Placed, s.Position = ev.Relative&relativePosition == 0, ev.Position
		s.Turned, s.Rotation = ev.Relative&relativeRotation == 0, ev.Rotation
		if !s.Placed {
			s.Position = geom.Vec3{}
		}
		if !s.Turned {
			s.Rotation = geom.Rotation{}
		}
		s.Teleports++
		s.LastTeleport, s.TeleportSeen = ev.ID, m.seq+1
	case Turned:
		if err := checkRotation(ev.Rotation); err != nil {
			return err
		}
		s.Turned, s.Rotation = !ev.RelativeYaw && !ev.RelativePitch, ev.Rotation
		if !s.Turned {
			s.Rotation = geom.Rotation{}
		}
	case HealthChanged:
		if !finite(float64(ev.Health), float64(ev.Saturation)) {
			return fmt.Errorf("%w: health %v, saturation %v", ErrMalformed, ev.Health, ev.Saturation)
		}
		s.HealthKnown, s.Health, s.Food, s.Saturation = true, ev.Health, ev.Food, ev.Saturation
		s.Dead = ev.Health <= 0
	case AbilitiesChanged:
		if !finite(float64(ev.FlyingSpeed), float64(ev.WalkingSpeed)) {
			return fmt.Errorf("%w: speeds %v and %v", ErrMalformed, ev.FlyingSpeed, ev.WalkingSpeed)
		}
		s.AbilitiesKnown, s.Abilities = true, ev
	case GameModeChanged:
		s.GameMode = ev.Mode
	}
	return nil
}
