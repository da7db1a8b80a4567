package worldstate

import (
	"bytes"
	"cmp"
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// View reads a mirror. It is a small value for the mirror's own goroutine; what it returns are copies unless said
// otherwise. The zero View knows nothing. It implements Cells.
type View struct{ m *Mirror }

// mirror is the mirror behind the view, an empty one for the zero View.
func (v View) mirror() *Mirror {
	if v.m == nil {
		return NewMirror(nil, nil)
	}
	return v.m
}

// Registry returns the tables of this connection's version, nil if there are none.
func (v View) Registry() *registry.Registry { return v.mirror().reg }

// Epoch returns the epoch of everything this view shows.
func (v View) Epoch() Epoch { return v.mirror().epoch }

// Sequence returns the number of facts applied so far: the sequence of the last one.
func (v View) Sequence() Sequence { return v.mirror().seq }

// Identity returns what the server can be recognised by.
func (v View) Identity() Identity {
	id := v.mirror().identity
	id.Dimensions = slices.Clone(id.Dimensions)
	return id
}

// Block returns the state of a cell; false if it is not loaded.
func (v View) Block(pos geom.BlockPos) (registry.StateID, bool) {
	if v.m == nil {
		return 0, false
	}
	n := v.m.world.slot(pos.Chunk())
	c := n.column
	if c == nil || n.pos != pos.Chunk() {
		return v.m.world.far(pos)
	}
	return c.Block(pos.X, pos.Y, pos.Z)
}

// Loaded tells whether a column is loaded.
func (v View) Loaded(pos geom.ChunkPos) bool { return v.m != nil && v.m.world.column(pos) != nil }

// Column returns a loaded column. It shows later changes too, so it is to be read at once and by the mirror's goroutine.
func (v View) Column(pos geom.ChunkPos) (*Column, bool) {
	if v.m == nil {
		return nil, false
	}
	l := v.m.world.column(pos)
	if l == nil {
		return nil, false
	}
	return l.Column, true
}

// Columns returns the positions of all loaded columns, by z, then x.
func (v View) Columns() []geom.ChunkPos {
	out := make([]geom.ChunkPos, 0, len(v.mirror().world.columns))
	for pos := range v.mirror().world.columns {
		out = append(out, pos)
	}
	slices.SortFunc(out, compareChunks)
	return out
}

func compareChunks(a, b geom.ChunkPos) int {
	return cmp.Or(cmp.Compare(a.Z, b.Z), cmp.Compare(a.X, b.X))
}

// BlockEntity returns the raw data of the block at a cell; false if the server sent none. It is untrusted.
func (v View) BlockEntity(pos geom.BlockPos) (BlockEntity, bool) {
	if v.m == nil {
		return BlockEntity{}, false
	}
	if l := v.m.world.column(pos.Chunk()); l != nil {
		for _, e := range l.entities {
			if e.Pos == pos {
				e.NBT = bytes.Clone(e.NBT)
				return e, true
			}
		}
	}
	return BlockEntity{}, false
}

// Dimension returns the limits of the dimension we are in; a height of 0 is unknown.
func (v View) Dimension() Dimension { return v.mirror().world.dimension }

// DimensionName returns the name of the dimension we are in ("minecraft:overworld"), empty if unknown.
func (v View) DimensionName() string { return v.mirror().world.dimensionName }

// Flat tells whether the server calls this world superflat.
func (v View) Flat() bool { return v.mirror().world.flat }

// Self returns what the server said about the player itself.
func (v View) Self() Self { return v.mirror().self }

// Inventory returns the player's inventory.
func (v View) Inventory() Inventory {
	if v.m == nil {
		return Inventory{Held: -1}
	}
	return v.m.inventory
}

// Window returns the window that the server has opened, if any.
func (v View) Window() OpenWindow { return v.mirror().window }

// Ack returns the last block acknowledgement.
func (v View) Ack() Ack { return v.mirror().world.ack }

// Time returns the server's clock.
func (v View) Time() Time { return v.mirror().world.time }

// WorldAge returns the age of the world in ticks; false before the server told it.
func (v View) WorldAge() (int64, bool) { t := v.Time(); return t.Age, t.Known }

// Border returns the world border.
func (v View) Border() Border { return v.mirror().world.border }

// TickRate returns the server's tick rate; 0 per second if it never told one (it is 20 then).
func (v View) TickRate() TickRate { return v.mirror().world.tick }

// GameEvent returns the last value of a game event that the mirror keeps.
func (v View) GameEvent(event uint8) (float32, bool) {
	value, ok := v.mirror().world.rules[event]
	return value, ok
}

// Centre returns the column around which the server sends columns; false before it told.
func (v View) Centre() (geom.ChunkPos, bool) {
	return v.mirror().world.centre, v.mirror().world.centreKnown
}

// Unkept returns how many columns of this world came and were not kept, or not for long: see ErrNotKept.
func (v View) Unkept() int { return v.mirror().world.unkept }

// ViewDistance returns the server's view distance in chunks, 0 if unknown.
func (v View) ViewDistance() int32 { return v.mirror().world.viewDistance }

// SimulationDistance returns the server's simulation distance in chunks, 0 if unknown.
func (v View) SimulationDistance() int32 { return v.mirror().world.simulationDistance }

// EnforcesSecureChat tells whether the server wants chat to be signed.
func (v View) EnforcesSecureChat() bool { return v.mirror().world.secureChat }

// Stats returns the player's statistics as of now.
func (v View) Stats() Stats { return v.mirror().stats.clone() }

// Stat returns one statistic without copying all; false before the first reply after the join.
func (v View) Stat(category, id int32) (int32, bool) { return v.mirror().stats.Get(category, id) }

// StatReplies returns how many replies have come since the join and when the last one was seen.
func (v View) StatReplies() (uint64, Sequence) {
	return v.mirror().stats.Replies, v.mirror().stats.Seen
}

// Chat returns the lines of chat after a cursor; 0 asks for all that are kept. Whispers are never among them.
func (v View) Chat(since uint64) ChatPage { return v.mirror().chat.since(since) }

// Entity returns an entity; false if it is not known.
func (v View) Entity(id int32) (Entity, bool) {
	if e, ok := v.mirror().entities[id]; ok {
		return *e, true
	}
	return Entity{}, false
}

// EntityByUUID returns the entity with a UUID; false if it is not known.
func (v View) EntityByUUID(id UUID) (Entity, bool) {
	for _, e := range v.mirror().entities {
		if e.UUID == id {
			return *e, true
		}
	}
	return Entity{}, false
}

// Entities returns all entities by id.
func (v View) Entities() []Entity {
	out := make([]Entity, 0, len(v.mirror().entities))
	for _, e := range v.mirror().entities {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Entity) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Nearby returns at most limit entities within radius blocks of a point, nearest first, and how many there are in all.
func (v View) Nearby(centre geom.Vec3, radius float64, limit int) (near []Entity, total int) {
	type hit struct {
		e    *Entity
		dist float64
	}
	var hits []hit
	for _, e := range v.mirror().entities {
		if d := e.Position.Sub(centre).Len(); d <= radius {
			hits = append(hits, hit{e, d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.e.ID, b.e.ID)) })
	for _, h := range hits[:min(max(limit, 0), len(hits))] {
		near = append(near, *h.e)
	}
	return near, len(hits)
}

// Players returns the player list by UUID.
func (v View) Players() []PlayerInfo {
	out := make([]PlayerInfo, 0, len(v.mirror().roster))
	for _, p := range v.mirror().roster {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b PlayerInfo) int { return bytes.Compare(a.UUID[:], b.UUID[:]) })
	return out
}

// Player returns an entry of the player list.
func (v View) Player(id UUID) (PlayerInfo, bool) {
	p, ok := v.mirror().roster[id]
	return p, ok
}

// ReceivedRegistry returns a registry as the configuration phase sent it. Shared; read only.
func (v View) ReceivedRegistry(name string) ([]RegistryEntry, bool) {
	r, ok := v.mirror().received.registries[name]
	return r, ok
}

// Tags returns the tags of a registry as the server sent them. Shared; read only.
func (v View) Tags(registry string) (map[string][]int32, bool) {
	t, ok := v.mirror().received.tags[registry]
	return t, ok
}
