package path

import (
	"math"

	"blockworld/worldstate/geom"
)

const (
	epsilon    = 1e-6
	stepHeight = 0.6
	jumpHeight = 1.2 // vanilla's jump reaches 1.2522
)

// footing is what holds a player in a cell.
type footing uint8

const (
	footNone  footing = iota // nothing: one falls through, or the cell is blocked
	footStand                // a floor
	footClimb                // something climbable
	footSwim                 // water
	footFly                  // the air, in creative flight
)

// place is what a search knows about one cell as a place for the feet.
type place struct {
	height float32 // of the floor within the cell
	foot   footing
	climb  bool   // can be climbed in, also when there is a floor
	water  bool   // the feet are in water
	deep   bool   // the head is too
	slow   bool   // slow ground
	noJump bool   // sticky ground
	soft   bool   // trampled by landing
	hangs  bool   // climbable with nothing to climb below: reached from below only
	narrow bool   // the floor is a post or a rim: good enough to start from, not to walk over
	plain  bool   // floor at 0, feet and head cell without any collision: no box needs checking
	hazard Hazard // worst thing touched, banned or costly
	near   bool   // beside something that burns or stings
}

// traits returns what is known of a cell; false counts it as unknown.
func (f *finder) traits(pos geom.BlockPos) (traits, bool) {
	s, ok := f.w.Cells.Block(pos)
	if !ok {
		f.unknown++
		return traits{flags: flagFull, top: 1}, false
	}
	return f.w.Table.of(s), true
}

func above(p geom.BlockPos, n int32) geom.BlockPos { return geom.BlockPos{X: p.X, Y: p.Y + n, Z: p.Z} }

// look finds out what a cell is as a place for the feet.
func (f *finder) look(pos geom.BlockPos) place {
	own, ok := f.traits(pos)
	if !ok || own.top >= 1 && own.flags&flagClimb == 0 {
		return place{}
	}
	head, ok := f.traits(above(pos, 1))
	if !ok || head.flags&flagFull != 0 {
		return place{}
	}
	below, ok := f.traits(above(pos, -1))
	if !ok && !f.o.CanFly {
		return place{}
	}
	p := f.foot(own, below, ok)
	if p.foot == footSwim && below.top == 0 && !f.o.WalkBox.Contains(above(pos, -1)) {
		return place{} // who falls in or stops swimming sinks
	}
	if p.foot == footNone {
		return p
	}
	clear := own.flags&head.flags&flagClear != 0
	p.plain = p.height == 0 && clear
	if !p.plain && !f.roomFor(pos, float64(pos.Y)+float64(p.height)) {
		return place{}
	}
	p.water, p.deep = own.flags&flagWater != 0, head.flags&flagWater != 0
	p.climb = own.flags&flagClimb != 0
	p.hangs = p.foot == footClimb && below.flags&flagClimb == 0
	p.hazard = f.worst(pos, own, head, below, p)
	p.near = f.besideHazard(pos)
	return p
}

// foot finds what holds a player: a floor in the cell or at its bottom, something climbable, water, or wings.
func (f *finder) foot(own, below traits, known bool) place {
	ownTop := own.top
	if own.flags&flagClimb != 0 && own.flags&flagClear != 0 {
		ownTop = 0 // scaffolding is stood on in the cell above it
	}
	var p place
	switch {
	case ownTop > 0 && ownTop < 1:
		p = place{foot: footStand, height: ownTop, slow: own.flags&flagSlow != 0, noJump: own.flags&flagNoJump != 0,
			soft: own.flags&flagSoft != 0, narrow: own.flags&flagNarrow != 0}
	case known && below.top >= 1:
		p = place{foot: footStand, slow: below.flags&flagSlow != 0}
	}
	if known && below.top >= 1 && below.top-1 >= p.height {
		p.height, p.narrow = below.top-1, below.flags&flagNarrow != 0
	}
	switch {
	case f.o.CanFly:
		p.foot = footFly
	case p.foot != footNone:
	case own.flags&flagClimb != 0:
		p.foot = footClimb
	case own.flags&flagWater != 0:
		p.foot = footSwim
	}
	return p
}

