package wire

// State is the phase of a connection. Packet ids mean something only within one state and direction.
type State uint8

// The five states. A connection starts in Handshake.
const (
	Handshake State = iota
	Status
	Login
	Configuration
	Play
	stateCount = iota
)

// String returns the state in lower case, "state(9)" for an invalid one.
func (s State) String() string {
	switch s {
	case Handshake:
		return "handshake"
	case Status:
		return "status"
	case Login:
		return "login"
	case Configuration:
		return "configuration"
	case Play:
		return "play"
	}
	return "state(" + itoa(int64(s)) + ")"
}

// Direction tells who sends a packet to whom.
type Direction uint8

// The two directions.
const (
	Clientbound    Direction = iota // server to client
	Serverbound                     // client to server
	directionCount = iota
)

// String returns the direction in lower case.
func (d Direction) String() string {
	if d == Clientbound {
		return "clientbound"
	}
	return "serverbound"
}

// Opposite returns the other direction.
func (d Direction) Opposite() Direction { return d ^ 1 }
