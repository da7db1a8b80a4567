package wire

// EntityEvent is a small effect of an entity, such as getting hurt.
type EntityEvent struct {
	EntityID int32
	Event    int8
}

// Marshal reads or writes the packet.
func (p *EntityEvent) Marshal(io *IO) {
	io.Int32(&p.EntityID)
	io.Int8(&p.Event)
}
