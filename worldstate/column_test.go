package worldstate

import (
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// drawCells draws a section of few or many different states.
func drawCells(t *rapid.T) *cells {
	kinds := rapid.SampledFrom([]int{1, 2, 15, 16, 17, 40, 130, 256, 257, 600}).Draw(t, "kinds")
	r := rapid.Uint32().Draw(t, "seed")
	next := func(n int) int { r = r*1664525 + 1013904223; return int(r>>8) % n }
	out := new(cells)
	for i := range out {
		if i < kinds {
			out[i] = registry.StateID(i * 41)
		} else {
			out[i] = registry.StateID(next(kinds) * 41)
		}
	}
	return out
}

func drawLayout(t *rapid.T) ColumnLayout {
	return layouts[rapid.SampledFrom([]string{"764 to 769", "770 to 774", "775"}).Draw(t, "version")]
}

func TestDecodeColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		want := []*cells{drawCells(t), drawCells(t)}
		data := encodeColumn(want, l, rapid.IntRange(0, 3).Draw(t, "extra"), rapid.Bool().Draw(t, "direct"))
		tail := make([]byte, rapid.IntRange(0, 20).Draw(t, "tail"))
		c, err := DecodeColumn(append(data, tail...), l)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for s := range c.States {
			if s != want[i/sectionCells][i%sectionCells] {
				t.Fatalf("cell %d is %d, want %d", i, s, want[i/sectionCells][i%sectionCells])
			}
			i++
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if _, err := DecodeColumn(data[:cut], l); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut at %d of %d: %v", cut, len(data), err)
		}
	})
}

// TestTallColumn decodes a column that is higher than those of the overworld.
func TestTallColumn(t *testing.T) {
	l := layouts["770 to 774"]
	l.Height = 16 * (usualSections + 5)
	world := make([]*cells, usualSections+5)
	for i := range world {
		world[i] = new(cells)
		for c := range world[i] {
			world[i][c] = registry.StateID(i + c%(i+1)*7)
		}
	}
	c, err := DecodeColumn(encodeColumn(world, l, 0, false), l)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for s := range c.States {
		if want := world[i/sectionCells][i%sectionCells]; s != want {
			t.Fatalf("cell %d is %d, want %d", i, s, want)
		}
		i++
	}
	if i != len(world)*sectionCells {
		t.Errorf("%d cells", i)
	}
}

// TestAllocations: a usual column costs four pieces of memory: column, sections, words, palettes.
func TestAllocations(t *testing.T) {
	l := layouts["770 to 774"]
	l.Height = 16 * usualSections
	world := make([]*cells, usualSections)
	for i := range world {
		world[i] = new(cells)
		for c := range world[i] {
			if i < usualSections/2 { // the rest is air
				world[i][c] = registry.StateID(c % 20)
			}
		}
	}
	data := encodeColumn(world, l, 0, false)
	got := testing.AllocsPerRun(100, func() {
		if _, err := DecodeColumn(data, l); err != nil {
			t.Fatal(err)
		}
	})
	if got > 4 {
		t.Errorf("%v allocations", got)
	}
}

// TestOneBiome decodes columns of a server that has a single biome: its direct ids take no bits and no words.
func TestOneBiome(t *testing.T) {
	for name, l := range layouts {
		l.Height, l.BiomeBits = 16, 0
		want := new(cells)
		for i := range want {
			want[i] = registry.StateID(i % 20)
		}
		data := encodeColumn([]*cells{want}, l, 0, false)
		biomes := 2
		if !l.NoLongCounts {
			biomes = 3
		}
		direct := append(data[:len(data)-biomes:len(data)-biomes], 6) // a direct container of ids that take nothing
		if !l.NoLongCounts {
			direct = append(direct, 0)
		}
		for form, data := range map[string][]byte{"one value": data, "direct": direct} {
			c, err := DecodeColumn(data, l)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if got, _ := c.Block(7, l.MinY, 1); got != want[23] {
				t.Errorf("%s, %s: %d instead of %d", name, form, got, want[23])
			}
		}
	}
}

