package wire

// SelectKnownPacks lists data packs; the server asks, the client answers which of them it has. A server sends registry
// entries in full to a client that has none.
type SelectKnownPacks struct{ Packs []KnownPack }

// KnownPack names one data pack.
type KnownPack struct{ Namespace, ID, Version string }

// Marshal reads or writes the packet.
func (p *SelectKnownPacks) Marshal(io *IO) {
	List(io, &p.Packs, 3, func(io *IO, k *KnownPack) {
		io.String(&k.Namespace, maxString)
		io.String(&k.ID, maxString)
		io.String(&k.Version, maxString)
	})
}
