package worldstate

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// world is the part of the mirror that belongs to one dimension.
type world struct {
	dimension      Dimension
	dimensionName  string
	dimensionKnown bool
	flat           bool

	columns map[geom.ChunkPos]*loaded
	bytes   int64                      // that the columns take, each counted as if nobody shared it
	unkept  int                        // columns that were not kept, or not any more, because of what a mirror holds
	near    *[nearSide * nearSide]near // columns by the low bits of their position: a read rarely needs the map

	centre             geom.ChunkPos
	centreKnown        bool
	viewDistance       int32
	simulationDistance int32
	secureChat         bool

	ack    Ack
	time   Time
	border Border
	tick   TickRate
	rules  map[uint8]float32
}

// loaded is a column as this mirror shows it.
type loaded struct {
	*Column
	bytes    int64
	own      bool          // the column (not its sections) belongs to this mirror and may be changed
	entities []BlockEntity // few; in the order in which the server sent them
}

// Ack is the server's last block_changed_ack: it handled every use up to Sequence. Seen is when; 0 if none came.
type Ack struct {
	Sequence int32
	Seen     Sequence
}

// Time is the server's last set_time.
type Time struct {
	Known          bool
	Age, TimeOfDay int64 // ticks
	Seen           Sequence
}

// Border is the world border: a square around the centre.
type Border struct {
	Known                      bool
	CentreX, CentreZ, Diameter float64
}

// nearSide is the width of the square of columns that are found without the map, a power of two.
const nearSide = 32

// near is a loaded column by itself: reading a cell has one pointer less to follow than by way of loaded. Column is nil
// where nothing is known to be loaded.
type near struct {
	pos    geom.ChunkPos
	column *Column
}

func newWorld() world {
	return world{columns: map[geom.ChunkPos]*loaded{}, near: new([nearSide * nearSide]near), rules: map[uint8]float32{}}
}

// column finds a loaded column, nil if it is not.
func (w *world) column(pos geom.ChunkPos) *loaded { return w.columns[pos] }

func (w *world) slot(pos geom.ChunkPos) *near {
	return &w.near[uint32(pos.Z)%nearSide*nearSide+uint32(pos.X)%nearSide]
}

// lookup finds a column that is not in its place among the near ones, and puts it there.
func (w *world) lookup(pos geom.ChunkPos) *Column {
	l := w.columns[pos]
	if l == nil {
		return nil
	}
	*w.slot(pos) = near{pos, l.Column}
	return l.Column
}

// far is the rare half of View.Block, kept out of it so that the other half needs no room on the stack.
//
//go:noinline
func (w *world) far(pos geom.BlockPos) (registry.StateID, bool) {
	c := w.lookup(pos.Chunk())
	if c == nil {
		return 0, false
	}
	return c.Block(pos.X, pos.Y, pos.Z)
}

// put makes a column known, or unknown with nil.
func (w *world) put(pos geom.ChunkPos, c *loaded) {
	if old := w.columns[pos]; old != nil {
		w.bytes -= old.bytes
	}
	if c != nil {
		w.bytes += c.bytes
	}
	if c == nil {
		delete(w.columns, pos)
	} else {
		w.columns[pos] = c
	}
	if n := w.slot(pos); n.pos == pos {
		*n = near{pos: pos} // the next read fills it
	}
}

// beyond is how many columns a client keeps around the view distance: the server's ring of one and a margin of two.
const beyond = 3

// inWindow tells whether the game's own client would keep a column: it holds a square around the centre that the server told
// and drops everything else. Before a centre is told everything is kept.
func (w *world) inWindow(pos geom.ChunkPos) bool {
	return !w.centreKnown || apart(pos, w.centre) <= int64(max(2, w.viewDistance))+beyond
}

// apart is the distance of two columns in columns, the larger of both axes.
func apart(a, b geom.ChunkPos) int64 {
	x, z := int64(a.X)-int64(b.X), int64(a.Z)-int64(b.Z)
	return max(x, -x, z, -z)
}

