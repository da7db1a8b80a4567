package registry

import (
	"slices"

	"blockworld/worldstate/geom"
)

// fullCube is the shape of whatever is not known: nobody walks into it.
var fullCube = []geom.Box{{Max: geom.Vec3{1, 1, 1}}}

// Shape returns the collision boxes of a state within its cell, 0..1 on each axis (fences and walls reach up to 1.5). The
// slice is shared and must not be changed. An id out of range gives a full cube.
func (r *Registry) Shape(s StateID) []geom.Box {
	b := r.BlockOf(s)
	if b == nil {
		return fullCube
	}
	return r.shapes[b.shape(s)]
}

func (b *Block) shape(s StateID) uint16 {
	if len(b.shapes) == 1 {
		return b.shapes[0]
	}
	return b.shapes[s-b.Min]
}

// FullCube tells whether the collision shape is exactly the whole cell.
func (r *Registry) FullCube(s StateID) bool {
	shape := r.Shape(s)
	return len(shape) == 1 && shape[0] == fullCube[0]
}

// supportMask says which faces of a shape support what: 6 bits full, 6 bits centre, 6 bits rigid.
type supportMask uint32

const (
	supportFull   = 0
	supportCentre = 6
	supportRigid  = 12
	supportAll    = supportMask(1<<18 - 1)
)

// FaceFull tells whether the state covers that whole face, so that anything may hang on it or stand on it (vanilla's
// "sturdy"). Leaves support nothing; soul sand, mud and eight snow layers support like a cube. False if unknown.
func (r *Registry) FaceFull(s StateID, f geom.Face) bool { return r.supports(s, f, supportFull) }

// FaceCentre tells whether the state covers the middle of that face: enough for torches, lanterns and the like. Fence
// gates have no centre support at their lower face. False if unknown.
func (r *Registry) FaceCentre(s StateID, f geom.Face) bool { return r.supports(s, f, supportCentre) }

// FaceRigid tells whether the state covers the outer two pixels of that face all around: enough for rails, repeaters,
// pressure plates. False if unknown.
func (r *Registry) FaceRigid(s StateID, f geom.Face) bool { return r.supports(s, f, supportRigid) }

func (r *Registry) supports(s StateID, f geom.Face, kind uint) bool {
	b := r.BlockOf(s)
	if b == nil || !f.Valid() {
		return false
	}
	mask := r.support[b.shape(s)]
	switch {
	case b.flags&flagNoSupport != 0:
		mask = 0
	case b.flags&flagFullSupport != 0:
		mask = supportAll
	case b.flags&flagSnow != 0:
		mask = snowSupport(int(s - b.Min + 1))
	case b.flags&flagFenceGate != 0:
		mask &^= 1 << (supportCentre + uint(geom.Down))
	}
	return mask>>(kind+uint(f))&1 == 1
}

// snowSupport is the support of snow by its outline, which is one layer higher than its collision box.
func snowSupport(layers int) supportMask {
	return supportOf([]geom.Box{{Max: geom.Vec3{1, float64(layers) / 8, 1}}})
}

// rect is a part of a face: two axes, in blocks.
type rect struct{ a0, b0, a1, b1 float64 }

// What each kind of support must cover, on the two axes that span the face. A side's centre reaches down to its lower
// edge, as vanilla's test shape (7,0,7)..(9,10,9) does.
var (
	wholeFace  = []rect{{0, 0, 1, 1}}
	centre     = []rect{{7. / 16, 7. / 16, 9. / 16, 9. / 16}}
	sideCentre = []rect{{7. / 16, 0, 9. / 16, 10. / 16}}
	frame      = []rect{{0, 0, 1, 2. / 16}, {0, 14. / 16, 1, 1}, {0, 0, 2. / 16, 1}, {14. / 16, 0, 1, 1}}
)

// supportOf derives the support of all faces from collision boxes, as vanilla derives its face shapes: a box counts for
// a face if it reaches it, or passes through it as the tall boxes of fences do.
func supportOf(boxes []geom.Box) supportMask {
	var mask supportMask
	for _, f := range geom.Faces {
		covered := faceRects(boxes, f)
		middle := centre
		if f.IsHorizontal() {
			middle = sideCentre
		}
		for kind, want := range map[uint][]rect{supportFull: wholeFace, supportCentre: middle, supportRigid: frame} {
			if coversAll(covered, want) {
				mask |= 1 << (kind + uint(f))
			}
		}
	}
	return mask
}

// faceRects cuts the boxes with the plane of a face. The second axis is Y for the four sides.
func faceRects(boxes []geom.Box, f geom.Face) []rect {
	const near = 1e-7
	axis, a, b := 1, 0, 2
	switch f {
	case geom.North, geom.South:
		axis, a, b = 2, 0, 1
	case geom.West, geom.East:
		axis, a, b = 0, 2, 1
	}
	n := f.Normal()
	plane := near
	if n.X+n.Y+n.Z > 0 {
		plane = 1 - near
	}
	var out []rect
	for _, box := range boxes {
		if box.Min[axis] <= plane && plane <= box.Max[axis] {
			out = append(out, rect{box.Min[a], box.Min[b], box.Max[a], box.Max[b]})
		}
	}
	return out
}

// coversAll tells whether the union of the rectangles covers every wanted one.
func coversAll(have, want []rect) bool {
	for _, w := range want {
		if !covers(have, w) {
			return false
		}
	}
	return true
}

// covers cuts w along every edge of the rectangles and looks at the middle of each piece.
func covers(have []rect, w rect) bool {
	as, bs := []float64{w.a0, w.a1}, []float64{w.b0, w.b1}
	for _, h := range have {
		as = append(as, clamp(h.a0, w.a0, w.a1), clamp(h.a1, w.a0, w.a1))
		bs = append(bs, clamp(h.b0, w.b0, w.b1), clamp(h.b1, w.b0, w.b1))
	}
	slices.Sort(as)
	slices.Sort(bs)
	for i := range len(as) - 1 {
		for j := range len(bs) - 1 {
			if as[i+1]-as[i] < 1e-9 || bs[j+1]-bs[j] < 1e-9 {
				continue
			}
			x, y := (as[i]+as[i+1])/2, (bs[j]+bs[j+1])/2
			if !slices.ContainsFunc(have, func(h rect) bool { return h.a0 <= x && x <= h.a1 && h.b0 <= y && y <= h.b1 }) {
				return false
			}
		}
	}
	return true
}

func clamp(v, lo, hi float64) float64 { return max(lo, min(hi, v)) }
