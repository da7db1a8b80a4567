package worldstate

import (
	"encoding/binary"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// CopyAndPass is the least work that any decoder of data has: one copy to fresh memory and one pass over its big-endian
// words. It returns their sum. `blockworld bench` sets it beside DecodeColumn in the same run.
func CopyAndPass(data []byte) uint64 {
	fresh := make([]byte, len(data))
	copy(fresh, data)
	var sum uint64
	for len(fresh) >= 8 {
		sum += binary.BigEndian.Uint64(fresh)
		fresh = fresh[8:]
	}
	return sum
}

// SectionBits returns, bottom up, the width of each section's fields: 0 for a single state, 4 to 8 with a palette, more
// for direct ids.
func (c *Column) SectionBits() []int {
	out := make([]int, len(c.sections))
	for i, s := range c.sections {
		out[i] = int(s.bits)
	}
	return out
}

// PaletteEntries counts the palette entries of all sections that a box touches and that show the state wanted: the least
// that a scan with palettes has to look at before it reads a cell.
func (v View) PaletteEntries(box geom.BlockBox, want registry.StateID) (entries, sections int) {
	if v.m == nil {
		return 0, 0
	}
	lo, hi := box.Min.Chunk(), box.Max.Chunk()
	for z := lo.Z; z <= hi.Z; z++ {
		for x := lo.X; x <= hi.X; x++ {
			l := v.m.world.columns[geom.ChunkPos{X: x, Z: z}]
			if l == nil {
				continue
			}
			for i, s := range l.sections {
				if y := l.minY + int32(i)*16; y > box.Max.Y || y+15 < box.Min.Y {
					continue
				}
				if s.direct {
					continue
				}
				for _, p := range s.palette {
					if entries++; p == want {
						sections++
					}
				}
			}
		}
	}
	return entries, sections
}