// TestWordsReach shows that no cell of a section lies beyond its words, whatever the width of its fields, and that its
// field lies where its number says.
func TestWordsReach(t *testing.T) {
	for width := range len(packings) {
		s, per := uniform([]registry.StateID{7}), sectionCells
		if width > 0 {
			s.pack(width, make([]uint64, wordsFor(sectionCells, width)))
			per = packings[width].per
		}
		for i := range uint64(sectionCells) {
			p := i * s.mul
			if w := int(p >> mulShift); w >= len(s.fields()) || w != int(i)/per {
				t.Fatalf("%d bits: cell %d in word %d of %d", width, i, w, len(s.fields()))
			}
			if got, want := -int(p)&63, int(i)*width&63; got != want {
				t.Fatalf("%d bits: cell %d at bit %d, want %d", width, i, got, want)
			}
		}
	}
}

// TestFill compares fill with reading field by field, for every width and for limits from one to all, with one field that
// is just in or just out, and with anything behind the last cell of a word.
func TestFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 16).Draw(t, "width")
		limit := rapid.IntRange(1, 1<<width).Draw(t, "limit")
		odd := rapid.IntRange(0, sectionCells-1).Draw(t, "place")
		value := min(limit-1+rapid.IntRange(0, 1).Draw(t, "over"), 1<<width-1)
		r := rapid.Uint64().Draw(t, "seed")
		next := func() uint64 { r = r*6364136223846793005 + 1442695040888963407; return r >> 20 }
		words := make([]uint64, wordsFor(sectionCells, width))
		per := packings[width].per
		for n := range words {
			w := next()<<40 ^ next() // the bits that no field uses stay as they are
			for i := range per {
				field := next() % uint64(limit)
				if n*per+i == odd {
					field = uint64(value)
				}
				if n*per+i < sectionCells {
					w = w&^(uint64(1<<width-1)<<(i*width)) | field<<(i*width)
				}
			}
			words[n] = w
		}
		var src []byte
		for _, w := range words {
			src = binary.BigEndian.AppendUint64(src, w)
		}
		dst := make([]uint64, len(words))
		if got := fill(dst, append(src, 1, 2, 3), width, limit); got != (value < limit) {
			t.Fatalf("%d bits: field %d of %d: %v", width, value, limit, got)
		}
		if value >= limit {
			return
		}
		s := section{palette: everyState(), direct: true}
		s.pack(width, dst)
		for i := range sectionCells {
			want := words[i/per] >> (i % per * width) & (1<<width - 1)
			if got := s.at(uint32(i)); uint64(got) != want {
				t.Fatalf("%d bits: cell %d is %d, want %d", width, i, got, want)
			}
		}
	})
}

// TestColumnSet changes random cells of a column and of a plain array and compares them, and the column it began with.
func TestColumnSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		before := []*cells{drawCells(t), drawCells(t)}
		c, err := DecodeColumn(encodeColumn(before, l, rapid.IntRange(0, 2).Draw(t, "extra"), rapid.Bool().Draw(t, "direct")), l)
		if err != nil {
			t.Fatal(err)
		}
		want := [2]cells{*before[0], *before[1]}
		changed := c.with()
		kinds := rapid.IntRange(1, 700).Draw(t, "new kinds")
		r := rapid.Uint32().Draw(t, "seed")
		next := func(n int) int { r = r*1664525 + 1013904223; return int(r>>8) % n }
		for range rapid.IntRange(1, 3000).Draw(t, "changes") {
			i, s := next(2*sectionCells), registry.StateID(next(kinds)+5000)
			want[i/sectionCells][i%sectionCells] = s
			changed.set(geom.BlockPos{X: int32(i & 15), Y: l.MinY + int32(i>>8), Z: int32(i >> 4 & 15)}, s)
		}
		compare := func(c *Column, want [2]cells) {
			i := 0
			for s := range c.States {
				if w := want[i/sectionCells][i%sectionCells]; s != w {
					t.Fatalf("cell %d is %d, want %d", i, s, w)
				}
				if s2, ok := c.Block(int32(i&15), l.MinY+int32(i>>8), int32(i>>4&15)); !ok || s2 != s {
					t.Fatalf("cell %d is %d by itself, %d in a row", i, s2, s)
				}
				i++
			}
		}
		compare(changed, want)
		compare(c, [2]cells{*before[0], *before[1]})
	})
}

