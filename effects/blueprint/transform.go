package blueprint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockworld/worldstate/geom"
)

// Mirror flips a blueprint along one axis. The zero value flips nothing.
type Mirror uint8

// The mirrors.
const (
	MirrorNone Mirror = iota
	MirrorX           // west and east change places
	MirrorZ           // north and south change places
)

// ParseMirror reads "", "x" or "z".
func ParseMirror(s string) (Mirror, error) {
	switch s {
	case "", "none":
		return MirrorNone, nil
	case "x":
		return MirrorX, nil
	case "z":
		return MirrorZ, nil
	}
	return MirrorNone, fmt.Errorf("mirror %q: x, z or nothing", s)
}

// String returns "x", "z" or "".
func (m Mirror) String() string { return [...]string{"", "x", "z"}[min(m, 2)] }

// Transform returns the blueprint mirrored, then turned by quarters clockwise as seen from above (any whole number).
func (b *Blueprint) Transform(quarters int, m Mirror) *Blueprint {
	quarters = (quarters%4 + 4) % 4
	out := *b
	out.Palette = make([]State, len(b.Palette))
	for i, s := range b.Palette {
		out.Palette[i] = s.Transform(quarters, m)
	}
	if quarters%2 == 1 {
		out.Size.X, out.Size.Z = b.Size.Z, b.Size.X
	}
	out.cells = make([]uint16, len(b.cells))
	i := 0
	for y := range b.Size.Y {
		for z := range b.Size.Z {
			for x := range b.Size.X {
				p := movePos(geom.BlockPos{X: x, Y: y, Z: z}, b.Size, quarters, m)
				out.cells[out.index(p)] = b.cells[i]
				i++
			}
		}
	}
	return &out
}

func movePos(p, size geom.BlockPos, quarters int, m Mirror) geom.BlockPos {
	switch m {
	case MirrorX:
		p.X = size.X - 1 - p.X
	case MirrorZ:
		p.Z = size.Z - 1 - p.Z
	}
	for range quarters {
		// A quarter turn clockwise seen from above takes east to south.
		p.X, p.Z = size.Z-1-p.Z, p.X
		size.X, size.Z = size.Z, size.X
	}
	return p
}

// Transform returns the state as it looks after mirroring, then turning by quarters clockwise.
func (s State) Transform(quarters int, m Mirror) State {
	turn := mover{((quarters % 4) + 4) % 4, m}
	out := State{Name: s.Name, Props: make([]Prop, 0, len(s.Props))}
	for _, p := range s.Props {
		out.Props = append(out.Props, turn.prop(p))
	}
	slices.SortFunc(out.Props, func(a, b Prop) int { return strings.Compare(a.Name, b.Name) })
	return out
}

type mover struct {
	quarters int
	mirror   Mirror
}

// dir moves a direction's name; other words stay.
func (t mover) dir(name string) string {
	f, ok := geom.ParseFace(name)
	if !ok || !f.IsHorizontal() {
		return name
	}
	alongX := f == geom.West || f == geom.East
	if t.mirror == MirrorX && alongX || t.mirror == MirrorZ && !alongX {
		f = f.Opposite()
	}
	for range t.quarters {
		f = f.Clockwise()
	}
	return f.String()
}

// hand swaps left and right under a mirror.
func (t mover) hand(v string) string {
	if t.mirror == MirrorNone {
		return v
	}
	switch {
	case strings.HasSuffix(v, "left"):
		return strings.TrimSuffix(v, "left") + "right"
	case strings.HasSuffix(v, "right"):
		return strings.TrimSuffix(v, "right") + "left"
	}
	return v
}

func (t mover) prop(p Prop) Prop {
	switch p.Name {
	case "north", "south", "west", "east":
		p.Name = t.dir(p.Name)
	case "facing":
		p.Value = t.dir(p.Value)
	case "axis":
		switch {
		case t.quarters%2 == 1 && p.Value == "x":
			p.Value = "z"
		case t.quarters%2 == 1 && p.Value == "z":
			p.Value = "x"
		}
	case "rotation":
		p.Value = t.rotation(p.Value)
	case "hinge", "type", "side_chain":
		p.Value = t.hand(p.Value)
	case "shape":
		p.Value = t.shape(p.Value)
	case "orientation":
		front, top, _ := strings.Cut(p.Value, "_")
		p.Value = t.dir(front) + "_" + t.dir(top)
	}
	return p
}

// rotation turns sixteenths: 0 south, 4 west, 8 north, 12 east.
func (t mover) rotation(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 15 {
		return v
	}
	switch t.mirror {
	case MirrorX:
		n = 16 - n
	case MirrorZ:
		n = 24 - n
	}
	return strconv.Itoa((n + 4*t.quarters) % 16)
}

// shape moves a rail's or stairs' shape.
func (t mover) shape(v string) string {
	a, b, two := strings.Cut(v, "_")
	switch {
	case !two:
		return v
	case a == "ascending":
		return "ascending_" + t.dir(b)
	case a == "inner" || a == "outer":
		return t.hand(v)
	}
	a, b = t.dir(a), t.dir(b)
	// A rail's shape is written with north or south first; the two straight ones as north_south and east_west.
	switch {
	case a == "south" && b == "north" || a == "west" && b == "east" || b == "north" || b == "south" && a != "north":
		a, b = b, a
	}
	return a + "_" + b
}
