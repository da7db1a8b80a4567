package wire

import "blockworld/worldstate/geom"

// MoveFlags are the client's word on what it touches.
type MoveFlags uint8

// The flags. MoveAgainstWall exists with feature MovementFlags.
const (
	MoveOnGround MoveFlags = 1 << iota
	MoveAgainstWall
)

func (io *IO) moveFlags(f *MoveFlags) {
	if io.Has(MovementFlags) {
		io.Uint8((*uint8)(f))
		return
	}
	ground := *f&MoveOnGround != 0
	if io.Bool(&ground); io.reading && io.ok() {
		if *f = 0; ground {
			*f = MoveOnGround
		}
	}
}

// MovePlayerPos is the player's own position: feet, middle.
type MovePlayerPos struct {
	Position geom.Vec3
	Flags    MoveFlags
}

// Marshal reads or writes the packet.
func (p *MovePlayerPos) Marshal(io *IO) {
	io.Vec3(&p.Position)
	io.moveFlags(&p.Flags)
}

// MovePlayerPosRot is the player's own position and look.
type MovePlayerPosRot struct {
	Position geom.Vec3
	Rotation geom.Rotation
	Flags    MoveFlags
}

// Marshal reads or writes the packet.
func (p *MovePlayerPosRot) Marshal(io *IO) {
	io.Vec3(&p.Position)
	io.Rotation(&p.Rotation)
	io.moveFlags(&p.Flags)
}

// MovePlayerRot is the player's own look.
type MovePlayerRot struct {
	Rotation geom.Rotation
	Flags    MoveFlags
}

// Marshal reads or writes the packet.
func (p *MovePlayerRot) Marshal(io *IO) {
	io.Rotation(&p.Rotation)
	io.moveFlags(&p.Flags)
}

// MovePlayerStatusOnly says only what the player touches.
type MovePlayerStatusOnly struct{ Flags MoveFlags }

// Marshal reads or writes the packet.
func (p *MovePlayerStatusOnly) Marshal(io *IO) { io.moveFlags(&p.Flags) }
