package blueprint

import (
	"context"
	"fmt"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// area is the plan's hypothetical world: a dense copy of all boxes that changes step by step. Where a player can be is
// worked out per cell on demand and forgotten when a block near it changes.
type area struct {
	reg   *registry.Registry
	box   geom.BlockBox
	sx    int32
	sz    int32
	cells []uint16
	feet  []float32 // feetUnknown, feetNone, feetAir (room to hover), or height of the feet above the cell's lower end
	walk  geom.BlockBox
	fly   bool
}

const (
	cellUnknown = ^uint16(0)
	feetUnknown = float32(-3)
	feetNone    = float32(-2)
	feetAir     = float32(-1)
)

func newArea(ctx context.Context, reg *registry.Registry, box, walk geom.BlockBox, fly bool, world placement.Cells) (*area, error) {
	if n := box.Volume(); n > maxArea || n <= 0 {
		return nil, fmt.Errorf("%w: %w: %v has more than %d cells", ErrTooLarge, errArea, box, maxArea)
	}
	s := box.Size()
	a := &area{reg: reg, box: box, sx: s.X, sz: s.Z, cells: make([]uint16, box.Volume()), walk: walk, fly: fly}
	a.feet = make([]float32, len(a.cells))
	i := 0
	for y := box.Min.Y; y <= box.Max.Y; y++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for z := box.Min.Z; z <= box.Max.Z; z++ {
			for x := box.Min.X; x <= box.Max.X; x++ {
				a.cells[i], a.feet[i] = cellUnknown, feetUnknown
				if st, ok := world.Block(geom.BlockPos{X: x, Y: y, Z: z}); ok {
					a.cells[i] = uint16(st)
				}
				i++
			}
		}
	}
	return a, nil
}

// index returns the place of a cell, below 0 outside.
func (a *area) index(p geom.BlockPos) int {
	if !a.box.Contains(p) {
		return -1
	}
	d := p.Sub(a.box.Min)
	return (int(d.Y)*int(a.sz)+int(d.Z))*int(a.sx) + int(d.X)
}

// Block implements placement.Cells.
func (a *area) Block(p geom.BlockPos) (registry.StateID, bool) {
	i := a.index(p)
	if i < 0 || a.cells[i] == cellUnknown {
		return 0, false
	}
	return registry.StateID(a.cells[i]), true
}

// set changes a cell and forgets what depended on it. It tells whether a place to be appeared or vanished.
func (a *area) set(p geom.BlockPos, s registry.StateID) (moved bool) {
	i := a.index(p)
	if i < 0 {
		return false
	}
	var before [4]float32
	for k := range before {
		before[k] = a.at(geom.BlockPos{X: p.X, Y: p.Y + 1 - int32(k), Z: p.Z})
	}
	a.cells[i] = uint16(s)
	for k := range before {
		q := geom.BlockPos{X: p.X, Y: p.Y + 1 - int32(k), Z: p.Z}
		if j := a.index(q); j >= 0 {
			a.feet[j] = feetUnknown
			moved = a.at(q) != before[k] || moved
		}
	}
	return moved
}

// at returns how somebody can be in a cell.
func (a *area) at(p geom.BlockPos) float32 {
	i := a.index(p)
	if i < 0 || !a.walk.Contains(p) {
		return feetNone
	}
	if v := a.feet[i]; v != feetUnknown {
		return v
	}
	v := feetNone
	if y, ok := placement.FeetAt(a.reg, a, p); ok {
		v = float32(y - float64(p.Y))
	} else if a.fly && placement.FreeAt(a.reg, a, p) {
		v = feetAir
	}
	a.feet[i] = v
	return v
}

// spot is where the feet are in a cell that at allows.
func (a *area) spot(p geom.BlockPos, v float32) placement.Spot {
	s := placement.Spot{Cell: p, Flying: v == feetAir}
	s.Feet = geom.Vec3{float64(p.X) + 0.5, float64(p.Y) + max(float64(v), 0), float64(p.Z) + 0.5}
	return s
}

// flat is the world of a plan without a world: solid ground below a height, air above.
type flat struct {
	ground int32
	stone  registry.StateID
}

// Block implements placement.Cells.
func (f flat) Block(p geom.BlockPos) (registry.StateID, bool) {
	if p.Y < f.ground {
		return f.stone, true
	}
	return 0, true
}
