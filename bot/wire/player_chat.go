package wire

import "blockworld/worldstate"

// PlayerChat is a line of chat from a player.
type PlayerChat struct {
	GlobalIndex int32 // with feature ChatGlobalIndex
	Sender      worldstate.UUID
	Index       int32
	Signed      bool
	Signature   [256]byte
	Message     string
	Timestamp   int64 // milliseconds since 1970
	Salt        int64
	Previous    []PreviousMessage
	HasUnsigned bool
	Unsigned    Text // what the server shows in place of Message
	FilterType  int32
	FilterMask  []int64 // with FilterType 2
	Type        ChatType
	Name        Text
	HasTarget   bool
	Target      Text
}

// PreviousMessage is a signature the client has seen: by its place in the cache, or, with ID 0, in full.
type PreviousMessage struct {
	ID        int32
	Signature [256]byte
}

// filterPartial is the filter type that comes with a mask.
const filterPartial = 2

// Marshal reads or writes the packet.
func (p *PlayerChat) Marshal(io *IO) {
	if io.Has(ChatGlobalIndex) {
		io.VarInt(&p.GlobalIndex)
	}
	io.UUID(&p.Sender)
	io.VarInt(&p.Index)
	if io.Flag(&p.Signed) {
		io.Fixed(p.Signature[:])
	}
	io.String(&p.Message, 256)
	io.Int64(&p.Timestamp)
	io.Int64(&p.Salt)
	List(io, &p.Previous, 1, func(io *IO, m *PreviousMessage) {
		if io.VarInt(&m.ID); m.ID == 0 {
			io.Fixed(m.Signature[:])
		}
	})
	if io.Flag(&p.HasUnsigned) {
		io.Text(&p.Unsigned)
	}
	if io.VarInt(&p.FilterType); p.FilterType == filterPartial {
		List(io, &p.FilterMask, 8, (*IO).Int64)
	}
	io.chatType(&p.Type)
	io.Text(&p.Name)
	if io.Flag(&p.HasTarget) {
		io.Text(&p.Target)
	}
}
