package wire

// PlayerAbilitiesClientbound is what the server lets the player do.
type PlayerAbilitiesClientbound struct {
	Flags        uint8 // AbilityInvulnerable ...
	FlyingSpeed  float32
	WalkingSpeed float32 // field of view modifier
}

// Bits of the abilities.
const (
	AbilityInvulnerable = 1
	AbilityFlying       = 2
	AbilityMayFly       = 4
	AbilityInstantBuild = 8
)

// Marshal reads or writes the packet.
func (p *PlayerAbilitiesClientbound) Marshal(io *IO) {
	io.Uint8(&p.Flags)
	io.Float32(&p.FlyingSpeed)
	io.Float32(&p.WalkingSpeed)
}

// PlayerAbilitiesServerbound tells whether the player flies now; other bits are ignored.
type PlayerAbilitiesServerbound struct{ Flags uint8 }

// Marshal reads or writes the packet.
func (p *PlayerAbilitiesServerbound) Marshal(io *IO) { io.Uint8(&p.Flags) }
