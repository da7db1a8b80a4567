package worldstate

import (
	"hash/maphash"
	"sync"
	"unsafe"
	"weak"

	"blockworld/worldstate/registry"
)

// SectionStore lets the mirrors of one process share equal sections: bots that see the same server keep one copy of it.
// It holds sections weakly, so what no mirror shows any more is freed. Safe for concurrent use; the zero value is not
// usable, NewSectionStore makes one.
type SectionStore struct {
	seed    maphash.Seed
	mu      sync.Mutex
	packed  map[uint64]weak.Pointer[section] // by hash of the content
	singles map[registry.StateID]*section    // sections of one state; never freed, there are at most as many as states
	sweepAt int                              // size of packed at which dead entries are looked for
}

// NewSectionStore returns an empty store.
func NewSectionStore() *SectionStore {
	return &SectionStore{
		seed:   maphash.MakeSeed(),
		packed: map[uint64]weak.Pointer[section]{}, singles: map[registry.StateID]*section{},
		sweepAt: 4096,
	}
}

// intern replaces the sections of a freshly decoded column by equal ones that somebody has already.
func (st *SectionStore) intern(c *Column) {
	var room [usualSections]uint64
	hashes := room[:0]
	for _, s := range c.sections {
		hashes = append(hashes, st.hash(s))
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	var kept []int
	shared := false
	for i, s := range c.sections {
		if s.bits == 0 {
			c.sections[i] = st.one(s.palette[0])
			continue
		}
		known := st.packed[hashes[i]].Value()
		if known != nil && known.equal(s) {
			c.sections[i], shared = known, true
			continue
		}
		kept = append(kept, i)
	}
	for _, i := range kept {
		if shared { // let go of the column's common memory, most of which is not needed
			s := c.sections[i].clone()
			s.private = false
			c.sections[i] = s
		}
		st.packed[hashes[i]] = weak.Make(c.sections[i])
	}
	if len(st.packed) > st.sweepAt {
		st.sweep()
	}
}

// one returns the shared section of a single state.
func (st *SectionStore) one(state registry.StateID) *section {
	s, ok := st.singles[state]
	if !ok {
		one := uniform([]registry.StateID{state})
		s = &one
		st.singles[state] = s
	}
	return s
}

func (st *SectionStore) sweep() {
	for h, p := range st.packed {
		if p.Value() == nil {
			delete(st.packed, h)
		}
	}
	st.sweepAt = max(4096, 2*len(st.packed))
}

// hash is a seeded hash of a packed section's content; 0 for a single state.
func (st *SectionStore) hash(s *section) uint64 {
	if s.bits == 0 {
		return 0
	}
	// The bytes of the words in the machine's own order: the hash lives in this process only.
	h := maphash.Bytes(st.seed, unsafe.Slice((*byte)(unsafe.Pointer(s.words)), len(s.fields())*8))
	if !s.direct {
		h ^= maphash.Bytes(st.seed, unsafe.Slice((*byte)(unsafe.Pointer(&s.palette[0])), len(s.palette)*2)) * 0x9e3779b97f4a7c15
	}
	return h
}

// Len returns the number of distinct packed sections that are alive, for reports and tests.
func (st *SectionStore) Len() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sweep()
	return len(st.packed)
}
