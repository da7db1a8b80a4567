package wire

// PlayerInput is the set of keys pressed, sent when it changes.
type PlayerInput struct{ Keys Keys }

// Keys is a set of keys.
type Keys uint8

// The keys.
const (
	KeyForward Keys = 1 << iota
	KeyBackward
	KeyLeft
	KeyRight
	KeyJump
	KeySneak
	KeySprint
)

// Marshal reads or writes the packet.
func (p *PlayerInput) Marshal(io *IO) { io.Uint8((*uint8)(&p.Keys)) }

// SteerVehicle steers what the player rides, without feature PlayerInputExists.
type SteerVehicle struct {
	Sideways, Forward float32
	Flags             uint8 // 1 jump, 2 dismount
}

// Marshal reads or writes the packet.
func (p *SteerVehicle) Marshal(io *IO) {
	io.Float32(&p.Sideways)
	io.Float32(&p.Forward)
	io.Uint8(&p.Flags)
}
