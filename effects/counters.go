package effects

import (
	"maps"
	"slices"

	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Counters is the part of the server's statistics of this player that evidence rests on: the whole `used` category,
// and the custom counters that tell sessions and rollbacks apart. The zero value knows nothing.
type Counters struct {
	used      map[registry.ItemID]int32
	known     bool
	LeaveGame int32 // custom leave_game: sessions of this account that the server saw end
	PlayTime  int32 // custom play_time, ticks
	WorldTime int32 // custom total_world_time, ticks
}

// UsedCount is one entry of the `used` category.
type UsedCount struct {
	Item  registry.ItemID
	Count int32
}

// NewCounters returns known counters with these `used` entries; entries of 0 are left out.
func NewCounters(leaveGame int32, used ...UsedCount) Counters {
	c := Counters{known: true, LeaveGame: leaveGame, used: map[registry.ItemID]int32{}}
	for _, u := range used {
		c.set(u.Item, u.Count)
	}
	return c
}

// FullCounters reads the first reply after a join, in which an absent entry means 0. The second result is false when
// the reply holds an entry twice.
func FullCounters(reply worldstate.StatsAwarded) (Counters, bool) {
	c := NewCounters(0)
	c.apply(reply)
	return c, !doubled(reply.Entries)
}

// Known tells whether a first full reply was read.
func (c Counters) Known() bool { return c.known }

// Used returns how often the server says this player used the item.
func (c Counters) Used(item registry.ItemID) int32 { return c.used[item] }

// Entries lists the `used` category by item id; entries of 0 are left out.
func (c Counters) Entries() []UsedCount {
	out := make([]UsedCount, 0, len(c.used))
	for _, id := range slices.Sorted(maps.Keys(c.used)) {
		out = append(out, UsedCount{id, c.used[id]})
	}
	return out
}

// Clone returns a copy that shares nothing.
func (c Counters) Clone() Counters {
	c.used = maps.Clone(c.used)
	return c
}

// Canonical returns the counters as canonical bytes, for the sent mark.
func (c Counters) Canonical() []byte {
	var w writer
	w.bool(c.known)
	w.i32(c.LeaveGame)
	w.i32(c.PlayTime)
	w.i32(c.WorldTime)
	entries := c.Entries()
	w.u32(uint32(len(entries)))
	for _, e := range entries {
		w.i32(int32(e.Item))
		w.i32(e.Count)
	}
	return w.record(kindCounters)
}

// ParseCounters reads canonical counters and returns what follows them. Errors wrap ErrMalformedRecord or
// ErrRecordVersion.
func ParseCounters(b []byte) (Counters, []byte, error) {
	r, rest, err := openRecord(b, kindCounters)
	if err != nil {
		return Counters{}, nil, err
	}
	c := Counters{known: r.bool(), LeaveGame: r.i32(), PlayTime: r.i32(), WorldTime: r.i32(), used: map[registry.ItemID]int32{}}
	last := registry.ItemID(-1 << 31)
	for i := range r.count(8) {
		item, n := registry.ItemID(r.i32()), r.i32()
		if i > 0 && item <= last || n == 0 {
			r.fail("counters that are not in canonical order")
			break
		}
		last = item
		c.used[item] = n
	}
	if err := r.close(); err != nil {
		return Counters{}, nil, err
	}
	return c, rest, nil
}

func (c *Counters) set(item registry.ItemID, n int32) {
	if n == 0 {
		delete(c.used, item)
		return
	}
	c.used[item] = n
}

// usedChange is one entry of the `used` category that a reply moved.
type usedChange struct {
	item          registry.ItemID
	before, after int32
}

// apply takes a reply over and returns which `used` entries it moved, in the reply's order.
func (c *Counters) apply(reply worldstate.StatsAwarded) []usedChange {
	if c.used == nil {
		c.used = map[registry.ItemID]int32{}
	}
	var moved []usedChange
	for _, e := range reply.Entries {
		switch {
		case e.Category == registry.StatCategoryUsed:
			item := registry.ItemID(e.ID)
			if old := c.used[item]; old != e.Value {
				moved = append(moved, usedChange{item, old, e.Value})
			}
			c.set(item, e.Value)
		case e.Category != registry.StatCategoryCustom:
		case e.ID == registry.StatLeaveGame:
			c.LeaveGame = e.Value
		case e.ID == registry.StatPlayTime:
			c.PlayTime = e.Value
		case e.ID == registry.StatTotalWorldTime:
			c.WorldTime = e.Value
		}
	}
	return moved
}

// doubled tells whether a reply names one statistic twice.
func doubled(entries []worldstate.Stat) bool {
	seen := make(map[[2]int32]bool, len(entries))
	for _, e := range entries {
		k := [2]int32{e.Category, e.ID}
		if seen[k] {
			return true
		}
		seen[k] = true
	}
	return false
}

// sameUsed compares the `used` categories and returns how far each differing item moved from c to d.
func (c Counters) sameUsed(d Counters) map[registry.ItemID]int32 {
	out := map[registry.ItemID]int32{}
	for item, n := range d.used {
		if m := n - c.used[item]; m != 0 {
			out[item] = m
		}
	}
	for item, n := range c.used {
		if _, ok := d.used[item]; !ok && n != 0 {
			out[item] = -n
		}
	}
	return out
}
