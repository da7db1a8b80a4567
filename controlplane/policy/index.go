package policy

import (
	"math/bits"

	"blockworld/effects/host"
)

// A bitset has one bit for each rule, or each budget, by rank.
type bitset []uint64

func (b bitset) add(i int) { b[i>>6] |= 1 << (i & 63) }

func (b bitset) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// or adds o; a nil o is empty.
func (b bitset) or(o bitset) {
	if len(o) == 0 {
		return
	}
	o = o[:len(b)]
	for i := range b {
		b[i] |= o[i]
	}
}

// first returns the lowest bit; -1 when there is none.
func (b bitset) first() int {
	for i, w := range b {
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// matcher is what the index needs to know of a rule or a budget.
type matcher struct {
	layer   Layer
	subject string // Every for every one
	match   *Match
}

// index holds, for each value of each field, which matchers take it. What matches an effect is the intersection of one
// set per field, so a decision costs the same whichever rules a config holds.
type index struct {
	words      int
	kinds      [kindCount]bitset
	operations [operationCount]bitset
	ownerships [ownershipCount]bitset
	risks      [riskCount]bitset
	reversible [2]bitset
	plots      []bitset // by plot number; noPlot first
	untagged   bitset   // those that ask for no tag
	tags       map[string]bitset
	all        bitset // those of every subject of their layer, task excepted
	allTasks   bitset // those of every task
	subjects   [layerCount]map[string]bitset
}

// newIndex builds the index of matchers by rank; plots maps scopes to numbers.
func newIndex(ms []matcher, plots map[host.Name]int32) *index {
	x := &index{words: (len(ms) + 63) / 64, tags: map[string]bitset{}}
	fill := func(sets []bitset) {
		for i := range sets {
			sets[i] = make(bitset, x.words)
		}
	}
	fill(x.kinds[:])
	fill(x.operations[:])
	fill(x.ownerships[:])
	fill(x.risks[:])
	fill(x.reversible[:])
	x.untagged, x.all, x.allTasks = make(bitset, x.words), make(bitset, x.words), make(bitset, x.words)
	for l := range x.subjects {
		x.subjects[l] = map[string]bitset{}
	}
	x.addPlots(ms, plots)
	for rank, m := range ms {
		addValues(x.kinds[:], m.match.Kinds, rank)
		addValues(x.operations[:], m.match.Operations, rank)
		addValues(x.ownerships[:], m.match.Ownerships, rank)
		addValues(x.risks[:], m.match.Risks, rank)
		x.addFlags(m, rank)
		x.addSubject(m, rank)
	}
	return x
}

// addValues enters a rank under the values of a list, or under all of the field when the list is empty.
func addValues[T ~uint8](sets []bitset, values []T, rank int) {
	for _, v := range values {
		sets[v].add(rank)
	}
	if len(values) == 0 {
		for i := range sets {
			sets[i].add(rank)
		}
	}
}

// addPlots gives a set of its own to each plot that some matcher names; the others share one.
func (x *index) addPlots(ms []matcher, plots map[host.Name]int32) {
	unnamed := make(bitset, x.words)
	for rank, m := range ms {
		if len(m.match.Scopes) == 0 {
			unnamed.add(rank)
		}
	}
	x.plots = make([]bitset, len(plots)+1)
	for i := range x.plots {
		x.plots[i] = unnamed
	}
	own := make([]bool, len(x.plots))
	for rank, m := range ms {
		for _, s := range m.match.Scopes {
			n := plots[s]
			if !own[n] {
				own[n] = true
				x.plots[n] = append(bitset(nil), unnamed...)
			}
			x.plots[n].add(rank)
		}
	}
}

func (x *index) addFlags(m matcher, rank int) {
	for i, is := range []bool{false, true} {
		if m.match.Reversible == nil || *m.match.Reversible == is {
			x.reversible[i].add(rank)
		}
	}
	if len(m.match.Tags) == 0 {
		x.untagged.add(rank)
	}
	for _, t := range m.match.Tags {
		b, ok := x.tags[string(t)]
		if !ok {
			b = make(bitset, x.words)
			x.tags[string(t)] = b
		}
		b.add(rank)
	}
}

func (x *index) addSubject(m matcher, rank int) {
	switch {
	case m.subject == Every && m.layer == LayerTask:
		x.allTasks.add(rank)
	case m.subject == Every:
		x.all.add(rank)
	default:
		b, ok := x.subjects[m.layer][m.subject]
		if !ok {
			b = make(bitset, x.words)
			x.subjects[m.layer][m.subject] = b
		}
		b.add(rank)
	}
}

// who writes into b the matchers whose subject the action is.
func (x *index) who(f *Facts, b bitset) {
	copy(b, x.all)
	if s := x.subjects[LayerServer]; len(s) > 0 {
		b.or(s[f.Server])
		b.or(s[address(f.Server)])
	}
	x.whose(LayerWorld, f.World, b)
	x.whose(LayerOwner, string(f.Principal), b)
	x.whose(LayerActor, string(f.Actor), b)
	if f.Task != "" {
		b.or(x.allTasks)
		x.whose(LayerTask, string(f.Task), b)
	}
}

func (x *index) whose(l Layer, subject string, b bitset) {
	if s := x.subjects[l]; len(s) > 0 {
		b.or(s[subject])
	}
}

// what narrows the matchers in who to those that match an effect, into b.
func (x *index) what(who bitset, v *effect, tags []host.Name, b bitset) {
	copy(b, x.untagged)
	if len(x.tags) > 0 {
		for _, t := range tags {
			b.or(x.tags[string(t)])
		}
	}
	n := len(b)
	who = who[:n]
	kinds, operations := x.kinds[v.kind][:n], x.operations[v.operation][:n]
	ownerships, risks := x.ownerships[v.ownership][:n], x.risks[v.risk][:n]
	reversible, plots := x.reversible[0][:n], x.plots[v.plot][:n]
	if v.reversible {
		reversible = x.reversible[1][:n]
	}
	for i := range b {
		b[i] &= who[i] & kinds[i] & operations[i] & ownerships[i] & risks[i] & reversible[i] & plots[i]
	}
}

// next returns the lowest bit from i on; -1 when there is none.
func (b bitset) next(i int) int {
	for w := i >> 6; w < len(b); w++ {
		rest := b[w]
		if w == i>>6 {
			rest &= ^uint64(0) << (i & 63)
		}
		if rest != 0 {
			return w<<6 + bits.TrailingZeros64(rest)
		}
	}
	return -1
}
