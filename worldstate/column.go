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
	i := dy >> 4
	if i >= uint32(len(c.sections)) {
		return 0, false
	}
	return c.sections[i].at(dy&15<<8 | uint32(z&15)<<4 | uint32(x&15)), true
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
	if l.Height <= 0 || l.Height > maxHeight || l.Height%16 != 0 || l.BlockBits < 1 || l.BlockBits > 16 || l.BiomeBits < 1 || l.BiomeBits > 32 {
		return nil, fmt.Errorf("%w: no column has height %d and ids of %d and %d bits", ErrMalformed, l.Height, l.BlockBits, l.BiomeBits)
	}
	var room [24]packed
	plan := room[:0]
	r := columnReader{rest: data}
	words, entries := 0, 0
	for i := range int(l.Height / 16) {
		p, err := r.section(&l)
		if err != nil {
			return nil, fmt.Errorf("%w: section %d of a column: %s", ErrMalformed, i, err)
		}
		words += len(p.words) / 8
		entries += p.entries
		plan = append(plan, p)
	}
	return build(plan, &l, words, entries)
}

// packed is a section as it lies in the packet.
type packed struct {
	palette []byte // varints
	words   []byte // big-endian words
	entries int    // of the palette; 0 for direct ids
	bits    int    // 0 for a single state
	single  registry.StateID
}

// build copies planned sections into four allocations: column, sections, words, palettes.
func build(plan []packed, l *ColumnLayout, words, entries int) (*Column, error) {
	states := l.States
	if states <= 0 || states > 1<<16 {
		states = 1 << l.BlockBits
	}
	c := &Column{minY: l.MinY, direct: l.BlockBits, sections: make([]*section, len(plan))}
	slab := make([]section, len(plan))
	allWords, allEntries := make([]uint64, words), make([]registry.StateID, entries)
	for i := range plan {
		p, s := &plan[i], &slab[i]
		c.sections[i] = s
		if p.bits == 0 {
			if int(p.single) >= states {
				return nil, fmt.Errorf("%w: section %d of a column: block state %d of %d", ErrMalformed, i, p.single, states)
			}
			s.single = p.single
			continue
		}
		s.bits, s.packing = uint8(p.bits), packingOf(p.bits)
		valid := states
		if p.entries > 0 {
			s.palette, allEntries = allEntries[:p.entries:p.entries], allEntries[p.entries:]
			if err := fillPalette(s.palette, p.palette, states); err != nil {
				return nil, fmt.Errorf("%w: section %d of a column: %s", ErrMalformed, i, err)
			}
			valid = p.entries
		}
		n := len(p.words) / 8
		s.words, allWords = allWords[:n:n], allWords[n:]
		if !fill(s.words, p.words, p.bits, valid) {
			return nil, fmt.Errorf("%w: section %d of a column: a cell beyond the %d values", ErrMalformed, i, valid)
		}
	}
	return c, nil
}

func fillPalette(dst []registry.StateID, varints []byte, states int) error {
	r := columnReader{rest: varints}
	for i := range dst {
		id, err := r.varint()
		if err != nil {
			return err
		}
		if id >= states {
			return fmt.Errorf("block state %d of %d", id, states)
		}
		dst[i] = registry.StateID(id)
	}
	return nil
}

// fill turns big-endian words into the machine's own and tells whether every field is below limit.
//
// Every second field is looked at at a time: adding what limit lacks to the next power of two makes a field that is too
// large carry over into its neighbour, which was masked out before.
func fill(dst []uint64, src []byte, bits, limit int) bool {
	if limit >= 1<<bits {
		for i := range dst {
			dst[i] = binary.BigEndian.Uint64(src)
			src = src[8:]
		}
		return true
	}
	even, odd, one := fieldMasks(bits)
	add, carry := one*uint64(1<<bits-limit), one<<bits
	var seen uint64
	last := len(dst) - 1
	for i := range dst[:last] {
		w := binary.BigEndian.Uint64(src)
		src = src[8:]
		dst[i] = w
		seen |= (w&even + add) | (w>>bits&odd + add)
	}
	w := binary.BigEndian.Uint64(src)
	dst[last] = w
	if per := 64 / bits; sectionCells%per != 0 {
		w &= 1<<(sectionCells%per*bits) - 1 // what lies behind the last cell means nothing
	}
	seen |= (w&even + add) | (w>>bits&odd + add)
	return seen&carry == 0
}

// fieldMasks returns, for words of fields of so many bits: the mask of fields 0, 2, 4 ..., the mask of fields 1, 3, 5 ...
// once they are shifted into the places of those before them, and a 1 in the lowest bit of fields 0, 2, 4 ...
func fieldMasks(bits int) (even, odd, one uint64) {
	field := uint64(1<<bits - 1)
	for i := range 64 / bits {
		if i%2 == 0 {
			even |= field << (i * bits)
			one |= 1 << (i * bits)
		} else {
			odd |= field << ((i - 1) * bits)
		}
	}
	return even, odd, one
}
