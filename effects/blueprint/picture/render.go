package picture

import (
	"image"
	"image/color"
	"math"
	"slices"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Cell is one block to draw.
type Cell struct {
	Pos   geom.BlockPos
	State registry.StateID
}

// Options say how to draw. The zero value is a view from the south-east at a size that fits 1200 pixels.
type Options struct {
	MaxSide int  // longest side of the image in pixels; default 1200, at most 8192
	Turn    int  // quarters by which the building is turned before the south-east eye
	Ground  bool // a lawn under the lowest cells
}

const (
	super     = 2 // samples per pixel along each axis
	tilt      = 0.5
	half      = 0.8660254037844386
	maxPixels = 8192
)

var background = color.RGBA{226, 236, 245, 255}

// Render draws the cells. No cells give an image of one pixel.
func Render(reg *registry.Registry, cells []Cell, o Options) *image.RGBA {
	s := newScene(reg, cells, o)
	if s == nil {
		img := image.NewRGBA(image.Rect(0, 0, 1, 1))
		img.SetRGBA(0, 0, background)
		return img
	}
	for i := range s.solids {
		s.draw(int32(i))
	}
	s.light()
	// Painter's order for what light passes through: the farthest first.
	slices.SortStableFunc(s.clears, func(a, b brick) int {
		da, db := depthOf(a.box.Min), depthOf(b.box.Min)
		if da < db {
			return -1
		}
		if da > db {
			return 1
		}
		return 0
	})
	for _, b := range s.clears {
		s.blend(b)
	}
	return s.shrink()
}

// brick is one box in view space, where the eye looks from +x +y +z.
type brick struct {
	box  geom.Box
	look material
}

type scene struct {
	solids, clears []brick
	scale          float64
	offX, offY     float64
	w, h           int
	pix            []color.RGBA
	depth          []float32
	point          []geom.Vec3 // where the visible surface is, for shadows
	side           []uint8     // 0 nothing, 1 top, 2 south, 3 east
	owner          []int32     // the brick that is visible, an index into solids
	filled         shadowGrid
}

func depthOf(v geom.Vec3) float64 { return v[0] + v[2] + v[1]*2*tilt }

// newScene turns cells into bricks and finds the image's size.
func newScene(reg *registry.Registry, cells []Cell, o Options) *scene {
	if o.MaxSide <= 0 {
		o.MaxSide = 1200
	}
	o.MaxSide = min(o.MaxSide, maxPixels)
	s := &scene{}
	opaque := map[geom.BlockPos]bool{}
	for _, c := range cells {
		if reg.FullCube(c.State) && materialOf(reg, c.State).alpha == 255 {
			opaque[c.Pos] = true
		}
	}
	buried := func(p geom.BlockPos) bool {
		for _, f := range geom.Faces {
			if !opaque[p.Neighbour(f)] {
				return false
			}
		}
		return true
	}
	for _, c := range cells {
		if reg.IsAir(c.State) || buried(c.Pos) {
			continue
		}
		for _, part := range partsOf(reg, c.State) {
			s.add(turnBox(part.box.Move(c.Pos.Corner()), o.Turn), part.look)
		}
	}
	if len(s.solids)+len(s.clears) == 0 {
		return nil
	}
	s.filled = newShadowGrid(s.bounds(), s.solids)
	if o.Ground {
		s.lawn()
	}
	s.frame(o.MaxSide)
	return s
}

func (s *scene) add(b geom.Box, m material) {
	if m.alpha < 255 {
		s.clears = append(s.clears, brick{b, m})
		return
	}
	s.solids = append(s.solids, brick{b, m})
}

// turnBox turns a box by quarters around the world's axis.
func turnBox(b geom.Box, quarters int) geom.Box {
	for range (quarters%4 + 4) % 4 {
		b = geom.Box{Min: geom.Vec3{-b.Max[2], b.Min[1], b.Min[0]}, Max: geom.Vec3{-b.Min[2], b.Max[1], b.Max[0]}}
	}
	return b
}

func (s *scene) lawn() {
	all := s.bounds()
	y := math.Floor(all.Min[1] + 1e-6)
	for x := math.Floor(all.Min[0]) - 2; x < all.Max[0]+2; x++ {
		for z := math.Floor(all.Min[2]) - 2; z < all.Max[2]+2; z++ {
			s.solids = append(s.solids, brick{geom.Box{Min: geom.Vec3{x, y - 0.4, z}, Max: geom.Vec3{x + 1, y, z + 1}}, lawn})
		}
	}
}

func (s *scene) bounds() geom.Box {
	list := append(slices.Clone(s.solids), s.clears...)
	out := list[0].box
	for _, b := range list[1:] {
		for i := range 3 {
			out.Min[i], out.Max[i] = math.Min(out.Min[i], b.box.Min[i]), math.Max(out.Max[i], b.box.Max[i])
		}
	}
	return out
}

// frame chooses scale and offset so that everything fits.
func (s *scene) frame(most int) {
	b := s.bounds()
	s.scale = 1
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for i := range 8 {
		v := geom.Vec3{b.Min[0], b.Min[1], b.Min[2]}
		for k := range 3 {
			if i>>k&1 == 1 {
				v[k] = b.Max[k]
			}
		}
		x, y := s.project(v)
		x0, y0, x1, y1 = math.Min(x0, x), math.Min(y0, y), math.Max(x1, x), math.Max(y1, y)
	}
	s.scale = math.Min(48, float64(most-24)/math.Max(x1-x0, y1-y0)) * super
	s.offX, s.offY = 12*super-x0*s.scale, 12*super-y0*s.scale
	s.w, s.h = int((x1-x0)*s.scale)+24*super, int((y1-y0)*s.scale)+24*super
	s.w, s.h = s.w+s.w%super, s.h+s.h%super
	n := s.w * s.h
	s.pix, s.depth, s.point = make([]color.RGBA, n), make([]float32, n), make([]geom.Vec3, n)
	s.side, s.owner = make([]uint8, n), make([]int32, n)
	for i := range s.pix {
		s.pix[i], s.depth[i] = background, float32(math.Inf(-1))
	}
}

func (s *scene) project(v geom.Vec3) (x, y float64) {
	return (v[0]-v[2])*half*s.scale + s.offX, ((v[0]+v[2])*tilt-v[1])*s.scale + s.offY
}

// quad is a visible face: a corner and two edges in view space.
type quad struct {
	corner, a, b geom.Vec3
	side         uint8
}

func quads(b geom.Box) [3]quad {
	d := b.Max.Sub(b.Min)
	return [3]quad{
		{geom.Vec3{b.Min[0], b.Max[1], b.Min[2]}, geom.Vec3{d[0], 0, 0}, geom.Vec3{0, 0, d[2]}, 1},
		{geom.Vec3{b.Min[0], b.Min[1], b.Max[2]}, geom.Vec3{d[0], 0, 0}, geom.Vec3{0, d[1], 0}, 2},
		{geom.Vec3{b.Max[0], b.Min[1], b.Min[2]}, geom.Vec3{0, 0, d[2]}, geom.Vec3{0, d[1], 0}, 3},
	}
}

// pixels calls fn for every sample that a face covers, with the point on it.
func (s *scene) pixels(q quad, fn func(i int, p geom.Vec3)) {
	ox, oy := s.project(q.corner)
	ax, ay := s.project(q.corner.Add(q.a))
	bx, by := s.project(q.corner.Add(q.b))
	ax, ay, bx, by = ax-ox, ay-oy, bx-ox, by-oy
	det := ax*by - ay*bx
	if math.Abs(det) < 1e-9 {
		return
	}
	x0 := int(math.Floor(ox + math.Min(0, ax) + math.Min(0, bx)))
	x1 := int(math.Ceil(ox + math.Max(0, ax) + math.Max(0, bx)))
	y0 := int(math.Floor(oy + math.Min(0, ay) + math.Min(0, by)))
	y1 := int(math.Ceil(oy + math.Max(0, ay) + math.Max(0, by)))
	const e = 1e-6
	for y := max(y0, 0); y < min(y1, s.h); y++ {
		for x := max(x0, 0); x < min(x1, s.w); x++ {
			px, py := float64(x)+0.5-ox, float64(y)+0.5-oy
			u, v := (px*by-py*bx)/det, (ax*py-ay*px)/det
			if u >= -e && u <= 1+e && v >= -e && v <= 1+e {
				fn(y*s.w+x, q.corner.Add(q.a.Mul(u)).Add(q.b.Mul(v)))
			}
		}
	}
}

// draw enters a box into the depth buffer; colours come when it is known what is visible.
func (s *scene) draw(n int32) {
	b := s.solids[n]
	for _, q := range quads(b.box) {
		s.pixels(q, func(i int, p geom.Vec3) {
			if d := float32(depthOf(p)); d > s.depth[i]+1e-4 {
				s.depth[i], s.point[i], s.side[i], s.owner[i] = d, p, q.side, n
			}
		})
	}
}

func (s *scene) blend(b brick) {
	for _, q := range quads(b.box) {
		shade := shades[q.side]
		s.pixels(q, func(i int, p geom.Vec3) {
			if float32(depthOf(p)) <= s.depth[i]+1e-4 {
				return
			}
			alpha := float64(b.look.alpha) / 255
			if frame(p, q.side) {
				alpha = math.Min(1, alpha+0.45)
			}
			c, under := b.look.at(p, q.side), s.pix[i]
			mix := func(o, n uint8) uint8 { return uint8(float64(o)*(1-alpha) + float64(n)*shade*alpha) }
			s.pix[i] = color.RGBA{mix(under.R, c.R), mix(under.G, c.G), mix(under.B, c.B), 255}
		})
	}
}

// shrink averages the samples of each pixel.
func (s *scene) shrink() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, s.w/super, s.h/super))
	for y := range s.h / super {
		for x := range s.w / super {
			var r, g, b int
			for k := range super * super {
				c := s.pix[(y*super+k/super)*s.w+x*super+k%super]
				r, g, b = r+int(c.R), g+int(c.G), b+int(c.B)
			}
			const n = super * super
			img.SetRGBA(x, y, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255})
		}
	}
	return img
}
