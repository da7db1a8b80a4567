package wire

// RegistryData carries registries of the server: one each with feature RegistryPerPacket, else all in one NBT.
type RegistryData struct {
	Codec    NBT // without RegistryPerPacket
	Registry string
	Entries  []RegistryEntry
}

// RegistryEntry is one entry; entries without data are those of a known pack.
type RegistryEntry struct {
	Key     string
	HasData bool
	Data    NBT
}

// Marshal reads or writes the packet.
func (p *RegistryData) Marshal(io *IO) {
	if !io.Has(RegistryPerPacket) {
		io.NBT(&p.Codec)
		return
	}
	io.String(&p.Registry, maxKey)
	List(io, &p.Entries, 2, func(io *IO, e *RegistryEntry) {
		io.String(&e.Key, maxKey)
		if io.Flag(&e.HasData) {
			io.NBT(&e.Data)
		}
	})
}
