package wire

import "fmt"

// PlayerCommand tells what the player's body does.
type PlayerCommand struct {
	EntityID  int32
	Action    BodyAction
	JumpBoost int32
}

// BodyAction is what PlayerCommand tells.
type BodyAction int32

// The actions. Sneaking goes by PlayerInput with feature PlayerInputSneak, and the others have numbers two lower there.
const (
	StartSneaking BodyAction = iota
	StopSneaking
	StopSleeping
	StartSprinting
	StopSprinting
	StartRidingJump
	StopRidingJump
	OpenInventory
	StartFallFlying
)

// Marshal reads or writes the packet.
func (p *PlayerCommand) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	io.bodyAction(&p.Action)
	io.VarInt(&p.JumpBoost)
}

func (io *IO) bodyAction(a *BodyAction) {
	var shift int32
	if io.Has(PlayerInputSneak) {
		shift = int32(StopSleeping)
	}
	n := int32(*a) - shift
	if !io.reading && n < 0 {
		io.Fail(fmt.Errorf("%w: this version tells sneaking by player_input", ErrMalformed))
	}
	io.VarInt(&n)
	if io.reading && (n < 0 || n > int32(StartFallFlying)-shift) {
		io.Fail(fmt.Errorf("%w: player command %d", ErrMalformed, n))
	}
	if io.reading && io.ok() {
		*a = BodyAction(n + shift)
	}
}
