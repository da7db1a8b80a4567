package geom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func point(t *rapid.T, name string) Vec3 {
	c := func() float64 { return rapid.Float64Range(-20, 20).Draw(t, name) }
	return Vec3{c(), c(), c()}
}

func TestFaces(t *testing.T) {
	for _, f := range Faces {
		if f.Opposite().Normal() != (BlockPos{}).Sub(f.Normal()) || f.Opposite().Opposite() != f {
			t.Errorf("%s: opposite %s", f, f.Opposite())
		}
		if back, ok := ParseFace(f.String()); !ok || back != f {
			t.Errorf("%s reads as %s", f, back)
		}
		if f.CounterClockwise().Clockwise() != f {
			t.Errorf("%s: a quarter turn there and back gives %s", f, f.CounterClockwise().Clockwise())
		}
		if f.IsHorizontal() && (Rotation{Yaw: f.Yaw()}).Horizontal() != f {
			t.Errorf("%s: its yaw looks %s", f, Rotation{Yaw: f.Yaw()}.Horizontal())
		}
	}
	if North.Clockwise() != East || East.Clockwise() != South || Up.Clockwise() != Up {
		t.Error("clockwise goes the wrong way round")
	}
	bad := Face(6)
	if bad.Valid() || bad.Normal() != (BlockPos{}) || bad.String() != "invalid" || bad.IsHorizontal() || bad.Yaw() != 0 || bad.Clockwise() != bad {
		t.Error("an invalid face is not treated as one")
	}
	if _, ok := ParseFace("sideways"); ok {
		t.Error("a name that is none reads as a face")
	}
}

func TestRotation(t *testing.T) {
	if r := RotationTo(Vec3{1, 2, 3}, Vec3{1, 2, 3}); r != (Rotation{}) {
		t.Errorf("looking at oneself is %v", r)
	}
	rapid.Check(t, func(t *rapid.T) {
		eye, target := point(t, "eye"), point(t, "target")
		d := target.Sub(eye)
		if d.Len() < 1e-3 {
			return
		}
		r := RotationTo(eye, target)
		if r.Vector().Sub(d.Normalize()).Len() > 1e-5 || !r.Finite() {
			t.Fatalf("%v from %v to %v looks along %v", r, eye, target, r.Vector())
		}
	})
}

func TestRay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, size := point(t, "corner"), rapid.Float64Range(0.1, 10).Draw(t, "size")
		b := Box{a, a.Add(Vec3{size, size, size})}
		from, to := point(t, "from"), point(t, "to")
		at, face, ok := b.Ray(from, to)
		inside := func(s float64) bool { return b.Grow(-1e-6).Contains(from.Add(to.Sub(from).Mul(s))) }
		for i := range 201 {
			s := float64(i) / 200
			if inside(s) && (!ok || at > s+1e-6) {
				t.Fatalf("inside at %v, but the ray says %v, %v", s, at, ok)
			}
		}
		if !ok {
			return
		}
		hit := from.Add(to.Sub(from).Mul(at))
		if b.Distance(hit) > 1e-6 {
			t.Fatalf("enters at %v, which is %v away", hit, b.Distance(hit))
		}
		if at > 0 {
			n := face.Normal()
			if Vec3.Dot(Vec3{float64(n.X), float64(n.Y), float64(n.Z)}, to.Sub(from)) > 0 {
				t.Fatalf("enters by %s from inside", face)
			}
		}
	})
}

func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Box{Max: Vec3{1, 1, 1}}.Move(point(t, "a")), Box{Max: Vec3{2, 1, 3}}.Move(point(t, "b"))
		if a.Overlaps(b) != b.Overlaps(a) {
			t.Fatal("overlap has a side")
		}
		if a.Overlaps(b) && b.Distance(a.Min.Add(a.Max).Mul(0.5)) > 1 {
			t.Fatal("boxes overlap that are apart")
		}
		d := point(t, "d")
		if s := a.Stretch(d); !s.Contains(a.Min) || !s.Contains(a.Max.Add(d)) {
			t.Fatal("a stretched box does not cover the way")
		}
	})
	touching := Box{Max: Vec3{1, 1, 1}}
	if touching.Overlaps(touching.Move(Vec3{1, 0, 0})) {
		t.Error("touching boxes overlap")
	}
	p := PlayerBox(Vec3{0, 64, 0}, PlayerHeight)
	if math.Abs(p.Max[0]-p.Min[0]-PlayerWidth) > 1e-12 || p.Min[1] != 64 || p.Max[1] != 64+PlayerHeight {
		t.Errorf("player box %v", p)
	}
}

func TestBlockBox(t *testing.T) {
	b := BoxOf(BlockPos{3, 9, -2}, BlockPos{-1, 4, 5})
	if b.Volume() != 5*6*8 || b.String() != "-1,4,-2:3,9,5" || b.Size() != (BlockPos{5, 6, 8}) {
		t.Errorf("%s holds %d", b, b.Volume())
	}
	if !b.Contains(b.Min) || !b.Contains(b.Max) || b.Contains(b.Max.Add(BlockPos{1, 0, 0})) {
		t.Error("corners do not belong to a box, or more does")
	}
	if !b.Grow(1).ContainsBox(b) || b.ContainsBox(b.Grow(1)) || !b.Union(BlockBox{}).Contains(BlockPos{}) {
		t.Error("grow or union is wrong")
	}
	if (BlockPos{-1, 0, -17}).Chunk() != (ChunkPos{-1, -2}) || BlockAt(Vec3{-0.5, 1.5, 15.999}) != (BlockPos{-1, 1, 15}) {
		t.Error("negative positions fall into the wrong cell")
	}
	if !(BlockPos{9, 0, 0}).Less(BlockPos{0, 1, 0}) || !(BlockPos{0, 0, 1}).Less(BlockPos{1, 0, 1}) || (BlockPos{}).Less(BlockPos{}) {
		t.Error("the building order is wrong")
	}
	if Finite(Vec3{math.NaN(), 0, 0}) || Finite(Vec3{0, math.Inf(1), 0}) || !Finite(Vec3{1, 2, 3}) {
		t.Error("Finite")
	}
}
