package wire

// Intention is the first packet of a connection. Sent by the client.
type Intention struct {
	Protocol int32
	Host     string // as typed by the player; proxies append things behind a NUL
	Port     uint16
	Intent   Intent
}

// Intent is what the client wants.
type Intent int32

// The intents.
const (
	IntentStatus   Intent = 1
	IntentLogin    Intent = 2
	IntentTransfer Intent = 3
)

// Marshal reads or writes the packet.
func (p *Intention) Marshal(io *IO) {
	io.VarInt(&p.Protocol)
	io.String(&p.Host, maxString)
	io.Uint16(&p.Port)
	io.VarInt((*int32)(&p.Intent))
}
