package blueprint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// anyBlueprint draws a small blueprint of random states of one version.
func anyBlueprint(t *rapid.T, reg *registry.Registry, most int32) *Blueprint {
	size := geom.BlockPos{X: rapid.Int32Range(1, most).Draw(t, "x"), Y: rapid.Int32Range(1, most).Draw(t, "y"), Z: rapid.Int32Range(1, most).Draw(t, "z")}
	b, err := New("random", size)
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = reg.Protocol().Versions()[0].DataVersion
	for y := range size.Y {
		for z := range size.Z {
			for x := range size.X {
				if rapid.IntRange(0, 3).Draw(t, "fill") == 0 {
					continue
				}
				id := registry.StateID(rapid.IntRange(0, reg.StateCount()-1).Draw(t, "state"))
				s, ok := ParseState(reg.FormatState(id))
				if !ok {
					t.Fatalf("%s is not read", reg.FormatState(id))
				}
				if err := b.Set(geom.BlockPos{X: x, Y: y, Z: z}, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return b
}

// listing writes a blueprint as text, cell by cell.
func listing(b *Blueprint) []string {
	out := []string{b.Size.String()}
	b.Each(func(p geom.BlockPos, s State) { out = append(out, p.String()+" "+s.String()) })
	return out
}

func TestTurnsAndMirrorsUndoThemselves(t *testing.T) {
	reg, err := registry.Load(registry.Latest)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := anyBlueprint(t, reg, 3)
		want := listing(b)
		q := rapid.IntRange(-8, 8).Draw(t, "quarters")
		steps := map[string]*Blueprint{
			"four turns":         b.Transform(1, MirrorNone).Transform(1, MirrorNone).Transform(1, MirrorNone).Transform(1, MirrorNone),
			"there and back":     b.Transform(q, MirrorNone).Transform(-q, MirrorNone),
			"mirror x twice":     b.Transform(0, MirrorX).Transform(0, MirrorX),
			"mirror z twice":     b.Transform(0, MirrorZ).Transform(0, MirrorZ),
			"both are two turns": b.Transform(0, MirrorX).Transform(2, MirrorZ),
		}
		for name, got := range steps {
			if d := cmp.Diff(want, listing(got)); d != "" {
				t.Fatalf("%s: %s", name, d)
			}
		}
		one := b.Transform(q, MirrorX)
		two := b.Transform(0, MirrorX).Transform(q, MirrorNone)
		if d := cmp.Diff(listing(one), listing(two)); d != "" {
			t.Fatalf("mirror first, then turn: %s", d)
		}
	})
}

// TestTransformedStatesExist turns every state of the oldest and newest version and finds it again in the registry.
func TestTransformedStatesExist(t *testing.T) {
	for _, p := range []registry.Protocol{registry.First, registry.Latest} {
		reg, err := registry.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		for n := range reg.StateCount() {
			s, _ := ParseState(reg.FormatState(registry.StateID(n)))
			for _, m := range []Mirror{MirrorNone, MirrorX, MirrorZ} {
				for q := range 4 {
					if _, err := reg.ParseState(s.Transform(q, m).String()); err != nil {
						t.Fatalf("%s by %d and %q: %v", s, q, m, err)
					}
				}
			}
		}
	}
}

func TestTransformTable(t *testing.T) {
	for _, c := range []struct {
		from     string
		quarters int
		mirror   Mirror
		to       string
	}{
		{"oak_stairs[facing=north,half=top,shape=outer_left]", 1, MirrorNone, "oak_stairs[facing=east,half=top,shape=outer_left]"},
		{"oak_stairs[facing=north,shape=outer_left]", 0, MirrorX, "oak_stairs[facing=north,shape=outer_right]"},
		{"oak_stairs[facing=north,shape=inner_right]", 0, MirrorZ, "oak_stairs[facing=south,shape=inner_left]"},
		{"oak_log[axis=x]", 1, MirrorNone, "oak_log[axis=z]"},
		{"oak_log[axis=y]", 3, MirrorX, "oak_log[axis=y]"},
		{"oak_sign[rotation=1]", 1, MirrorNone, "oak_sign[rotation=5]"},
		{"oak_sign[rotation=1]", 0, MirrorX, "oak_sign[rotation=15]"},
		{"oak_sign[rotation=1]", 0, MirrorZ, "oak_sign[rotation=7]"},
		{"oak_door[facing=west,hinge=left]", 0, MirrorX, "oak_door[facing=east,hinge=right]"},
		{"chest[facing=north,type=left]", 0, MirrorZ, "chest[facing=south,type=right]"},
		{"oak_slab[type=top]", 1, MirrorX, "oak_slab[type=top]"},
		{"rail[shape=south_east]", 1, MirrorNone, "rail[shape=south_west]"},
		{"rail[shape=north_south]", 1, MirrorNone, "rail[shape=east_west]"},
		{"powered_rail[shape=ascending_east]", 1, MirrorNone, "powered_rail[shape=ascending_south]"},
		{"powered_rail[shape=ascending_east]", 0, MirrorX, "powered_rail[shape=ascending_west]"},
		{"crafter[orientation=up_north]", 1, MirrorNone, "crafter[orientation=up_east]"},
		{"jigsaw[orientation=west_up]", 0, MirrorX, "jigsaw[orientation=east_up]"},
		{"oak_fence[north=true,east=false]", 1, MirrorNone, "oak_fence[east=true,south=false]"},
		{"redstone_wire[north=up,south=side]", 0, MirrorZ, "redstone_wire[north=side,south=up]"},
		{"lever[face=wall,facing=east]", 2, MirrorNone, "lever[face=wall,facing=west]"},
		{"piston[facing=up]", 1, MirrorX, "piston[facing=up]"},
	} {
		s, _ := ParseState(c.from)
		want, _ := ParseState(c.to)
		if got := s.Transform(c.quarters, c.mirror); got.String() != want.String() {
			t.Errorf("%s by %d quarters and mirror %q is %s, want %s", c.from, c.quarters, c.mirror, got, want)
		}
	}
}

func TestPositionsTurnClockwise(t *testing.T) {
	b, _ := New("l", geom.BlockPos{X: 3, Y: 1, Z: 2})
	stone, _ := ParseState("stone")
	_ = b.Set(geom.BlockPos{X: 2}, stone) // the north-east corner
	for i, want := range []geom.BlockPos{{X: 2, Z: 0}, {X: 1, Z: 2}, {X: 0, Z: 1}, {X: 0, Z: 0}} {
		if _, ok := b.Transform(i, MirrorNone).At(want); !ok {
			t.Errorf("after %d quarters it is not at %v: %v", i, want, listing(b.Transform(i, MirrorNone)))
		}
	}
	if _, ok := b.Transform(1, MirrorX).At(geom.BlockPos{X: 1, Z: 0}); !ok {
		t.Errorf("mirrored, then turned: %v", listing(b.Transform(1, MirrorX)))
	}
}
