package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// tileset is a set of columns that worlds of any size are laid with.
type tileset struct {
	what     string
	protocol registry.Protocol
	layout   worldstate.ColumnLayout
	data     [][]byte
}

// readCaptured reads a folder of captured vanilla columns.
func readCaptured(dir string) (*tileset, error) {
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, fmt.Errorf("--columns: %w", err)
	}
	var index []struct {
		File     string
		Sections int32
		MinY     int32 `json:"min_y"`
	}
	if err := json.Unmarshal(b, &index); err != nil || len(index) == 0 {
		return nil, errors.Join(fmt.Errorf("--columns %s: index.json lists no columns", dir), err)
	}
	t := &tileset{what: "captured", protocol: vanillaProtocol}
	t.layout = worldstate.ColumnLayout{MinY: index[0].MinY, Height: 16 * index[0].Sections, BlockBits: 15, BiomeBits: 6, States: 1 << 15}
	for _, c := range index {
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(c.File)))
		if err == nil {
			_, err = worldstate.DecodeColumn(data, t.layout)
		}
		if err != nil {
			return nil, fmt.Errorf("--columns: %s: %w", c.File, err)
		}
		t.data = append(t.data, data)
	}
	return t, nil
}

// at is the n-th column, around and around.
func (t *tileset) at(n int) []byte { return t.data[n%len(t.data)] }

// size is the mean size of the columns, in bytes.
func (t *tileset) size() float64 {
	sum := 0
	for _, d := range t.data {
		sum += len(d)
	}
	return float64(sum) / float64(len(t.data))
}

// world lays a square of columns into a mirror.
func (t *tileset) world(store *worldstate.SectionStore, side int32) (*worldstate.Mirror, error) {
	m := worldstate.NewMirror(nil, store)
	for z := range side {
		for x := range side {
			ev := worldstate.ChunkLoaded{Pos: geom.ChunkPos{X: x, Z: z}, Data: t.at(int(z*side + x)), Layout: t.layout}
			if err := m.Apply(ev); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// decoded decodes n columns, each with memory of its own.
func (t *tileset) decoded(n int) ([]*worldstate.Column, error) {
	columns := make([]*worldstate.Column, n)
	for i := range columns {
		var err error
		if columns[i], err = worldstate.DecodeColumn(t.at(i), t.layout); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// benchSink keeps results from being optimised away.
var benchSink uint64

// decodeLeast is how many columns a sample decodes at least. They are more than the view that stays in memory, so that
// about one collection of the garbage falls into every sample and none gets away without paying for it.
const decodeLeast = 512 * garbagePercent / 100

func benchDecode(_ context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, t := range b.sets() {
		view, failed := t.decoded(viewSide * viewSide) // a bot decodes beside what it sees already
		if failed != nil {
			return nil, failed
		}
		ns := alternate(2*b.rounds, decodeLeast,
			func(n int) {
				for i := range n {
					c, err := worldstate.DecodeColumn(t.at(i), t.layout)
					if err != nil {
						failed = err
						return
					}
					benchSink += uint64(c.MinY())
				}
			},
			func(n int) {
				for i := range n {
					benchSink += worldstate.CopyAndPass(t.at(i))
				}
			})
		runtime.KeepAlive(view)
		if failed != nil {
			return nil, failed
		}
		rates, limit := ns[0].per(1e9), ns[1].per(1e9)
		f := rates.figure("chunk decode, "+t.what, "/s").beside(ns[0], ns[1], "copy to fresh buffer + one pass")
		f = f.goal(f.Median >= 75_000 && f.Ratio <= 2.2, ">= 75,000/s, time within 2.2x of the limit")
		f.Limit = limit.median()
		f.Note = fmt.Sprintf("%.1f kB of section data a column, %.2f GB/s, beside a view of %d columns", t.size()/1000, f.Median*t.size()/1e9, len(view))
		out = append(out, f)
	}
	return out, nil
}

// liveHeap is the heap in use after collecting, in bytes.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// memoryColumns is how many columns the memory figure keeps, and the side of a view of distance 10.
const (
	memoryColumns = 400
	viewSide      = 21
)

func benchMemory(_ context.Context, b *bench) ([]figure, error) {
	var out []figure
	for _, t := range b.sets() {
		var each spread
		payload := t.size()
		for range 3 {
			before := liveHeap()
			columns, err := t.decoded(memoryColumns)
			if err != nil {
				return nil, err
			}
			each = append(each, (liveHeap()-before)/memoryColumns)
			runtime.KeepAlive(columns)
		}
		f := each.figure("memory of a decoded chunk, "+t.what, "bytes").beside(each, spread{payload, payload, payload}, "the payload")
		f.Note = fmt.Sprintf("heap after collecting, over %d chunks", memoryColumns)
		out = append(out, f.goal(f.Ratio <= 1.17, "<= 1.17x the payload"))
	}
	shared, err := benchShared(b.sets()[0], out[0].Median)
	return append(out, shared), err
}

// benchShared measures what a second mirror of a view keeps when a first one shows the same.
func benchShared(t *tileset, column float64) (figure, error) {
	var further spread
	for range 3 {
		store := worldstate.NewSectionStore()
		first, err := t.world(store, viewSide)
		if err != nil {
			return figure{}, err
		}
		before := liveHeap()
		second, err := t.world(store, viewSide)
		if err != nil {
			return figure{}, err
		}
		further = append(further, liveHeap()-before)
		runtime.KeepAlive(first)
		runtime.KeepAlive(second)
	}
	alone := column * viewSide * viewSide
	f := further.figure("memory of a second mirror of a view", "bytes").beside(further, spread{alone, alone, alone}, "the same unshared")
	f.Note = fmt.Sprintf("%d columns whose sections another mirror of the process holds", viewSide*viewSide)
	return f.goal(f.Median <= 1<<20, "equal sections shared: <= 1 MiB"), nil
}
