package wire

// ClientCommand asks the server for something small.
type ClientCommand struct{ Action ClientAction }

// ClientAction is what ClientCommand asks for.
type ClientAction int32

// The actions.
const (
	PerformRespawn ClientAction = iota
	RequestStats
	RequestGameRules // 26.1 and later
)

// Marshal reads or writes the packet.
func (p *ClientCommand) Marshal(io *IO) { io.VarInt((*int32)(&p.Action)) }
