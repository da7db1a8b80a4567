package blueprint

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// ReadFile reads a schematic file; what kind it is its content tells, not its name.
func ReadFile(path string) (*Blueprint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(filepath.Base(path), f)
}

// Read reads a schematic. Errors wrap this package's sentinels and name the file and the place in it.
func Read(name string, r io.Reader) (*Blueprint, error) {
	in := bufio.NewReader(r)
	if head, err := in.Peek(2); err == nil && !tagged(head) {
		return nil, fmt.Errorf("%s: %w: it is no NBT file, packed or plain; it begins with %q", name, ErrFormat, head)
	}
	_, root, err := nbt.ReadFile(in, MaxFileBytes, nbt.Limits{Values: maxValues})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, fromNBT(err))
	}
	b, err := readRoot(name, root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// tagged tells whether a file begins like gzip, zlib or a plain compound.
func tagged(head []byte) bool {
	return head[0] == 0x1f && head[1] == 0x8b || head[0] == 0x78 || head[0] == byte(nbt.TagCompound)
}

func readRoot(name string, root nbt.Compound) (*Blueprint, error) {
	if inner, ok := root.Compound("Schematic"); ok {
		return readSponge(name, inner)
	}
	if _, ok := root["Regions"]; ok {
		return readLitematic(name, root)
	}
	if _, ok := root["Materials"]; ok {
		return nil, fmt.Errorf("%w: this is the old .schematic format with numeric block ids; save it anew as .schem", ErrFormat)
	}
	if _, ok := root["Width"]; ok {
		return readSponge(name, root)
	}
	if _, ok := root["blocks"]; ok {
		return readStructure(name, root)
	}
	return nil, fmt.Errorf("%w: it has none of Schematic, Regions, Width, blocks at its root; .schem, .litematic and structure .nbt are read", ErrFormat)
}

// dataVersion reads an optional data version.
func dataVersion(c nbt.Compound, key string) (int32, error) {
	v, ok := c[key]
	if !ok {
		return 0, nil
	}
	n, ok := nbt.Integer(v)
	if !ok || n < 0 || n > 1<<30 {
		return 0, at(ErrMalformed, key, "is no data version")
	}
	return int32(n), nil
}

// countList counts the entries of the first of the lists that is there.
func countList(c nbt.Compound, keys ...string) int {
	for _, k := range keys {
		if l, ok := c.List(k); ok {
			return len(l.Items)
		}
	}
	return 0
}

// paletteOf reads a list of {Name, Properties}.
func paletteOf(l *nbt.List, place string) ([]State, error) {
	if len(l.Items) >= MaxPalette {
		return nil, at(ErrTooLarge, place, "%d different states", len(l.Items))
	}
	out := make([]State, len(l.Items))
	for i, it := range l.Items {
		c, _ := it.(nbt.Compound)
		s, ok := stateOf(c)
		if !ok {
			return nil, at(ErrMalformed, fmt.Sprintf("%s[%d]", place, i), "is no block state")
		}
		out[i] = s
	}
	return out, nil
}

func stateOf(c nbt.Compound) (State, bool) {
	name, ok := c.Str("Name")
	if !ok || len(name) > maxStateText || !validName(fullName(name)) {
		return State{}, false
	}
	s := State{Name: fullName(name)}
	props, _ := c.Compound("Properties")
	if len(props) > 64 {
		return State{}, false
	}
	for _, k := range props.Keys() {
		v, ok := props.Str(k)
		if !ok || !validWord(k) || !validWord(v) || len(k)+len(v) > maxStateText {
			return State{}, false
		}
		s.Props = append(s.Props, Prop{k, v})
	}
	return s, true
}

// adopt maps a file's palette to cell values of the blueprint.
func (b *Blueprint) adopt(palette []State) ([]uint16, error) {
	known := make(map[string]uint16, len(b.Palette)+len(palette))
	for i, s := range b.Palette {
		known[s.String()] = uint16(i + 1)
	}
	out := make([]uint16, len(palette))
	for i, s := range palette {
		text := s.String()
		v, ok := known[text]
		if !ok {
			if len(b.Palette) >= MaxPalette-1 {
				return nil, at(ErrTooLarge, "palette", "more than %d different states", MaxPalette-1)
			}
			b.Palette = append(b.Palette, s)
			v = uint16(len(b.Palette))
			known[text] = v
		}
		out[i] = v
	}
	return out, nil
}

// bitsFor is the width of a packed index into n values, at least 2.
func bitsFor(n int) int { return max(2, bits.Len(uint(max(n, 1)-1))) }

// vector reads {x, y, z}.
func vector(c nbt.Compound, key string) (geom.BlockPos, bool) {
	v, ok := c.Compound(key)
	if !ok {
		return geom.BlockPos{}, false
	}
	var out [3]int32
	for i, k := range []string{"x", "y", "z"} {
		n, ok := v.Int(k)
		if !ok || n != int64(int32(n)) {
			return geom.BlockPos{}, false
		}
		out[i] = int32(n)
	}
	return geom.BlockPos{X: out[0], Y: out[1], Z: out[2]}, true
}
