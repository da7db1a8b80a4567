package worldstate

import (
	"errors"
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// take applies a fact and tells whether the mirror kept what it is about.
func take(t *testing.T, m *Mirror, ev Event) bool {
	t.Helper()
	err := m.Apply(ev)
	if err != nil && !errors.Is(err, ErrNotKept) {
		t.Fatal(err)
	}
	return err == nil
}

// TestWindow: a mirror keeps the columns that the game's own client would keep.
func TestWindow(t *testing.T) {
	at := func(x, z int32) geom.ChunkPos { return geom.ChunkPos{X: x, Z: z} }
	t.Run("within the square around the centre", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, ViewDistance{Chunks: 10}, ChunkCentre{at(100, -100)})
		for pos, want := range map[geom.ChunkPos]bool{at(113, -87): true, at(87, -113): true, at(114, -100): false, at(100, -114): false, at(-1<<20, 0): false} {
			if got := take(t, m, flatColumn(pos)); got != want || m.View().Loaded(pos) != want {
				t.Errorf("column %s: kept %v, loaded %v, want %v", pos, got, m.View().Loaded(pos), want)
			}
		}
		if n := m.View().Unkept(); n != 3 {
			t.Errorf("%d columns counted", n)
		}
	})
	t.Run("the least view distance is two", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, ViewDistance{Chunks: -7}, ChunkCentre{at(0, 0)})
		if !take(t, m, flatColumn(at(5, 5))) || take(t, m, flatColumn(at(6, 0))) {
			t.Error("not five columns each way")
		}
	})
	t.Run("a centre that moves leaves columns behind", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, ViewDistance{Chunks: 2}, flatColumn(at(4, 0)), ChunkCentre{at(5, 0)})
		if !m.View().Loaded(at(0, 0)) || !m.View().Loaded(at(4, 0)) {
			t.Error("columns of the new window are gone")
		}
		apply(t, m, ChunkCentre{at(6, 0)})
		if m.View().Loaded(at(0, 0)) || !m.View().Loaded(at(4, 0)) {
			t.Error("not just what is behind is gone")
		}
		apply(t, m, ViewDistance{Chunks: 10}, flatColumn(at(19, 0)), ViewDistance{Chunks: 2})
		if m.View().Loaded(at(19, 0)) {
			t.Error("a smaller view keeps what was far")
		}
	})
	t.Run("columns around a teleport may come before their centre, and without one all are kept", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, flatColumn(at(500, 0)), ViewDistance{Chunks: 2}, ChunkCentre{at(0, 0)},
			Teleported{ID: 1, Position: geom.Vec3{16000, 0, 0}}, flatColumn(at(1003, 0)), ChunkCentre{at(1000, 0)})
		if !m.View().Loaded(at(1003, 0)) || m.View().Loaded(at(500, 0)) || m.View().Unkept() != 0 {
			t.Error("the order matters")
		}
	})
}

// TestRoom: one server cannot make a mirror hold more bytes than it has room for.
func TestRoom(t *testing.T) {
	mixed := func(pos geom.ChunkPos) ChunkLoaded {
		s := [3]*cells{{}, {}, {}}
		for i := range s[0] {
			s[0][i] = registry.StateID(i % 7)
		}
		return ChunkLoaded{Pos: pos, Layout: testLayout, Data: encodeColumn(s[:], testLayout, 0, false)}
	}
	const kept = 20
	full := func(t *testing.T) *Mirror {
		m := joinedMirror(t, nil)
		apply(t, m, mixed(geom.ChunkPos{X: 1}), ChunkUnloaded{geom.ChunkPos{}})
		m.room = kept * m.world.bytes
		for x := range int32(100) {
			if got := take(t, m, mixed(geom.ChunkPos{X: 1 + x})); got != (x < kept) {
				t.Fatalf("column %d: kept %v", x, got)
			}
		}
		if m.View().Unkept() != 100-kept || m.world.bytes > m.room {
			t.Errorf("%d not kept, %d of %d bytes", m.View().Unkept(), m.world.bytes, m.room)
		}
		return m
	}
	t.Run("what is forgotten makes room", func(t *testing.T) {
		m := full(t)
		apply(t, m, ChunkUnloaded{geom.ChunkPos{X: 2}}, mixed(geom.ChunkPos{X: 200}), mixed(geom.ChunkPos{X: 200}))
		for x := range int32(300) {
			apply(t, m, ChunkUnloaded{geom.ChunkPos{X: x}})
		}
		if m.world.bytes != 0 {
			t.Errorf("%d bytes of no columns", m.world.bytes)
		}
	})
	t.Run("a column that grows beyond it is unknown", func(t *testing.T) {
		for name, ev := range map[string]func(int32) Event{
			"block":  func(x int32) Event { return BlockChanged{cellAt(16*x, 20, 0), 9} },
			"blocks": func(x int32) Event { return SectionChanged{[]BlockChanged{{cellAt(16*x, 20, 0), 9}}} },
			"block entity": func(x int32) Event {
				return BlockEntityChanged{BlockEntity{Pos: cellAt(16*x, 0, 0), NBT: make([]byte, 999)}}
			},
		} {
			m := full(t)
			if take(t, m, ev(3)) || m.View().Loaded(geom.ChunkPos{X: 3}) || !m.View().Loaded(geom.ChunkPos{X: 4}) || m.world.bytes > m.room {
				t.Errorf("%s: it is kept", name)
			}
			if !take(t, m, ev(4)) {
				t.Errorf("%s: the room that it left is not used", name)
			}
		}
	})
	t.Run("a replacement that finds no room does not leave the old one", func(t *testing.T) {
		m := full(t)
		m.room = m.world.bytes
		ev := mixed(geom.ChunkPos{X: 3})
		ev.BlockEntities = []BlockEntity{{Pos: cellAt(48, 0, 0)}}
		if take(t, m, ev) || m.View().Loaded(geom.ChunkPos{X: 3}) {
			t.Error("the old column is shown")
		}
	})
}

// TestWindowZero: the player's own inventory is no window that a server opens.
func TestWindowZero(t *testing.T) {
	m := joinedMirror(t, nil)
	apply(t, m, WindowOpened{Title: "own"})
	if m.View().Window().Open {
		t.Error("it is open for ever")
	}
}
