package actor

import (
	"context"
	"fmt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// read answers a read on the loop.
func (a *Actor) read(ctx context.Context, r effects.Request) (Result, error) {
	var res Result
	var err error
	if over := a.bot.Do(ctx, func(tx *bot.Tx) { res, err = a.answer(tx, r) }); over != nil {
		return nil, over
	}
	return res, err
}

// answer asks the guard, then the mirror.
func (a *Actor) answer(tx *bot.Tx, r effects.Request) (Result, error) {
	inv := tx.View().Inventory()
	f := sentinel.Facts{Capability: r.Capability(), Policy: a.cfg.Policy, Synced: sentinel.Known(a.synced(&inv))}
	if d := sentinel.Decide(&f); !d.Admit {
		return nil, &Denied{f.Capability, d}
	}
	switch r := r.(type) {
	case effects.WorldStatusRequest:
		return a.status(tx)
	case effects.InventorySummaryRequest:
		return a.inventory(tx)
	case effects.ScanRegionRequest:
		return a.scan(tx, r)
	case effects.NearbyEntitiesRequest:
		return a.nearby(tx, r), nil
	case effects.ChatSinceRequest:
		return chat(tx, r), nil
	}
	return nil, effects.ErrUnknownCapability
}

func (a *Actor) status(tx *bot.Tx) (Result, error) {
	v := tx.View()
	me, d, t := v.Self(), v.Dimension(), v.Time()
	left, err := a.left()
	if err != nil {
		return nil, err
	}
	s := WorldStatus{
		Ready: tx.Ready(), GameMode: modeName(me.GameMode), Dimension: v.DimensionName(), MinY: d.MinY, MaxY: d.MinY + d.Height - 1,
		Position: tx.Player().Pos, Look: tx.Rotation(), Epoch: v.Epoch(), Sequence: uint64(v.Sequence()), Cursor: a.cursor,
		CursorHolds: a.now(v) == a.cursor, Left: left, PlayersOnline: len(v.Players()),
	}
	if me.HealthKnown {
		s.Health, s.Food = &me.Health, &me.Food
	}
	if t.Known {
		s.WorldAge, s.TimeOfDay = &t.Age, &t.TimeOfDay
	}
	return s, nil
}

func modeName(m worldstate.GameMode) string {
	names := [...]string{"unknown", "survival", "creative", "adventure", "spectator"}
	if int(m) < len(names) {
		return names[m]
	}
	return names[0]
}

func (a *Actor) inventory(tx *bot.Tx) (Result, error) {
	inv := tx.View().Inventory()
	s := InventorySummary{Held: inv.Held, Counts: map[string]int32{}, Special: map[string]int32{}}
	for i, slot := range inv.Slots {
		switch {
		case i < 5: // the crafting grid is not kept
		case !slot.Known:
			s.Unknown++
		case slot.Stack.Empty():
			if i >= worldstate.SlotMain && i < worldstate.SlotOffHand {
				s.Empty++
			}
		default:
			name := itemName(tx.Registry(), slot.Stack.Item)
			s.Counts[name] += slot.Stack.Count
			if slot.Stack.Plain != worldstate.PlainYes {
				s.Special[name] += slot.Stack.Count
			}
		}
	}
	return s, nil
}

func itemName(reg *registry.Registry, id registry.ItemID) string {
	if it := reg.ItemByID(id); it != nil {
		return it.Name
	}
	return fmt.Sprintf("unknown[%d]", id)
}

// audience is what may be seen of the world: the plot with what borders on it.
func (a *Actor) audience() geom.BlockBox {
	p := a.cfg.Record.Plot
	return p.Walk.Union(p.Click).Grow(1)
}

func (a *Actor) scan(tx *bot.Tx, r effects.ScanRegionRequest) (Result, error) {
	asked := geom.BlockBox{Min: geom.BlockPos(r.Min), Max: geom.BlockPos(r.Max)}
	reg, v := tx.Registry(), tx.View()
	want := func(s registry.StateID) bool { return !reg.IsAir(s) }
	if r.Block != "" {
		b, ok := reg.Block(r.Block)
		if !ok {
			return nil, fmt.Errorf("%w: block %q does not exist in %s", effects.ErrBadRequest, r.Block, reg.Protocol())
		}
		want = func(s registry.StateID) bool { return s >= b.Min && s <= b.Max }
	}
	box, any := clip(asked, a.audience())
	if !any || v.DimensionName() != a.cfg.Record.Dimension {
		return ScanRegion{Cells: []Cell{}, Unknown: asked.Volume()}, nil
	}
	limit := int(r.Limit)
	if limit == 0 {
		limit = effects.MaxListed
	}
	found := v.Scan(box, want, limit)
	out := ScanRegion{Cells: []Cell{}, More: found.More, Known: found.Known, Unknown: asked.Volume() - found.Known}
	for _, c := range found.Found {
		out.Cells = append(out.Cells, Cell{effects.Position(c.Pos), reg.FormatState(c.State)})
	}
	return out, nil
}

// clip is the part of a box within another, false if there is none.
func clip(a, b geom.BlockBox) (geom.BlockBox, bool) {
	c := geom.BlockBox{
		Min: geom.BlockPos{X: max(a.Min.X, b.Min.X), Y: max(a.Min.Y, b.Min.Y), Z: max(a.Min.Z, b.Min.Z)},
		Max: geom.BlockPos{X: min(a.Max.X, b.Max.X), Y: min(a.Max.Y, b.Max.Y), Z: min(a.Max.Z, b.Max.Z)},
	}
	return c, c.Min.X <= c.Max.X && c.Min.Y <= c.Max.Y && c.Min.Z <= c.Max.Z
}

func (a *Actor) nearby(tx *bot.Tx, r effects.NearbyEntitiesRequest) Result {
	limit := int(r.Limit)
	if limit == 0 {
		limit = effects.MaxListed
	}
	at := tx.Player().Pos
	near, total := tx.View().Nearby(at, r.Radius, limit)
	out := NearbyEntities{Entities: []Entity{}, Total: total}
	for _, e := range near {
		name := "unknown"
		if t := tx.Registry().EntityTypeByID(e.Type); t != nil {
			name = t.Name
		}
		out.Entities = append(out.Entities, Entity{e.ID, name, e.Position, e.Rotation, e.Position.Sub(at).Len()})
	}
	return out
}

func chat(tx *bot.Tx, r effects.ChatSinceRequest) Result {
	page := tx.View().Chat(r.Cursor)
	limit := int(r.Limit)
	if limit == 0 {
		limit = effects.MaxListed
	}
	out := ChatSince{Lines: []Line{}, Next: page.Next, Lost: page.Lost}
	if len(page.Lines) > limit {
		page.Lines = page.Lines[:limit]
		out.Next = page.Lines[limit-1].Cursor
	}
	trusts := [...]string{"system", "disguised", "unsigned", "signed"}
	for _, l := range page.Lines {
		line := Line{Cursor: l.Cursor, Trust: "system", Sender: quote(l.Name), Text: quote(l.Text), Untrusted: true}
		if int(l.Trust) < len(trusts) {
			line.Trust = trusts[l.Trust]
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}
