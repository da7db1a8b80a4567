package blueprint

import (
	"math"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
)

// walker searches the area for places that can be reached. Its memory is reused between searches.
type walker struct {
	a     *area
	seen  []uint32 // generation in which a cell was seen
	gen   uint32
	heap  []node
	spent int         // cells looked at so far
	stop  func() bool // asked now and then; a search that is told to stop finds nothing
	from  []int32     // with a way to be kept: the cell that each seen cell was reached from
	// full is the generation of the last search that saw everything reachable, while nothing moved since; else 0.
	full uint32
}

type node struct {
	cost float32 // way so far + distance left
	way  float32
	at   geom.BlockPos
}

const (
	jump = 1.2 // blocks that a jump gains
	drop = 3.0 // blocks that a fall may lose
)

// search looks outwards from a cell for the nearest place that accept takes. goal steers the search and may be anything.
// With limit > 0 it gives up after so many cells.
func (w *walker) search(from, goal geom.BlockPos, limit int, accept func(geom.BlockPos, float32) bool) (geom.BlockPos, bool) {
	w.gen++
	w.full = 0
	w.heap = w.heap[:0]
	g := goal.Centre()
	rest := func(p geom.BlockPos) float32 {
		d := p.Centre().Sub(g)
		return float32(math.Max(0, math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2])-placement.PlanReach))
	}
	i := w.a.index(from)
	if i < 0 {
		return from, false
	}
	w.seen[i] = w.gen
	w.push(node{rest(from), 0, from})
	for n := 0; len(w.heap) > 0; n++ {
		if limit > 0 && n >= limit || n%stopEvery == stopEvery-1 && w.stop != nil && w.stop() {
			return from, false
		}
		c := w.pop()
		v := w.a.at(c.at)
		w.spent++
		if v != feetNone && accept(c.at, v) {
			return c.at, true
		}
		w.neighbours(c.at, v, func(q geom.BlockPos) {
			if j := w.a.index(q); j >= 0 && w.seen[j] != w.gen {
				w.seen[j] = w.gen
				if w.from != nil {
					w.from[j] = int32(w.a.index(c.at))
				}
				w.push(node{c.way + 1 + rest(q), c.way + 1, q})
			}
		})
	}
	if limit == 0 {
		w.full = w.gen
	}
	return from, false
}

// stopEvery is how many cells a search looks at between two questions whether it shall stop.
const stopEvery = 4096

// reached tells whether the last complete search saw a cell.
func (w *walker) reached(p geom.BlockPos) bool {
	i := w.a.index(p)
	return i >= 0 && w.seen[i] == w.full
}

// neighbours calls fn for every cell that one move leads to.
func (w *walker) neighbours(p geom.BlockPos, v float32, fn func(geom.BlockPos)) {
	if w.a.fly {
		for _, f := range geom.Faces {
			if q := p.Neighbour(f); w.a.at(q) != feetNone {
				fn(q)
			}
		}
	}
	if v < 0 {
		return
	}
	h := float32(p.Y) + v
	for _, f := range geom.HorizontalFaces {
		side := p.Neighbour(f)
		for dy := int32(2); dy >= -4; dy-- {
			q := geom.BlockPos{X: side.X, Y: side.Y + dy, Z: side.Z}
			u := w.a.at(q)
			if u < 0 {
				continue
			}
			rise := float32(q.Y) + u - h
			if rise > jump {
				continue // a ledge overhead; there may be a floor below it
			}
			if rise >= -drop && w.passes(p, q, v, rise) {
				fn(q)
			}
			break
		}
	}
}

// passes tells whether there is room for the body on the way up or down between two neighbouring columns.
func (w *walker) passes(p, q geom.BlockPos, v, rise float32) bool {
	if rise > 0.6 {
		return w.roomy(geom.BlockPos{X: p.X, Y: p.Y, Z: p.Z}, v+rise)
	}
	if rise < -0.6 {
		return w.roomy(geom.BlockPos{X: q.X, Y: q.Y, Z: q.Z}, w.a.at(q)-rise)
	}
	return true
}

// roomy tells whether a body fits above a cell's lower end at a height, as when it jumps there.
func (w *walker) roomy(p geom.BlockPos, height float32) bool {
	top := float64(height) + geom.PlayerHeight
	for dy := int32(1); float64(dy) < top; dy++ {
		s, ok := w.a.Block(geom.BlockPos{X: p.X, Y: p.Y + dy, Z: p.Z})
		if !ok {
			return false
		}
		for _, b := range w.a.reg.Shape(s) {
			if b.Max[0] > 0.2 && b.Min[0] < 0.8 && b.Max[2] > 0.2 && b.Min[2] < 0.8 &&
				b.Min[1]+float64(dy) < top && b.Max[1]+float64(dy) > float64(height)+1e-6 {
				return false
			}
		}
	}
	return true
}

func (w *walker) push(n node) {
	w.heap = append(w.heap, n)
	i := len(w.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if w.heap[up].cost <= w.heap[i].cost {
			break
		}
		w.heap[up], w.heap[i] = w.heap[i], w.heap[up]
		i = up
	}
}

func (w *walker) pop() node {
	top := w.heap[0]
	last := len(w.heap) - 1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && w.heap[c+1].cost < w.heap[c].cost {
			c++
		}
		if w.heap[i].cost <= w.heap[c].cost {
			break
		}
		w.heap[i], w.heap[c] = w.heap[c], w.heap[i]
		i = c
	}
	return top
}