// leave makes every column unknown that the window does not hold any more.
func (w *world) leave() {
	for pos := range w.columns {
		if !w.inWindow(pos) {
			w.put(pos, nil)
		}
	}
}

// unkeep makes a column unknown that one mirror has no room for.
func (w *world) unkeep(pos geom.ChunkPos, format string, args ...any) error {
	w.put(pos, nil)
	w.unkept++
	return fmt.Errorf("%w: column %s: %s", ErrNotKept, pos, fmt.Sprintf(format, args...))
}

func (m *Mirror) applyWorld(ev Event) error {
	w := &m.world
	switch ev := ev.(type) {
	case ChunkLoaded:
		return m.chunkLoaded(ev)
	case ChunkUnloaded:
		w.put(ev.Pos, nil)
	case ChunkBatchFinished: // whoever speaks to the server answers it; the world is the same
	case ChunkCentre:
		w.centre, w.centreKnown = ev.Pos, true
		w.leave()
	case ViewDistance:
		w.viewDistance = ev.Chunks
		w.leave()
	case BlockChanged:
		return m.blocksChanged([]BlockChanged{ev})
	case SectionChanged:
		return m.blocksChanged(ev.Changes)
	case BlockEntityChanged:
		return m.blockEntityChanged(ev.BlockEntity)
	case BlockAck:
		w.ack = Ack{Sequence: ev.Sequence, Seen: m.seq + 1}
	case TimeUpdated:
		w.time = Time{Known: true, Age: ev.Age, TimeOfDay: ev.TimeOfDay, Seen: m.seq + 1}
	case BorderSet:
		if !finite(ev.CentreX, ev.CentreZ, ev.Diameter) || ev.Diameter < 0 {
			return fmt.Errorf("%w: world border %v", ErrMalformed, ev)
		}
		w.border = Border{Known: true, CentreX: ev.CentreX, CentreZ: ev.CentreZ, Diameter: ev.Diameter}
	case TickRate:
		if !finite(float64(ev.PerSecond)) || ev.PerSecond < 0 {
			return fmt.Errorf("%w: %v ticks per second", ErrMalformed, ev.PerSecond)
		}
		w.tick = ev
	case GameRuleSeen:
		if !finite(float64(ev.Value)) {
			return fmt.Errorf("%w: game event %d of %v", ErrMalformed, ev.Event, ev.Value)
		}
		w.rules[ev.Event] = ev.Value
	}
	return nil
}

func (m *Mirror) chunkLoaded(ev ChunkLoaded) error {
	w := &m.world
	const far = 1 << 26 // the world ends at column 1,875,000
	if ev.Pos.X < -far || ev.Pos.X > far || ev.Pos.Z < -far || ev.Pos.Z > far {
		return fmt.Errorf("%w: column at %s", ErrMalformed, ev.Pos)
	}
	// A server may tell the centre behind the columns around a place that it has put the player to.
	if !w.inWindow(ev.Pos) && !m.beside(ev.Pos) {
		return w.unkeep(ev.Pos, "outside of the view around %s", w.centre)
	}
	if len(ev.BlockEntities) > maxBlockEntities {
		return fmt.Errorf("%w: %d block entities in a column", ErrMalformed, len(ev.BlockEntities))
	}
	layout := ev.Layout
	if layout.States <= 0 || layout.States > m.states {
		layout.States = m.states
	}
	c, err := DecodeColumn(ev.Data, layout)
	if err != nil {
		return err
	}
	m.store.intern(c)
	l := &loaded{Column: c, bytes: c.size()}
	for _, e := range ev.BlockEntities {
		l.bytes += entitySize + int64(len(e.NBT))
	}
	w.put(ev.Pos, nil)
	if len(w.columns) >= maxColumns || w.bytes+l.bytes > m.room {
		return m.full(ev.Pos)
	}
	for _, e := range ev.BlockEntities {
		e.NBT = bytes.Clone(e.NBT)
		l.entities = append(l.entities, e)
	}
	w.put(ev.Pos, l)
	return nil
}

