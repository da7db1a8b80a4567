package blueprint

import (
	"io"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// Write writes the blueprint as a Sponge schematic version 2, gzip packed. Cells without a state become structure void.
func (b *Blueprint) Write(w io.Writer) error {
	palette := nbt.Compound{}
	for i, s := range b.Palette {
		palette[s.String()] = nbt.Int(i)
	}
	void := len(b.Palette)
	var data nbt.ByteArray
	for _, v := range b.cells {
		n := int(v) - 1
		if v == 0 {
			n = void
			palette["minecraft:structure_void"] = nbt.Int(void)
		}
		for n >= 0x80 {
			data = append(data, byte(n)|0x80)
			n >>= 7
		}
		data = append(data, byte(n))
	}
	return nbt.WriteFile(w, "Schematic", nbt.Compound{
		"Version": nbt.Int(2), "DataVersion": nbt.Int(b.DataVersion),
		"Width": nbt.Short(b.Size.X), "Height": nbt.Short(b.Size.Y), "Length": nbt.Short(b.Size.Z),
		"PaletteMax": nbt.Int(len(palette)), "Palette": palette, "BlockData": data,
		"Offset": nbt.IntArray{b.Offset.X, b.Offset.Y, b.Offset.Z},
	})
}

// Bounds returns the box that the blueprint takes with its minimum corner at a place.
func (b *Blueprint) Bounds(corner geom.BlockPos) geom.BlockBox {
	return geom.BlockBox{Min: corner, Max: corner.Add(b.Size).Sub(geom.BlockPos{X: 1, Y: 1, Z: 1})}
}
