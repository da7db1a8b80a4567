package placement

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// overlay is a world with a few cells changed; the last change of a cell counts.
type overlay struct {
	base  Cells
	cells []CellChange
}

// Block implements Cells.
func (o *overlay) Block(p geom.BlockPos) (registry.StateID, bool) {
	for i := len(o.cells) - 1; i >= 0; i-- {
		if o.cells[i].Pos == p {
			return o.cells[i].To, true
		}
	}
	return o.base.Block(p)
}

func (o *overlay) set(p geom.BlockPos, s registry.StateID) {
	from, _ := o.Block(p)
	o.cells = append(o.cells, CellChange{Pos: p, From: from, To: s})
}

// rippleLimit bounds how many cells a placement is followed through. Vanilla's own updates end after 512 steps.
const rippleLimit = 96

// Ripple returns the neighbours that change because the given cells changed: fences that join, stairs that turn corners,
// rails that bend, the other half of a chest, a plant whose lower half went. The placed cells themselves are not among
// them unless an update changes them once more.
func Ripple(reg *registry.Registry, w Cells, cells []CellChange) []CellChange {
	o := &overlay{base: w, cells: append(make([]CellChange, 0, len(cells)+8), cells...)}
	c := ctx{reg, o}
	queue := make([]geom.BlockPos, 0, 32)
	push := func(p geom.BlockPos, wide bool) {
		for _, f := range geom.Faces {
			queue = append(queue, p.Neighbour(f))
		}
		if wide {
			for _, f := range geom.HorizontalFaces {
				queue = append(queue, p.Neighbour(f).Neighbour(geom.Up), p.Neighbour(f).Neighbour(geom.Down))
			}
		}
	}
	for _, ch := range cells {
		if c.family(ch.To) == Rail {
			for _, r := range c.railJoins(ch.Pos, ch.To) {
				o.set(r.pos, r.state)
			}
		}
		c.orphan(o, ch)
		push(ch.Pos, c.reg.FullCube(ch.To) || c.family(ch.To) == RedstoneWire)
	}
	for i := 0; i < len(queue) && i < rippleLimit*12; i++ {
		p := queue[i]
		s, ok := o.Block(p)
		if !ok || !c.follows(s) {
			continue
		}
		if n := c.refresh(p, s); n != s {
			o.set(p, n)
			if len(o.cells) > rippleLimit {
				break
			}
			push(p, false)
		}
	}
	return o.merged(len(cells))
}

// follows tells quickly whether refresh may change a state at all.
func (c ctx) follows(s registry.StateID) bool {
	if s == 0 {
		return false
	}
	switch c.family(s) {
	case Fence, PaneBars, Wall, Stairs, FenceGate, RedstoneWire, Tripwire, Chorus, SnowySoil, HorizSame, Chest, MushroomBlock,
		Scaffolding, ColumnPlant, VineColumn, Dripleaf, WaterPlant, Bell:
		return true
	}
	return false
}

// orphan removes the other half of a tall plant that a placement replaced.
func (c ctx) orphan(o *overlay, ch CellChange) {
	f := c.family(ch.From)
	if f != DoublePlant && c.block(ch.From) != "minecraft:tall_seagrass" || c.block(ch.From) == c.block(ch.To) {
		return
	}
	other := ch.Pos.Neighbour(geom.Up)
	if c.is(ch.From, "half", "upper") {
		other = ch.Pos.Neighbour(geom.Down)
	}
	if s, ok := o.Block(other); ok && c.block(s) == c.block(ch.From) {
		left := registry.StateID(0)
		if b, ok := c.reg.Block("minecraft:water"); ok && c.water(s) {
			left = b.Default
		}
		o.set(other, left)
	}
}

// merged returns the changes after the first n, one per cell, with the first From and the last To.
func (o *overlay) merged(n int) []CellChange {
	var out []CellChange
next:
	for _, ch := range o.cells[n:] {
		for i := range out {
			if out[i].Pos == ch.Pos {
				out[i].To = ch.To
				continue next
			}
		}
		out = append(out, ch)
	}
	kept := out[:0]
	for _, ch := range out {
		if ch.From != ch.To {
			kept = append(kept, ch)
		}
	}
	return kept
}
