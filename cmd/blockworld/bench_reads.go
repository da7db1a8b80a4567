package main

import (
	"context"
	"fmt"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// lookupSide is the width of the square of columns that lookups go to, a power of two.
const lookupSide = 4

// benchCell is a cell anywhere in that square: its column and its place within it, and its place in the world.
type benchCell struct {
	column, x, y, z int32
	pos             geom.BlockPos
}

// benchCells are cells in no order, the same in every run.
func benchCells() (out [4096]benchCell) {
	r := uint32(1)
	next := func(n uint32) int32 { r = r*1664525 + 1013904223; return int32((r >> 8) % n) }
	for i := range out {
		c := benchCell{column: next(lookupSide * lookupSide), x: next(16), y: next(384) - 64, z: next(16)}
		c.pos = geom.BlockPos{X: c.column%lookupSide<<4 | c.x, Y: c.y, Z: c.column/lookupSide<<4 | c.z}
		out[i] = c
	}
	return out
}

func benchLookup(_ context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, t := range b.sets() {
		m, err := t.world(nil, lookupSide)
		if err != nil {
			return nil, err
		}
		ns := timeLookups(b.rounds, m.View(), t.layout.MinY)
		f := ns[0].figure("block lookup at random, "+t.what, "ns").beside(ns[0], ns[2], "plain array of cells")
		f.Note = fmt.Sprintf("x, y, z to state over %d columns", lookupSide*lookupSide)
		view := ns[1].figure("block lookup by world position, "+t.what, "ns").beside(ns[1], ns[2], "plain array of cells")
		view.Note = "through the mirror's view: finding the column as well"
		out = append(out, f.goal(f.Median <= 5.5, "<= 5.5 ns"), view)
	}
	return out, nil
}

// timeLookups looks cells up in columns, in the view, and in plain arrays that hold the same.
func timeLookups(rounds int, v worldstate.View, minY int32) []spread {
	cells := benchCells()
	var columns [lookupSide * lookupSide]*worldstate.Column
	var plain [lookupSide * lookupSide][]uint16
	for i := range columns {
		columns[i], _ = v.Column(geom.ChunkPos{X: int32(i % lookupSide), Z: int32(i / lookupSide)})
		for s := range columns[i].States {
			plain[i] = append(plain[i], uint16(s))
		}
	}
	return sideBySide(rounds,
		func(n int) {
			var sum uint64
			for i := range n {
				c := &cells[i&4095]
				s, _ := columns[c.column].Block(c.x, c.y, c.z)
				sum += uint64(s)
			}
			benchSink += sum
		},
		func(n int) {
			var sum uint64
			for i := range n {
				s, _ := v.Block(cells[i&4095].pos)
				sum += uint64(s)
			}
			benchSink += sum
		},
		func(n int) {
			var sum uint64
			for i := range n {
				c := &cells[i&4095]
				sum += uint64(plain[c.column][(c.y-minY)<<8|c.z<<4|c.x])
			}
			benchSink += sum
		})
}

// The scan's box: 128 by 64 by 128 cells underground.
const scanSide, scanLow, scanHigh = 8, -64, -1

func benchScan(_ context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, t := range b.sets() {
		m := worldstate.NewMirror(nil, nil)
		for i := range int32(scanSide * scanSide) {
			ev := worldstate.ChunkLoaded{Pos: geom.ChunkPos{X: i % scanSide, Z: i / scanSide}, Data: t.at(int(i)), Layout: t.layout}
			if err := m.Apply(ev); err != nil {
				return nil, err
			}
		}
		box := geom.BoxOf(geom.BlockPos{Y: scanLow}, geom.BlockPos{X: 16*scanSide - 1, Y: scanHigh, Z: 16*scanSide - 1})
		v, rare := m.View(), rarest(m.View(), box)
		want := func(s registry.StateID) bool { return s == rare }
		found, sections := 0, 0
		ns := sideBySide(b.rounds,
			func(n int) {
				for range n {
					found = len(v.Scan(box, want, 1<<20).Found)
				}
			},
			func(n int) {
				for range n {
					_, sections = v.PaletteEntries(box, rare)
				}
			})
		f := micros(ns[0]).figure("scan 128x64x128 for one type, "+t.what, "us").beside(ns[0], ns[1], "a look at every palette entry")
		f.Limit = micros(ns[1]).median()
		f.Note = fmt.Sprintf("state %d: %d cells found in %d of %d sections", rare, found, sections, scanSide*scanSide*4)
		out = append(out, f.goal(f.Median <= 40, "<= 40 us"))
	}
	return out, nil
}

// micros turns nanoseconds into microseconds.
func micros(s spread) spread {
	out := make(spread, len(s))
	for i, v := range s {
		out[i] = v / 1000
	}
	return out
}

// rarest is the state that shows in the fewest cells of a box, the smallest of several.
func rarest(v worldstate.View, box geom.BlockBox) registry.StateID {
	counts := map[registry.StateID]int{}
	for y := box.Min.Y; y <= box.Max.Y; y++ {
		for z := box.Min.Z; z <= box.Max.Z; z++ {
			for x := box.Min.X; x <= box.Max.X; x++ {
				if s, ok := v.Block(geom.BlockPos{X: x, Y: y, Z: z}); ok {
					counts[s]++
				}
			}
		}
	}
	best, least := registry.StateID(0), 0
	for s, n := range counts {
		if least == 0 || n < least || n == least && s < best {
			best, least = s, n
		}
	}
	return best
}
