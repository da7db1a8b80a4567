package path

import (
	"math"

	"blockworld/worldstate/geom"
)

// finder is one search.
type finder struct {
	w       World
	o       Options
	s       *Scratch
	goals   []geom.BlockPos
	bounds  geom.BlockBox // around the goals worth reaching
	unknown int
	best    int32 // record nearest to a goal so far
}

// Find searches a path from one cell to another. The start need not be exact: in the air it is the floor below, at an
// edge the floor beside. A nil scratch is allowed and costs allocations.
func Find(w World, from, to geom.BlockPos, o Options, s *Scratch) Result {
	return FindAny(w, from, []geom.BlockPos{to}, o, s)
}

// FindAny searches the cheapest path to any one of several cells; Result.Goal tells which.
func FindAny(w World, from geom.BlockPos, goals []geom.BlockPos, o Options, s *Scratch) Result {
	if s == nil {
		s = new(Scratch)
	}
	s.reset()
	f := finder{w: w, o: o, s: s, goals: goals, best: -1}
	fail := func(why Why) Result {
		status := NoPath
		if why == GoalUnknown || why == StartBlocked && f.unknown > 0 {
			status = Partial
		}
		return Result{Status: status, Why: why, Goal: -1, Unknown: f.unknown}
	}
	if !o.WalkBox.Contains(from) {
		return fail(StartOutside)
	}
	if why := f.enterGoals(); why != WhyNone {
		return fail(why)
	}
	start, ok := f.start(from)
	if !ok {
		return fail(StartBlocked)
	}
	return f.search(start)
}

// enterGoals makes records of the goals that a player can be at, and tells why if there is none.
func (f *finder) enterGoals() Why {
	inside, open, unknown := false, false, f.unknown
	for i, g := range f.goals {
		if !f.o.WalkBox.Contains(g) {
			continue
		}
		inside = true
		if f.s.find(g).round == f.s.round {
			continue // a goal named twice
		}
		p := f.look(g)
		if !f.allowed(p) {
			continue
		}
		f.s.add(record{pos: g, place: p, g: farAway, parent: -1, goal: int32(i)})
		if !open {
			f.bounds = geom.BlockBox{Min: g, Max: g}
		}
		f.bounds, open = f.bounds.Union(geom.BlockBox{Min: g, Max: g}), true
	}
	for i := range f.s.records {
		f.s.records[i].h = f.estimate(f.s.records[i].pos)
	}
	switch {
	case !inside:
		return GoalOutside
	case !open && f.unknown > unknown:
		return GoalUnknown
	case !open:
		return GoalBlocked
	}
	return WhyNone
}

// allowed tells whether a path may lead over a place.
func (f *finder) allowed(p place) bool {
	if p.foot == footNone || p.narrow && p.foot == footStand || p.water && !f.o.Swim {
		return false
	}
	return p.hazard == HazardNone || f.o.Pass[p.hazard] > 0
}

// start finds the record to begin at: the cell itself even if it is a bad one, the floor below, or the floor beside on
// whose edge the player stands.
func (f *finder) start(from geom.BlockPos) (int32, bool) {
	for dy := int32(0); dy <= DefaultMaxDrop; dy++ {
		pos := above(from, -dy)
		if i, ok := f.record(pos); ok && f.s.records[i].place.foot != footNone {
			return i, true
		}
		if dy == 0 {
			if i, ok := f.startBeside(from); ok {
				return i, true
			}
		}
	}
	return 0, false
}

func (f *finder) startBeside(from geom.BlockPos) (int32, bool) {
	for _, d := range [...]geom.BlockPos{{X: 1}, {X: -1}, {Z: 1}, {Z: -1}, {X: 1, Z: 1}, {X: 1, Z: -1}, {X: -1, Z: 1}, {X: -1, Z: -1}} {
		if i, ok := f.record(from.Add(d)); ok && f.s.records[i].place.foot == footStand && f.allowed(f.s.records[i].place) {
			return i, true
		}
	}
	return 0, false
}

// record returns the record of a cell inside the walk box, looking at it the first time.
func (f *finder) record(pos geom.BlockPos) (int32, bool) {
	if e := f.s.find(pos); e.round == f.s.round {
		return e.record, true
	}
	if !f.o.WalkBox.Contains(pos) {
		return 0, false
	}
	return f.s.add(record{pos: pos, place: f.look(pos), g: farAway, h: f.estimate(pos), parent: -1, goal: -1}), true
}

// search is A*: the estimate never exceeds the true cost, so the first goal taken from the heap is reached at least cost.
func (f *finder) search(start int32) Result {
	f.s.records[start].g = 0
	f.best = start
	f.s.push(entry{f.s.records[start].h, f.s.records[start].h, start})
	visited, budget := 0, f.o.budget()
	for len(f.s.heap) > 0 {
		i := f.s.pop().record
		r := &f.s.records[i]
		if r.closed {
			continue
		}
		if r.goal >= 0 {
			return f.result(Reached, WhyNone, i, visited)
		}
		if visited == budget {
			return f.result(Budget, OutOfNodes, f.best, visited)
		}
		visited++
		r.closed = true
		if b := &f.s.records[f.best]; r.h < b.h {
			f.best = i
		}
		f.expand(i)
	}
	if f.unknown > 0 {
		return f.result(Partial, UnknownBorder, f.best, visited)
	}
	r := f.result(NoPath, WalledOff, f.best, visited)
	r.Shut = f.shutDoors()
	return r
}

func (f *finder) result(status Status, why Why, last int32, visited int) Result {
	r := Result{Status: status, Why: why, Goal: -1, Cost: f.s.records[last].g, Visited: visited, Unknown: f.unknown}
	if status == Reached {
		r.Goal = int(f.s.records[last].goal)
	}
	n := 0
	for i := last; i >= 0; i = f.s.records[i].parent {
		n++
	}
	r.Nodes = make([]Node, n)
	for i := last; i >= 0; i = f.s.records[i].parent {
		n--
		rec := &f.s.records[i]
		r.Nodes[n] = Node{Pos: rec.pos, Feet: rec.feet(), Move: rec.move}
	}
	return r
}

// estimate is a lower bound of the cost from a cell to the goals: straight and diagonal steps to their bounds, and the
// least that each block of height costs.
func (f *finder) estimate(p geom.BlockPos) int32 {
	dx := max(f.bounds.Min.X-p.X, p.X-f.bounds.Max.X, 0)
	dz := max(f.bounds.Min.Z-p.Z, p.Z-f.bounds.Max.Z, 0)
	up, down := max(f.bounds.Min.Y-p.Y, 0), max(p.Y-f.bounds.Max.Y, 0)
	flat := int64(min(dx, dz))*costDiagonal + int64(max(dx, dz)-min(dx, dz))*costWalk
	if f.o.CanFly {
		flat += int64(up+down) * costWalk
	} else {
		flat += int64(up) * costStep
	}
	return int32(min(flat, math.MaxInt32/4))
}
