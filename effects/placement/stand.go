package placement

import (
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Reach is the farthest that an eye may be from the clicked point. Every version's server accepts it.
const Reach = 4.5

// PlanReach is the farthest that a planned eye may be: walks end up to 0.2 beside the middle of a cell, and flight hovers
// above its floor.
const PlanReach = Reach - 0.4

// Spot is a place to make a click from.
type Spot struct {
	Cell   geom.BlockPos `json:"cell"` // the cell that holds the feet
	Feet   geom.Vec3     `json:"feet"` // the middle of the player's soles
	Flying bool          `json:"flying,omitempty"`
	Hidden bool          `json:"hidden,omitempty"` // the clicked face looks away from the eye
}

// StandOptions bound the search for a stand.
type StandOptions struct {
	Walk   geom.BlockBox // the only cells that feet may be in
	From   geom.BlockPos // nearer cells come first
	CanFly bool          // creative flight: the air carries
	Hidden bool          // also take spots from which the clicked face looks away
	Most   int           // number of spots to return, 0 for all
}

// Stand returns the places from which a use can be made: the player fits there and has ground below (or flies), the
// eye is within Reach of the clicked point and on the outer side of the clicked face, and the new block does not touch
// the player. Nearest to From first; visible before hidden. Whether a place can be walked to is not its business.
func Stand(reg *registry.Registry, w Cells, use Use, o StandOptions) []Spot {
	const r = 6
	at := geom.BlockAt(use.Click.Point())
	box := geom.BlockBox{Min: at.Sub(geom.BlockPos{X: r, Y: r + 1, Z: r}), Max: at.Add(geom.BlockPos{X: r, Y: r, Z: r})}
	var out []Spot
	for y := max(box.Min.Y, o.Walk.Min.Y); y <= min(box.Max.Y, o.Walk.Max.Y); y++ {
		for z := max(box.Min.Z, o.Walk.Min.Z); z <= min(box.Max.Z, o.Walk.Max.Z); z++ {
			for x := max(box.Min.X, o.Walk.Min.X); x <= min(box.Max.X, o.Walk.Max.X); x++ {
				if s, ok := SpotAt(reg, w, use, geom.BlockPos{X: x, Y: y, Z: z}, o.CanFly); ok && (o.Hidden || !s.Hidden) {
					out = append(out, s)
				}
			}
		}
	}
	from := o.From.Centre()
	slices.SortStableFunc(out, func(a, b Spot) int {
		if a.Hidden != b.Hidden {
			if b.Hidden {
				return -1
			}
			return 1
		}
		da, db := a.Cell.Centre().Sub(from).LenSqr(), b.Cell.Centre().Sub(from).LenSqr()
		if da < db {
			return -1
		}
		if da > db {
			return 1
		}
		return 0
	})
	if o.Most > 0 && len(out) > o.Most {
		out = out[:o.Most]
	}
	return out
}

// SpotAt tells whether a use can be made with the feet in that very cell.
func SpotAt(reg *registry.Registry, w Cells, use Use, cell geom.BlockPos, canFly bool) (Spot, bool) {
	if !nearEnough(use, cell) {
		return Spot{}, false
	}
	s := Spot{Cell: cell}
	y, ok := FeetAt(reg, w, cell)
	if !ok {
		if !canFly || !FreeAt(reg, w, cell) {
			return Spot{}, false
		}
		y, s.Flying = float64(cell.Y), true
	}
	s.Feet = geom.Vec3{float64(cell.X) + 0.5, y, float64(cell.Z) + 0.5}
	s.Hidden, ok = FromStand(reg, use, s.Feet)
	return s, ok
}

// FromStand is FromFeet for planning: it leaves a margin of reach, and room beside the middle of the cell.
func FromStand(reg *registry.Registry, use Use, feet geom.Vec3) (hidden, ok bool) {
	hidden, ok = FromFeet(reg, use, feet)
	d := Eye(use, feet).Sub(use.Click.Point())
	return hidden, ok && d.LenSqr() <= PlanReach*PlanReach && !touches(reg, use, feet, besideMiddle)
}

// besideMiddle is how far beside the middle of its cell a player may come to stand, in blocks.
const besideMiddle = 0.15

// nearEnough is a cheap first test on the cell alone.
func nearEnough(use Use, cell geom.BlockPos) bool {
	p := use.Click.Point()
	dx, dz, dy := float64(cell.X)+0.5-p[0], float64(cell.Z)+0.5-p[2], float64(cell.Y)+1.62-p[1]
	return dx*dx+dz*dz <= Reach*Reach && dy > -Reach-1 && dy < Reach+0.4
}

// FromFeet tells whether a use can be made by a player whose feet are at a point: reach and the own box. Hidden says that
// the clicked face looks away from the eye.
func FromFeet(reg *registry.Registry, use Use, feet geom.Vec3) (hidden, ok bool) {
	eye := Eye(use, feet)
	point := use.Click.Point()
	d := eye.Sub(point)
	if d.LenSqr() > Reach*Reach {
		return false, false
	}
	n := use.Click.Face.Normal()
	hidden = d[0]*float64(n.X)+d[1]*float64(n.Y)+d[2]*float64(n.Z) < 0.02
	return hidden, !touches(reg, use, feet, 0.01)
}

// touches tells whether the new blocks touch the body of a player whose feet are at a point, made wider by some margin.
func touches(reg *registry.Registry, use Use, feet geom.Vec3, margin float64) bool {
	body := geom.PlayerBox(feet, geom.PlayerHeight)
	body.Min[0], body.Min[2], body.Max[0], body.Max[2] = body.Min[0]-margin, body.Min[2]-margin, body.Max[0]+margin, body.Max[2]+margin
	for _, ch := range use.Cells {
		for _, b := range reg.Shape(ch.To) {
			if b.Move(ch.Pos.Corner()).Overlaps(body) {
				return true
			}
		}
	}
	return false
}

// Eye returns where the eye of the player is who makes the use.
func Eye(use Use, feet geom.Vec3) geom.Vec3 {
	if use.Sneak == SneakMust {
		return feet.Add(geom.Vec3{0, geom.EyeSneaking, 0})
	}
	return feet.Add(geom.Vec3{0, geom.EyeStanding, 0})
}

// LookFrom returns the look to send for a use from a spot: towards the clicked point where the look does not matter or
// that look does the same, else the use's own.
func LookFrom(reg *registry.Registry, w Cells, use Use, feet geom.Vec3) geom.Rotation {
	natural := geom.RotationTo(Eye(use, feet), use.Click.Point())
	if use.LookMatters == LookNone {
		return natural
	}
	same := natural.Horizontal() == use.Look.Horizontal() && !exactYaw(reg, use)
	if use.LookMatters == LookYaw && same {
		return natural
	}
	return use.Look
}

// exactYaw tells whether sixteenths of a turn count.
func exactYaw(reg *registry.Registry, use Use) bool {
	if len(use.Cells) == 0 {
		return true
	}
	_, ok := reg.Prop(use.Cells[0].To, "rotation")
	return ok
}
