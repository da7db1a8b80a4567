package path

import (
	"fmt"
	"slices"
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// mostShut is how many shut doors a result names.
const mostShut = 4

// shutDoors lists the doors, gates and trapdoors beside the cells that were expanded and that would lead on if somebody
// opened them, in the order in which they were met.
func (f *finder) shutDoors() (out []geom.BlockPos) {
	for i := range f.s.records {
		r := &f.s.records[i]
		if !r.closed {
			continue
		}
		beside := []geom.BlockPos{above(r.pos, 2), above(r.pos, -1)}
		for _, face := range geom.HorizontalFaces {
			beside = append(beside, r.pos.Neighbour(face))
		}
		for _, pos := range beside {
			if s, ok := f.w.Cells.Block(pos); ok && f.w.Table.opens(s) && !slices.Contains(out, pos) {
				if out = append(out, pos); len(out) == mostShut {
					return out
				}
			}
		}
	}
	return out
}

// opens tells whether a state is that of a shut door, gate or trapdoor that a hand can open.
func (t *Table) opens(s registry.StateID) bool {
	b := t.reg.BlockOf(s)
	if b == nil || strings.HasPrefix(b.Name, "minecraft:iron_") {
		return false
	}
	return strings.HasSuffix(b.Name, "door") && !open(t.reg, s) || strings.HasSuffix(b.Name, "_fence_gate") && !open(t.reg, s)
}

func open(reg *registry.Registry, s registry.StateID) bool {
	return strings.Contains(reg.FormatState(s), "open=true")
}

// Words says for people how a search to a cell ended, and what would help where there is no way. Empty when it reached it.
func (r *Result) Words(w World, to geom.BlockPos) string {
	switch {
	case r.Status == Reached:
		return ""
	case r.Why == StartBlocked:
		return fmt.Sprintf("%s: %s: what the bot stood on is gone or something stands in its place: let somebody clear that", r.Status, r.Why)
	case r.Why != WalledOff || len(r.Nodes) == 0:
		return fmt.Sprintf("%s: %s", r.Status, r.Why)
	}
	nearest := r.Nodes[len(r.Nodes)-1].Pos
	text := fmt.Sprintf("%s: %s: of %d cells that it can get to %v comes nearest", r.Status, r.Why, r.Visited, nearest)
	if r.Visited == 1 {
		text = fmt.Sprintf("%s: %s: there is no way out of %v", r.Status, r.Why, nearest)
	}
	if len(r.Shut) == 0 {
		return text + fmt.Sprintf(", and the way %s of it is barred; the bot neither digs nor opens: let somebody make a way there", side(nearest, to))
	}
	var doors []string
	for _, pos := range r.Shut {
		name := "a door"
		if s, ok := w.Cells.Block(pos); ok {
			if b := w.Table.reg.BlockOf(s); b != nil {
				name = strings.TrimPrefix(b.Name, "minecraft:")
			}
		}
		doors = append(doors, fmt.Sprintf("%s at %v", name, pos))
	}
	return text + fmt.Sprintf("; shut beside its way: %s; the bot does not open doors: let somebody open one", strings.Join(doors, ", "))
}

// side is on which side of a cell another one lies, by the axis on which it is farthest.
func side(from, to geom.BlockPos) string {
	d := to.Sub(from)
	x, y, z := abs(d.X), abs(d.Y), abs(d.Z)
	switch {
	case y > x && y > z && d.Y > 0:
		return "above"
	case y > x && y > z:
		return "below"
	case x >= z && d.X > 0:
		return "east"
	case x >= z && d.X < 0:
		return "west"
	case d.Z > 0:
		return "south"
	}
	return "north"
}

func abs(n int32) int32 { return max(n, -n) }
