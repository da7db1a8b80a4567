package wire

import (
	"encoding/binary"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// SectionBlocksUpdate is several changes of one 16x16x16 section.
type SectionBlocksUpdate struct {
	SectionX, SectionY, SectionZ int32
	Changes                      []SectionChange
}

// SectionChange is one change: block state << 12 | x << 8 | z << 4 | y within the section.
type SectionChange int64

// Change packs a change; x, y and z are 0..15 within the section.
func Change(state registry.StateID, x, y, z int32) SectionChange {
	return SectionChange(int64(state)<<12 | int64(x&15)<<8 | int64(z&15)<<4 | int64(y&15))
}

// Marshal reads or writes the packet.
func (p *SectionBlocksUpdate) Marshal(io *IO) {
	io.sectionPos(p)
	List(io, &p.Changes, 1, func(io *IO, c *SectionChange) { io.VarLong((*int64)(c)) })
}

// sectionPos is 22 bits of x, 22 of z and 20 of y.
func (io *IO) sectionPos(p *SectionBlocksUpdate) {
	if io.reading {
		if b := io.take(8); b != nil {
			u := int64(binary.BigEndian.Uint64(b))
			p.SectionX, p.SectionZ, p.SectionY = int32(u>>42), int32(u<<22>>42), int32(u<<44>>44)
		}
		return
	}
	io.note(leafInt, int64(p.SectionX), 22)
	io.note(leafInt, int64(p.SectionZ), 22)
	io.note(leafInt, int64(p.SectionY), 20)
	io.putUint64(uint64(p.SectionX)<<42 | uint64(p.SectionZ)&0x3FFFFF<<20 | uint64(p.SectionY)&0xFFFFF)
}

// Pos returns where in the world a change of this packet lies.
func (p *SectionBlocksUpdate) Pos(c SectionChange) geom.BlockPos {
	return geom.BlockPos{
		X: p.SectionX<<4 | int32(c>>8&15),
		Y: p.SectionY<<4 | int32(c&15),
		Z: p.SectionZ<<4 | int32(c>>4&15),
	}
}
