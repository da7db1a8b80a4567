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
	if c == nil {
		delete(w.columns, pos)
	} else {
		w.columns[pos] = c
	}
	if n := w.slot(pos); n.pos == pos {
		*n = near{pos: pos} // the next read fills it
	}
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
	case ViewDistance:
		w.viewDistance = ev.Chunks
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
	if _, ok := w.columns[ev.Pos]; !ok && len(w.columns) >= maxColumns {
		return fmt.Errorf("%w: more than %d columns", ErrMalformed, maxColumns)
	}
	const far = 1 << 26 // the world ends at column 1,875,000
	if ev.Pos.X < -far || ev.Pos.X > far || ev.Pos.Z < -far || ev.Pos.Z > far {
		return fmt.Errorf("%w: column at %s", ErrMalformed, ev.Pos)
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
	l := &loaded{Column: c}
	for _, e := range ev.BlockEntities {
		e.NBT = bytes.Clone(e.NBT)
		l.entities = append(l.entities, e)
	}
	w.put(ev.Pos, l)
	return nil
}

// blocksChanged takes all changes or none. Cells that are not loaded stay unknown.
func (m *Mirror) blocksChanged(changes []BlockChanged) error {
	for _, c := range changes {
		if int(c.State) >= m.states {
			return fmt.Errorf("%w: block state %d of %d at %s", ErrMalformed, c.State, m.states, c.Pos)
		}
	}
	for _, c := range changes {
		m.setBlock(c.Pos, c.State)
	}
	return nil
}

func (m *Mirror) setBlock(pos geom.BlockPos, state registry.StateID) {
	l := m.world.column(pos.Chunk())
	if l == nil {
		return
	}
	old, ok := l.Block(pos.X, pos.Y, pos.Z)
	if !ok || old == state {
		return
	}
	if !l.own {
		l.Column, l.own = l.with(), true
		m.world.lookup(pos.Chunk())
	}
	l.set(pos, state)
	if len(l.entities) > 0 && m.reg != nil && m.reg.BlockOf(old) != m.reg.BlockOf(state) {
		l.entities = slices.DeleteFunc(l.entities, func(e BlockEntity) bool { return e.Pos == pos })
	}
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
			l.entities[i] = e
			return nil
		}
	}
	if len(l.entities) >= maxBlockEntities {
		return fmt.Errorf("%w: more than %d block entities in a column", ErrMalformed, maxBlockEntities)
	}
	l.entities = append(l.entities, e)
	return nil
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
