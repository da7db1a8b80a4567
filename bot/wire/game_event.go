package wire

// GameEvent is a change of the game as a whole.
type GameEvent struct {
	Event uint8
	Value float32
}

// Game events that a bot or a server needs.
const (
	EventChangeGameMode       = 3
	EventImmediateRespawn     = 11
	EventLevelChunksLoadStart = 13
)

// Marshal reads or writes the packet.
func (p *GameEvent) Marshal(io *IO) {
	io.Uint8(&p.Event)
	io.Float32(&p.Value)
}
