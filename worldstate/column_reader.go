package worldstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"blockworld/worldstate/registry"
)

var (
	errShort  = errors.New("the data ends too early")
	errVarint = errors.New("a number of more than five bytes")
)

// columnReader walks over section data without copying it. It counts instead of slicing: a slice kept behind a pointer
// would cost a write barrier at every step.
type columnReader struct {
	data []byte
	at   int
}

// skip moves on by n bytes.
func (r *columnReader) skip(n int) error {
	if n < 0 || n > len(r.data)-r.at {
		return errShort
	}
	r.at += n
	return nil
}

func (r *columnReader) byte() (int, error) {
	if r.at >= len(r.data) {
		return 0, errShort
	}
	b := r.data[r.at]
	r.at++
	return int(b), nil
}

// varint reads a number that must not be negative.
func (r *columnReader) varint() (int, error) {
	if r.at < len(r.data) && r.data[r.at] < 0x80 {
		r.at++
		return int(r.data[r.at-1]), nil
	}
	return r.longVarint()
}

func (r *columnReader) longVarint() (int, error) {
	n, size := varint(r.data[r.at:])
	if size == 0 {
		return 0, varintError(r.data[r.at:])
	}
	r.at += size
	return n, nil
}

// quickVarint reads a number from four bytes without a branch on what it is: numbers of one, two and three bytes come in
// no order that a processor could guess. One of the four must be its last; otherwise stop is 0 and n means nothing.
func quickVarint(b uint32) (n, size int, stop uint32) {
	stop = ^b & 0x80808080
	b &= stop ^ (stop - 1)
	return int(b&0x7f | b>>1&0x3f80 | b>>2&0x1fc000 | b>>3&0xfe00000), (bits.TrailingZeros32(stop) + 1) >> 3, stop
}

// varint reads a number of at most five bytes and 31 bits; a size of 0 means that there is none.
func varint(b []byte) (n, size int) {
	var u uint32
	for i := range b {
		if i == 5 {
			break
		}
		u |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			if int32(u) < 0 {
				return 0, 0
			}
			return int(u), i + 1
		}
	}
	return 0, 0
}

// varintError says why varint found none.
func varintError(b []byte) error {
	for i := range min(len(b), 5) {
		if b[i] < 0x80 {
			return errors.New("a negative count or id")
		}
	}
	if len(b) < 5 {
		return errShort
	}
	return errVarint
}

// section reads the counts and both containers of a section and appends its palette. The biomes are only skipped.
func (r *columnReader) section(l *ColumnLayout, palettes []registry.StateID) (packed, []registry.StateID, error) {
	counts := 2
	if l.FluidCount {
		counts = 4
	}
	if err := r.skip(counts); err != nil {
		return packed{}, nil, err
	}
	p, palettes, err := r.blocks(l, palettes)
	if err != nil {
		return p, nil, err
	}
	return p, palettes, r.biomes(l)
}

// blocks reads the block container: a single state, a palette of 4 to 8 bits (fewer bits are sent but stored as four),
// or direct ids, whose width follows from the version whatever the packet says.
func (r *columnReader) blocks(l *ColumnLayout, palettes []registry.StateID) (packed, []registry.StateID, error) {
	width, err := r.byte()
	if err != nil {
		return packed{}, nil, err
	}
	p := packed{bits: int32(width)}
	switch {
	case width == 0:
		p.entries = 1
		if palettes, err = r.palette(palettes, 1, l.States); err != nil {
			return p, nil, err
		}
		return p, palettes, r.skipWords(l, 0)
	case width <= largestPalette:
		width = max(width, smallestPalette)
		entries, err := r.paletteSize(1 << width)
		if err != nil {
			return p, nil, err
		}
		if palettes, err = r.palette(palettes, entries, l.States); err != nil {
			return p, nil, err
		}
		p.entries = int32(entries)
	case width > 32:
		return p, nil, fmt.Errorf("%d bits for a block", width)
	default:
		width = int(l.BlockBits)
	}
	words := packings[width].words
	if !l.NoLongCounts {
		sent, err := r.varint()
		if err != nil {
			return p, nil, err
		}
		if sent != words {
			return p, nil, fmt.Errorf("%d words where %d are needed", sent, words)
		}
	}
	p.bits, p.words, p.at = int32(width), int32(words), int32(r.at)
	return p, palettes, r.skip(words * 8)
}

// paletteSize reads the size of a palette, at most so many entries.
func (r *columnReader) paletteSize(most int) (int, error) {
	n, err := r.varint()
	if err == nil && (n < 1 || n > most) {
		err = fmt.Errorf("a palette of %d entries where %d fit", n, most)
	}
	return n, err
}

// palette appends the states of a palette.
func (r *columnReader) palette(out []registry.StateID, entries, states int) ([]registry.StateID, error) {
	at := r.at
	for range entries {
		var id, size int
		var stop uint32
		if at+4 <= len(r.data) {
			id, size, stop = quickVarint(binary.LittleEndian.Uint32(r.data[at:]))
		}
		if stop == 0 {
			if id, size = varint(r.data[at:]); size == 0 {
				return nil, varintError(r.data[at:])
			}
		}
		if id >= states {
			return nil, fmt.Errorf("block state %d of %d", id, states)
		}
		out = append(out, registry.StateID(id))
		at += size
	}
	r.at = at
	return out, nil
}

// skipWords skips a packed array whose length is n, or whatever the packet says.
func (r *columnReader) skipWords(l *ColumnLayout, n int) error {
	if !l.NoLongCounts {
		var err error
		if n, err = r.varint(); err != nil {
			return err
		}
		if n > len(r.data)/8 {
			return errShort
		}
	}
	return r.skip(n * 8)
}

// biomes skips the biome container: 64 entries, a palette of up to 3 bits or direct ids.
func (r *columnReader) biomes(l *ColumnLayout) error {
	if d := r.data[r.at:]; len(d) >= 3 && d[0] == 0 && d[1] < 0x80 { // most sections: one biome of a small id, no words
		if l.NoLongCounts {
			r.at += 2
			return nil
		}
		if d[2] == 0 {
			r.at += 3
			return nil
		}
	}
	width, err := r.byte()
	if err != nil {
		return err
	}
	const cells, largest = 64, 3
	switch {
	case width == 0:
		if _, err := r.varint(); err != nil {
			return err
		}
		return r.skipWords(l, 0)
	case width <= largest:
		entries, err := r.paletteSize(1 << width)
		if err != nil {
			return err
		}
		for range entries {
			if _, err := r.varint(); err != nil {
				return err
			}
		}
		return r.skipWords(l, [largest + 1]int{0, 1, 2, 4}[width])
	case width > 32:
		return fmt.Errorf("%d bits for a biome", width)
	case l.BiomeBits == 0: // one biome in all: its direct ids take no words
		return r.skipWords(l, 0)
	default:
		return r.skipWords(l, wordsFor(cells, int(l.BiomeBits)))
	}
}
