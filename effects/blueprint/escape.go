package blueprint

import "blockworld/worldstate/geom"

// ways remembers cells from which a way leads out of the building: each lies on a way that was found, and nothing near to
// it has changed since. Most questions whether somebody would be shut in are answered by it.
type ways struct {
	a    *area
	mark []uint32 // equal to gen: a way leads out from here
	gen  uint32
	any  bool // whether anything is marked
}

// How far from a change a move can be that it makes impossible: moves look at the cells between two places and above them.
const (
	wayBeside = 1
	wayBelow  = 5
	wayAbove  = 4
)

func (w *ways) has(p geom.BlockPos) bool {
	i := w.a.index(p)
	return i >= 0 && w.mark[i] == w.gen
}

// near tells whether a change at a cell may break a remembered way.
func (w *ways) near(p geom.BlockPos) bool {
	if !w.any {
		return false
	}
	for y := p.Y - wayBelow; y <= p.Y+wayAbove; y++ {
		for z := p.Z - wayBeside; z <= p.Z+wayBeside; z++ {
			for x := p.X - wayBeside; x <= p.X+wayBeside; x++ {
				if w.has(geom.BlockPos{X: x, Y: y, Z: z}) {
					return true
				}
			}
		}
	}
	return false
}

// changed forgets the ways that a change may have broken: all of them, since they share their ends.
func (w *ways) changed(p geom.BlockPos) {
	if w.near(p) {
		w.forget()
	}
}

func (w *ways) forget() {
	w.gen++
	w.any = false
}

// maxTrap is the number of cells from which on a closed place is no trap any more.
const maxTrap = 4000

// escapes looks for a way from a cell to the outside. Afresh means that the world differs, for the time of this question,
// where remembered ways lead.
func (p *planner) escapes(from geom.BlockPos, afresh bool) bool {
	if !afresh && p.ways.has(from) {
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
		return p.outside(q) || !afresh && p.ways.has(q)
	})
	if ok {
		if afresh { // the way found avoids the change, so it holds with and without it
			p.ways.forget()
		}
		p.remember(from, end)
	}
	return ok || p.escape.spent-before >= maxTrap
}

// remember marks the way that the last search found.
func (p *planner) remember(from, end geom.BlockPos) {
	first := int32(p.area.index(from))
	for i := int32(p.area.index(end)); ; i = p.escape.from[i] {
		p.ways.mark[i], p.ways.any = p.ways.gen, true
		if i == first {
			return
		}
	}
}
