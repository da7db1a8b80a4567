package wire

// FinishConfiguration ends the configuration state: the server says it, the client repeats it, play begins.
type FinishConfiguration struct{}

// Marshal reads or writes the packet.
func (*FinishConfiguration) Marshal(*IO) {}

// StartConfiguration takes the client from play back to configuration.
type StartConfiguration struct{}

// Marshal reads or writes the packet.
func (*StartConfiguration) Marshal(*IO) {}

// ConfigurationAcknowledged answers StartConfiguration: the configuration state begins.
type ConfigurationAcknowledged struct{}

// Marshal reads or writes the packet.
func (*ConfigurationAcknowledged) Marshal(*IO) {}