func TestColumnMalformed(t *testing.T) {
	l := layouts["764 to 769"]
	l.Height = 16
	plain := &cells{}
	for i := range plain {
		plain[i] = registry.StateID(i % 7)
	}
	good := encodeColumn([]*cells{plain}, l, 0, false)
	if _, err := DecodeColumn(good, l); err != nil {
		t.Fatal(err)
	}
	with := func(at int, b ...byte) []byte {
		return append(append(append([]byte{}, good[:at]...), b...), good[at+len(b):]...)
	}
	words := 2 + 1 + 1 + 7 + 2 // counts, bits, palette size, palette, number of words
	direct := encodeColumn([]*cells{plain}, l, 0, true)
	binary.BigEndian.PutUint64(direct[len(direct)-11:], 0x7fff)
	rows := map[string]struct {
		data   []byte
		layout ColumnLayout
	}{
		"an index beyond the palette":        {with(words+8, 0x77), l},
		"an index beyond, second of a byte":  {with(words+9, 0x08), l},
		"a state beyond the registry":        {with(4, 0xff, 0xff, 0xff, 0x7f), l},
		"a palette that is too large":        {with(3, 17), l},
		"an empty palette":                   {with(3, 0), l},
		"33 bits":                            {with(2, 33), l},
		"another number of words":            {with(words-2, 0xff, 0x01), l},
		"a negative palette size":            {with(3, 0xff, 0xff, 0xff, 0xff, 0x0f), l},
		"a number without end":               {with(3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), l},
		"a direct id beyond the registry":    {direct, l},
		"a single state beyond the registry": {[]byte{0, 0, 0, 0xff, 0xff, 0x01, 0, 0, 0, 0}, l},
		"a single state beyond 16 bits":      {[]byte{0, 0, 0, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, l},
		"no height":                          {good, ColumnLayout{BlockBits: 15, BiomeBits: 6}},
		"a height of 17":                     {good, ColumnLayout{Height: 17, BlockBits: 15, BiomeBits: 6}},
		"a huge height":                      {good, ColumnLayout{Height: 1 << 20, BlockBits: 15, BiomeBits: 6}},
		"a bottom at 3":                      {good, ColumnLayout{MinY: 3, Height: 16, BlockBits: 15, BiomeBits: 6}},
		"a bottom far away":                  {good, ColumnLayout{MinY: 1 << 30, Height: 16, BlockBits: 15, BiomeBits: 6}},
		"no bits":                            {good, ColumnLayout{Height: 16}},
		"nothing":                            {nil, l},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if c, err := DecodeColumn(row.data, row.layout); !errors.Is(err, ErrMalformed) || c != nil {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
}

func TestOutsideColumn(t *testing.T) {
	l := layouts["775"]
	c, err := DecodeColumn(encodeColumn([]*cells{{}, {}}, l, 0, false), l)
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range []int32{-1, 32, -1 << 31, 1<<31 - 1} {
		if _, ok := c.Block(0, y, 0); ok {
			t.Errorf("a cell at y %d is known", y)
		}
	}
}

func FuzzDecodeColumn(f *testing.F) {
	some, many := &cells{}, &cells{}
	for i := range some {
		some[i], many[i] = registry.StateID(i%5), registry.StateID(i%300)
	}
	for _, l := range layouts {
		f.Add(encodeColumn([]*cells{{}, some}, l, 0, false), l.NoLongCounts, l.FluidCount)
		f.Add(encodeColumn([]*cells{some, many}, l, 1, false), l.NoLongCounts, l.FluidCount)
	}
	f.Add([]byte{0, 0, 8, 0xff, 0xff, 0xff, 0xff, 0x0f}, false, false)
	f.Fuzz(func(t *testing.T, data []byte, noCounts, fluid bool) {
		l := ColumnLayout{MinY: -64, Height: 32, BlockBits: 15, BiomeBits: 6, States: 20000, NoLongCounts: noCounts, FluidCount: fluid}
		c, err := DecodeColumn(data, l)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		for s := range c.States {
			if int(s) >= l.States {
				t.Fatalf("state %d of %d", s, l.States)
			}
		}
		own := c.with()
		own.set(geom.BlockPos{X: 1, Y: -64, Z: 2}, 19999)
		if s, _ := own.Block(1, -64, 2); s != 19999 {
			t.Fatalf("set 19999, got %d", s)
		}
	})
}
