package wire

// CustomPayload is a plug-in message, either way, in configuration and in play. "minecraft:brand" carries a string.
type CustomPayload struct {
	Channel string
	Data    []byte
}

// Marshal reads or writes the packet.
func (p *CustomPayload) Marshal(io *IO) {
	io.String(&p.Channel, maxKey)
	io.Rest(&p.Data)
}

// BrandChannel is the channel on which both sides tell what program they are.
const BrandChannel = "minecraft:brand"

// Brand makes the message that tells what program we are.
func Brand(name string) *CustomPayload {
	return &CustomPayload{Channel: BrandChannel, Data: append(appendVarInt(nil, int32(len(name))), name...)}
}

// Brand returns the program that a brand message names; false for any other message.
func (p *CustomPayload) Brand() (string, bool) {
	if p.Channel != BrandChannel {
		return "", false
	}
	io := IO{buf: p.Data, reading: true}
	var s string
	io.String(&s, maxString)
	return s, io.ok()
}
