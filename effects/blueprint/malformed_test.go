package blueprint

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// file packs a root compound as a file.
func file(t testing.TB, root nbt.Compound) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := nbt.WriteFile(&b, "", root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pack(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// with returns a copy of a compound with some entries changed; nil removes one.
func with(c nbt.Compound, pairs ...any) nbt.Compound {
	out := nbt.Compound{}
	for k, v := range c {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(out, pairs[i].(string))
			continue
		}
		out[pairs[i].(string)] = pairs[i+1].(nbt.Value)
	}
	return out
}

func xyz(x, y, z int32) nbt.Compound {
	return nbt.Compound{"x": nbt.Int(x), "y": nbt.Int(y), "z": nbt.Int(z)}
}

func spongeRoot() nbt.Compound {
	return nbt.Compound{"Version": nbt.Int(2), "DataVersion": nbt.Int(3955), "Width": nbt.Short(2), "Height": nbt.Short(1), "Length": nbt.Short(2),
		"Palette": nbt.Compound{"minecraft:stone": nbt.Int(0), "minecraft:oak_log[axis=x]": nbt.Int(300)}, "BlockData": nbt.ByteArray{0, 0xac, 2, 0, 0}}
}

func litematicRoot() nbt.Compound {
	palette := nbt.ListOf(nbt.Compound{"Name": nbt.String("minecraft:air")}, nbt.Compound{"Name": nbt.String("minecraft:stone")},
		nbt.Compound{"Name": nbt.String("minecraft:oak_log"), "Properties": nbt.Compound{"axis": nbt.String("z")}},
		nbt.Compound{"Name": nbt.String("minecraft:dirt")}, nbt.Compound{"Name": nbt.String("minecraft:clay")})
	// 22 cells of 3 bits: the 22nd index spans two longs.
	cells := make([]int64, 2)
	for i := range 22 {
		v := uint64(i % 5)
		cells[i*3/64] |= int64(v << (i * 3 % 64))
		if i*3%64+3 > 64 {
			cells[i*3/64+1] |= int64(v >> (64 - i*3%64))
		}
	}
	a := nbt.Compound{"Position": xyz(10, 0, 0), "Size": xyz(-11, 1, 2), "BlockStatePalette": palette, "BlockStates": nbt.LongArray(cells)}
	b := nbt.Compound{"Position": xyz(3, 1, 1), "Size": xyz(1, 1, 1), "BlockStatePalette": nbt.ListOf(nbt.Compound{"Name": nbt.String("minecraft:glass")}),
		"BlockStates": nbt.LongArray{0}, "Entities": nbt.ListOf(nbt.Compound{}), "TileEntities": nbt.ListOf(nbt.Compound{}, nbt.Compound{})}
	return nbt.Compound{"Version": nbt.Int(6), "MinecraftDataVersion": nbt.Int(3955), "Regions": nbt.Compound{"a": a, "b": b}}
}

func structureRoot() nbt.Compound {
	block := func(state, x int32) nbt.Compound {
		return nbt.Compound{"state": nbt.Int(state), "pos": nbt.ListOf(nbt.Int(x), nbt.Int(0), nbt.Int(0)), "nbt": nbt.Compound{}}
	}
	return nbt.Compound{"DataVersion": nbt.Int(3955), "size": nbt.ListOf(nbt.Int(3), nbt.Int(1), nbt.Int(1)),
		"palettes": nbt.ListOf(nbt.ListOf(nbt.Compound{"Name": nbt.String("stone")}, nbt.Compound{"Name": nbt.String("structure_void")}), nbt.ListOf(nbt.Compound{"Name": nbt.String("dirt")})),
		"blocks":   nbt.ListOf(block(0, 0), block(1, 2)), "entities": nbt.ListOf(nbt.Compound{})}
}

func firstRegion(root nbt.Compound, pairs ...any) nbt.Compound {
	regions := root["Regions"].(nbt.Compound)
	return with(root, "Regions", with(regions, "a", with(regions["a"].(nbt.Compound), pairs...)))
}

func TestSmallFilesOfEachFormat(t *testing.T) {
	b, err := Read("a.schem", bytes.NewReader(file(t, spongeRoot())))
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := b.At(geom.BlockPos{X: 1}); s.String() != "minecraft:oak_log[axis=x]" {
		t.Errorf("sponge: %v", s)
	}
	b, err = Read("a.litematic", bytes.NewReader(file(t, litematicRoot())))
	if err != nil {
		t.Fatal(err)
	}
	// Region a runs backwards from x 10 to 0, region b lies above it.
	if b.Size != (geom.BlockPos{X: 11, Y: 2, Z: 2}) || b.Entities != 1 || b.BlockEntities != 2 {
		t.Errorf("litematic: size %v, %d entities, %d block entities", b.Size, b.Entities, b.BlockEntities)
	}
	for i, want := range map[int32]string{1: "minecraft:stone", 2: "minecraft:oak_log[axis=z]", 21: "minecraft:stone"} {
		if s, _ := b.At(geom.BlockPos{X: i % 11, Z: i / 11}); s.String() != want {
			t.Errorf("litematic cell %d: %v, want %s", i, s, want)
		}
	}
	if s, _ := b.At(geom.BlockPos{X: 3, Y: 1, Z: 1}); s.String() != "minecraft:glass" {
		t.Errorf("second region: %v", s)
	}
	b, err = Read("a.nbt", bytes.NewReader(file(t, structureRoot())))
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := b.Count(); n != 1 || b.Entities != 1 || b.BlockEntities != 2 {
		t.Errorf("structure: %d blocks, %d entities, %d block entities", n, b.Entities, b.BlockEntities)
	}
	if _, ok := b.At(geom.BlockPos{X: 2}); ok {
		t.Error("structure void is a block")
	}
}

func TestWriteAndReadBack(t *testing.T) {
	b, err := Read("a", bytes.NewReader(file(t, litematicRoot())))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	back, err := Read("b", &out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(listing(b), "\n") != strings.Join(listing(back), "\n") {
		t.Errorf("written %v, read %v", listing(b), listing(back))
	}
}

func deep(levels int) []byte {
	data := []byte{10, 0, 0}
	for range levels {
		data = append(data, 10, 0, 1, 'a')
	}
	return append(data, bytes.Repeat([]byte{0}, levels+1)...)
}

func TestBadFiles(t *testing.T) {
	good := file(t, spongeRoot())
	for _, c := range []struct {
		name string
		data []byte
		want error
		says string
	}{
		{"empty", nil, ErrTruncated, ""},
		{"text", []byte("hello, this is no schematic"), ErrFormat, "NBT"},
		{"cut", good[:len(good)/2], ErrTruncated, ""},
		{"cut inside", pack(t, nbt.AppendNamed(nil, "", spongeRoot())[:60]), ErrTruncated, "byte"},
		{"a thousand levels", pack(t, deep(1000)), ErrTooDeep, "512"},
		{"a zip bomb", pack(t, append([]byte{10, 0, 0, 7, 0, 1, 'a', 0x7f, 0xff, 0xff, 0xff}, make([]byte, MaxFileBytes+1)...)), ErrTooLarge, "unpacked"},
		{"an array larger than the file", pack(t, []byte{10, 0, 0, 7, 0, 1, 'a', 0x7f, 0xff, 0xff, 0xff, 0}), ErrTruncated, ""},
		{"nothing known", file(t, nbt.Compound{"a": nbt.Int(1)}), ErrFormat, ".litematic"},
		{"numeric ids", file(t, nbt.Compound{"Materials": nbt.String("Alpha"), "Width": nbt.Short(1)}), ErrFormat, "old"},
		{"sponge 4", file(t, with(spongeRoot(), "Version", nbt.Int(4))), ErrVersion, "4"},
		{"sponge without width", file(t, with(spongeRoot(), "Height", nil)), ErrMalformed, "Height"},
		{"sponge huge", file(t, with(spongeRoot(), "Width", nbt.Short(-1), "Length", nbt.Short(-1))), ErrTooLarge, "size"},
		{"sponge flat", file(t, with(spongeRoot(), "Width", nbt.Short(0))), ErrMalformed, "size"},
		{"sponge without palette", file(t, with(spongeRoot(), "Palette", nil)), ErrMalformed, "Palette"},
		{"sponge nonsense palette", file(t, with(spongeRoot(), "Palette", nbt.Compound{"what is [this": nbt.Int(0)})), ErrMalformed, "Palette"},
		{"sponge too few", file(t, with(spongeRoot(), "BlockData", nbt.ByteArray{0, 0})), ErrTruncated, "2 of 4"},
		{"sponge too many", file(t, with(spongeRoot(), "BlockData", nbt.ByteArray{0, 0, 0, 0, 0})), ErrMalformed, "after the last"},
		{"sponge endless number", file(t, with(spongeRoot(), "BlockData", nbt.ByteArray{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})), ErrMalformed, "cell 0"},
		{"sponge outside palette", file(t, with(spongeRoot(), "BlockData", nbt.ByteArray{9, 0, 0, 0})), ErrMalformed, "palette"},
		{"litematic 99", file(t, with(litematicRoot(), "Version", nbt.Int(99))), ErrVersion, "99"},
		{"litematic without regions", file(t, with(litematicRoot(), "Regions", nbt.Compound{})), ErrMalformed, "Regions"},
		{"litematic huge", file(t, firstRegion(litematicRoot(), "Size", xyz(1<<30, 1, 1))), ErrTooLarge, "Regions/a"},
		{"litematic far", file(t, firstRegion(litematicRoot(), "Position", xyz(1<<30, 0, 0))), ErrMalformed, "Regions/a"},
		{"litematic spread", file(t, firstRegion(litematicRoot(), "Position", xyz(1<<28, 0, 0))), ErrTooLarge, "Regions"},
		{"litematic flat", file(t, firstRegion(litematicRoot(), "Size", xyz(0, 1, 1))), ErrTooLarge, "Regions/a"},
		{"litematic short", file(t, firstRegion(litematicRoot(), "BlockStates", nbt.LongArray{0})), ErrTruncated, "BlockStates"},
		{"litematic outside palette", file(t, firstRegion(litematicRoot(), "BlockStates", nbt.LongArray{-1, -1})), ErrMalformed, "BlockStates"},
		{"litematic without palette", file(t, firstRegion(litematicRoot(), "BlockStatePalette", nil)), ErrMalformed, "BlockStatePalette"},
		{"structure outside", file(t, with(structureRoot(), "size", nbt.ListOf(nbt.Int(1), nbt.Int(1), nbt.Int(1)))), ErrMalformed, "blocks[1]"},
		{"structure without size", file(t, with(structureRoot(), "size", nil)), ErrMalformed, "size"},
		{"structure without palette", file(t, with(structureRoot(), "palettes", nil)), ErrMalformed, "palette"},
		{"structure negative", file(t, with(structureRoot(), "size", nbt.ListOf(nbt.Int(-3), nbt.Int(1), nbt.Int(1)))), ErrMalformed, "size"},
		{"data version", file(t, with(structureRoot(), "DataVersion", nbt.Int(-1))), ErrMalformed, "DataVersion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Read("bad.file", bytes.NewReader(c.data))
			if !errors.Is(err, c.want) || b != nil {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if !strings.HasPrefix(err.Error(), "bad.file: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not name the file and %q", err, c.says)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.schem")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzRead feeds arbitrary tags, unpacked, to the readers: an error or a blueprint within its limits, never a panic.
func FuzzRead(f *testing.F) {
	for _, root := range []nbt.Compound{spongeRoot(), litematicRoot(), structureRoot(), {"Schematic": with(spongeRoot(), "Version", nbt.Int(3), "Blocks", nbt.Compound{})}} {
		f.Add(nbt.AppendNamed(nil, "", root))
	}
	f.Add(deep(3))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Read("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		if n := int64(b.Size.X) * int64(b.Size.Y) * int64(b.Size.Z); n < 1 || n > MaxCells || int64(len(b.cells)) != n {
			t.Fatalf("size %v with %d cells", b.Size, len(b.cells))
		}
		if len(b.cells) > 4096 {
			return
		}
		if err := b.Transform(1, MirrorX).Write(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzParseState reads arbitrary text as a state: what is read is written back equal.
func FuzzParseState(f *testing.F) {
	for _, s := range []string{"minecraft:stone", "oak_log[axis=y]", "a:b[c=d,e=f]", "[", "a[b=c", "a[]", "a[b=1,b=2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseState(text)
		if !ok {
			return
		}
		back, ok := ParseState(s.String())
		if !ok || back.String() != s.String() {
			t.Fatalf("%q is read as %q and that as %q", text, s, back)
		}
	})
}
