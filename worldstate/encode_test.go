package worldstate

import (
	"encoding/binary"
	"slices"

	"blockworld/worldstate/registry"
)

// cells is a section as a plain array: the form that tests believe.
type cells = [sectionCells]registry.StateID

// encodeColumn packs sections as a server does. extra adds so many bits to each palette, and direct asks for direct ids.
func encodeColumn(sections []*cells, l ColumnLayout, extra int, direct bool) []byte {
	var out []byte
	for _, s := range sections {
		out = binary.BigEndian.AppendUint16(out, 4096)
		if l.FluidCount {
			out = binary.BigEndian.AppendUint16(out, 0)
		}
		out = encodeBlocks(out, s, l, extra, direct)
		out = append(out, 0, 3) // one biome
		if !l.NoLongCounts {
			out = append(out, 0)
		}
	}
	return out
}

func encodeBlocks(out []byte, s *cells, l ColumnLayout, extra int, direct bool) []byte {
	var palette []registry.StateID
	index := map[registry.StateID]uint64{}
	for _, state := range s {
		if _, ok := index[state]; !ok {
			index[state] = uint64(len(palette))
			palette = append(palette, state)
		}
	}
	if len(palette) == 1 && extra == 0 && !direct {
		out = binary.AppendUvarint(append(out, 0), uint64(palette[0]))
		if !l.NoLongCounts {
			out = append(out, 0)
		}
		return out
	}
	bits := smallestPalette
	for 1<<bits < len(palette) {
		bits++
	}
	bits = min(bits+extra, max(bits, largestPalette))
	if bits > largestPalette || direct {
		bits = int(l.BlockBits)
		out = append(out, byte(bits))
		for _, p := range palette {
			index[p] = uint64(p)
		}
	} else {
		out = binary.AppendUvarint(append(out, byte(bits)), uint64(len(palette)))
		for _, p := range palette {
			out = binary.AppendUvarint(out, uint64(p))
		}
	}
	n := wordsFor(sectionCells, bits)
	if !l.NoLongCounts {
		out = binary.AppendUvarint(out, uint64(n))
	}
	per := 64 / bits
	for chunk := range slices.Chunk(s[:], per) {
		var w uint64
		for i, state := range chunk {
			w |= index[state] << (i * bits)
		}
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return out
}

// layouts are the forms of all versions.
var layouts = map[string]ColumnLayout{
	"764 to 769": {MinY: -64, Height: 32, BlockBits: 15, BiomeBits: 6, States: 27914},
	"770 to 774": {MinY: -64, Height: 32, BlockBits: 15, BiomeBits: 6, States: 27914, NoLongCounts: true},
	"775":        {MinY: 0, Height: 32, BlockBits: 15, BiomeBits: 6, States: 29873, NoLongCounts: true, FluidCount: true},
}
