package placement

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// FeetAt returns the height of the feet of a player who stands in the middle of a cell: the highest floor whose top lies
// in this cell, with room above for the body. False if nobody can or should stand there: no floor, no room, a fluid,
// something that hurts, or a cell that is not known.
func FeetAt(reg *registry.Registry, w Cells, cell geom.BlockPos) (float64, bool) {
	below, ok := w.Block(cell.Neighbour(geom.Down))
	if !ok {
		return 0, false
	}
	here, ok := w.Block(cell)
	if !ok || bad(reg, here, true) {
		return 0, false
	}
	top := -1.0
	floor := below
	for _, b := range column(reg, below) {
		if t := b[1] - 1; t >= 0 && t < 1 && t > top {
			top = t
		}
	}
	for _, b := range column(reg, here) {
		if b[1] < 1 && b[1] > top {
			top, floor = b[1], here
		}
	}
	if top < 0 || bad(reg, floor, false) || !roomFrom(reg, w, cell, top) {
		return 0, false
	}
	return float64(cell.Y) + top, true
}

// FreeAt tells whether a body fits into a cell and the one above without touching anything: room to hover.
func FreeAt(reg *registry.Registry, w Cells, cell geom.BlockPos) bool {
	here, ok := w.Block(cell)
	if !ok || bad(reg, here, true) {
		return false
	}
	return roomFrom(reg, w, cell, 0)
}

// roomFrom tells whether the column is empty from height bottom (above the cell's lower end) for a player's height.
func roomFrom(reg *registry.Registry, w Cells, cell geom.BlockPos, bottom float64) bool {
	top := bottom + geom.PlayerHeight
	for dy := int32(0); float64(dy) < top; dy++ {
		s, ok := w.Block(geom.BlockPos{X: cell.X, Y: cell.Y + dy, Z: cell.Z})
		if !ok || dy > 0 && bad(reg, s, true) {
			return false
		}
		for _, b := range column(reg, s) {
			if b[0]+float64(dy) < top && b[1]+float64(dy) > bottom {
				return false
			}
		}
	}
	return true
}

// column returns the vertical spans that a block's shape takes where a player's body would be, in the middle of its cell.
func column(reg *registry.Registry, s registry.StateID) [][2]float64 {
	shape := reg.Shape(s)
	if len(shape) == 0 {
		return nil
	}
	var buf [4][2]float64
	out := buf[:0]
	for _, b := range shape {
		if b.Max[0] > 0.2 && b.Min[0] < 0.8 && b.Max[2] > 0.2 && b.Min[2] < 0.8 {
			out = append(out, [2]float64{b.Min[1], b.Max[1]})
		}
	}
	return out
}

// bad tells whether a block is no place for a body (inside) or for feet (as the floor).
func bad(reg *registry.Registry, s registry.StateID, inside bool) bool {
	if s == 0 {
		return false
	}
	b := reg.BlockOf(s)
	if b == nil {
		return true
	}
	switch b.Name {
	case "minecraft:lava", "minecraft:fire", "minecraft:soul_fire", "minecraft:cactus", "minecraft:magma_block",
		"minecraft:campfire", "minecraft:soul_campfire", "minecraft:sweet_berry_bush", "minecraft:wither_rose",
		"minecraft:powder_snow", "minecraft:cobweb", "minecraft:pointed_dripstone", "minecraft:nether_portal",
		"minecraft:end_portal", "minecraft:end_gateway", "minecraft:void_air", "minecraft:tripwire",
		"minecraft:bubble_column":
		return true
	}
	return inside && (reg.IsFluid(s) || FamilyOf(b.Name) == PressurePlate)
}
