package wire

// LoginPlay is the game's "login" packet of the play state: the player has joined.
type LoginPlay struct {
	EntityID           int32
	Hardcore           bool
	Dimensions         []string
	MaxPlayers         int32
	ViewDistance       int32 // chunks
	SimulationDistance int32 // chunks
	ReducedDebugInfo   bool
	RespawnScreen      bool
	LimitedCrafting    bool
	Spawn              SpawnInfo
	EnforcesSecureChat bool // with feature SecureChatInLogin
}

// Marshal reads or writes the packet.
func (p *LoginPlay) Marshal(io *IO) {
	io.Int32(&p.EntityID)
	io.Bool(&p.Hardcore)
	List(io, &p.Dimensions, 1, func(io *IO, s *string) { io.String(s, maxKey) })
	io.VarInt(&p.MaxPlayers)
	io.VarInt(&p.ViewDistance)
	io.VarInt(&p.SimulationDistance)
	io.Bool(&p.ReducedDebugInfo)
	io.Bool(&p.RespawnScreen)
	io.Bool(&p.LimitedCrafting)
	io.spawnInfo(&p.Spawn)
	if io.Has(SecureChatInLogin) {
		io.Bool(&p.EnforcesSecureChat)
	}
}
