package worldstate

import (
	"slices"

	"blockworld/worldstate/registry"
)

// sectionCells is the number of cells of a 16x16x16 section. A cell's index is y<<8 | z<<4 | x.
const sectionCells = 4096

// section is one 16x16x16 part of a column in the packed form of the wire: words of equal fields, no field across two
// words, each an index into the palette or, without palette, a state id. A section without words is all of one state.
// It is immutable once it is shared; a private one belongs to one mirror and is changed in place.
type section struct {
	words   []uint64
	palette []registry.StateID // nil for direct ids
	single  registry.StateID   // the state of all cells, if there are no words
	bits    uint8              // of a field
	private bool
	packing
}

// packing is the arithmetic of a field width.
type packing struct {
	mul  uint32 // index*mul>>mulShift is index/per, exact for every index of a section
	per  uint16 // fields in a word
	mask uint16
}

const mulShift = 18

func packingOf(bits int) packing {
	per := 64 / bits
	return packing{mul: uint32(1<<mulShift/per + 1), per: uint16(per), mask: uint16(1<<bits - 1)}
}

// wordsFor is the number of words that hold n fields of so many bits.
func wordsFor(n, bits int) int {
	per := 64 / bits
	return (n + per - 1) / per
}

// at returns the state of a cell.
func (s *section) at(index uint32) registry.StateID {
	if len(s.words) == 0 {
		return s.single
	}
	w := index * s.mul >> mulShift
	field := uint16(s.words[w]>>((index-w*uint32(s.per))*uint32(s.bits)&63)) & s.mask
	if s.palette == nil {
		return registry.StateID(field)
	}
	return s.palette[field]
}

// put writes a field of a private section.
func (s *section) put(index uint32, field uint16) {
	w := index * s.mul >> mulShift
	shift := (index - w*uint32(s.per)) * uint32(s.bits) & 63
	s.words[w] = s.words[w]&^(uint64(s.mask)<<shift) | uint64(field)<<shift
}

// unpack writes the states of all cells in index order.
func (s *section) unpack(out *[sectionCells]registry.StateID) {
	if len(s.words) == 0 {
		for i := range out {
			out[i] = s.single
		}
		return
	}
	per, mask, bits := int(s.per), s.mask, s.bits
	i := 0
	for _, w := range s.words {
		n := min(per, sectionCells-i)
		for range n {
			field := uint16(w) & mask
			if s.palette != nil {
				out[i] = s.palette[field]
			} else {
				out[i] = registry.StateID(field)
			}
			w >>= bits
			i++
		}
	}
}

// clone makes a private copy with room for a few more palette entries.
func (s *section) clone() *section {
	c := *s
	c.words = slices.Clone(s.words)
	if s.palette != nil {
		c.palette = append(make([]registry.StateID, 0, len(s.palette)+4), s.palette...)
	}
	c.private = true
	return &c
}

// smallest is the fewest bits of a palette on the wire, most the largest palette.
const (
	smallestPalette = 4
	largestPalette  = 8
)

// set changes a cell of a private section. A palette that is full grows by a bit, up to 8; then ids become direct ones
// of directBits.
func (s *section) set(index uint32, state registry.StateID, directBits int) {
	if len(s.words) == 0 {
		if s.single == state {
			return
		}
		s.palette = append(make([]registry.StateID, 0, 4), s.single)
		s.bits, s.packing = smallestPalette, packingOf(smallestPalette)
		s.words = make([]uint64, wordsFor(sectionCells, smallestPalette))
	}
	if s.palette == nil {
		s.put(index, uint16(state))
		return
	}
	field := slices.Index(s.palette, state)
	if field < 0 {
		if len(s.palette) == 1<<s.bits {
			s.repack(int(s.bits)+1, directBits)
			s.set(index, state, directBits)
			return
		}
		field = len(s.palette)
		s.palette = append(s.palette, state)
	}
	s.put(index, uint16(field))
}

// repack gives the fields more bits. States that nothing shows any more leave the palette.
func (s *section) repack(bits, directBits int) {
	var cells [sectionCells]registry.StateID
	s.unpack(&cells)
	var fresh []registry.StateID
	if bits <= largestPalette {
		fresh = usedStates(s, &cells)
		if len(fresh) < 1<<s.bits {
			bits = int(s.bits) // what was dropped leaves room
		}
	} else {
		bits = directBits
	}
	s.palette, s.bits, s.packing = fresh, uint8(bits), packingOf(bits)
	s.words = make([]uint64, wordsFor(sectionCells, bits))
	for i, state := range cells {
		field := uint16(state)
		if fresh != nil {
			field = uint16(slices.Index(fresh, state))
		}
		s.put(uint32(i), field)
	}
}

// usedStates returns the part of a palette that cells show, in its order.
func usedStates(s *section, cells *[sectionCells]registry.StateID) []registry.StateID {
	used := make(map[registry.StateID]bool, len(s.palette))
	for _, state := range cells {
		used[state] = true
	}
	out := make([]registry.StateID, 0, len(s.palette)+4)
	for _, state := range s.palette {
		if used[state] {
			out = append(out, state)
			used[state] = false // a palette may list a state twice
		}
	}
	return out
}

// equal tells whether two sections hold the same cells in the same packed form.
func (s *section) equal(o *section) bool {
	return s.bits == o.bits && s.single == o.single && slices.Equal(s.palette, o.palette) && slices.Equal(s.words, o.words)
}
