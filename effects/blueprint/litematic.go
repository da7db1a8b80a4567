package blueprint

import (
	"fmt"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
)

// maxRegions bounds the regions of one litematic.
const maxRegions = 1024

// region is one box of a litematic with its place.
type region struct {
	name string
	min  geom.BlockPos
	size geom.BlockPos // all above 0
	c    nbt.Compound
}

// readLitematic reads versions 4 to 7: regions side by side, sizes that may run backwards, indices packed without gaps.
func readLitematic(name string, root nbt.Compound) (*Blueprint, error) {
	version, ok := root.Int("Version")
	if !ok {
		return nil, at(ErrMalformed, "Version", "missing")
	}
	if version < 4 || version > 7 {
		return nil, at(ErrVersion, "Version", "%d; 4 to 7 are read", version)
	}
	regions, box, err := regionsOf(root)
	if err != nil {
		return nil, err
	}
	b, err := New(name, box.Size())
	if err != nil {
		return nil, err
	}
	b.Format = fmt.Sprintf("litematic v%d", version)
	if sub, ok := root.Int("SubVersion"); ok && sub > 0 {
		b.Format += fmt.Sprintf(".%d", sub)
	}
	b.Offset = box.Min
	if b.DataVersion, err = dataVersion(root, "MinecraftDataVersion"); err != nil {
		return nil, err
	}
	for _, r := range regions {
		if err := b.addRegion(r, box.Min); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func regionsOf(root nbt.Compound) ([]region, geom.BlockBox, error) {
	var box geom.BlockBox
	all, ok := root.Compound("Regions")
	if !ok || len(all) == 0 {
		return nil, box, at(ErrMalformed, "Regions", "missing or empty")
	}
	if len(all) > maxRegions {
		return nil, box, at(ErrTooLarge, "Regions", "%d of them; %d are read", len(all), maxRegions)
	}
	var out []region
	for i, k := range all.Keys() {
		c, ok := all.Compound(k)
		place := "Regions/" + clip(k)
		if !ok {
			return nil, box, at(ErrMalformed, place, "is no compound")
		}
		pos, ok1 := vector(c, "Position")
		size, ok2 := vector(c, "Size")
		if !ok1 || !ok2 {
			return nil, box, at(ErrMalformed, place, "has no Position or Size")
		}
		r, err := newRegion(place, pos, size, c)
		if err != nil {
			return nil, box, err
		}
		own := geom.BlockBox{Min: r.min, Max: r.min.Add(r.size).Sub(geom.BlockPos{X: 1, Y: 1, Z: 1})}
		if i == 0 {
			box = own
		} else {
			box = box.Union(own)
		}
		out = append(out, r)
	}
	if s := box; int64(s.Max.X)-int64(s.Min.X) >= MaxSide || int64(s.Max.Y)-int64(s.Min.Y) >= MaxSide || int64(s.Max.Z)-int64(s.Min.Z) >= MaxSide {
		return nil, box, at(ErrTooLarge, "Regions", "together they reach from %v to %v; %d cells along an axis are read", box.Min, box.Max, MaxSide)
	}
	return out, box, nil
}

func newRegion(place string, pos, size geom.BlockPos, c nbt.Compound) (region, error) {
	r := region{name: place, c: c}
	axes := func(p *geom.BlockPos) [3]*int32 { return [3]*int32{&p.X, &p.Y, &p.Z} }
	ps, ss, ms, rs := axes(&pos), axes(&size), axes(&r.min), axes(&r.size)
	for i := range ps {
		n := int64(*ss[i])
		if n == 0 || n > MaxSide || n < -MaxSide {
			return r, at(ErrTooLarge, place, "size %v: each side must be 1 to %d cells", size, MaxSide)
		}
		if *ps[i] > 1<<29 || *ps[i] < -(1<<29) {
			return r, at(ErrMalformed, place, "position %v is outside any world", pos)
		}
		*ms[i], *rs[i] = *ps[i], int32(n)
		if n < 0 {
			*ms[i], *rs[i] = *ps[i]+int32(n)+1, int32(-n)
		}
	}
	if int64(r.size.X)*int64(r.size.Y)*int64(r.size.Z) > MaxCells {
		return r, at(ErrTooLarge, place, "size %v is more than %d cells", size, MaxCells)
	}
	return r, nil
}

func (b *Blueprint) addRegion(r region, origin geom.BlockPos) error {
	b.Entities += countList(r.c, "Entities")
	b.BlockEntities += countList(r.c, "TileEntities")
	list, ok := r.c.List("BlockStatePalette")
	if !ok || len(list.Items) == 0 {
		return at(ErrMalformed, r.name+"/BlockStatePalette", "missing or empty")
	}
	palette, err := paletteOf(list, r.name+"/BlockStatePalette")
	if err != nil {
		return err
	}
	values, err := b.adopt(palette)
	if err != nil {
		return err
	}
	longs, ok := r.c.Longs("BlockStates")
	if !ok {
		return at(ErrMalformed, r.name+"/BlockStates", "missing")
	}
	width, n := bitsFor(len(palette)), int(r.size.X)*int(r.size.Y)*int(r.size.Z)
	if need := (n*width + 63) / 64; len(longs) < need {
		return at(ErrTruncated, r.name+"/BlockStates", "%d longs, %d cells of %d bits need %d", len(longs), n, width, need)
	}
	at0 := r.min.Sub(origin)
	for i := range n {
		v := packed(longs, i, width)
		if v >= len(values) {
			return at(ErrMalformed, r.name+"/BlockStates", "cell %d names state %d of %d", i, v, len(values))
		}
		x, z, y := int32(i)%r.size.X, int32(i)/r.size.X%r.size.Z, int32(i)/r.size.X/r.size.Z
		cell := &b.cells[b.index(at0.Add(geom.BlockPos{X: x, Y: y, Z: z}))]
		// Where regions overlap a block wins over another region's air.
		if *cell == 0 || !palette[v].Air() {
			*cell = values[v]
		}
	}
	return nil
}

// packed reads the i-th index of width bits; an index may span two longs.
func packed(longs []int64, i, width int) int {
	bit := i * width
	at, off := bit/64, bit%64
	v := uint64(longs[at]) >> off
	if off+width > 64 {
		v |= uint64(longs[at+1]) << (64 - off)
	}
	return int(v & (1<<width - 1))
}

// clip keeps a foreign name short and printable.
func clip(s string) string {
	if len(s) > 60 {
		s = s[:60] + "..."
	}
	q := fmt.Sprintf("%q", s)
	return q[1 : len(q)-1]
}