// beside tells whether a column is within view of where the server has put the player.
func (m *Mirror) beside(pos geom.ChunkPos) bool {
	self := &m.self
	return self.Placed && apart(pos, geom.BlockAt(self.Position).Chunk()) <= int64(max(2, m.world.viewDistance))+beyond
}

// full makes a column unknown that is one too many.
func (m *Mirror) full(pos geom.ChunkPos) error {
	return m.world.unkeep(pos, "more than %d columns or %d MiB of them", maxColumns, m.room>>20)
}

// grown notes that a column takes more or less than before, and makes it unknown if that is too much.
func (m *Mirror) grown(pos geom.ChunkPos, l *loaded, by int64) error {
	l.bytes += by
	m.world.bytes += by
	if by > 0 && m.world.bytes > m.room {
		return m.full(pos)
	}
	return nil
}

// blocksChanged takes all changes or none. Cells that are not loaded stay unknown.
func (m *Mirror) blocksChanged(changes []BlockChanged) error {
	for _, c := range changes {
		if int(c.State) >= m.states {
			return fmt.Errorf("%w: block state %d of %d at %s", ErrMalformed, c.State, m.states, c.Pos)
		}
	}
	var unkept error
	for _, c := range changes {
		if err := m.setBlock(c.Pos, c.State); err != nil {
			unkept = err // the others are taken all the same
		}
	}
	return unkept
}

func (m *Mirror) setBlock(pos geom.BlockPos, state registry.StateID) error {
	l := m.world.column(pos.Chunk())
	if l == nil {
		return nil
	}
	old, ok := l.Block(pos.X, pos.Y, pos.Z)
	if !ok || old == state {
		return nil
	}
	if !l.own {
		l.Column, l.own = l.with(), true
		m.world.lookup(pos.Chunk())
	}
	by := l.set(pos, state)
	if len(l.entities) > 0 && m.reg != nil && m.reg.BlockOf(old) != m.reg.BlockOf(state) {
		l.entities = slices.DeleteFunc(l.entities, func(e BlockEntity) bool {
			if e.Pos == pos {
				by -= entitySize + int64(len(e.NBT))
			}
			return e.Pos == pos
		})
	}
	return m.grown(pos.Chunk(), l, by)
}

// blockEntityChanged replaces the data of a block. The server sends it only for loaded columns.
func (m *Mirror) blockEntityChanged(e BlockEntity) error {
	l := m.world.column(e.Pos.Chunk())
	if l == nil {
		return nil
	}
	e.NBT = bytes.Clone(e.NBT)
	for i := range l.entities {
		if l.entities[i].Pos == e.Pos {
			by := int64(len(e.NBT) - len(l.entities[i].NBT))
			l.entities[i] = e
			return m.grown(e.Pos.Chunk(), l, by)
		}
	}
	if len(l.entities) >= maxBlockEntities {
		return fmt.Errorf("%w: more than %d block entities in a column", ErrMalformed, maxBlockEntities)
	}
	l.entities = append(l.entities, e)
	return m.grown(e.Pos.Chunk(), l, entitySize+int64(len(e.NBT)))
}

// farthest is the largest coordinate, in blocks, that a fact may carry. The game's world ends at 30 million.
const farthest = 1e9

// finite tells whether all numbers are numbers.
func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// checkPoint refuses points and displacements that no entity can have.
func checkPoint(points ...geom.Vec3) error {
	for _, p := range points {
		for _, c := range p {
			if !(math.Abs(c) <= farthest) { // NaN fails too
				return fmt.Errorf("%w: position %v", ErrMalformed, p)
			}
		}
	}
	return nil
}

func checkRotation(r geom.Rotation) error {
	if !r.Finite() {
		return fmt.Errorf("%w: rotation %v", ErrMalformed, r)
	}
	return nil
}
