package wire

// Hand is which hand does something.
type Hand int32

// The hands.
const (
	MainHand Hand = iota
	OffHand
)

func (io *IO) hand(h *Hand) { io.VarInt((*int32)(h)) }
