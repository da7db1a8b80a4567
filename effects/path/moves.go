package path

import (
	"math"

	"blockworld/worldstate/geom"
)

// Costs, in tenths of a block of plain way.
const (
	costWalk     = 10
	costDiagonal = 14
	costStep     = 2  // more for a rise that needs no jump
	costJump     = 10 // more for a jump
	costFall     = 2  // more per block of a drop
	costClimb    = 20 // per block up
	costDescend  = 14 // per block down something climbable
	costSwim     = 30 // more for a cell of water
	costDive     = 20 // more if the head is under water too
	costSlow     = 15 // more for soul sand and honey
	costNear     = 20 // more for a cell beside lava, fire or cactus
)

var (
	straight = [4]geom.BlockPos{{X: 1}, {X: -1}, {Z: 1}, {Z: -1}}
	diagonal = [4]geom.BlockPos{{X: 1, Z: 1}, {X: 1, Z: -1}, {X: -1, Z: 1}, {X: -1, Z: -1}}
)

// expand offers every move from a record.
func (f *finder) expand(i int32) {
	if f.o.CanFly {
		f.flights(i)
		return
	}
	for _, d := range straight {
		f.sideways(i, d)
	}
	for _, d := range diagonal {
		f.across(i, d)
	}
	f.vertical(i)
}

// relax offers a move to a record and keeps it if it is the cheapest one so far.
func (f *finder) relax(from, to, cost int32, move Move) {
	r := &f.s.records[to]
	if r.closed || !f.allowed(r.place) {
		return
	}
	if g := f.s.records[from].g + cost + f.surcharge(r.place); g < r.g {
		r.g, r.parent, r.move = g, from, move
		f.s.push(entry{g + r.h, r.h, to})
	}
}

// worth tells whether a move of this cost would make the way to a record cheaper: asked before its box is checked.
func (f *finder) worth(from, to, cost int32) bool {
	r := &f.s.records[to]
	return !r.closed && f.allowed(r.place) && f.s.records[from].g+cost+f.surcharge(r.place) < r.g
}

// surcharge is what a place costs more than plain ground.
func (f *finder) surcharge(p place) int32 {
	c := int32(0)
	if p.water {
		c += costSwim
	}
	if p.water && p.deep {
		c += costDive
	}
	if p.slow {
		c += costSlow
	}
	if p.near {
		c += costNear
	}
	if p.hazard != HazardNone {
		c += f.o.Pass[p.hazard]
	}
	return c
}

// reach is how far up a player can get from a place.
func reach(p place) float64 {
	switch {
	case p.foot == footSwim, p.foot == footClimb, p.water, p.climb:
		return 1 // by climbing out
	case p.noJump:
		return stepHeight
	}
	return jumpHeight
}

// roomToRise tells whether what a jump, or the way out of water, needs beyond the box's way is harmless: it goes a little
// higher than it lands.
func (f *finder) roomToRise(a *record, side, d geom.BlockPos) bool {
	const top = 1.2523 // of vanilla's jump
	high := a.feet() + min(top, reach(a.place)+0.25)
	if !f.o.WalkBox.Contains(geom.BlockPos{X: a.pos.X, Y: int32(math.Floor(high)), Z: a.pos.Z}) ||
		!f.safe(a.pos, a.feet()+1, high+geom.PlayerHeight) || !f.safe(side, a.feet()+1, high+geom.PlayerHeight) {
		return false
	}
	if !a.place.water && a.place.foot != footSwim {
		return true
	}
	over := column(a.pos, a.feet()+1, a.feet()+1.5+geom.PlayerHeight) // bobbing, nobody hits a narrow gap
	return f.free(over.Stretch(geom.Vec3{float64(d.X), 0, float64(d.Z)}))
}

// sideways offers the moves into a neighbouring column: up, on the level, or down to the first thing that holds.
func (f *finder) sideways(i int32, d geom.BlockPos) {
	a := f.s.records[i]
	if a.place.hangs {
		return // nobody holds on to a lowest rung: up or down only
	}
	feet := a.feet()
	side := a.pos.Add(d)
	for dy := int32(math.Floor(feet+reach(a.place)+epsilon)) - a.pos.Y; dy >= 0; dy-- {
		j, ok := f.record(above(side, dy))
		if !ok {
			continue
		}
		b := &f.s.records[j]
		rise := b.feet() - feet
		if b.place.foot == footNone || rise > reach(a.place)+epsilon || !f.allowed(b.place) {
			continue
		}
		if b.place.hangs || b.place.foot == footClimb && rise > epsilon {
			continue // climbed into from below, not from the side
		}
		if rise > stepHeight+epsilon && !f.roomToRise(&a, side, d) {
			continue
		}
		holds := rise <= epsilon // on the level or just below: nobody falls past it
		cost, move := sidewaysMove(rise)
		if !holds && !f.worth(i, j, cost) || !f.clearWay(&a, b, d) {
			continue
		}
		if move != Drop || !b.place.soft {
			f.relax(i, j, cost, f.kindOf(b.place, move))
		}
		if holds {
			return
		}
	}
	f.drop(i, side, d)
}

