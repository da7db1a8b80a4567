package picture

import (
	"strings"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// part is one box of a block with its look.
type part struct {
	box  geom.Box
	look material
}

// px makes a box of sixteenths.
func px(x0, y0, z0, x1, y1, z1 float64) geom.Box {
	return geom.Box{Min: geom.Vec3{x0 / 16, y0 / 16, z0 / 16}, Max: geom.Vec3{x1 / 16, y1 / 16, z1 / 16}}
}

// partsOf returns the boxes that stand for a state: mostly its collision shape.
func partsOf(reg *registry.Registry, s registry.StateID) []part {
	m := materialOf(reg, s)
	b := reg.BlockOf(s)
	if b == nil {
		return []part{{px(0, 0, 0, 16, 16, 16), m}}
	}
	name := strings.TrimPrefix(b.Name, "minecraft:")
	if list := drawn(reg, s, name, m); list != nil {
		return list
	}
	shape := reg.Shape(s)
	out := make([]part, 0, len(shape))
	for _, box := range shape {
		box.Max[1] = min(box.Max[1], 1)
		out = append(out, part{box, m})
	}
	if len(out) == 0 {
		out = append(out, part{px(5, 0, 5, 11, 6, 11), m})
	}
	return out
}

// drawn returns boxes for blocks whose collision shape is missing or misleading, nil for all others.
func drawn(reg *registry.Registry, s registry.StateID, name string, m material) []part {
	green := material{c: rgb(0x5c8f3a), alpha: 255, pattern: leafy}
	stick := material{c: rgb(0x7a5a34), alpha: 255}
	if c, ok := flowers[name]; ok {
		head := material{c: rgb(c), alpha: 255}
		return []part{{px(7.3, 0, 7.3, 8.7, 8, 8.7), green}, {px(5, 7, 5, 11, 11, 11), head}}
	}
	switch f := placement.FamilyOf("minecraft:" + name); f {
	case placement.Torch:
		return torch(reg, s, stick, m)
	case placement.Fence:
		return fence(reg, s, m)
	case placement.Rail:
		return []part{{px(1, 0, 1, 15, 1, 15), m}}
	case placement.RedstoneWire, placement.Tripwire:
		return []part{{px(3, 0, 3, 13, 0.5, 13), m}}
	case placement.PressurePlate:
		return []part{{px(1, 0, 1, 15, 1, 15), m}}
	case placement.SmallPlant, placement.Sapling, placement.Crop, placement.NetherPlant, placement.DoublePlant, placement.PinkPetals:
		return []part{{px(3, 0, 3, 13, 11, 13), green}}
	case placement.SignStanding, placement.Banner:
		return []part{{px(7.3, 0, 7.3, 8.7, 9, 8.7), stick}, {px(1, 8, 7, 15, 16, 9), m}}
	case placement.SignWall, placement.BannerWall:
		return []part{{against(reg, s, px(1, 4, 0, 15, 12, 2)), m}}
	case placement.LeverButton:
		return []part{{px(6, 0, 5, 10, 3, 11), m}}
	case placement.Vine, placement.Multiface:
		return sheets(reg, s, m)
	case placement.BucketFluid:
		return []part{{px(0, 0, 0, 16, 14, 16), m}}
	case placement.Lantern:
		low, iron := 0.0, material{c: rgb(0x4a4f5c), alpha: 255}
		if v, _ := reg.Prop(s, "hanging"); v == "true" {
			low = 1
		}
		list := []part{{px(5, low, 5, 11, low+7, 11), m}, {px(6, low+7, 6, 10, low+9, 10), iron}}
		if low > 0 {
			list = append(list, part{px(7.4, 10, 7.4, 8.6, 16, 8.6), iron})
		}
		return list
	case placement.HorizSame:
		if strings.HasSuffix(name, "campfire") {
			wood, flame := stick, m
			flame.glow = true
			return []part{{px(1, 0, 1, 15, 4, 15), wood}, {px(4, 4, 4, 12, 11, 12), flame}}
		}
	case placement.Bed:
		return []part{{px(0, 3, 0, 16, 9, 16), m}, {px(0, 0, 0, 16, 3, 16), stick}}
	}
	return nil
}

func torch(reg *registry.Registry, s registry.StateID, stick, m material) []part {
	dx, dz, dy := 0.0, 0.0, 0.0
	if v, ok := reg.Prop(s, "facing"); ok {
		f, _ := geom.ParseFace(v)
		n := f.Normal()
		dx, dz, dy = -5.5*float64(n.X), -5.5*float64(n.Z), 3
	}
	return []part{{px(7+dx, dy, 7+dz, 9+dx, dy+8, 9+dz), stick}, {px(6.7+dx, dy+8, 6.7+dz, 9.3+dx, dy+11, 9.3+dz), m}}
}

func fence(reg *registry.Registry, s registry.StateID, m material) []part {
	out := []part{{px(6, 0, 6, 10, 16, 10), m}}
	for _, f := range geom.HorizontalFaces {
		if v, _ := reg.Prop(s, f.String()); v != "true" {
			continue
		}
		for _, y := range []float64{6, 12} {
			var b geom.Box
			switch f {
			case geom.North:
				b = px(7, y, 0, 9, y+3, 6)
			case geom.South:
				b = px(7, y, 10, 9, y+3, 16)
			case geom.West:
				b = px(0, y, 7, 6, y+3, 9)
			default:
				b = px(10, y, 7, 16, y+3, 9)
			}
			out = append(out, part{b, m})
		}
	}
	return out
}

// against turns a plate at the north side of its cell to the side that a block hangs on.
func against(reg *registry.Registry, s registry.StateID, b geom.Box) geom.Box {
	v, _ := reg.Prop(s, "facing")
	switch v {
	case "north":
		return geom.Box{Min: geom.Vec3{b.Min[0], b.Min[1], 1 - b.Max[2]}, Max: geom.Vec3{b.Max[0], b.Max[1], 1 - b.Min[2]}}
	case "east":
		return geom.Box{Min: geom.Vec3{b.Min[2], b.Min[1], b.Min[0]}, Max: geom.Vec3{b.Max[2], b.Max[1], b.Max[0]}}
	case "west":
		return geom.Box{Min: geom.Vec3{1 - b.Max[2], b.Min[1], b.Min[0]}, Max: geom.Vec3{1 - b.Min[2], b.Max[1], b.Max[0]}}
	}
	return b
}

func sheets(reg *registry.Registry, s registry.StateID, m material) []part {
	plates := map[geom.Face]geom.Box{
		geom.Down: px(0, 0, 0, 16, 0.6, 16), geom.Up: px(0, 15.4, 0, 16, 16, 16), geom.North: px(0, 0, 0, 16, 16, 0.6),
		geom.South: px(0, 0, 15.4, 16, 16, 16), geom.West: px(0, 0, 0, 0.6, 16, 16), geom.East: px(15.4, 0, 0, 16, 16, 16),
	}
	var out []part
	for _, f := range geom.Faces {
		if v, _ := reg.Prop(s, f.String()); v == "true" {
			out = append(out, part{plates[f], m})
		}
	}
	return out
}
