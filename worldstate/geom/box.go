package geom

import "math"

// Box is an axis-aligned box in blocks; Min is below Max on every axis.
type Box struct{ Min, Max Vec3 }

// Move returns the box shifted by d.
func (b Box) Move(d Vec3) Box { return Box{b.Min.Add(d), b.Max.Add(d)} }

// Grow returns the box grown by r on every side; a negative r shrinks it.
func (b Box) Grow(r float64) Box {
	d := Vec3{r, r, r}
	return Box{b.Min.Sub(d), b.Max.Add(d)}
}

// Stretch returns the box extended along d, so that it covers the whole way.
func (b Box) Stretch(d Vec3) Box {
	for i := range d {
		if d[i] < 0 {
			b.Min[i] += d[i]
		} else {
			b.Max[i] += d[i]
		}
	}
	return b
}

// Overlaps tells whether the two boxes share volume; touching faces do not count.
func (b Box) Overlaps(c Box) bool {
	for i := range b.Min {
		if b.Min[i] >= c.Max[i] || c.Min[i] >= b.Max[i] {
			return false
		}
	}
	return true
}

// Contains tells whether p lies in the box, borders included.
func (b Box) Contains(p Vec3) bool {
	for i := range p {
		if p[i] < b.Min[i] || p[i] > b.Max[i] {
			return false
		}
	}
	return true
}

// Distance returns the distance from p to the nearest point of the box, 0 inside.
func (b Box) Distance(p Vec3) float64 {
	sum := 0.0
	for i := range p {
		d := math.Max(0, math.Max(b.Min[i]-p[i], p[i]-b.Max[i]))
		sum += d * d
	}
	return math.Sqrt(sum)
}

// Ray returns where the segment from a to b first enters the box, as a share 0..1 of the way, and the face it enters by.
// A segment that starts inside gives 0 and ok.
func (b Box) Ray(from, to Vec3) (t float64, face Face, ok bool) {
	d := to.Sub(from)
	lo, hi := 0.0, 1.0
	faces := [3][2]Face{{West, East}, {Down, Up}, {North, South}}
	for i := range d {
		if math.Abs(d[i]) < 1e-12 {
			if from[i] < b.Min[i] || from[i] > b.Max[i] {
				return 0, 0, false
			}
			continue
		}
		near, far, f := (b.Min[i]-from[i])/d[i], (b.Max[i]-from[i])/d[i], faces[i][0]
		if near > far {
			near, far, f = far, near, faces[i][1]
		}
		if near > lo {
			lo, face = near, f
		}
		hi = math.Min(hi, far)
		if lo > hi {
			return 0, 0, false
		}
	}
	return lo, face, true
}

// BlockBox is a box of whole cells; both corners belong to it. The zero box is the one cell 0,0,0.
type BlockBox struct{ Min, Max BlockPos }

// BoxOf returns the smallest box that holds both corners, in whichever order they come.
func BoxOf(a, b BlockPos) BlockBox {
	return BlockBox{
		BlockPos{min(a.X, b.X), min(a.Y, b.Y), min(a.Z, b.Z)},
		BlockPos{max(a.X, b.X), max(a.Y, b.Y), max(a.Z, b.Z)},
	}
}

// Contains tells whether the cell lies in the box.
func (b BlockBox) Contains(p BlockPos) bool {
	return p.X >= b.Min.X && p.X <= b.Max.X && p.Y >= b.Min.Y && p.Y <= b.Max.Y && p.Z >= b.Min.Z && p.Z <= b.Max.Z
}

// ContainsBox tells whether every cell of c lies in the box.
func (b BlockBox) ContainsBox(c BlockBox) bool { return b.Contains(c.Min) && b.Contains(c.Max) }

// Grow returns the box grown by n cells on every side.
func (b BlockBox) Grow(n int32) BlockBox {
	d := BlockPos{n, n, n}
	return BlockBox{b.Min.Sub(d), b.Max.Add(d)}
}

// Union returns the smallest box that holds both.
func (b BlockBox) Union(c BlockBox) BlockBox {
	return BlockBox{
		BlockPos{min(b.Min.X, c.Min.X), min(b.Min.Y, c.Min.Y), min(b.Min.Z, c.Min.Z)},
		BlockPos{max(b.Max.X, c.Max.X), max(b.Max.Y, c.Max.Y), max(b.Max.Z, c.Max.Z)},
	}
}

// Size returns the number of cells along each axis.
func (b BlockBox) Size() BlockPos { return b.Max.Sub(b.Min).Add(BlockPos{1, 1, 1}) }

// Volume returns the number of cells.
func (b BlockBox) Volume() int64 {
	s := b.Size()
	return int64(s.X) * int64(s.Y) * int64(s.Z)
}

// String writes the box as "X1,Y1,Z1:X2,Y2,Z2".
func (b BlockBox) String() string { return b.Min.String() + ":" + b.Max.String() }
