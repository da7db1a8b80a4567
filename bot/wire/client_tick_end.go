package wire

// ClientTickEnd ends a tick of the client.
type ClientTickEnd struct{}

// Marshal reads or writes the packet.
func (*ClientTickEnd) Marshal(*IO) {}

// PlayerLoaded says that the client has loaded the world around it.
type PlayerLoaded struct{}

// Marshal reads or writes the packet.
func (*PlayerLoaded) Marshal(*IO) {}
