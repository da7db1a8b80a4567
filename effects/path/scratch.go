package path

import "blockworld/worldstate/geom"

// record is one cell that a search has looked at.
type record struct {
	pos    geom.BlockPos
	place  place
	g      int32 // cost from the start, farAway while none is known
	h      int32 // lower bound of the cost to the nearest goal
	parent int32 // record the best way comes from, -1 at the start
	goal   int32 // index of the goal here, -1 if none
	move   Move
	closed bool
}

const farAway = int32(1) << 30

// feet returns the height of the feet in this cell.
func (r *record) feet() float64 { return float64(r.pos.Y) + float64(r.place.height) }

type slot struct {
	pos    geom.BlockPos
	round  uint32 // the search this slot belongs to; others are empty
	record int32
}

type entry struct{ f, h, record int32 }

// Scratch is the memory of searches, kept by the caller so that the next one allocates nothing but its answer. The zero
// value is ready. One goroutine at a time may use it.
type Scratch struct {
	slots   []slot // open addressing, a power of two long
	round   uint32
	records []record
	heap    []entry
}

func (s *Scratch) reset() {
	s.records, s.heap = s.records[:0], s.heap[:0]
	s.round++
	if len(s.slots) == 0 || s.round == 0 {
		s.slots, s.round = make([]slot, max(1024, len(s.slots))), 1
	}
}

func hash(p geom.BlockPos) uint64 {
	h := uint64(uint32(p.X))*0x9e3779b97f4a7c15 ^ uint64(uint32(p.Y))*0xc2b2ae3d27d4eb4f ^ uint64(uint32(p.Z))*0x165667b19e3779f9
	return h ^ h>>29
}

// find returns the slot of pos: the one that holds it, or the empty one where it belongs.
func (s *Scratch) find(p geom.BlockPos) *slot {
	mask := uint64(len(s.slots) - 1)
	for i := hash(p) & mask; ; i = (i + 1) & mask {
		if e := &s.slots[i]; e.round != s.round || e.pos == p {
			return e
		}
	}
}

// add appends a record and enters it into the table.
func (s *Scratch) add(r record) int32 {
	if 2*len(s.records) >= len(s.slots) {
		s.grow()
	}
	i := int32(len(s.records))
	s.records = append(s.records, r)
	*s.find(r.pos) = slot{r.pos, s.round, i}
	return i
}

func (s *Scratch) grow() {
	s.slots, s.round = make([]slot, 2*len(s.slots)), 1
	for i := range s.records {
		*s.find(s.records[i].pos) = slot{s.records[i].pos, 1, int32(i)}
	}
}

// before orders the heap: least total first, then nearest to the goal, then the cell seen first, so that no two differ in
// nothing and every search of the same question runs the same way.
func (a entry) before(b entry) bool {
	if a.f != b.f {
		return a.f < b.f
	}
	if a.h != b.h {
		return a.h < b.h
	}
	return a.record < b.record
}

func (s *Scratch) push(e entry) {
	s.heap = append(s.heap, e)
	i := len(s.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(s.heap[up]) {
			break
		}
		s.heap[i] = s.heap[up]
		i = up
	}
	s.heap[i] = e
}

func (s *Scratch) pop() entry {
	top := s.heap[0]
	n := len(s.heap) - 1
	e := s.heap[n]
	s.heap = s.heap[:n]
	for i := 0; n > 0; {
		c := 2*i + 1
		if c+1 < n && s.heap[c+1].before(s.heap[c]) {
			c++
		}
		if c >= n || !s.heap[c].before(e) {
			s.heap[i] = e
			break
		}
		s.heap[i] = s.heap[c]
		i = c
	}
	return top
}