// worst returns the first banned hazard that a player touches in the cell, else the costliest one.
func (f *finder) worst(pos geom.BlockPos, own, head, below traits, p place) Hazard {
	touched := [4]Hazard{own.hazard, head.hazard, HazardNone, HazardNone}
	if p.height == 0 || below.top > 1 {
		switch below.hazard {
		case HazardMagma, HazardCampfire, HazardCactus, HazardFragile:
			touched[2] = below.hazard
		}
	}
	if p.height > 0.2 {
		top, _ := f.traits(above(pos, 2))
		touched[3] = top.hazard
	}
	worst, cost := HazardNone, int32(0)
	for _, h := range touched {
		if h == HazardNone {
			continue
		}
		if f.o.Pass[h] <= 0 {
			return h
		}
		if f.o.Pass[h] > cost {
			worst, cost = h, f.o.Pass[h]
		}
	}
	return worst
}

// besideHazard tells whether lava, fire or cactus stands beside the feet or below them at a side.
func (f *finder) besideHazard(pos geom.BlockPos) bool {
	for _, face := range geom.HorizontalFaces {
		side := pos.Neighbour(face)
		for dy := int32(-1); dy <= 0; dy++ {
			s, ok := f.w.Cells.Block(above(side, dy))
			if !ok {
				continue
			}
			switch f.w.Table.of(s).hazard {
			case HazardLava, HazardFire, HazardCactus:
				return true
			}
		}
	}
	return false
}

// roomFor tells whether a player centred in the column of pos has room with the feet at this height.
func (f *finder) roomFor(pos geom.BlockPos, feet float64) bool {
	return f.free(column(pos, feet, feet+geom.PlayerHeight))
}

// column is the box of a centred player from one height to another.
func column(pos geom.BlockPos, low, high float64) geom.Box {
	x, z := float64(pos.X), float64(pos.Z)
	return geom.Box{Min: geom.Vec3{x + footMin, low, z + footMin}, Max: geom.Vec3{x + footMax, high, z + footMax}}
}

// free tells whether no collision shape reaches into the box. Unknown cells do.
func (f *finder) free(box geom.Box) bool {
	x0, x1 := cellRange(box, 0)
	y0, y1 := cellRange(box, 1)
	z0, z1 := cellRange(box, 2)
	for y := y0 - 1; y <= y1; y++ { // fences reach into the cell above them
		for z := z0; z <= z1; z++ {
			for x := x0; x <= x1; x++ {
				if f.blocks(geom.BlockPos{X: x, Y: y, Z: z}, box, y < y0) {
					return false
				}
			}
		}
	}
	return true
}

func cellRange(b geom.Box, axis int) (lo, hi int32) {
	return int32(math.Floor(b.Min[axis] + epsilon)), int32(math.Floor(b.Max[axis] - epsilon))
}

// blocks tells whether the shape of one cell reaches into the box.
func (f *finder) blocks(pos geom.BlockPos, box geom.Box, below bool) bool {
	s, ok := f.w.Cells.Block(pos)
	if !ok {
		if !below {
			f.unknown++
		}
		return !below
	}
	t := f.w.Table.of(s)
	if t.flags&flagClear != 0 || below && t.flags&flagFull != 0 {
		return false
	}
	corner := pos.Corner()
	for _, b := range f.w.Table.reg.Shape(s) {
		if overlaps(box, b.Move(corner)) {
			return true
		}
	}
	return false
}

func overlaps(a, b geom.Box) bool {
	for i := range a.Min {
		if a.Min[i] >= b.Max[i]-epsilon || b.Min[i] >= a.Max[i]-epsilon {
			return false
		}
	}
	return true
}
