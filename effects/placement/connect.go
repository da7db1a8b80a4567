package placement

import (
	"strings"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// refresh recomputes what a state in a cell takes from its neighbours. An unknown neighbour counts as nothing to
// connect to; such properties are masked anyhow.
func (c ctx) refresh(p geom.BlockPos, s registry.StateID) registry.StateID {
	switch c.family(s) {
	case Fence:
		return c.sides(p, s, c.fenceConnects)
	case PaneBars:
		return c.sides(p, s, c.paneConnects)
	case Wall:
		return c.wall(p, s)
	case Stairs:
		return c.with(s, "shape", c.stairShape(p, s))
	case FenceGate:
		return c.withBool(s, "in_wall", c.gateInWall(p, s))
	case RedstoneWire:
		return c.wire(p, s)
	case Tripwire:
		return c.sides(p, s, c.tripwireConnects)
	case Chorus:
		return c.chorus(p, s)
	case SnowySoil:
		return c.withBool(s, "snowy", c.sideIs(p, geom.Up, "minecraft:snow", "minecraft:snow_block", "minecraft:powder_snow"))
	case HorizSame:
		return c.withBool(s, "signal_fire", c.sideIs(p, geom.Down, "minecraft:hay_block"))
	case Chest:
		return c.chestType(p, s)
	case MushroomBlock:
		for _, f := range geom.Faces {
			if c.sideIs(p, f, c.block(s)) {
				s = c.withBool(s, f.String(), false)
			}
		}
	case Scaffolding:
		d := c.scaffoldDistance(p)
		below, ok := c.side(p, geom.Down)
		s = c.with(s, "distance", [...]string{"0", "1", "2", "3", "4", "5", "6", "7"}[max(0, min(d, 7))])
		s = c.withBool(s, "bottom", d > 0 && !(ok && c.family(below) == Scaffolding))
	case ColumnPlant, VineColumn, Dripleaf, WaterPlant:
		return c.form(p, s)
	case Bell:
		return c.bellWalls(p, s)
	}
	return s
}

func (c ctx) sides(p geom.BlockPos, s registry.StateID, connects func(s registry.StateID, n registry.StateID, d geom.Face) bool) registry.StateID {
	for _, d := range geom.HorizontalFaces {
		n, ok := c.side(p, d)
		s = c.withBool(s, d.String(), ok && connects(s, n, d))
	}
	return s
}

// unlinked are blocks with full faces that fences, panes and walls still do not join.
func (c ctx) unlinked(s registry.StateID) bool {
	switch b := c.block(s); b {
	case "minecraft:barrier", "minecraft:carved_pumpkin", "minecraft:jack_o_lantern", "minecraft:melon", "minecraft:pumpkin":
		return true
	default:
		return strings.HasSuffix(b, "_leaves") || strings.HasSuffix(b, "shulker_box")
	}
}

// fullSide tells whether n, standing on side d, offers a full face that things join.
func (c ctx) fullSide(n registry.StateID, d geom.Face) bool {
	return !c.unlinked(n) && c.reg.FaceFull(n, d.Opposite())
}

// gateAcross tells whether n is a fence gate that closes a gap in direction d.
func (c ctx) gateAcross(n registry.StateID, d geom.Face) bool {
	if c.family(n) != FenceGate {
		return false
	}
	f, _ := c.facing(n)
	return f.Clockwise() == d || f.CounterClockwise() == d
}

func (c ctx) fenceConnects(s, n registry.StateID, d geom.Face) bool {
	if c.family(n) == Fence {
		return (c.block(s) == "minecraft:nether_brick_fence") == (c.block(n) == "minecraft:nether_brick_fence")
	}
	return c.gateAcross(n, d) || c.fullSide(n, d)
}

func (c ctx) paneConnects(_, n registry.StateID, d geom.Face) bool {
	f := c.family(n)
	return f == PaneBars || f == Wall || c.fullSide(n, d)
}

func (c ctx) tripwireConnects(_, n registry.StateID, d geom.Face) bool {
	switch c.family(n) {
	case Tripwire:
		return true
	case TripwireHook:
		f, _ := c.facing(n)
		return f == d.Opposite()
	}
	return false
}

// wall sets the sides none, low or tall and the post of a wall.
func (c ctx) wall(p geom.BlockPos, s registry.StateID) registry.StateID {
	above, known := c.side(p, geom.Up)
	var shape []geom.Box
	if known {
		shape = c.reg.Shape(above)
	}
	high := map[geom.Face]string{}
	for _, d := range geom.HorizontalFaces {
		n, ok := c.side(p, d)
		v := "none"
		if f := c.family(n); ok && (f == Wall || f == PaneBars || c.gateAcross(n, d) || c.fullSide(n, d)) {
			v = "low"
			if coversBelow(shape, wallArm(d)) {
				v = "tall"
			}
		}
		high[d] = v
		s = c.with(s, d.String(), v)
	}
	return c.withBool(s, "up", c.wallPost(above, known, shape, high))
}

func (c ctx) wallPost(above registry.StateID, known bool, shape []geom.Box, high map[geom.Face]string) bool {
	if known && c.family(above) == Wall && c.is(above, "up", "true") {
		return true
	}
	n, s, w, e := high[geom.North], high[geom.South], high[geom.West], high[geom.East]
	if (n == "none") != (s == "none") || (w == "none") != (e == "none") || n == "none" && w == "none" {
		return true
	}
	if n == "tall" && s == "tall" || e == "tall" && w == "tall" {
		return false
	}
	if !known {
		return false
	}
	switch c.family(above) {
	case Torch, Tripwire, SignStanding, SignWall, SignHanging, SignWallHanging, Banner, BannerWall, PressurePlate:
		return true
	}
	return c.block(above) == "minecraft:cactus_flower" || coversBelow(shape, [4]float64{7. / 16, 7. / 16, 9. / 16, 9. / 16})
}

// wallArm is the strip that must be covered from above for a tall side: x0, z0, x1, z1.
func wallArm(d geom.Face) [4]float64 {
	const a, b = 7. / 16, 9. / 16
	switch d {
	case geom.North:
		return [4]float64{a, 0, b, b}
	case geom.South:
		return [4]float64{a, a, b, 1}
	case geom.West:
		return [4]float64{0, a, b, b}
	default:
		return [4]float64{a, a, 1, b}
	}
}

// coversBelow tells whether the boxes that reach the bottom of their cell cover a rectangle there.
func coversBelow(shape []geom.Box, r [4]float64) bool {
	if len(shape) == 0 {
		return false
	}
	for x := r[0] + 1./32; x < r[2]; x += 1. / 16 {
		for z := r[1] + 1./32; z < r[3]; z += 1. / 16 {
			hit := false
			for _, b := range shape {
				if b.Min[1] < 1e-6 && b.Min[0] <= x && x <= b.Max[0] && b.Min[2] <= z && z <= b.Max[2] {
					hit = true
					break
				}
			}
			if !hit {
				return false
			}
		}
	}
	return true
}

// stairShape is the shape that stairs take from the stairs in front of and behind them.
func (c ctx) stairShape(p geom.BlockPos, s registry.StateID) string {
	facing, _ := c.facing(s)
	half := c.prop(s, "half")
	turned := func(d geom.Face) (geom.Face, bool) {
		n, ok := c.side(p, d)
		if !ok || c.family(n) != Stairs || c.prop(n, "half") != half {
			return 0, false
		}
		f, _ := c.facing(n)
		return f, f != facing && f != facing.Opposite()
	}
	free := func(d geom.Face) bool {
		n, ok := c.side(p, d)
		if !ok || c.family(n) != Stairs {
			return true
		}
		f, _ := c.facing(n)
		return f != facing || c.prop(n, "half") != half
	}
	hand := func(kind string, f geom.Face) string {
		if f == facing.CounterClockwise() {
			return kind + "_left"
		}
		return kind + "_right"
	}
	if f, ok := turned(facing); ok && free(f.Opposite()) {
		return hand("outer", f)
	}
	if f, ok := turned(facing.Opposite()); ok && free(f) {
		return hand("inner", f)
	}
	return "straight"
}

func (c ctx) gateInWall(p geom.BlockPos, s registry.StateID) bool {
	f, _ := c.facing(s)
	for _, d := range []geom.Face{f.Clockwise(), f.CounterClockwise()} {
		if n, ok := c.side(p, d); ok && c.family(n) == Wall {
			return true
		}
	}
	return false
}

func (c ctx) chorus(p geom.BlockPos, s registry.StateID) registry.StateID {
	for _, d := range geom.Faces {
		on := c.sideIs(p, d, "minecraft:chorus_plant", "minecraft:chorus_flower") || d == geom.Down && c.sideIs(p, d, "minecraft:end_stone")
		s = c.withBool(s, d.String(), on)
	}
	return s
}

// chestType turns a single chest into one half when its neighbour is the other half already.
func (c ctx) chestType(p geom.BlockPos, s registry.StateID) registry.StateID {
	facing, _ := c.facing(s)
	if !c.is(s, "type", "single") {
		return s
	}
	for _, d := range []geom.Face{facing.Clockwise(), facing.CounterClockwise()} {
		n, ok := c.side(p, d)
		if !ok || c.block(n) != c.block(s) || c.is(n, "type", "single") {
			continue
		}
		if nf, _ := c.facing(n); nf != facing {
			continue
		}
		towards := facing.CounterClockwise()
		if c.is(n, "type", "left") {
			towards = facing.Clockwise()
		}
		if towards == d.Opposite() {
			if c.is(n, "type", "left") {
				return c.with(s, "type", "right")
			}
			return c.with(s, "type", "left")
		}
	}
	return s
}

// bellWalls tells single from double walls by the far side.
func (c ctx) bellWalls(p geom.BlockPos, s registry.StateID) registry.StateID {
	a := c.prop(s, "attachment")
	if a != "single_wall" && a != "double_wall" {
		return s
	}
	f, _ := c.facing(s)
	if c.sturdy(p, f) && c.sturdy(p, f.Opposite()) {
		return c.with(s, "attachment", "double_wall")
	}
	return c.with(s, "attachment", "single_wall")
}

// form turns the tip of a growing plant into its stem when the next piece is there.
func (c ctx) form(p geom.BlockPos, s registry.StateID) registry.StateID {
	b := c.block(s)
	next := geom.Up
	if b == "minecraft:weeping_vines" || b == "minecraft:cave_vines" {
		next = geom.Down
	}
	n, ok := c.side(p, next)
	if !ok || effects.FirstForm(c.block(n)) != effects.FirstForm(b) {
		return s
	}
	stem := ""
	switch b {
	case "minecraft:bamboo_sapling":
		stem = "minecraft:bamboo"
	case "minecraft:kelp", "minecraft:weeping_vines", "minecraft:twisting_vines", "minecraft:cave_vines":
		stem = b + "_plant"
	case "minecraft:big_dripleaf":
		stem = "minecraft:big_dripleaf_stem"
	default:
		return s
	}
	blk, ok := c.reg.Block(stem)
	if !ok {
		return s
	}
	out := blk.Default
	for _, p := range blk.Props {
		if v, has := c.reg.Prop(s, p.Name); has {
			out = c.with(out, p.Name, v)
		}
	}
	return out
}
