package blueprint

import (
	"fmt"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// readSponge reads versions 1 to 3 of https://github.com/SpongePowered/Schematic-Specification.
func readSponge(name string, c nbt.Compound) (*Blueprint, error) {
	version, ok := c.Int("Version")
	if !ok {
		return nil, at(ErrFormat, "Version", "missing; is this a Sponge schematic?")
	}
	if version < 1 || version > 3 {
		return nil, at(ErrVersion, "Version", "%d; 1, 2 and 3 are read", version)
	}
	var side [3]int32
	for i, k := range []string{"Width", "Height", "Length"} {
		n, ok := c.Int(k)
		if !ok {
			return nil, at(ErrMalformed, k, "missing")
		}
		side[i] = int32(uint16(n)) // written as a signed short, meant unsigned
	}
	b, err := New(name, geom.BlockPos{X: side[0], Y: side[1], Z: side[2]})
	if err != nil {
		return nil, err
	}
	b.Format = fmt.Sprintf("sponge v%d", version)
	if b.DataVersion, err = dataVersion(c, "DataVersion"); err != nil {
		return nil, err
	}
	if o, ok := c.Ints("Offset"); ok && len(o) == 3 {
		b.Offset = geom.BlockPos{X: o[0], Y: o[1], Z: o[2]}
	}
	blocks, dataKey := c, "BlockData"
	if version == 3 {
		if blocks, ok = c.Compound("Blocks"); !ok {
			return nil, at(ErrMalformed, "Blocks", "missing; only block schematics are read")
		}
		dataKey = "Data"
	}
	b.Entities = countList(c, "Entities")
	b.BlockEntities = countList(blocks, "BlockEntities", "TileEntities")
	return b, b.spongeCells(blocks, dataKey)
}

func (b *Blueprint) spongeCells(c nbt.Compound, dataKey string) error {
	p, ok := c.Compound("Palette")
	if !ok {
		return at(ErrMalformed, "Palette", "missing")
	}
	byID, err := b.spongePalette(p)
	if err != nil {
		return err
	}
	data, ok := c.Bytes(dataKey)
	if !ok {
		return at(ErrMalformed, dataKey, "missing")
	}
	for i := range b.cells {
		id, n := varint(data)
		if n == 0 {
			return at(ErrTruncated, dataKey, "%d of %d cells", i, len(b.cells))
		}
		if n < 0 {
			return at(ErrMalformed, dataKey, "cell %d is no number of up to 5 bytes", i)
		}
		data = data[n:]
		v, ok := byID[id]
		if !ok {
			return at(ErrMalformed, dataKey, "cell %d names state %d, which the palette does not have", i, id)
		}
		b.cells[i] = v
	}
	if len(data) > 0 {
		return at(ErrMalformed, dataKey, "%d bytes after the last of %d cells", len(data), len(b.cells))
	}
	return nil
}

func (b *Blueprint) spongePalette(p nbt.Compound) (map[int32]uint16, error) {
	if len(p) >= MaxPalette {
		return nil, at(ErrTooLarge, "Palette", "%d different states", len(p))
	}
	keys := p.Keys()
	states := make([]State, len(keys))
	for i, k := range keys {
		s, ok := ParseState(k)
		if !ok {
			return nil, at(ErrMalformed, "Palette", "%.80q is no block state", k)
		}
		states[i] = s
	}
	values, err := b.adopt(states)
	if err != nil {
		return nil, err
	}
	byID := make(map[int32]uint16, len(keys))
	for i, k := range keys {
		id, ok := p.Int(k)
		if !ok || id < 0 || id != int64(int32(id)) {
			return nil, at(ErrMalformed, "Palette", "%.80q has no valid number", k)
		}
		byID[int32(id)] = values[i]
	}
	return byID, nil
}

// varint reads one number of up to five bytes; n is 0 at the end of data, below 0 if it goes on too long.
func varint(data []byte) (v int32, n int) {
	for i, c := range data {
		if i == 5 {
			return 0, -1
		}
		v |= int32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
