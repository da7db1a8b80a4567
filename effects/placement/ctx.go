package placement

import (
	"strconv"
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// ctx is one world as one protocol reads it. All rules hang on it.
type ctx struct {
	reg *registry.Registry
	w   Cells
}

// at returns the state of a cell; an unknown cell reads as false.
func (c ctx) at(p geom.BlockPos) (registry.StateID, bool) { return c.w.Block(p) }

// side returns the state beyond a face; ok is false when it is not known.
func (c ctx) side(p geom.BlockPos, f geom.Face) (registry.StateID, bool) {
	return c.w.Block(p.Neighbour(f))
}

// block returns the block name of a state, "" out of range.
func (c ctx) block(s registry.StateID) string {
	if b := c.reg.BlockOf(s); b != nil {
		return b.Name
	}
	return ""
}

func (c ctx) prop(s registry.StateID, name string) string {
	v, _ := c.reg.Prop(s, name)
	return v
}

func (c ctx) is(s registry.StateID, name, value string) bool { return c.prop(s, name) == value }

// with sets a property where the block has it and leaves the state alone where not.
func (c ctx) with(s registry.StateID, name, value string) registry.StateID {
	if n, ok := c.reg.With(s, name, value); ok {
		return n
	}
	return s
}

func (c ctx) withBool(s registry.StateID, name string, v bool) registry.StateID {
	return c.with(s, name, strconv.FormatBool(v))
}

func (c ctx) facing(s registry.StateID) (geom.Face, bool) {
	v, ok := c.reg.Prop(s, "facing")
	if !ok {
		return 0, false
	}
	return geom.ParseFace(v)
}

func (c ctx) number(s registry.StateID, name string) int {
	n, err := strconv.Atoi(c.prop(s, name))
	if err != nil {
		return -1
	}
	return n
}

// sturdy tells whether the block beyond face f of p has a full face towards p. Unknown is no.
func (c ctx) sturdy(p geom.BlockPos, f geom.Face) bool {
	s, ok := c.side(p, f)
	return ok && c.reg.FaceFull(s, f.Opposite())
}

// centre tells whether the block beyond face f of p can hold something at the middle of its face towards p.
func (c ctx) centre(p geom.BlockPos, f geom.Face) bool {
	s, ok := c.side(p, f)
	return ok && c.reg.FaceCentre(s, f.Opposite())
}

// solid tells whether the block beyond face f of p is a solid one in the sense of signs, banners and cakes.
func (c ctx) solid(p geom.BlockPos, f geom.Face) bool {
	s, ok := c.side(p, f)
	if !ok {
		return false
	}
	if c.reg.FaceFull(s, f.Opposite()) {
		return true
	}
	b := c.reg.BlockOf(s)
	return b != nil && b.Solid
}

// sideIs tells whether the block beyond f is one of the named ones.
func (c ctx) sideIs(p geom.BlockPos, f geom.Face, names ...string) bool {
	s, ok := c.side(p, f)
	if !ok {
		return false
	}
	b := c.block(s)
	for _, n := range names {
		if b == n {
			return true
		}
	}
	return false
}

// fullCube tells whether the collision shape is the whole cell.
func (c ctx) fullCube(s registry.StateID) bool {
	sh := c.reg.Shape(s)
	return len(sh) == 1 && sh[0] == unitBox
}

var unitBox = geom.Box{Max: geom.Vec3{1, 1, 1}}

// water tells whether the state holds a water source that a waterloggable block would take in.
func (c ctx) water(s registry.StateID) bool {
	if c.reg.IsWaterSource(s) {
		return true
	}
	if v, ok := c.reg.Prop(s, "waterlogged"); ok {
		return v == "true"
	}
	switch c.block(s) {
	case "minecraft:seagrass", "minecraft:tall_seagrass", "minecraft:kelp", "minecraft:kelp_plant", "minecraft:bubble_column":
		return true
	case "minecraft:water":
		return c.is(s, "level", "0")
	}
	return false
}

// wet tells whether any of the sides of p holds water or p itself does.
func (c ctx) wet(p geom.BlockPos, faces ...geom.Face) bool {
	for _, f := range faces {
		if s, ok := c.side(p, f); ok && (c.water(s) || c.block(s) == "minecraft:water") {
			return true
		}
	}
	return false
}

// powered tells whether a neighbour plainly powers the cell. Wires, comparators and the like are not followed; what
// they decide is masked everywhere.
func (c ctx) powered(p geom.BlockPos) bool {
	for _, f := range geom.Faces {
		s, ok := c.side(p, f)
		if !ok {
			continue
		}
		switch b := c.block(s); {
		case b == "minecraft:redstone_block":
			return true
		case b == "minecraft:redstone_torch" && f != geom.Up && c.is(s, "lit", "true"):
			return true
		case b == "minecraft:lever" || strings.HasSuffix(b, "_button"):
			if c.is(s, "powered", "true") {
				return true
			}
		}
	}
	return false
}

// segment returns the sixteenth of a turn that a yaw falls into, 0 south, 4 west, 8 north, 12 east.
func segment(yaw float32) int {
	n := int(floorOf(float64(yaw)*16/360+0.5)) & 15
	return n
}

func floorOf(v float64) float64 {
	n := float64(int64(v))
	if n > v {
		n--
	}
	return n
}

// nearest orders the six directions by how much the look points along them, as the game's placement context does.
func nearest(r geom.Rotation) [6]geom.Face {
	v := r.Vector()
	x, y, z := geom.East, geom.Up, geom.South
	if v[0] <= 0 {
		x, v[0] = geom.West, -v[0]
	}
	if v[1] <= 0 {
		y, v[1] = geom.Down, -v[1]
	}
	if v[2] <= 0 {
		z, v[2] = geom.North, -v[2]
	}
	order := func(a, b, c geom.Face) [6]geom.Face {
		return [6]geom.Face{a, b, c, c.Opposite(), b.Opposite(), a.Opposite()}
	}
	const e = 1e-7 // a look straight up or down has no sideways part, whatever the sine says
	if v[0] > v[2]+e {
		switch {
		case v[1] > v[0]+e:
			return order(y, x, z)
		case v[2] > v[1]+e:
			return order(x, z, y)
		}
		return order(x, y, z)
	}
	switch {
	case v[1] > v[2]+e:
		return order(y, z, x)
	case v[0] > v[1]+e:
		return order(z, x, y)
	}
	return order(z, y, x)
}
