package scene

import (
	"fmt"

	"blockworld/effects"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Cells returns the cells of a use as bindings carry them.
func Cells(u placement.Use) []effects.Cell {
	out := make([]effects.Cell, len(u.Cells))
	for i, c := range u.Cells {
		out[i] = effects.Cell{Pos: c.Pos, From: c.From, To: c.To, Masked: c.Masked}
	}
	return out
}

// FromMatches says whether every cell of a use is in its from-state.
func FromMatches(v worldstate.View, u placement.Use) bool {
	for _, c := range u.Cells {
		if got, ok := v.Block(c.Pos); !ok || got != c.From {
			return false
		}
	}
	return true
}

// SurroundingsLoaded says whether the clicked cell, every changed cell and all their neighbours are known.
func SurroundingsLoaded(v worldstate.View, u placement.Use) bool {
	cells := []geom.BlockPos{u.Click.Pos}
	for _, c := range u.Cells {
		cells = append(cells, c.Pos)
	}
	for _, c := range cells {
		if _, ok := v.Block(c); !ok {
			return false
		}
		for _, face := range geom.Faces {
			if !loaded(v, c.Neighbour(face)) {
				return false
			}
		}
	}
	return true
}

// loaded says whether a cell is known; what lies above or below the world counts as known.
func loaded(v worldstate.View, p geom.BlockPos) bool {
	d := v.Dimension()
	if p.Y < d.MinY || p.Y >= d.MinY+d.Height {
		return v.Loaded(p.Chunk())
	}
	_, ok := v.Block(p)
	return ok
}

// Clickable says whether the click does what the binding says: a block stands there, and it does not take the click for
// itself.
func Clickable(v worldstate.View, u placement.Use, sneak bool) bool {
	reg := v.Registry()
	clicked, ok := v.Block(u.Click.Pos)
	if !ok || reg.IsAir(clicked) {
		return false
	}
	stacks := u.Target() == u.Click.Pos && placement.Stacks(reg, clicked, u.Cells[0].To) // a further candle
	return sneak || stacks || !placement.Interactive(reg, clicked)
}

// Replaces says what a placement takes the place of; the worst of its cells counts. MayReplace answers for replaceable
// blocks by their full name.
func Replaces(v worldstate.View, u placement.Use, mayReplace func(name string) bool) sentinel.Replacement {
	reg := v.Registry()
	worst := sentinel.ReplacesAir
	for _, c := range u.Cells {
		got, ok := v.Block(c.Pos)
		r := sentinel.ReplacesOther
		switch block := reg.BlockOf(got); {
		case !ok || block == nil:
			return sentinel.ReplacesUnknown
		case reg.IsAir(got):
			r = sentinel.ReplacesAir
		case placement.Stacks(reg, got, c.To):
			r = sentinel.ReplacesOwnKind
		case reg.Replaceable(got) && mayReplace(block.Name):
			r = sentinel.ReplacesNamed
		}
		worst = max(worst, r)
	}
	return worst
}

// Classes joins the classes of everything a placement touches.
func Classes(v worldstate.View, u placement.Use, sneak bool) sentinel.Class {
	reg := v.Registry()
	item := reg.ItemByID(u.Item)
	clicked, ok := v.Block(u.Click.Pos)
	block := reg.BlockOf(clicked)
	if item == nil || block == nil || !ok {
		return sentinel.ClassUnlisted
	}
	var made []string
	for _, c := range u.Cells {
		if m := reg.BlockOf(c.To); m != nil {
			made = append(made, m.Name)
		}
	}
	return sentinel.Classify(item.Name, made, block.Name, sneak)
}

// passable lists entities that a block may be placed into.
var passable = map[string]bool{
	"minecraft:item": true, "minecraft:experience_orb": true, "minecraft:arrow": true, "minecraft:spectral_arrow": true,
	"minecraft:area_effect_cloud": true, "minecraft:block_display": true, "minecraft:item_display": true,
	"minecraft:text_display": true, "minecraft:marker": true, "minecraft:interaction": true,
	"minecraft:lightning_bolt": true, "minecraft:snowball": true, "minecraft:egg": true, "minecraft:ender_pearl": true,
	"minecraft:experience_bottle": true, "minecraft:potion": true, "minecraft:firework_rocket": true,
}

// SpaceFree says whether no other entity stands where the new blocks will be.
func SpaceFree(v worldstate.View, u placement.Use) bool { return !Crowded(v, u, 0) }

// Crowded says whether another entity stands where the new blocks will be, or at most margin blocks away from there, so that
// it may have stood there a moment ago.
func Crowded(v worldstate.View, u placement.Use, margin float64) bool {
	_, ok := InWay(v.Registry(), Bodies(v), u, margin)
	return ok
}

// Body is another entity that no block can be placed into.
type Body struct {
	UUID   worldstate.UUID
	Type   string // full name of its type, empty if the tables do not know it
	Player bool
	Box    geom.Box
}

// At is the cell of its feet.
func (b Body) At() geom.BlockPos {
	return geom.BlockAt(geom.Vec3{(b.Box.Min[0] + b.Box.Max[0]) / 2, b.Box.Min[1], (b.Box.Min[2] + b.Box.Max[2]) / 2})
}

// String says what it is and where its feet are, in words of our own: how it is called is its owner's choice.
func (b Body) String() string {
	what := "something"
	switch {
	case b.Player:
		what = "a player"
	case b.Type != "":
		what = b.Type
	}
	return fmt.Sprintf("%s at %v", what, b.At())
}

// Bodies lists the entities, but for our own, that no block can be placed into.
func Bodies(v worldstate.View) (out []Body) {
	reg, own := v.Registry(), v.Self().EntityID
	for _, e := range v.Entities() {
		t := reg.EntityTypeByID(e.Type)
		if e.ID == own || t != nil && passable[t.Name] {
			continue
		}
		b := Body{UUID: e.UUID, Player: e.Type == reg.PlayerType()}
		width, height := 1.0, 2.0
		if t != nil {
			b.Type, width, height = t.Name, float64(t.Width), float64(t.Height)
		}
		b.Box = geom.Box{
			Min: e.Position.Sub(geom.Vec3{width / 2, 0, width / 2}),
			Max: e.Position.Add(geom.Vec3{width / 2, height, width / 2}),
		}
		out = append(out, b)
	}
	return out
}

// InWay returns the first of some bodies that is where the new blocks will be, or at most margin blocks away from there.
func InWay(reg *registry.Registry, bodies []Body, u placement.Use, margin float64) (Body, bool) {
	m := geom.Vec3{margin, margin, margin}
	for _, b := range bodies {
		if overlaps(reg, u, geom.Box{Min: b.Box.Min.Sub(m), Max: b.Box.Max.Add(m)}) {
			return b, true
		}
	}
	return Body{}, false
}

func overlaps(reg *registry.Registry, u placement.Use, body geom.Box) bool {
	for _, c := range u.Cells {
		for _, s := range reg.Shape(c.To) {
			if s.Move(c.Pos.Corner()).Overlaps(body) {
				return true
			}
		}
	}
	return false
}

// Others lists where the other players stand. An entity is taken for one by its type, or by its id: one of the player list,
// or one made from a name (UUID version 3), as those of offline players are. What bears our own id is an earlier session of
// ours that the server has not cleared away.
func Others(v worldstate.View) []geom.Vec3 {
	var out []geom.Vec3
	player, me := v.Registry().PlayerType(), v.Self()
	listed := map[worldstate.UUID]bool{}
	for _, p := range v.Players() {
		listed[p.UUID] = true
	}
	for _, e := range v.Entities() {
		named := e.UUID[6]>>4 == 3
		if e.ID != me.EntityID && e.UUID != me.UUID && (e.Type == player || named || listed[e.UUID]) {
			out = append(out, e.Position)
		}
	}
	return out
}
