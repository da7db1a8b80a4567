package blueprint

import (
	"fmt"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// readStructure reads a vanilla structure file; of several palettes the first is taken.
func readStructure(name string, root nbt.Compound) (*Blueprint, error) {
	size, ok := root.Ints("size")
	if !ok || len(size) != 3 {
		return nil, at(ErrMalformed, "size", "missing, or not three numbers")
	}
	b, err := New(name, geom.BlockPos{X: size[0], Y: size[1], Z: size[2]})
	if err != nil {
		return nil, err
	}
	b.Format = "structure nbt"
	if b.DataVersion, err = dataVersion(root, "DataVersion"); err != nil {
		return nil, err
	}
	b.Entities = countList(root, "entities")
	list, place := structurePalette(root)
	if list == nil {
		return nil, at(ErrMalformed, place, "missing")
	}
	palette, err := paletteOf(list, place)
	if err != nil {
		return nil, err
	}
	values, err := b.adopt(palette)
	if err != nil {
		return nil, err
	}
	return b, b.structureBlocks(root, values)
}

func structurePalette(root nbt.Compound) (*nbt.List, string) {
	if l, ok := root.List("palette"); ok {
		return l, "palette"
	}
	if l, ok := root.List("palettes"); ok && len(l.Items) > 0 {
		first, _ := l.Items[0].(*nbt.List)
		return first, "palettes[0]"
	}
	return nil, "palette"
}

func (b *Blueprint) structureBlocks(root nbt.Compound, values []uint16) error {
	blocks, ok := root.List("blocks")
	if !ok {
		return at(ErrMalformed, "blocks", "is no list")
	}
	for i, it := range blocks.Items {
		place := fmt.Sprintf("blocks[%d]", i)
		c, _ := it.(nbt.Compound)
		pos, ok := c.Ints("pos")
		if !ok || len(pos) != 3 {
			return at(ErrMalformed, place, "has no pos of three numbers")
		}
		p := geom.BlockPos{X: pos[0], Y: pos[1], Z: pos[2]}
		if !b.inside(p) {
			return at(ErrMalformed, place, "%v lies outside the size %v", p, b.Size)
		}
		n, ok := c.Int("state")
		if !ok || n < 0 || n >= int64(len(values)) {
			return at(ErrMalformed, place, "names state %d of %d", n, len(values))
		}
		if _, ok := c.Compound("nbt"); ok {
			b.BlockEntities++
		}
		b.cells[b.index(p)] = values[n]
	}
	return nil
}
