package wire

// BundleDelimiter begins and ends a group of packets that take effect together.
type BundleDelimiter struct{}

// Marshal reads or writes the packet.
func (*BundleDelimiter) Marshal(*IO) {}