// sidewaysMove tells cost and kind of a move into the next column.
func sidewaysMove(rise float64) (int32, Move) {
	switch {
	case rise > stepHeight+epsilon:
		return costWalk + costJump, Jump
	case rise > epsilon:
		return costWalk + costStep, Walk
	case rise >= -stepHeight-epsilon:
		return costWalk, Walk
	}
	return costWalk + fallCost(rise), Drop
}

func fallCost(rise float64) int32 { return int32(math.Floor(-rise)) * costFall }

// kindOf names the move into a place.
func (f *finder) kindOf(p place, m Move) Move {
	if p.water || p.foot == footSwim {
		return Swim
	}
	if p.foot == footClimb && m != Drop {
		return Climb
	}
	return m
}

// drop offers the fall over an edge down to the first cell below side that holds a player.
func (f *finder) drop(i int32, side, d geom.BlockPos) {
	a := f.s.records[i]
	feet := a.feet()
	for dy := int32(1); ; dy++ {
		pos := above(side, -dy)
		if feet-float64(pos.Y+1) >= float64(f.o.maxDrop())+epsilon {
			return
		}
		j, ok := f.record(pos)
		if !ok {
			return
		}
		b := &f.s.records[j]
		if b.place.foot == footNone {
			if !f.fallsThrough(pos) {
				return
			}
			continue
		}
		rise := b.feet() - feet
		if -rise > float64(f.o.maxDrop())+epsilon || b.place.soft || b.place.hangs || !f.allowed(b.place) || !f.clearWay(&a, b, d) {
			return
		}
		f.relax(i, j, costWalk+fallCost(rise), f.kindOf(b.place, Drop))
		return
	}
}

// fallsThrough tells whether a cell that holds nobody is harmless to fall through.
func (f *finder) fallsThrough(pos geom.BlockPos) bool {
	t, ok := f.traits(pos)
	return ok && t.top == 0 && !f.banned(t.hazard)
}

func (f *finder) banned(h Hazard) bool { return h != HazardNone && f.o.Pass[h] <= 0 }

// across offers the diagonal move: nearly level, with both corners free of shapes and hazards.
func (f *finder) across(i int32, d geom.BlockPos) {
	a := f.s.records[i]
	if a.place.foot == footClimb {
		return
	}
	held := false
	for _, dy := range [3]int32{0, 1, -1} {
		if dy > 0 && a.place.height < 1-stepHeight || dy < 0 && (held || a.place.height > stepHeight) {
			continue // out of a step's reach
		}
		j, ok := f.record(a.pos.Add(geom.BlockPos{X: d.X, Y: dy, Z: d.Z}))
		if !ok {
			continue
		}
		b := &f.s.records[j]
		held = held || b.place.foot == footStand
		rise := b.feet() - a.feet()
		if b.place.foot == footNone || b.place.foot == footClimb || math.Abs(rise) > stepHeight+epsilon {
			continue
		}
		cost := int32(costDiagonal)
		if rise > epsilon {
			cost += costStep
		}
		if f.worth(i, j, cost) && f.clearCorners(&a, b, d) {
			f.relax(i, j, cost, f.kindOf(b.place, Walk))
		}
	}
}

// clearCorners tells whether a diagonal move touches nothing, the two cells beside the corner included.
func (f *finder) clearCorners(a, b *record, d geom.BlockPos) bool {
	sides := [2]geom.BlockPos{a.pos.Add(geom.BlockPos{X: d.X}), a.pos.Add(geom.BlockPos{Z: d.Z})}
	if a.place.plain && b.place.plain && f.plain(sides[0]) && f.plain(sides[1]) && a.pos.Y == b.pos.Y {
		return true
	}
	t := max(a.feet(), b.feet())
	for _, side := range sides {
		if !f.safe(side, min(a.feet(), b.feet()), t+geom.PlayerHeight) {
			return false
		}
	}
	return f.clearWay(a, b, d)
}

// plain tells whether a cell was looked at and found to be harmless ground without any shape above it.
func (f *finder) plain(pos geom.BlockPos) bool {
	e := f.s.find(pos)
	if e.round != f.s.round {
		return false
	}
	p := f.s.records[e.record].place
	return p.plain && f.allowed(p)
}

