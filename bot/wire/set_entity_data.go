package wire

// SetEntityData is an entity's metadata, raw. Each walks over it.
type SetEntityData struct {
	EntityID int32
	Metadata Metadata
}

// Marshal reads or writes the packet.
func (p *SetEntityData) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	if io.reading {
		if io.ok() && io.remaining() == 0 {
			io.Fail(ErrShort)
		}
		p.Metadata = io.own(io.take(io.remaining()))
		return
	}
	if len(p.Metadata) == 0 {
		p.Metadata = Metadata{metadataEnd}
	}
	io.noteBytes(leafRaw, p.Metadata)
	io.put(p.Metadata...)
}
