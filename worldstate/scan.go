package worldstate

import (
	"math"
	"math/bits"
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Found is one cell of a scan.
type Found struct {
	Pos   geom.BlockPos
	State registry.StateID
}

// ScanResult is what a scan saw.
type ScanResult struct {
	Found   []Found // section by section, from the lowest layer up, by z and x; within a section by y, z, x
	More    bool    // the limit cut the list
	Known   int64   // cells of the box that are loaded
	Unknown int64   // cells that are not: they may hold anything
}

// Scan finds the cells of a box whose state is wanted, at most limit of them. It asks want once for every palette entry
// and reads only sections that hold something wanted, so a rare block costs little.
func (v View) Scan(box geom.BlockBox, want func(registry.StateID) bool, limit int) ScanResult {
	s := scan{box: geom.BoxOf(box.Min, box.Max), want: want, limit: max(limit, 0)}
	if v.m != nil {
		s.run(&v.m.world)
	}
	s.result.Unknown = volume(s.box) - s.result.Known
	return s.result
}

// volume is the number of cells of a box, or the largest number there is.
func volume(b geom.BlockBox) int64 {
	n := 1.0
	for _, side := range [][2]int32{{b.Min.X, b.Max.X}, {b.Min.Y, b.Max.Y}, {b.Min.Z, b.Max.Z}} {
		n *= float64(side[1]) - float64(side[0]) + 1
	}
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return b.Volume()
}

type scan struct {
	box    geom.BlockBox
	want   func(registry.StateID) bool
	limit  int
	result ScanResult
}

type placedColumn struct {
	pos geom.ChunkPos
	*loaded
}

// run goes through the loaded columns of the box layer of sections by layer, so that a list that is cut holds the lowest.
func (s *scan) run(w *world) {
	columns := s.columns(w)
	lowest, highest := int32(math.MaxInt32), int32(math.MinInt32)
	for _, c := range columns {
		lo, hi := max(c.minY, s.box.Min.Y), min(c.minY+c.Height()-1, s.box.Max.Y)
		if lo > hi {
			continue
		}
		x, z := s.overlap(c.pos)
		s.result.Known += int64(hi-lo+1) * int64(x[1]-x[0]+1) * int64(z[1]-z[0]+1)
		lowest, highest = min(lowest, lo), max(highest, hi)
	}
	for y := lowest >> 4; y <= highest>>4; y++ {
		for i := range columns {
			c := &columns[i]
			n := y - c.minY>>4
			if n < 0 || int(n) >= len(c.sections) {
				continue
			}
			if s.section(c.sections[n], geom.BlockPos{X: c.pos.X << 4, Y: y << 4, Z: c.pos.Z << 4}); s.result.More {
				return
			}
		}
	}
}

// columns lists the loaded columns that the box touches, by z, then x: by looking each up, or by going through all that
// are loaded when the box is wider than that.
func (s *scan) columns(w *world) []placedColumn {
	lo, hi := s.box.Min.Chunk(), s.box.Max.Chunk()
	wide := (float64(hi.X)-float64(lo.X)+1)*(float64(hi.Z)-float64(lo.Z)+1) > float64(len(w.columns))
	var out []placedColumn
	if !wide {
		for z := lo.Z; z <= hi.Z; z++ {
			for x := lo.X; x <= hi.X; x++ {
				if l := w.columns[geom.ChunkPos{X: x, Z: z}]; l != nil {
					out = append(out, placedColumn{geom.ChunkPos{X: x, Z: z}, l})
				}
			}
		}
		return out
	}
	for pos, l := range w.columns {
		if pos.X >= lo.X && pos.X <= hi.X && pos.Z >= lo.Z && pos.Z <= hi.Z {
			out = append(out, placedColumn{pos, l})
		}
	}
	slices.SortFunc(out, func(a, b placedColumn) int { return compareChunks(a.pos, b.pos) })
	return out
}

// overlap returns the part of a column's x and z that the box covers, both ends included.
func (s *scan) overlap(pos geom.ChunkPos) (x, z [2]int32) {
	return [2]int32{max(pos.X<<4, s.box.Min.X), min(pos.X<<4+15, s.box.Max.X)},
		[2]int32{max(pos.Z<<4, s.box.Min.Z), min(pos.Z<<4+15, s.box.Max.Z)}
}

// section looks at one section whose lowest corner is corner.
func (s *scan) section(sec *section, corner geom.BlockPos) {
	switch {
	case sec.bits == 0:
		if only := sec.palette[0]; s.want(only) {
			s.all(func(uint32) (registry.StateID, bool) { return only, true }, corner)
		}
	case sec.direct:
		last, wanted := sec.at(0), s.want(sec.at(0))
		s.all(func(i uint32) (registry.StateID, bool) {
			if state := sec.at(i); state != last {
				last, wanted = state, s.want(state)
			}
			return last, wanted
		}, corner)
	default:
		s.palette(sec, corner)
	}
}

// all looks at each cell of a section that lies in the box.
func (s *scan) all(at func(index uint32) (registry.StateID, bool), corner geom.BlockPos) {
	for i := range uint32(sectionCells) {
		pos := geom.BlockPos{X: corner.X + int32(i&15), Y: corner.Y + int32(i>>8), Z: corner.Z + int32(i>>4&15)}
		if !s.box.Contains(pos) {
			continue
		}
		if state, ok := at(i); ok && !s.add(pos, state) {
			return
		}
	}
}

func (s *scan) add(pos geom.BlockPos, state registry.StateID) bool {
	if len(s.result.Found) >= s.limit {
		s.result.More = true
		return false
	}
	s.result.Found = append(s.result.Found, Found{pos, state})
	return true
}

// palette looks only at words that hold a wanted palette index.
func (s *scan) palette(sec *section, corner geom.BlockPos) {
	var wanted [1 << largestPalette]bool
	var indexes []int
	for i, state := range sec.palette {
		if s.want(state) {
			wanted[i] = true
			indexes = append(indexes, i)
		}
	}
	if len(indexes) == 0 {
		return
	}
	f := &packings[sec.bits]
	words := sec.fields()
	if len(indexes) > 1 {
		for n, w := range words {
			if w = turned(w, n, f.used); holds(w, indexes, f) && !s.word(sec, n, w, &wanted, corner) {
				return
			}
		}
		return
	}
	for n := 0; ; n++ {
		if n = next(words, n, uint64(indexes[0]), f); n == len(words) {
			return
		}
		if !s.word(sec, n, turned(words[n], n, f.used), &wanted, corner) {
			return
		}
	}
}

// next is the number of the next word from n on that may hold an index, as holds says; the number of words if none does.
// It calls nothing, so that all it needs stays in registers.
func next(words []uint64, n int, index uint64, f *packing) int {
	mask, ones, highs, used := index*f.ones, f.ones, f.highs, f.used
	if used == 64 { // turning a word by nothing would cost as much as the rest
		for ; n < len(words); n++ {
			if x := words[n] ^ mask; (x-ones)&^x&highs != 0 {
				break
			}
		}
		return n
	}
	for turn := -n * used; n < len(words); n++ {
		if x := bits.RotateLeft64(words[n], turn) ^ mask; (x-ones)&^x&highs != 0 {
			break
		}
		turn -= used
	}
	return n
}

// holds tells whether any field of w is one of the indexes: a field that is equal becomes zero, and subtracting one from
// a zero field borrows into its highest bit. Bits behind the last field may only make it say yes too often.
func holds(w uint64, indexes []int, f *packing) bool {
	for _, i := range indexes {
		if x := w ^ uint64(i)*f.ones; (x-f.ones)&^x&f.highs != 0 {
			return true
		}
	}
	return false
}

// word looks at each field of word n, which is w as it was on the wire.
func (s *scan) word(sec *section, n int, w uint64, wanted *[1 << largestPalette]bool, corner geom.BlockPos) bool {
	per := uint32(packings[sec.bits].per)
	first := uint32(n) * per
	for i := first; i < min(first+per, sectionCells); i++ {
		field := w & sec.mask
		w >>= sec.bits
		if !wanted[field&0xff] {
			continue
		}
		pos := geom.BlockPos{X: corner.X + int32(i&15), Y: corner.Y + int32(i>>8), Z: corner.Z + int32(i>>4&15)}
		if s.box.Contains(pos) && !s.add(pos, sec.palette[field]) {
			return false
		}
	}
	return true
}
