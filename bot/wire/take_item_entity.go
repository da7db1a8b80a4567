package wire

// TakeItemEntity shows that somebody picked something up.
type TakeItemEntity struct{ Collected, Collector, Count int32 }

// Marshal reads or writes the packet.
func (p *TakeItemEntity) Marshal(io *IO) {
	io.VarInt(&p.Collected)
	io.VarInt(&p.Collector)
	io.VarInt(&p.Count)
}
