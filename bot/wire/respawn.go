package wire

// Respawn puts the player into a dimension anew: after death, or through a portal.
type Respawn struct {
	Spawn SpawnInfo
	Keep  uint8 // bit 0 attributes, bit 1 metadata
}

// Marshal reads or writes the packet.
func (p *Respawn) Marshal(io *IO) {
	io.spawnInfo(&p.Spawn)
	io.Uint8(&p.Keep)
}
