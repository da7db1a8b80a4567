package placement

import (
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// survives tells whether a state can stay in a cell, by what holds it. It is never laxer than the game; where the game's
// answer hangs on light or chance it says no. The string tells a person what is missing.
func (c ctx) survives(p geom.BlockPos, s registry.StateID) (string, bool) {
	b := c.block(s)
	f := c.family(s)
	if need, ok := c.survivesPlant(p, s, b, f); need != "" {
		return need, ok
	}
	need, ok := c.survivesFixture(p, s, b, f)
	return need, ok
}

func (c ctx) survivesFixture(p geom.BlockPos, s registry.StateID, b string, f Family) (string, bool) {
	facing, _ := c.facing(s)
	behind := facing.Opposite()
	switch f {
	case Door:
		if c.is(s, "half", "upper") {
			return "", true
		}
		return "a full top face below", c.sturdy(p, geom.Down)
	case Diode, Rail, RedstoneWire:
		return "a full top face below", c.sturdy(p, geom.Down) ||
			f == RedstoneWire && c.sideIs(p, geom.Down, "minecraft:hopper") || f == Rail && c.rigid(p)
	case PressurePlate:
		return "a full top face or a post below", c.rigid(p) || c.centre(p, geom.Down)
	case AmethystBud:
		return "a full face of the block it grows from", c.sturdy(p, behind)
	case Torch:
		if _, wall := c.facing(s); wall {
			return "a full side of the block behind", c.sturdy(p, behind)
		}
		return "a block below with a solid middle", c.centre(p, geom.Down)
	case LeverButton:
		return "a full face of the block it hangs on", c.sturdy(p, c.attachedTo(s))
	case Bell:
		d := c.bellSide(s)
		if d == geom.Up {
			return "a block above with a solid middle", c.centre(p, d)
		}
		return "a full face of the block it hangs on", c.sturdy(p, d)
	case Ladder, TripwireHook:
		return "a full side of the block behind", c.sturdy(p, behind)
	case Cocoa:
		return "a jungle log on its facing side", c.sideIs(p, facing, "minecraft:jungle_log", "minecraft:jungle_wood",
			"minecraft:stripped_jungle_log", "minecraft:stripped_jungle_wood")
	case SignStanding, Banner, Cake:
		return "a solid block below", c.solid(p, geom.Down)
	case SignWall, BannerWall:
		return "a solid block behind", c.solid(p, behind)
	case SignHanging:
		return "a block above with a solid middle", c.centre(p, geom.Up)
	case SignWallHanging:
		return "a full side to its left or right", c.hangs(p, facing.Clockwise()) || c.hangs(p, facing.CounterClockwise())
	case Lantern:
		if c.is(s, "hanging", "true") {
			return "a block above with a solid middle", c.centre(p, geom.Up)
		}
		return "a block below with a solid middle", c.centre(p, geom.Down)
	case PointedDripstone:
		d := geom.Up
		if c.is(s, "vertical_direction", "up") {
			d = geom.Down
		}
		return "a full face or dripstone at its root", c.sturdy(p, d) || c.dripstone(p, d, c.prop(s, "vertical_direction"))
	case Vine, Multiface:
		return "a full face on every side it covers", c.sidesHeld(p, s, f)
	case Carpet, MossCarpet:
		below, ok := c.side(p, geom.Down)
		return "anything but air below", ok && !c.reg.IsAir(below)
	case SnowLayer:
		return "a full top face below", c.holdsSnow(p)
	case Candle, TurtleEgg:
		return "a block below with a solid middle", c.centre(p, geom.Down)
	case SeaPickle:
		return "a block below with a top face", c.centre(p, geom.Down)
	case Coral:
		if strings.HasSuffix(b, "_wall_fan") {
			return "a full side of the block behind", c.sturdy(p, behind)
		}
		return "a full top face below", c.sturdy(p, geom.Down)
	case Scaffolding:
		return "support within six blocks", c.scaffoldDistance(p) < 7
	case Chorus:
		return "end stone or chorus below", c.sideIs(p, geom.Down, "minecraft:end_stone", "minecraft:chorus_plant")
	}
	return "", true
}

// rigid tells whether the block below carries rails and plates.
func (c ctx) rigid(p geom.BlockPos) bool {
	s, ok := c.side(p, geom.Down)
	return ok && c.reg.FaceRigid(s, geom.Up)
}

// attachedTo returns the side on which a lever, button or grindstone hangs.
func (c ctx) attachedTo(s registry.StateID) geom.Face {
	switch c.prop(s, "face") {
	case "floor":
		return geom.Down
	case "ceiling":
		return geom.Up
	}
	f, _ := c.facing(s)
	return f.Opposite()
}

func (c ctx) bellSide(s registry.StateID) geom.Face {
	switch c.prop(s, "attachment") {
	case "floor":
		return geom.Down
	case "ceiling":
		return geom.Up
	}
	f, _ := c.facing(s)
	return f
}

// hangs tells whether a hanging wall sign may hold on to the block on that side.
func (c ctx) hangs(p geom.BlockPos, f geom.Face) bool {
	s, ok := c.side(p, f)
	if !ok {
		return false
	}
	if c.family(s) == SignWallHanging {
		sf, _ := c.facing(s)
		return sf.Clockwise() == f || sf.CounterClockwise() == f
	}
	return c.reg.FaceFull(s, f.Opposite())
}

func (c ctx) dripstone(p geom.BlockPos, f geom.Face, direction string) bool {
	s, ok := c.side(p, f)
	return ok && c.family(s) == PointedDripstone && c.is(s, "vertical_direction", direction)
}

// sidesHeld tells whether every side that a vine or lichen covers has something to cling to, and there is at least one.
func (c ctx) sidesHeld(p geom.BlockPos, s registry.StateID, f Family) bool {
	some := false
	for _, d := range geom.Faces {
		if !c.is(s, d.String(), "true") {
			continue
		}
		some = true
		if !c.clings(p, d, f) {
			return false
		}
	}
	return some
}

func (c ctx) clings(p geom.BlockPos, d geom.Face, f Family) bool {
	if f == Vine && d == geom.Down {
		return false
	}
	if c.sturdy(p, d) {
		return true
	}
	if f != Vine || d == geom.Up {
		return false
	}
	above, ok := c.side(p, geom.Up)
	return ok && c.family(above) == Vine && c.is(above, d.String(), "true")
}

func (c ctx) holdsSnow(p geom.BlockPos) bool {
	s, ok := c.side(p, geom.Down)
	if !ok {
		return false
	}
	switch c.block(s) {
	case "minecraft:ice", "minecraft:packed_ice", "minecraft:barrier":
		return false
	case "minecraft:honey_block", "minecraft:soul_sand", "minecraft:mud":
		return true
	case "minecraft:snow":
		return c.is(s, "layers", "8")
	}
	return c.reg.FaceFull(s, geom.Up)
}

// scaffoldDistance returns the distance property that scaffolding would have in the cell, 7 if nothing holds it.
func (c ctx) scaffoldDistance(p geom.BlockPos) int {
	d := 7
	if below, ok := c.side(p, geom.Down); ok {
		if c.family(below) == Scaffolding {
			d = c.number(below, "distance")
		} else if c.reg.FaceFull(below, geom.Up) {
			return 0
		}
	}
	for _, f := range geom.HorizontalFaces {
		if s, ok := c.side(p, f); ok && c.family(s) == Scaffolding {
			d = min(d, c.number(s, "distance")+1)
		}
	}
	return d
}
