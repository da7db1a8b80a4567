package worldstate

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

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
	return c.sections[dy>>4].at(dy&15<<8 | uint32(z&15<<4|x&15)), true
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

// size is about how many bytes a column takes with all its sections.
func (c *Column) size() int64 {
	n := int64(unsafe.Sizeof(*c))
	for _, s := range c.sections {
		n += s.size()
	}
	return n
}

// set changes a cell, copying its section if it is shared, and returns how many bytes more the column takes. The position
// must lie in the column.
func (c *Column) set(pos geom.BlockPos, state registry.StateID) int64 {
	dy := uint32(pos.Y - c.minY)
	i, index := dy>>4, dy&15<<8|uint32(pos.Z&15)<<4|uint32(pos.X&15)
	if s := c.sections[i]; s.at(index) == state {
		return 0
	} else if !s.private {
		c.sections[i] = s.clone()
	}
	before := c.sections[i].size()
	c.sections[i].set(index, state, int(c.direct))
	return c.sections[i].size() - before
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
	// Both lists of a usual column stay on the stack (TestAllocations): nothing may append to them behind a pointer.
	var room [usualSections]packed
	n := int(l.Height / 16)
	plan := columnPlan{sections: room[:min(n, usualSections)], palettes: make([]registry.StateID, 0, 512)}
	if n > usualSections {
		plan.sections = make([]packed, n)
	}
	r := columnReader{data: data}
	for i := range plan.sections {
		p, palettes, err := r.section(&l, plan.palettes)
		if err != nil {
			return nil, fmt.Errorf("%w: section %d of a column: %w", ErrMalformed, i, err)
		}
		plan.palettes = palettes
		plan.put(i, p)
	}
	c, bad := plan.build(data, &l)
	if bad >= 0 {
		return nil, fmt.Errorf("%w: section %d of a column: a cell beyond the palette or the block states", ErrMalformed, bad)
	}
	return c, nil
}

// columnPlan is what is to be kept of a column.
type columnPlan struct {
	sections []packed
	palettes []registry.StateID
	distinct int // sections, when those of a state that the single one before them shows are not counted
	words    int
	single   registry.StateID // of the last section of one state
	singles  bool             // there is one
}

// put takes in section i, whose palette has been appended. A column is half air: sections of the same single state are one.
func (plan *columnPlan) put(i int, p packed) {
	if p.bits == 0 {
		last := len(plan.palettes) - 1
		if plan.singles && plan.palettes[last] == plan.single {
			plan.palettes = plan.palettes[:last]
			return // plan.sections[i] says that already: no bits, no entries
		}
		plan.singles, plan.single = true, plan.palettes[last]
	}
	plan.distinct++
	plan.words += int(p.words)
	plan.sections[i] = p
}

// packed is a section as it lies in the packet. It holds no pointers, so that planning costs the garbage collector nothing.
type packed struct {
	at      int32 // where the big-endian words begin
	words   int32
	entries int32 // of the palette; 0 for direct ids, and for the same single state as before
	bits    int32 // 0 for a single state, which is the only entry of its palette
}

// usualSections is how many sections the columns of the overworld have.
const usualSections = 24

// newColumn returns a column of n nil sections, by one allocation if it is a usual one.
func newColumn(l *ColumnLayout, n int) *Column {
	if n > usualSections {
		return &Column{minY: l.MinY, direct: l.BlockBits, sections: make([]*section, n)}
	}
	c := &struct {
		Column
		room [usualSections]*section
	}{Column: Column{minY: l.MinY, direct: l.BlockBits}}
	c.sections = c.room[:n:n]
	return &c.Column
}

// build copies planned sections into four allocations: column, sections, words, palettes. It returns the first section
// that holds a cell out of range, -1 if there is none.
func (plan *columnPlan) build(data []byte, l *ColumnLayout) (c *Column, bad int) {
	c = newColumn(l, len(plan.sections))
	slab := make([]section, plan.distinct)
	words := make([]uint64, plan.words)
	palettes := append(make([]registry.StateID, 0, len(plan.palettes)), plan.palettes...)
	var single *section
	for i := range plan.sections {
		p := &plan.sections[i]
		if p.bits == 0 && p.entries == 0 {
			c.sections[i] = single
			continue
		}
		s := &slab[0]
		slab, c.sections[i] = slab[1:], s
		s.palette, palettes = palettes[:p.entries:p.entries], palettes[p.entries:]
		if p.bits == 0 {
			s.words, single = &noFields, s
			continue
		}
		valid := int(p.entries)
		if valid == 0 {
			s.palette, s.direct, valid = everyState(), true, l.States
		}
		s.pack(int(p.bits), words[:p.words])
		if !fill(words[:p.words], data[p.at:], int(p.bits), valid) {
			return nil, i
		}
		words = words[p.words:]
	}
	return c, -1
}

// fill turns big-endian words into the words of a section and tells whether every field is below limit.
//
// What limit lacks to the next power of two is added to every field at once: one that is too large carries over into the
// bit behind it, and the bits that carries came into are those in which the sum differs from the exclusive or.
func fill(dst []uint64, src []byte, width, limit int) bool {
	f := &packings[width]
	add := f.ones * uint64(1<<width-limit)
	sent := unsafe.Slice((*[8]byte)(src[:8*len(dst)]), len(dst)) // so that no step asks where the bytes end
	if f.used == 64 {
		return fillWhole(dst, sent, add, f.over, uint64(limit)<<(64-width)-1)
	}
	return fillTurned(dst, sent, add, f)
}

// fillTurned is fill for fields that leave bits of a word unused.
func fillTurned(dst []uint64, sent [][8]byte, add uint64, f *packing) bool {
	over, used, last := f.over, f.used, len(dst)-1
	w := binary.BigEndian.Uint64(sent[last][:])
	dst[last] = bits.RotateLeft64(w, last*used)
	w &= f.last // what lies behind the last cell means nothing
	carried := (w + add) ^ w ^ add
	dst, sent = dst[:last], sent[:last]
	for i := range dst {
		w := binary.BigEndian.Uint64(sent[i][:])
		dst[i] = bits.RotateLeft64(w, i*used)
		carried |= (w + add) ^ w ^ add
	}
	return carried&over == 0
}

// fillWhole is fill for fields that leave no bit of a word unused. What the last field of a word carries is lost; that
// field is too large if the whole word is larger than most. Such sections have an even number of words.
func fillWhole(dst []uint64, sent [][8]byte, add, over, most uint64) bool {
	var carried uint64
	for i := 0; i < len(dst)-1 && i < len(sent)-1; i += 2 { // two at a time: a tenth faster
		v, w := binary.BigEndian.Uint64(sent[i][:]), binary.BigEndian.Uint64(sent[i+1][:])
		if v > most || w > most {
			return false
		}
		dst[i], dst[i+1] = v, w
		carried |= ((v + add) ^ v ^ add) | ((w + add) ^ w ^ add)
	}
	return carried&over == 0
}
