package worldstate

import (
	"cmp"
	"fmt"
	"maps"

	"blockworld/worldstate/registry"
)

// StatKey names one statistic.
type StatKey struct{ Category, ID int32 }

// Stats are the player's statistics by the server's own count. The first reply after a join holds all that are not
// zero, later ones only what changed; so before the first reply nothing is known, after it everything is.
type Stats struct {
	Replies uint64   // award_stats since the join
	Seen    Sequence // the last one
	values  map[StatKey]int32
	last    []Stat
}

// Known tells whether a reply has come since the join.
func (s Stats) Known() bool { return s.Replies > 0 }

// Get returns one statistic; false before the first reply. One that was never told is 0.
func (s Stats) Get(category, id int32) (int32, bool) {
	return s.values[StatKey{category, id}], s.Known()
}

// Used returns how often an item has been used; false before the first reply.
func (s Stats) Used(item registry.ItemID) (int32, bool) {
	return s.Get(registry.StatCategoryUsed, int32(item))
}

// Category returns a copy of all statistics of a category that are not zero, nil before the first reply.
func (s Stats) Category(category int32) map[int32]int32 {
	if !s.Known() {
		return nil
	}
	out := map[int32]int32{}
	for k, v := range s.values {
		if k.Category == category && v != 0 {
			out[k.ID] = v
		}
	}
	return out
}

// LastReply returns the entries of the last reply as they came.
func (s Stats) LastReply() []Stat { return append([]Stat(nil), s.last...) }

// clone returns a copy that later replies do not change.
func (s *Stats) clone() Stats {
	out := *s
	out.values = maps.Clone(s.values)
	out.last = s.LastReply()
	return out
}

func (s *Stats) award(ev StatsAwarded, seq Sequence) error {
	if len(s.values)+len(ev.Entries) > maxStats {
		return fmt.Errorf("%w: more than %d statistics", ErrMalformed, maxStats)
	}
	if s.values == nil {
		s.values = map[StatKey]int32{}
	}
	for _, e := range ev.Entries {
		s.values[StatKey{e.Category, e.ID}] = e.Value
	}
	s.last = append([]Stat(nil), ev.Entries...)
	s.Replies++
	s.Seen = seq
	return nil
}

func compareStats(a, b Stat) int {
	return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.ID, b.ID))
}
