package blueprint

import (
	"math"

	"blockworld/worldstate/geom"
)

// ways remembers cells from which a way leads out of the building. Most questions whether somebody would be shut in are
// answered by it. The rank of a cell is its distance to the outside along the way that was found, so that what changes at
// one rank leaves the ways of all lower ranks as they were.
type ways struct {
	a     *area
	rank  []int32 // of each cell, from 1; 0 is not known
	cells []int32 // those with a rank
}

// How far from a change a move can be that it makes impossible: moves look at the cells between two places and above them.
const (
	wayBeside = 1
	wayBelow  = 5
	wayAbove  = 4
)

// anyRank is above every rank.
const anyRank = math.MaxInt32

// leads tells whether a way below a rank is known from a cell.
func (w *ways) leads(p geom.BlockPos, below int32) bool {
	i := w.a.index(p)
	return i >= 0 && w.rank[i] > 0 && w.rank[i] < below
}

// near returns the lowest rank that a change at a cell may break.
func (w *ways) near(p geom.BlockPos) int32 {
	lowest := int32(anyRank)
	if len(w.cells) == 0 {
		return lowest
	}
	for y := p.Y - wayBelow; y <= p.Y+wayAbove; y++ {
		for z := p.Z - wayBeside; z <= p.Z+wayBeside; z++ {
			for x := p.X - wayBeside; x <= p.X+wayBeside; x++ {
				if i := w.a.index(geom.BlockPos{X: x, Y: y, Z: z}); i >= 0 && w.rank[i] > 0 {
					lowest = min(lowest, w.rank[i])
				}
			}
		}
	}
	return lowest
}

// changed forgets the ways that a change may have broken.
func (w *ways) changed(p geom.BlockPos) { w.forget(w.near(p)) }

// forget drops all cells of a rank and above.
func (w *ways) forget(from int32) {
	if from == anyRank {
		return
	}
	kept := w.cells[:0]
	for _, i := range w.cells {
		if w.rank[i] >= from {
			w.rank[i] = 0
		} else {
			kept = append(kept, i)
		}
	}
	w.cells = kept
}

// maxTrap is the number of cells from which on a closed place is no trap any more.
const maxTrap = 4000

// escapes looks for a way from a cell to the outside. Only remembered ways below a rank may be gone by: the world differs,
// for the time of this question, where those above lead.
func (p *planner) escapes(from geom.BlockPos, below int32) bool {
	if p.ways.leads(from, below) {
		return true
	}
	b := p.plan.Bounds
	exits := [4]geom.BlockPos{{X: b.Min.X - 1, Z: from.Z}, {X: b.Max.X + 1, Z: from.Z}, {X: from.X, Z: b.Min.Z - 1}, {X: from.X, Z: b.Max.Z + 1}}
	goal, best := from, int32(1<<30)
	for _, e := range exits {
		if d := abs(e.X-from.X) + abs(e.Z-from.Z); d < best {
			best, goal = d, geom.BlockPos{X: e.X, Y: from.Y, Z: e.Z}
		}
	}
	before := p.escape.spent
	end, ok := p.escape.search(from, goal, maxTrap, func(q geom.BlockPos, _ float32) bool {
		return p.outside(q) || p.ways.leads(q, below)
	})
	if ok {
		p.ways.forget(below)
		p.remember(from, end)
	}
	return ok || p.escape.spent-before >= maxTrap
}

// remember keeps the way that the last search found. It ends outside, or where a way is known.
func (p *planner) remember(from, end geom.BlockPos) {
	w := &p.ways
	first, i := int32(p.area.index(from)), int32(p.area.index(end))
	for rank := max(w.rank[i], 1); ; rank++ {
		if w.rank[i] == 0 {
			w.cells = append(w.cells, i)
		}
		w.rank[i] = rank
		if i == first {
			return
		}
		i = p.escape.from[i]
	}
}
