package registry

import (
	"bytes"
	"compress/zlib"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"blockworld/worldstate/geom"
)

//go:embed zz_tables.bin
var packedTables []byte

// namespace prefixes every name; the tables leave it out.
const namespace = "minecraft:"

// tables is the unpacked form of zz_tables.bin: rows shared by all versions, and each version's list of rows.
type tables struct {
	schemas  [][]Property
	shapes   [][]geom.Box
	support  []supportMask // beside shapes
	patterns [][]uint16    // indexes into shapes: one for all states of a block, or one per state
	blocks   []blockRow
	items    []Item       // without ids
	entities []EntityType // without ids
	versions map[Protocol]versionRows
}

type blockRow struct {
	name     string
	schema   int
	first    StateID // default state, counted from the block's first one
	hardness float32
	solid    bool
	pattern  int
}

type versionRows struct{ blocks, items, entities []int }

// loadTables unpacks the embedded tables once. They are written by gen alone, so an error is a broken build.
var loadTables = sync.OnceValues(func() (*tables, error) {
	z, err := zlib.NewReader(bytes.NewReader(packedTables))
	if err != nil {
		return nil, fmt.Errorf("registry: embedded tables: %w", err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("registry: embedded tables: %w", err)
	}
	return decodeTables(raw)
})

var errTables = errors.New("registry: embedded tables are broken: run make generate")

// tableReader reads the form that gen writes: unsigned and zigzag varints and raw bytes. The first error sticks.
type tableReader struct {
	rest []byte
	bad  bool
}

func (r *tableReader) uint() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > math.MaxInt32 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *tableReader) int() int {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *tableReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.bad, r.rest = true, nil
		return make([]byte, n&0xff)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// list reads a count and then as many elements.
func list[T any](r *tableReader, element func() T) []T {
	n := r.uint()
	if n > len(r.rest) {
		r.bad = true
		return nil
	}
	out := make([]T, 0, n)
	for range n {
		if r.bad {
			return nil
		}
		out = append(out, element())
	}
	return out
}

// at is list[i], or the zero value and a remembered error.
func at[T any](r *tableReader, list []T, i int) T {
	if i < 0 || i >= len(list) {
		r.bad = true
		var zero T
		return zero
	}
	return list[i]
}

// columns reads rows written column by column; the first column is delta coded.
func (r *tableReader) columns(width int) [][]int {
	n := r.uint()
	if n*width > len(r.rest) {
		r.bad = true
		return nil
	}
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, width)
	}
	for c := range width {
		last := -1
		for i := range rows {
			if c > 0 {
				rows[i][c] = r.uint()
				continue
			}
			last += 1 + r.int()
			rows[i][c] = last
		}
	}
	return rows
}

func decodeTables(raw []byte) (*tables, error) {
	r := &tableReader{rest: raw}
	words := list(r, func() string { return strings.Clone(string(r.bytes(r.uint()))) })
	numbers := list(r, func() float64 {
		b := r.bytes(8)
		if r.bad {
			return 0
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	})
	word := func() string { return at(r, words, r.uint()) }
	t := &tables{versions: map[Protocol]versionRows{}}
	t.schemas = list(r, func() []Property {
		return list(r, func() Property { return Property{Name: word(), Values: list(r, word)} })
	})
	t.shapes = list(r, func() []geom.Box {
		return list(r, func() (b geom.Box) {
			for i := range 6 {
				v := at(r, numbers, r.uint())
				if i < 3 {
					b.Min[i] = v
				} else {
					b.Max[i-3] = v
				}
			}
			return b
		})
	})
	for _, boxes := range t.shapes {
		t.support = append(t.support, supportOf(boxes))
	}
	t.patterns = list(r, func() []uint16 { return list(r, func() uint16 { return uint16(r.uint()) }) })
	for _, c := range r.columns(6) {
		t.blocks = append(t.blocks, blockRow{
			name: namespace + at(r, words, c[0]), schema: c[1], first: StateID(c[2]),
			hardness: float32(at(r, numbers, c[3])), solid: c[4] == 1, pattern: c[5],
		})
	}
	for _, c := range r.columns(2) {
		t.items = append(t.items, Item{Name: namespace + at(r, words, c[0]), StackSize: int32(c[1])})
	}
	for _, c := range r.columns(3) {
		t.entities = append(t.entities, EntityType{
			Name:  namespace + at(r, words, c[0]),
			Width: float32(at(r, numbers, c[1])), Height: float32(at(r, numbers, c[2])),
		})
	}
	for range r.uint() {
		p := Protocol(r.uint())
		rows := func() []int {
			last := -1
			return list(r, func() int { last += 1 + r.int(); return last })
		}
		t.versions[p] = versionRows{blocks: rows(), items: rows(), entities: rows()}
	}
	if r.bad || len(r.rest) > 0 {
		return nil, errTables
	}
	return t, nil
}
