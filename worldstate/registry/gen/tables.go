package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// set is a table of distinct rows in order of first use; a row is known by its encoded bytes.
type set struct {
	index map[string]uint64
	rows  []string
}

func newSet() *set { return &set{index: map[string]uint64{}} }

func (s *set) add(row string) uint64 {
	if i, ok := s.index[row]; ok {
		return i
	}
	i := uint64(len(s.rows))
	s.index[row] = i
	s.rows = append(s.rows, row)
	return i
}

// tables are the de-duplicated tables of all versions.
type tables struct {
	words, numbers, schemas, shapes, patterns *set
	blocks, items, entities                   *set
	versions                                  []versionRows
}

type versionRows struct {
	protocol                uint64
	blocks, items, entities []uint64
}

func newTables() *tables {
	return &tables{
		words: newSet(), numbers: newSet(), schemas: newSet(), shapes: newSet(), patterns: newSet(),
		blocks: newSet(), items: newSet(), entities: newSet(),
	}
}

func uvarints(v ...uint64) string {
	var b []byte
	for _, x := range v {
		b = binary.AppendUvarint(b, x)
	}
	return string(b)
}

func (t *tables) number(f float64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(f))
	return t.numbers.add(string(b[:]))
}

// add puts one version into the tables. It fails when the data breaks what the loader counts on: ids without gaps, state
// ranges that follow each other, a default state inside its range.
func (t *tables) add(protocol uint64, v *version) error {
	rows := versionRows{protocol: protocol}
	next := 0
	for i, b := range v.blocks {
		count := b.MaxStateID - b.MinStateID + 1
		if b.ID != i || b.MinStateID != next || b.DefaultState < b.MinStateID || b.DefaultState > b.MaxStateID || b.Hardness == nil {
			return fmt.Errorf("block %s: id %d at %d, states %d..%d default %d", b.Name, b.ID, i, b.MinStateID, b.MaxStateID, b.DefaultState)
		}
		next = b.MaxStateID + 1
		schema, size := t.schema(b.States)
		if size != count {
			return fmt.Errorf("block %s: %d states, its properties make %d", b.Name, count, size)
		}
		pattern, err := t.pattern(v.shapes, b.Name, count)
		if err != nil {
			return err
		}
		solid := uint64(0)
		if b.BoundingBox == "block" {
			solid = 1
		}
		rows.blocks = append(rows.blocks, t.blocks.add(uvarints(t.words.add(b.Name), schema,
			uint64(b.DefaultState-b.MinStateID), t.number(*b.Hardness), solid, pattern)))
	}
	for i, it := range v.items {
		if it.ID != i {
			return fmt.Errorf("item %s: id %d at %d", it.Name, it.ID, i)
		}
		rows.items = append(rows.items, t.items.add(uvarints(t.words.add(it.Name), it.StackSize)))
	}
	for i, e := range v.entities {
		if e.ID != i {
			return fmt.Errorf("entity %s: id %d at %d", e.Name, e.ID, i)
		}
		rows.entities = append(rows.entities, t.entities.add(uvarints(t.words.add(e.Name), t.number(e.Width), t.number(e.Height))))
	}
	t.versions = append(t.versions, rows)
	return nil
}

// schema adds a property list and returns its index and the number of states that it makes. Values of a bool are listed
// true first, as the game numbers them.
func (t *tables) schema(props []stateJSON) (index uint64, size int) {
	size = 1
	row := []uint64{uint64(len(props))}
	for _, p := range props {
		values := p.Values
		if p.Type == "bool" {
			values = []string{"true", "false"}
		}
		if values == nil {
			for i := range p.NumValues {
				values = append(values, strconv.Itoa(i))
			}
		}
		size *= len(values)
		row = append(row, t.words.add(p.Name), uint64(len(values)))
		for _, v := range values {
			row = append(row, t.words.add(v))
		}
	}
	return t.schemas.add(uvarints(row...)), size
}

// pattern adds the list of collision shapes of a block: one for all states, or one per state.
func (t *tables) pattern(s shapesJSON, name string, count int) (uint64, error) {
	raw, ok := s.Blocks[name]
	if !ok {
		return 0, fmt.Errorf("block %s: no collision shape", name)
	}
	var list []int
	var one int
	if err := json.Unmarshal(raw, &one); err == nil {
		list = []int{one}
	} else if err := json.Unmarshal(raw, &list); err != nil {
		return 0, fmt.Errorf("block %s: %w", name, err)
	}
	if len(list) != 1 && len(list) != count {
		return 0, fmt.Errorf("block %s: %d shapes for %d states", name, len(list), count)
	}
	row := make([]uint64, 0, len(list)+1)
	uniform := true
	for _, i := range list {
		boxes, ok := s.Shapes[strconv.Itoa(i)]
		if !ok {
			return 0, fmt.Errorf("block %s: no shape %d", name, i)
		}
		row = append(row, t.shape(boxes))
		uniform = uniform && row[len(row)-1] == row[0]
	}
	if uniform {
		row = row[:1]
	}
	return t.patterns.add(uvarints(append([]uint64{uint64(len(row))}, row...)...)), nil
}

func (t *tables) shape(boxes [][6]float64) uint64 {
	row := []uint64{uint64(len(boxes))}
	for _, b := range boxes {
		for _, c := range b {
			row = append(row, t.number(c))
		}
	}
	return t.shapes.add(uvarints(row...))
}

// encode writes the tables in the order in which the loader reads them; registry/tables.go describes the form.
func (t *tables) encode() []byte {
	var b []byte
	put := func(v uint64) { b = binary.AppendUvarint(b, v) }
	put(uint64(len(t.words.rows)))
	for _, w := range t.words.rows {
		put(uint64(len(w)))
		b = append(b, w...)
	}
	for _, s := range []*set{t.numbers, t.schemas, t.shapes, t.patterns} {
		put(uint64(len(s.rows)))
		for _, r := range s.rows {
			b = append(b, r...)
		}
	}
	for _, s := range []*set{t.blocks, t.items, t.entities} {
		b = appendColumns(b, s.rows)
	}
	put(uint64(len(t.versions)))
	for _, v := range t.versions {
		put(v.protocol)
		for _, list := range [][]uint64{v.blocks, v.items, v.entities} {
			put(uint64(len(list)))
			last := int64(-1)
			for _, row := range list {
				b = binary.AppendVarint(b, int64(row)-last-1)
				last = int64(row)
			}
		}
	}
	return b
}

// appendColumns writes rows of uvarints column by column, which packs better; the first column counts up with small steps.
func appendColumns(b []byte, rows []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(rows)))
	rest := make([][]byte, len(rows))
	for i, r := range rows {
		rest[i] = []byte(r)
	}
	for column := 0; len(rest) > 0 && len(rest[0]) > 0; column++ {
		last := int64(-1)
		for i := range rest {
			v, n := binary.Uvarint(rest[i])
			rest[i] = rest[i][n:]
			if column > 0 {
				b = binary.AppendUvarint(b, v)
				continue
			}
			b = binary.AppendVarint(b, int64(v)-last-1)
			last = int64(v)
		}
	}
	return b
}
