package placement

import (
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// wire sets the four sides of redstone wire: a lone wire is a cross, one with a single connection a line.
func (c ctx) wire(p geom.BlockPos, s registry.StateID) registry.StateID {
	dot := true
	for _, d := range geom.HorizontalFaces {
		dot = dot && c.is(s, d.String(), "none")
	}
	above, ok := c.side(p, geom.Up)
	open := ok && !c.conductor(above)
	on := map[geom.Face]bool{}
	for _, d := range geom.HorizontalFaces {
		v := c.wireSide(p, d, open)
		on[d] = v != "none"
		s = c.with(s, d.String(), v)
	}
	if dot && !on[geom.North] && !on[geom.South] && !on[geom.West] && !on[geom.East] {
		return s
	}
	alongX := !on[geom.North] && !on[geom.South]
	alongZ := !on[geom.West] && !on[geom.East]
	for d, need := range map[geom.Face]bool{geom.West: alongX, geom.East: alongX, geom.North: alongZ, geom.South: alongZ} {
		if need && !on[d] {
			s = c.with(s, d.String(), "side")
		}
	}
	return s
}

func (c ctx) wireSide(p geom.BlockPos, d geom.Face, open bool) string {
	n, ok := c.side(p, d)
	if !ok {
		return "none"
	}
	if open && (c.family(n) == Trapdoor || c.reg.FaceFull(n, geom.Up) || c.block(n) == "minecraft:hopper") {
		if up, ok := c.side(p.Neighbour(d), geom.Up); ok && c.family(up) == RedstoneWire {
			if c.reg.FaceFull(n, d.Opposite()) {
				return "up"
			}
			return "side"
		}
	}
	if c.wireJoins(n, d) {
		return "side"
	}
	if !c.conductor(n) {
		if down, ok := c.side(p.Neighbour(d), geom.Down); ok && c.family(down) == RedstoneWire {
			return "side"
		}
	}
	return "none"
}

func (c ctx) wireJoins(n registry.StateID, d geom.Face) bool {
	switch b := c.block(n); b {
	case "minecraft:redstone_wire", "minecraft:comparator", "minecraft:redstone_block", "minecraft:lever", "minecraft:daylight_detector",
		"minecraft:target", "minecraft:tripwire_hook", "minecraft:detector_rail", "minecraft:trapped_chest", "minecraft:lectern",
		"minecraft:sculk_sensor", "minecraft:calibrated_sculk_sensor", "minecraft:jukebox", "minecraft:redstone_torch",
		"minecraft:redstone_wall_torch":
		return true
	case "minecraft:repeater":
		f, _ := c.facing(n)
		return f == d || f == d.Opposite()
	case "minecraft:observer":
		f, _ := c.facing(n)
		return f == d
	default:
		f := c.family(n)
		return strings.HasSuffix(b, "_button") || f == PressurePlate || strings.HasSuffix(b, "lightning_rod")
	}
}

// conductor tells whether a block is a full one that redstone goes through. Approximate; wire sides are masked.
func (c ctx) conductor(s registry.StateID) bool {
	if !c.fullCube(s) {
		return false
	}
	b := c.block(s)
	return !strings.Contains(b, "glass") && !strings.HasSuffix(b, "_leaves") && b != "minecraft:glowstone" &&
		b != "minecraft:ice" && b != "minecraft:redstone_block" && b != "minecraft:observer" && b != "minecraft:barrier" &&
		!strings.HasSuffix(b, "copper_grate") && !strings.HasSuffix(b, "shulker_box") && !strings.HasSuffix(b, "piston")
}
