package wire

// SetPassengers says who rides an entity.
type SetPassengers struct {
	Vehicle    int32
	Passengers []int32
}

// Marshal reads or writes the packet.
func (p *SetPassengers) Marshal(io *IO) {
	io.VarInt(&p.Vehicle)
	List(io, &p.Passengers, 1, (*IO).VarInt)
}
