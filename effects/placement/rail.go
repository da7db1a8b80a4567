package placement

import (
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// rail is one rail while its joints are worked out, as the game's rail state does.
type rail struct {
	pos   geom.BlockPos
	state registry.StateID
	joins []geom.BlockPos
}

var railShapes = map[string][2]geom.BlockPos{
	"north_south": {{Z: -1}, {Z: 1}}, "east_west": {{X: -1}, {X: 1}},
	"ascending_east": {{X: -1}, {X: 1, Y: 1}}, "ascending_west": {{X: -1, Y: 1}, {X: 1}},
	"ascending_north": {{Z: -1, Y: 1}, {Z: 1}}, "ascending_south": {{Z: -1}, {Z: 1, Y: 1}},
	"south_east": {{X: 1}, {Z: 1}}, "south_west": {{X: -1}, {Z: 1}},
	"north_west": {{X: -1}, {Z: -1}}, "north_east": {{X: 1}, {Z: -1}},
}

func (c ctx) railAt(p geom.BlockPos, s registry.StateID) *rail {
	d := railShapes[c.prop(s, "shape")]
	return &rail{p, s, []geom.BlockPos{p.Add(d[0]), p.Add(d[1])}}
}

// findRail looks for a rail in the cell, one above or one below.
func (c ctx) findRail(p geom.BlockPos) *rail {
	for _, q := range []geom.BlockPos{p, p.Neighbour(geom.Up), p.Neighbour(geom.Down)} {
		if s, ok := c.at(q); ok && c.family(s) == Rail {
			return c.railAt(q, s)
		}
	}
	return nil
}

// has tells whether the rail joins that column, whatever the height.
func (r *rail) has(p geom.BlockPos) bool {
	return slices.ContainsFunc(r.joins, func(j geom.BlockPos) bool { return j.X == p.X && j.Z == p.Z })
}

// settle drops joints that nobody answers.
func (c ctx) settle(r *rail) {
	kept := r.joins[:0:0]
	for _, j := range r.joins {
		if n := c.findRail(j); n != nil && n.has(r.pos) {
			kept = append(kept, n.pos)
		}
	}
	r.joins = kept
}

func (r *rail) takes(o *rail) bool { return r.has(o.pos) || len(r.joins) != 2 }

// railPlaced works out the shape of a rail that was just placed with the shape of the player's look.
func (c ctx) railPlaced(p geom.BlockPos, s registry.StateID) registry.StateID {
	self := c.railAt(p, s)
	on := func(f geom.Face) bool {
		n := c.findRail(p.Neighbour(f))
		if n == nil {
			return false
		}
		c.settle(n)
		return n.takes(self)
	}
	n, so, w, e := on(geom.North), on(geom.South), on(geom.West), on(geom.East)
	curves := c.block(s) == "minecraft:rail"
	shape := ""
	switch ns, we := n || so, w || e; {
	case ns && !we:
		shape = "north_south"
	case we && !ns:
		shape = "east_west"
	case ns && we:
		shape = c.prop(s, "shape")
	default:
		return s
	}
	if curves && (n || so) && (w || e) {
		// Lone corners first; with three or four ends the game's unpowered order: south-east wins over the rest.
		switch {
		case so && e:
			shape = "south_east"
		case so && w:
			shape = "south_west"
		case n && e:
			shape = "north_east"
		case n && w:
			shape = "north_west"
		}
	}
	return c.with(s, "shape", c.slope(p, shape))
}

// slope turns a straight shape into an ascending one where the next rail lies one higher.
func (c ctx) slope(p geom.BlockPos, shape string) string {
	up := func(f geom.Face) bool {
		s, ok := c.at(p.Neighbour(f).Neighbour(geom.Up))
		return ok && c.family(s) == Rail
	}
	pick := func(a, b geom.Face) string {
		if up(b) {
			return "ascending_" + b.String()
		}
		if up(a) {
			return "ascending_" + a.String()
		}
		return shape
	}
	switch shape {
	case "north_south":
		return pick(geom.North, geom.South)
	case "east_west":
		return pick(geom.East, geom.West)
	}
	return shape
}

// railJoins returns the neighbours that bend towards a rail whose final shape is already in the world.
func (c ctx) railJoins(p geom.BlockPos, s registry.StateID) []*rail {
	self := c.railAt(p, s)
	var out []*rail
	for _, j := range self.joins {
		n := c.findRail(j)
		if n == nil {
			continue
		}
		before := n.state
		c.settle(n)
		if !n.takes(self) {
			continue
		}
		if !n.has(p) {
			n.joins = append(n.joins, p)
		}
		if n.state = c.bend(n); n.state != before {
			out = append(out, n)
		}
	}
	return out
}

// bend gives a rail the shape of its joints.
func (c ctx) bend(r *rail) registry.StateID {
	on := func(f geom.Face) bool { return r.has(r.pos.Neighbour(f)) }
	n, s, w, e := on(geom.North), on(geom.South), on(geom.West), on(geom.East)
	shape := "north_south"
	if w || e {
		shape = "east_west"
	}
	if c.block(r.state) == "minecraft:rail" {
		switch {
		case s && e && !n && !w:
			shape = "south_east"
		case s && w && !n && !e:
			shape = "south_west"
		case n && w && !s && !e:
			shape = "north_west"
		case n && e && !s && !w:
			shape = "north_east"
		}
	}
	return c.with(r.state, "shape", c.slope(r.pos, shape))
}
