package placement

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// hint narrows the clicks that Solve tries for a state, by the family's row. It only saves time: Predict decides.
type hint struct {
	faces []geom.Face   // clicked faces, the best first
	look  geom.Rotation // where to look; with LookNone along the clicked face
	also  []geom.Rotation
	need  LookNeed
	ys    []float64 // heights on side faces
	spots [][2]float64
	sneak []bool // nil: whatever the clicked block needs
	onto  bool   // click the target cell itself
}

var (
	anyFace  = []geom.Face{geom.Up, geom.North, geom.South, geom.West, geom.East, geom.Down}
	lowFirst = []float64{0.25, 0.75}
	low      = []float64{0.25}
	high     = []float64{0.75}
	middle   = [][2]float64{{0.5, 0.5}, {0.25, 0.25}, {0.75, 0.25}, {0.25, 0.75}, {0.75, 0.75}}
	quarters = middle[1:]
)

// along is the look of somebody who looks straight in a direction.
func along(f geom.Face) geom.Rotation {
	switch f {
	case geom.Up:
		return geom.Rotation{Pitch: -90}
	case geom.Down:
		return geom.Rotation{Pitch: 90}
	}
	return geom.Rotation{Yaw: f.Yaw()}
}

// level looks towards a side, a little downwards as people do.
func level(f geom.Face) geom.Rotation { return geom.Rotation{Yaw: f.Yaw(), Pitch: 30} }

func (c ctx) hintFor(want registry.StateID, there registry.StateID) hint {
	f := c.family(want)
	h := hint{faces: anyFace, need: LookNone, ys: lowFirst, spots: middle}
	if c.block(there) == c.block(want) && stackProperty(f) != "" {
		return c.ontoHint(h, f, there)
	}
	facing, _ := c.facing(want)
	yaw := func(to geom.Face) hint {
		h.look, h.need = level(to), LookYaw
		return h
	}
	switch f {
	case Stairs:
		h = c.halfHint(h, want, "half")
		return yaw(facing)
	case Slab:
		return c.halfHint(h, want, "type")
	case Trapdoor:
		return c.trapdoorHint(h, want, facing)
	case Door:
		h.faces, h.spots = []geom.Face{geom.Up}, quarters
		return yaw(facing)
	case FenceGate, Bed, HorizSame, DecoratedPot:
		return yaw(facing)
	case HorizOpposite, Diode, Shelf, Statue, PinkPetals, Dripleaf, DriedGhast:
		return yaw(facing.Opposite())
	case Anvil:
		return yaw(facing.CounterClockwise())
	case Chest:
		h.sneak = []bool{true, false}
		if !c.is(want, "type", "single") {
			h.sneak = []bool{false, true}
		}
		return yaw(facing.Opposite())
	case SixwayOpposite:
		h.look, h.need = along(facing.Opposite()), LookNear6
		return h
	case Observer:
		h.look, h.need = along(facing), LookNear6
		return h
	case Rail:
		h.look, h.need = level(geom.South), LookYaw
		h.also = []geom.Rotation{level(geom.East)}
		return h
	}
	return c.faceHint(h, want, there, f, facing)
}

// faceHint is for families that the clicked face decides.
func (c ctx) faceHint(h hint, want, there registry.StateID, f Family, facing geom.Face) hint {
	only := func(fs ...geom.Face) hint {
		h.faces = fs
		return h
	}
	switch f {
	case Crafter, Jigsaw:
		return c.orientationHint(h, want, f)
	case Pillar, Chain:
		switch c.prop(want, "axis") {
		case "x":
			return only(geom.East, geom.West)
		case "z":
			return only(geom.South, geom.North)
		}
		return only(geom.Up, geom.Down)
	case FaceSixway:
		return only(facing, facing.Opposite())
	case AmethystBud, Ladder, TripwireHook, SignWall, BannerWall, SkullWall:
		return only(facing)
	case Hopper:
		if facing == geom.Down {
			return only(geom.Up, geom.Down)
		}
		return only(facing.Opposite())
	case Cocoa:
		return only(facing.Opposite())
	case Torch, Coral:
		if _, wall := c.reg.Prop(want, "facing"); wall {
			return only(facing)
		}
		return only(geom.Up)
	case SignStanding, Banner, Skull:
		turn := float32(180)
		if f == Skull {
			turn = 0
		}
		h.look, h.need = geom.Rotation{Yaw: wrap(float32(c.number(want, "rotation"))*22.5 - turn), Pitch: 30}, LookYaw
		return only(geom.Up)
	case SignHanging:
		return c.hangingHint(h, want)
	case SignWallHanging:
		h.look, h.need = along(facing.Opposite()), LookNear6
		return only(facing.Clockwise(), facing.CounterClockwise())
	case LeverButton, Grindstone, Bell:
		return c.attachHint(h, want, f, facing)
	case Lantern:
		if c.is(want, "hanging", "true") {
			return only(geom.Down)
		}
		return only(geom.Up)
	case PointedDripstone:
		h.look, h.need = along(geom.Down), LookNear6
		if c.is(want, "vertical_direction", "down") {
			h.look = along(geom.Up)
			return only(geom.Down)
		}
		return only(geom.Up)
	case Vine, Multiface:
		h.faces = nil
		for _, d := range geom.Faces {
			if c.is(want, d.String(), "true") && !(c.block(there) == c.block(want) && c.is(there, d.String(), "true")) {
				h.faces = append(h.faces, d.Opposite())
			}
		}
	}
	return h
}

