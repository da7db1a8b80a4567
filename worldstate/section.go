package worldstate

import (
	"slices"
	"unsafe"

	"blockworld/worldstate/registry"
)

// sectionCells is the number of cells of a 16x16x16 section. A cell's index is y<<8 | z<<4 | x.
const sectionCells = 4096

// section is one 16x16x16 part of a column in the packed form of the wire: words of equal fields, no field across two
// words, each an index into the palette or, without palette, a state id. A section of one state has fields of no bits in
// a word that all such sections share, so that reading a cell is the same for all. It is immutable once it is shared; a
// private one belongs to one mirror and is changed in place.
type section struct {
	words   []uint64
	palette []registry.StateID // empty for direct ids
	packing
	bits    uint8 // of a field, 0 for one state
	private bool
}

// noFields is the word of sections of one state. Nobody writes to it.
var noFields [1]uint64

// uniform returns a section of one state; its palette is the slice given.
func uniform(palette []registry.StateID) section {
	return section{words: noFields[:], palette: palette}
}

// packing is what reading a field needs to know of its width.
type packing struct {
	mul  uint32 // index*mul>>mulShift is index/per, exact for every index of a section
	mask uint16
	per  uint8 // fields in a word
	used uint8 // bits of a word that fields take
}

const mulShift = 18

// fields is a width of fields with the masks that treat many fields of a word at once.
type fields struct {
	packing
	even  uint64 // fields 0, 2, 4 ...
	odd   uint64 // fields 1, 3, 5 ..., shifted into the places of those before them
	one   uint64 // the lowest bit of fields 0, 2, 4 ...
	ones  uint64 // the lowest bit of every field
	highs uint64 // the highest bit of every field
}

// packings holds every width up to 16 bits by its number of bits; 0 is not used.
var packings = func() (out [17]fields) {
	for bits := 1; bits < len(out); bits++ {
		f, per, mask := &out[bits], 64/bits, uint64(1<<bits-1)
		f.packing = packing{mul: uint32(1<<mulShift/per + 1), per: uint8(per), used: uint8(per * bits), mask: uint16(mask)}
		for i := range per {
			f.ones |= 1 << (i * bits)
			if i%2 == 0 {
				f.even |= mask << (i * bits)
				f.one |= 1 << (i * bits)
			} else {
				f.odd |= mask << ((i - 1) * bits)
			}
		}
		f.highs = f.ones << (bits - 1)
	}
	return out
}()

// wordsFor is the number of words that hold n fields of so many bits.
func wordsFor(n, bits int) int {
	per := 64 / bits
	return (n + per - 1) / per
}

// at returns the state of a cell; index is below sectionCells. This is the innermost step of everything that looks at the
// world, so the word is read without asking whether it is there: a section always has as many words as fields of its width
// need (TestWordsReach goes through all of them).
func (s *section) at(index uint32) registry.StateID {
	w := index * s.mul >> mulShift
	word := *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.words)), uintptr(w)*8))
	field := word >> ((index*uint32(s.bits) - w*uint32(s.used)) & 63) & uint64(s.mask)
	if field < uint64(len(s.palette)) {
		return s.palette[field]
	}
	return registry.StateID(field) // there is no palette: every index was checked against it
}

// put writes a field of a private section.
func (s *section) put(index uint32, field uint16) {
	w := index * s.mul >> mulShift
	shift := (index*uint32(s.bits) - w*uint32(s.used)) & 63
	s.words[w] = s.words[w]&^(uint64(s.mask)<<shift) | uint64(field)<<shift
}

// unpack writes the states of all cells in index order.
func (s *section) unpack(out *[sectionCells]registry.StateID) {
	if s.bits == 0 {
		for i := range out {
			out[i] = s.palette[0]
		}
		return
	}
	per, mask, bits := int(s.per), s.mask, s.bits
	i := 0
	for _, w := range s.words {
		n := min(per, sectionCells-i)
		for range n {
			field := uint16(w) & mask
			if len(s.palette) > 0 {
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
	if len(s.palette) > 0 {
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
	if s.bits == 0 {
		if s.palette[0] == state {
			return
		}
		s.bits, s.packing = smallestPalette, packings[smallestPalette].packing
		s.words = make([]uint64, wordsFor(sectionCells, smallestPalette))
	}
	if len(s.palette) == 0 {
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
	s.palette, s.bits, s.packing = fresh, uint8(bits), packings[bits].packing
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
	return s.bits == o.bits && slices.Equal(s.palette, o.palette) && slices.Equal(s.words, o.words)
}
