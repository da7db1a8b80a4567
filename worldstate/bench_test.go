package worldstate

import (
	"hash/maphash"
	"runtime"
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// tiled returns a mirror whose world is the captured columns, laid out side by side in a square.
func tiled(b testing.TB, store *SectionStore, side int32) *Mirror {
	list := capturedColumns(b)
	m := NewMirror(nil, store)
	for z := range side {
		for x := range side {
			c := list[int(z*side+x)%len(list)]
			apply(b, m, ChunkLoaded{Pos: geom.ChunkPos{X: x, Z: z}, Data: c.data, Layout: c.layout()})
		}
	}
	return m
}

// rareState is a state that one of the captured columns shows in one place, by the ids of their version.
const rareState = 21558

func BenchmarkScan(b *testing.B) {
	m := tiled(b, nil, 0)
	list := capturedColumns(b)
	for i := range int32(64) { // each column with memory of its own, as on a server
		c := list[int(i)%len(list)]
		col, err := DecodeColumn(c.data, c.layout())
		if err != nil {
			b.Fatal(err)
		}
		m.world.put(geom.ChunkPos{X: i % 8, Z: i / 8}, &loaded{Column: col})
	}
	box := boxAt(0, -64, 0, 127, -1, 127)
	found := 0
	for b.Loop() {
		found = len(m.View().Scan(box, func(s registry.StateID) bool { return s == rareState }, 1<<20).Found)
	}
	b.ReportMetric(float64(found), "found")
}

func BenchmarkViewBlock(b *testing.B) {
	m := tiled(b, nil, 4)
	cells := randomCells()
	v := m.View()
	b.ResetTimer()
	var sum uint64
	for i := range b.N {
		p := &cells[i&4095]
		s, _ := v.Block(geom.BlockPos{X: p[1] + p[0]<<4&63, Y: p[2], Z: p[3] + p[0]<<2&48})
		sum += uint64(s)
	}
	sink = sum
}

// BenchmarkApplyChunk is decode and intern of columns that others have already.
func BenchmarkApplyChunk(b *testing.B) {
	list := capturedColumns(b)
	store := NewSectionStore()
	keep := tiled(b, store, 2)
	m := NewMirror(nil, store)
	i := 0
	for b.Loop() {
		c := list[i%len(list)]
		if err := m.Apply(ChunkLoaded{Data: c.data, Layout: c.layout()}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	runtime.KeepAlive(keep)
}

// BenchmarkApplyFreshChunk is decode and intern of columns that nobody has: one state of each differs every time.
func BenchmarkApplyFreshChunk(b *testing.B) {
	list := capturedColumns(b)
	m := NewMirror(nil, nil)
	i := 0
	for b.Loop() {
		c := list[i%len(list)]
		m.store.seed = maphash.MakeSeed() // nothing is found again
		if err := m.Apply(ChunkLoaded{Pos: geom.ChunkPos{X: int32(i % 400)}, Data: c.data, Layout: c.layout()}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// heap returns the live heap in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestMemory measures what a decoded column and a further bot's whole view (distance 10, 441 columns) keep.
func TestMemory(t *testing.T) {
	list := capturedColumns(t)
	payload, before := int64(0), heap()
	columns := make([]*Column, 400)
	for i := range columns {
		c := list[i%len(list)]
		payload += int64(len(c.data))
		var err error
		if columns[i], err = DecodeColumn(c.data, c.layout()); err != nil {
			t.Fatal(err)
		}
	}
	ratio := float64(heap()-before) / float64(payload)
	runtime.KeepAlive(columns)
	t.Logf("a decoded column keeps %.3f of its payload", ratio)
	if ratio > 1.17 {
		t.Errorf("a decoded column keeps %.3f of its payload, more than 1.17", ratio)
	}
	store := NewSectionStore()
	first := tiled(t, store, 21)
	before = heap()
	second := tiled(t, store, 21)
	further := heap() - before
	t.Logf("a further bot keeps %d kB", further>>10)
	if further > 1<<20 {
		t.Errorf("a further bot keeps %d bytes for its columns, more than 1 MiB", further)
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
}
