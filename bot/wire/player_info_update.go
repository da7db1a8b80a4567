package wire

// PlayerInfoUpdate adds or changes entries of the player list. Actions says which fields the entries have.
type PlayerInfoUpdate struct {
	Actions InfoAction
	Entries []PlayerInfo
}

// InfoAction is a set of parts of a player list entry.
type InfoAction uint8

// The parts. ListOrder exists from 1.21.2 on, Hat from 1.21.4 on.
const (
	InfoAddPlayer InfoAction = 1 << iota
	InfoInitializeChat
	InfoGameMode
	InfoListed
	InfoLatency
	InfoDisplayName
	InfoListOrder
	InfoHat
)

// PlayerInfo is one entry.
type PlayerInfo struct {
	Profile        GameProfile // the name and properties with InfoAddPlayer
	HasSession     bool
	Session        ChatSession
	GameMode       int32
	Listed         bool
	Latency        int32 // milliseconds
	HasDisplayName bool
	DisplayName    Text
	ListOrder      int32
	Hat            bool
}

// Marshal reads or writes the packet.
func (p *PlayerInfoUpdate) Marshal(io *IO) {
	io.Uint8((*uint8)(&p.Actions))
	List(io, &p.Entries, 16, func(io *IO, e *PlayerInfo) { io.playerInfo(p.Actions, e) })
}

func (io *IO) playerInfo(a InfoAction, e *PlayerInfo) {
	io.UUID(&e.Profile.UUID)
	if a&InfoAddPlayer != 0 {
		e.Profile.nameAndProperties(io)
	}
	if a&InfoInitializeChat != 0 && io.Flag(&e.HasSession) {
		io.UUID(&e.Session.ID)
		io.chatKey(&e.Session)
	}
	if a&InfoGameMode != 0 {
		io.VarInt(&e.GameMode)
	}
	if a&InfoListed != 0 {
		io.Bool(&e.Listed)
	}
	if a&InfoLatency != 0 {
		io.VarInt(&e.Latency)
	}
	if a&InfoDisplayName != 0 && io.Flag(&e.HasDisplayName) {
		io.Text(&e.DisplayName)
	}
	if a&InfoListOrder != 0 {
		io.VarInt(&e.ListOrder)
	}
	if a&InfoHat != 0 {
		io.Bool(&e.Hat)
	}
}