// clearWay tells whether the player's box gets from one record to another one column away: up at the first, over at the
// greater height, down at the second, through neither shapes nor banned hazards.
func (f *finder) clearWay(a, b *record, d geom.BlockPos) bool {
	from, to := a.feet(), b.feet()
	t := max(from, to)
	if a.place.plain && b.place.plain && from == to && (d.X == 0 || d.Z == 0) {
		return true // all four cells are known to hold no shape
	}
	if t > from && !(f.free(column(a.pos, from, t+geom.PlayerHeight)) && f.safe(a.pos, from+1.5, t+geom.PlayerHeight)) {
		return false
	}
	if t > to && !(f.free(column(b.pos, to, t+geom.PlayerHeight)) && f.safe(b.pos, to, t+geom.PlayerHeight)) {
		return false
	}
	over := column(a.pos, t, t+geom.PlayerHeight).Stretch(geom.Vec3{float64(d.X), 0, float64(d.Z)})
	return f.free(over)
}

// safe tells whether a column holds no banned hazard and nothing unknown between two heights.
func (f *finder) safe(pos geom.BlockPos, low, high float64) bool {
	for y := int32(math.Floor(low + epsilon)); y <= int32(math.Floor(high-epsilon)); y++ {
		t, ok := f.traits(geom.BlockPos{X: pos.X, Y: y, Z: pos.Z})
		if !ok || f.banned(t.hazard) || t.flags&flagWater != 0 && !f.o.Swim {
			return false
		}
	}
	return true
}

// vertical offers climbing and swimming within the column.
func (f *finder) vertical(i int32) {
	a := f.s.records[i]
	if up, ok := f.record(above(a.pos, 1)); ok {
		b := &f.s.records[up]
		if f.rises(&a, b.place) && f.allowed(b.place) && f.columnFree(&a, b) {
			f.relax(i, up, costClimb, f.kindOf(b.place, Climb))
		}
	}
	down, ok := f.record(above(a.pos, -1))
	if !ok {
		return
	}
	b := &f.s.records[down]
	if (b.place.climb || b.place.foot == footSwim || a.place.climb || a.place.foot == footSwim) && b.place.foot != footNone &&
		f.allowed(b.place) && f.columnFree(b, &a) {
		f.relax(i, down, costDescend, f.kindOf(b.place, Climb))
	}
}

// rises tells whether a player gets from a place to the one right above it: climbing, swimming, or with a jump into
// something climbable.
func (f *finder) rises(low *record, b place) bool {
	a := low.place
	switch b.foot {
	case footClimb:
		return a.climb || a.water || !a.noJump && a.height == 0 && f.roomToRise(low, low.pos, geom.BlockPos{})
	case footSwim:
		return a.climb || a.water
	case footStand:
		return a.climb || a.water && b.climb
	}
	return false
}

// columnFree tells whether the player's box gets from the lower record straight up to the upper one.
func (f *finder) columnFree(low, high *record) bool {
	return f.free(column(low.pos, low.feet(), high.feet()+geom.PlayerHeight)) &&
		f.safe(low.pos, high.feet(), high.feet()+geom.PlayerHeight)
}

// flights offers the moves of creative flight: six ways straight, four ways diagonal on the level.
func (f *finder) flights(i int32) {
	a := f.s.records[i]
	for _, d := range straight {
		f.fly(i, &a, d, costWalk)
	}
	for _, d := range diagonal {
		f.fly(i, &a, d, costDiagonal)
	}
	for _, dy := range [2]int32{1, -1} {
		j, ok := f.record(above(a.pos, dy))
		if !ok || f.s.records[j].place.foot == footNone || !f.worth(i, j, costWalk) {
			continue
		}
		b := f.s.records[j]
		low, high := &a, &b
		if dy < 0 {
			low, high = &b, &a
		}
		if f.columnFree(low, high) {
			f.relax(i, j, costWalk, Fly)
		}
	}
}

// Flight hovers up to hoverRoom blocks above its floor; a place without that room is flown through only where the way
// around costs more than tightFlight.
const (
	hoverRoom   = 0.45
	tightFlight = 300
)

func (f *finder) fly(i int32, a *record, d geom.BlockPos, cost int32) {
	j, ok := f.record(a.pos.Add(d))
	if !ok {
		return
	}
	b := f.s.records[j]
	if b.place.foot == footNone || !f.worth(i, j, cost) {
		return
	}
	clear := f.clearWay
	if d.X != 0 && d.Z != 0 {
		clear = f.clearCorners
	}
	if !clear(a, &b, d) {
		return
	}
	above, beyond := *a, b
	above.place.height += hoverRoom
	beyond.place.height += hoverRoom
	if !f.roomFor(b.pos, beyond.feet()) || !clear(&above, &beyond, d) {
		cost += tightFlight
	}
	if f.worth(i, j, cost) {
		f.relax(i, j, cost, Fly)
	}
}
