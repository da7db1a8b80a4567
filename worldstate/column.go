package worldstate

import (
	"encoding/binary"
	"fmt"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Column is one chunk column, 16x16 cells wide. A decoded one is immutable.
type Column struct {
	minY     int32
	direct   uint8 // bits of a direct id, for sections that outgrow their palette
	sections []*section
}

// maxHeight is the largest height of a dimension, in blocks, that the game's data packs allow.
const maxHeight = 4064

// MinY returns the lowest y of the column.
func (c *Column) MinY() int32 { return c.minY }

// Height returns the number of blocks from bottom to top.
func (c *Column) Height() int32 { return int32(len(c.sections)) * 16 }

// Block returns the state at x and z (only their lowest four bits count) and y; false above and below the column.
func (c *Column) Block(x, y, z int32) (registry.StateID, bool) {
	dy := uint32(y - c.minY)
	if int(dy>>4) >= len(c.sections) {
		return 0, false
	}
	return c.sections[dy>>4].at(dy&15<<8 | uint32(z&15)<<4 | uint32(x&15)), true
}

// States calls yield with all cells bottom up, each layer by z, then x, until it returns false.
func (c *Column) States(yield func(registry.StateID) bool) {
	var cells [sectionCells]registry.StateID
	for _, s := range c.sections {
		s.unpack(&cells)
		for _, state := range cells {
			if !yield(state) {
				return
			}
		}
	}
}

// with returns a copy of the column that may be changed, sharing all sections.
func (c *Column) with() *Column {
	out := *c
	out.sections = append([]*section(nil), c.sections...)
	return &out
}

// set changes a cell, copying its section if it is shared. The position must lie in the column.
func (c *Column) set(pos geom.BlockPos, state registry.StateID) {
	dy := uint32(pos.Y - c.minY)
	i, index := dy>>4, dy&15<<8|uint32(pos.Z&15)<<4|uint32(pos.X&15)
	if s := c.sections[i]; s.at(index) == state {
		return
	} else if !s.private {
		c.sections[i] = s.clone()
	}
	c.sections[i].set(index, state, int(c.direct))
}

// DecodeColumn reads the section data of level_chunk_with_light. It copies what it keeps; bytes that follow the last
// section are allowed, as the vanilla server sends some. Errors wrap ErrMalformed.
func DecodeColumn(data []byte, l ColumnLayout) (*Column, error) {
	if l.MinY%16 != 0 || l.MinY < -maxHeight || l.MinY > maxHeight {
		return nil, fmt.Errorf("%w: no column begins at y %d", ErrMalformed, l.MinY)
	}
	if l.Height <= 0 || l.Height > maxHeight || l.Height%16 != 0 || l.BlockBits < 1 || l.BlockBits > 16 || l.BiomeBits > 32 {
		return nil, fmt.Errorf("%w: no column has height %d and ids of %d and %d bits", ErrMalformed, l.Height, l.BlockBits, l.BiomeBits)
	}
	if l.States <= 0 || l.States > 1<<l.BlockBits {
		l.States = 1 << l.BlockBits
	}
	// Both lists of a usual column stay on the stack.
	plan, palettes := make([]packed, 0, 24), make([]registry.StateID, 0, 512)
	r := columnReader{data: data}
	words := 0
	for i := range int(l.Height / 16) {
		p, longer, err := r.section(&l, palettes)
		if err != nil {
			return nil, fmt.Errorf("%w: section %d of a column: %w", ErrMalformed, i, err)
		}
		words += p.words
		palettes = longer
		plan = append(plan, p)
	}
	c, bad := build(data, plan, palettes, &l, words)
	if bad >= 0 {
		return nil, fmt.Errorf("%w: section %d of a column: a cell beyond the palette or the block states", ErrMalformed, bad)
	}
	return c, nil
}

// packed is a section as it lies in the packet. It holds no pointers, so that planning costs the garbage collector nothing.
type packed struct {
	at      int // where the big-endian words begin
	words   int
	entries int // of the palette; 0 for direct ids
	bits    int // 0 for a single state, which is the only entry of its palette
}

// build copies planned sections into five allocations: column, list, sections, words, palettes. It returns the first
// section that holds a cell out of range, -1 if there is none.
func build(data []byte, plan []packed, palettes []registry.StateID, l *ColumnLayout, words int) (c *Column, bad int) {
	c = &Column{minY: l.MinY, direct: l.BlockBits, sections: make([]*section, len(plan))}
	slab := make([]section, len(plan))
	allWords := make([]uint64, words)
	allPalettes := append(make([]registry.StateID, 0, len(palettes)), palettes...)
	for i := range plan {
		p, s := &plan[i], &slab[i]
		c.sections[i] = s
		if p.bits == 0 {
			*s = uniform(allPalettes[:1:1])
			allPalettes = allPalettes[1:]
			continue
		}
		s.bits, s.packing = uint8(p.bits), packings[p.bits].packing
		valid := l.States
		if p.entries > 0 {
			s.palette, allPalettes = allPalettes[:p.entries:p.entries], allPalettes[p.entries:]
			valid = p.entries
		}
		s.words, allWords = allWords[:p.words:p.words], allWords[p.words:]
		if !fill(s.words, data[p.at:], p.bits, valid) {
			return nil, i
		}
	}
	return c, -1
}

// fill turns big-endian words into the machine's own and tells whether every field is below limit.
//
// Every second field is looked at at a time: adding what limit lacks to the next power of two makes a field that is too
// large carry over into its neighbour, which was masked out before.
func fill(dst []uint64, src []byte, bits, limit int) bool {
	if limit >= 1<<bits {
		swap(dst, src)
		return true
	}
	f := &packings[bits]
	even, odd, add, shift := f.even, f.odd, f.one*uint64(1<<bits-limit), bits&63
	var seen uint64
	last := len(dst) - 1
	tail := src[last*8:]
	rest := dst[:last]
	for len(rest) >= 4 && len(src) >= 32 {
		a, b := binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:])
		c, d := binary.BigEndian.Uint64(src[16:]), binary.BigEndian.Uint64(src[24:])
		rest[0], rest[1], rest[2], rest[3] = a, b, c, d
		seen |= (a&even + add) | (a>>shift&odd + add) | (b&even + add) | (b>>shift&odd + add)
		seen |= (c&even + add) | (c>>shift&odd + add) | (d&even + add) | (d>>shift&odd + add)
		rest, src = rest[4:], src[32:]
	}
	for i := range rest {
		w := binary.BigEndian.Uint64(src[i*8:])
		rest[i] = w
		seen |= (w&even + add) | (w>>shift&odd + add)
	}
	w := binary.BigEndian.Uint64(tail)
	dst[last] = w
	if used := sectionCells % int(f.per); used != 0 {
		w &= 1<<(used*bits) - 1 // what lies behind the last cell means nothing
	}
	seen |= (w&even + add) | (w>>shift&odd + add)
	return seen&(f.one<<shift) == 0
}

// swap turns big-endian words into the machine's own.
func swap(dst []uint64, src []byte) {
	for len(dst) >= 4 && len(src) >= 32 {
		dst[0], dst[1] = binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:])
		dst[2], dst[3] = binary.BigEndian.Uint64(src[16:]), binary.BigEndian.Uint64(src[24:])
		dst, src = dst[4:], src[32:]
	}
	for i := range dst {
		dst[i] = binary.BigEndian.Uint64(src[i*8:])
	}
}
