package worldstate

import (
	"errors"
	"fmt"

	"blockworld/worldstate/registry"
)

var (
	errShort  = errors.New("the data ends too early")
	errVarint = errors.New("a number of more than five bytes")
)

// columnReader walks over section data without copying it.
type columnReader struct{ rest []byte }

func (r *columnReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.rest) {
		return nil, errShort
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// varint reads a number that must not be negative.
func (r *columnReader) varint() (int, error) {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		n := int(r.rest[0])
		r.rest = r.rest[1:]
		return n, nil
	}
	n := uint32(0)
	for i := range min(5, len(r.rest)) {
		b := r.rest[i]
		n |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			if int32(n) < 0 {
				return 0, fmt.Errorf("a negative count or id %d", int32(n))
			}
			return int(n), nil
		}
	}
	if len(r.rest) < 5 {
		return 0, errShort
	}
	return 0, errVarint
}

// section reads the counts and both containers of a section. The biomes are only skipped.
func (r *columnReader) section(l *ColumnLayout) (packed, error) {
	counts := 2
	if l.FluidCount {
		counts = 4
	}
	if _, err := r.take(counts); err != nil {
		return packed{}, err
	}
	p, err := r.blocks(l)
	if err != nil {
		return packed{}, err
	}
	return p, r.biomes(l)
}

// blocks reads the block container: a single state, a palette of 4 to 8 bits (fewer bits are sent but stored as four),
// or direct ids, whose width follows from the version whatever the packet says.
func (r *columnReader) blocks(l *ColumnLayout) (packed, error) {
	bits, err := r.take(1)
	if err != nil {
		return packed{}, err
	}
	p := packed{bits: int(bits[0])}
	switch {
	case p.bits == 0:
		id, err := r.varint()
		if err != nil {
			return p, err
		}
		if id > 1<<16-1 {
			return p, fmt.Errorf("block state %d", id)
		}
		p.single = registry.StateID(id)
		return p, r.skipWords(l, 0)
	case p.bits <= largestPalette:
		p.bits = max(p.bits, smallestPalette)
		if p.entries, p.palette, err = r.palette(1 << p.bits); err != nil {
			return p, err
		}
	case p.bits > 32:
		return p, fmt.Errorf("%d bits for a block", p.bits)
	default:
		p.bits = int(l.BlockBits)
	}
	p.words, err = r.words(l, wordsFor(sectionCells, p.bits))
	return p, err
}

// palette checks a palette of at most so many entries and returns where its varints stand.
func (r *columnReader) palette(most int) (entries int, varints []byte, err error) {
	entries, err = r.varint()
	if err != nil {
		return 0, nil, err
	}
	if entries < 1 || entries > most {
		return 0, nil, fmt.Errorf("a palette of %d entries where %d fit", entries, most)
	}
	start := r.rest
	for range entries {
		if _, err := r.varint(); err != nil {
			return 0, nil, err
		}
	}
	return entries, start[:len(start)-len(r.rest)], nil
}

// words reads a packed array of exactly n words.
func (r *columnReader) words(l *ColumnLayout, n int) ([]byte, error) {
	if !l.NoLongCounts {
		sent, err := r.varint()
		if err != nil {
			return nil, err
		}
		if sent != n {
			return nil, fmt.Errorf("%d words where %d are needed", sent, n)
		}
	}
	return r.take(n * 8)
}

// skipWords skips a packed array whose length is n, or whatever the packet says.
func (r *columnReader) skipWords(l *ColumnLayout, n int) error {
	if !l.NoLongCounts {
		var err error
		if n, err = r.varint(); err != nil {
			return err
		}
		if n > len(r.rest)/8 {
			return errShort
		}
	}
	_, err := r.take(n * 8)
	return err
}

// biomes skips the biome container: 64 entries, a palette of up to 3 bits or direct ids.
func (r *columnReader) biomes(l *ColumnLayout) error {
	b, err := r.take(1)
	if err != nil {
		return err
	}
	const cells, largest = 64, 3
	switch bits := int(b[0]); {
	case bits == 0:
		if _, err := r.varint(); err != nil {
			return err
		}
		return r.skipWords(l, 0)
	case bits <= largest:
		if _, _, err := r.palette(1 << bits); err != nil {
			return err
		}
		return r.skipWords(l, wordsFor(cells, bits))
	case bits > 32:
		return fmt.Errorf("%d bits for a biome", bits)
	default:
		return r.skipWords(l, wordsFor(cells, int(l.BiomeBits)))
	}
}