func wrap(yaw float32) float32 {
	for yaw >= 180 {
		yaw -= 360
	}
	for yaw < -180 {
		yaw += 360
	}
	return yaw
}

func (c ctx) halfHint(h hint, want registry.StateID, name string) hint {
	if c.is(want, name, "top") {
		h.faces, h.ys = []geom.Face{geom.North, geom.South, geom.West, geom.East, geom.Down}, high
	} else {
		h.faces, h.ys = anyFace[:5], low
	}
	return h
}

func (c ctx) trapdoorHint(h hint, want registry.StateID, facing geom.Face) hint {
	h.look, h.need = level(facing.Opposite()), LookYaw
	h.faces, h.ys = []geom.Face{geom.Up, facing}, low
	if c.is(want, "half", "top") {
		h.faces, h.ys = []geom.Face{geom.Down, facing}, high
	}
	return h
}

func (c ctx) orientationHint(h hint, want registry.StateID, f Family) hint {
	v := c.prop(want, "orientation")
	i := 0
	for i < len(v) && v[i] != '_' {
		i++
	}
	if i == len(v) {
		return h
	}
	front, _ := geom.ParseFace(v[:i])
	top, _ := geom.ParseFace(v[i+1:])
	if f == Jigsaw {
		h.faces = []geom.Face{front}
		if !front.IsHorizontal() {
			h.look, h.need = level(top.Opposite()), LookYaw
		}
		return h
	}
	h.need = LookNear6
	switch front {
	case geom.Up:
		h.look = geom.Rotation{Yaw: top.Yaw(), Pitch: 90}
	case geom.Down:
		h.look = geom.Rotation{Yaw: top.Opposite().Yaw(), Pitch: -90}
	default:
		h.look = along(front.Opposite())
	}
	return h
}

func (c ctx) hangingHint(h hint, want registry.StateID) hint {
	h.faces = []geom.Face{geom.Down}
	h.look, h.need = geom.Rotation{Yaw: wrap(float32(c.number(want, "rotation"))*22.5 - 180)}, LookYaw
	h.sneak = []bool{c.is(want, "attached", "true")}
	return h
}

func (c ctx) attachHint(h hint, want registry.StateID, f Family, facing geom.Face) hint {
	at := c.prop(want, "face")
	if f == Bell {
		at = c.prop(want, "attachment")
	}
	switch at {
	case "floor":
		h.faces, h.look, h.need = []geom.Face{geom.Up}, level(facing), LookYaw
	case "ceiling":
		h.faces, h.look, h.need = []geom.Face{geom.Down}, level(facing), LookYaw
	default:
		h.faces = []geom.Face{facing}
		if f == Bell {
			h.faces = []geom.Face{facing.Opposite()}
		}
	}
	return h
}

// ontoHint clicks what lies in the cell already.
func (c ctx) ontoHint(h hint, f Family, there registry.StateID) hint {
	h.onto = true
	switch f {
	case Slab:
		h.faces, h.ys = []geom.Face{geom.Up}, nil
		if c.is(there, "type", "top") {
			h.faces = []geom.Face{geom.Down}
		}
	case SnowLayer:
		h.faces = []geom.Face{geom.Up}
	default:
		h.faces, h.sneak = []geom.Face{geom.Up, geom.North, geom.South, geom.West, geom.East}, []bool{false}
	}
	return h
}
