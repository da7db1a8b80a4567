package worldstate

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"blockworld/worldstate/registry"
)

// sectionCells is the number of cells of a 16x16x16 section. A cell's index is y<<8 | z<<4 | x.
const sectionCells = 4096

// section is one 16x16x16 part of a column in the packed form of the wire: words of equal fields, no field across two
// words, each an index into the palette or, for direct ids, into a palette in which every state stands at its own place.
// A section of one state has fields of no bits in a word that all such sections share: reading a cell is the same for all.
// A section is immutable once it is shared; a private one belongs to one mirror and is changed in place.
//
// Where fields do not fill a word, each word is kept turned left by the bits that the fields of the words before it take:
// then the field of cell i begins at bit i*bits, modulo 64, in whichever word it lies.
type section struct {
	words   *uint64 // the first of all, see fields
	mask    uint64
	palette []registry.StateID
	mul     uint64 // of a packing
	bits    uint8  // of a field, 0 for one state
	direct  bool   // fields are ids
	private bool
}

// noFields is the word of sections of one state. Nobody writes to it.
var noFields uint64

// uniform returns a section of one state; its palette is the slice given.
func uniform(palette []registry.StateID) section {
	return section{words: &noFields, palette: palette}
}

// everyState is the palette of direct ids: 128 kB, made when the first section needs it.
var everyState = sync.OnceValue(func() []registry.StateID {
	out := make([]registry.StateID, 1<<16)
	for i := range out {
		out[i] = registry.StateID(i)
	}
	return out
})

// packing is a width of fields.
type packing struct {
	mul   uint64 // times a cell's index it is the number of its word, above mulShift, and the turn that brings its field down
	per   int    // fields in a word
	used  int    // bits of a word that fields take
	words int    // that a section takes
	last  uint64 // the bits of a section's last word that cells take
	ones  uint64 // the lowest bit of every field
	highs uint64 // the highest bit of every field
	over  uint64 // the bits that fields carry into when they overflow, but for one that ends with the word
}

const mulShift = 50

// packings holds every width up to 16 bits by its number of bits; 0 is not used.
var packings = func() (out [17]packing) {
	for bits := 1; bits < len(out); bits++ {
		per := 64 / bits
		// An index times 1<<18/per + 1 is the number of its word times 1<<18, exact for every index of a section.
		f := packing{mul: uint64(1<<18/per+1)<<(mulShift-18) | uint64(64-bits), per: per, used: per * bits, words: wordsFor(sectionCells, bits)}
		for i := range per {
			f.ones |= 1 << (i * bits)
		}
		f.last = 1<<((sectionCells-(f.words-1)*per)*bits) - 1
		f.highs = f.ones << (bits - 1)
		f.over = f.ones << bits
		out[bits] = f
	}
	return out
}()

// wordsFor is the number of words that hold n fields of so many bits.
func wordsFor(n, bits int) int {
	per := 64 / bits
	return (n + per - 1) / per
}

// pack gives a section the fields of a width.
func (s *section) pack(width int, words []uint64) {
	s.words, s.bits, s.mul, s.mask = &words[0], uint8(width), packings[width].mul, 1<<width-1
}

// fields are the words of a section: as many as its width takes, since pack was given them.
func (s *section) fields() []uint64 {
	if s.bits == 0 {
		return unsafe.Slice(s.words, 1)
	}
	return unsafe.Slice(s.words, packings[s.bits].words)
}

// size is about how many bytes a section takes.
func (s *section) size() int64 {
	n := int(unsafe.Sizeof(*s) + unsafe.Sizeof(s))
	if s.bits > 0 {
		n += 8 * packings[s.bits].words
	}
	if !s.direct {
		n += 2 * len(s.palette)
	}
	return int64(n)
}

// at returns the state of a cell; index is below sectionCells. This is the innermost step of everything that looks at the
// world, so the word is read without asking whether it is there: a section always has as many words as fields of its width
// need (TestWordsReach goes through all of them). It is written to be cheap enough for the compiler to put it and
// Column.Block into their callers, which takes a third off a lookup.
func (s *section) at(index uint32) registry.StateID {
	p := uint64(index) * s.mul
	return s.palette[bits.RotateLeft64(*(*uint64)(unsafe.Add(unsafe.Pointer(s.words), p>>mulShift*8)), int(p))&s.mask]
}

// put writes a field of a private section.
func (s *section) put(index uint32, field uint16) {
	p := uint64(index) * s.mul
	w := &s.fields()[p>>mulShift]
	*w = *w&^bits.RotateLeft64(s.mask, -int(p)) | bits.RotateLeft64(uint64(field), -int(p))
}

// turned is a word as it was on the wire, its first field lowest.
func turned(word uint64, n, used int) uint64 { return bits.RotateLeft64(word, -n*used) }

// unpack writes the states of all cells in index order.
func (s *section) unpack(out *[sectionCells]registry.StateID) {
	if s.bits == 0 {
		for i := range out {
			out[i] = s.palette[0]
		}
		return
	}
	f := &packings[s.bits]
	i := 0
	for n, w := range s.fields() {
		w = turned(w, n, f.used)
		for range min(f.per, sectionCells-i) {
			out[i] = s.palette[w&s.mask]
			w >>= s.bits
			i++
		}
	}
}

// clone makes a private copy with room for a few more palette entries.
func (s *section) clone() *section {
	c := *s
	c.words = &slices.Clone(s.fields())[0]
	if !s.direct {
		c.palette = append(make([]registry.StateID, 0, len(s.palette)+4), s.palette...)
	}
	c.private = true
	return &c
}

const (
	smallestPalette = 4 // bits of a field with a palette that is kept, though fewer may be sent
	largestPalette  = 8 // bits of the largest palette; then come direct ids
)

// set changes a cell of a private section. A palette that is full grows by a bit, up to 8; then ids become direct ones
// of directBits.
func (s *section) set(index uint32, state registry.StateID, directBits int) {
	if s.bits == 0 {
		if s.palette[0] == state {
			return
		}
		s.pack(smallestPalette, make([]uint64, packings[smallestPalette].words))
	}
	if s.direct {
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
func (s *section) repack(width, directBits int) {
	var cells [sectionCells]registry.StateID
	s.unpack(&cells)
	if width > largestPalette {
		s.palette, s.direct = everyState(), true
		s.pack(directBits, make([]uint64, packings[directBits].words))
		for i, state := range cells {
			s.put(uint32(i), uint16(state))
		}
		return
	}
	fresh := usedStates(s, &cells)
	if len(fresh) < 1<<s.bits {
		width = int(s.bits) // what was dropped leaves room
	}
	s.palette = fresh
	s.pack(width, make([]uint64, packings[width].words))
	for i, state := range cells {
		s.put(uint32(i), uint16(slices.Index(fresh, state)))
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
	if s.bits != o.bits || s.direct != o.direct || !slices.Equal(s.fields(), o.fields()) {
		return false
	}
	return s.direct || slices.Equal(s.palette, o.palette)
}
