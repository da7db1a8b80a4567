package blueprint

import (
	"context"
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// storeys is a building of so many floors, walls and windows, every six blocks a wall with doorways, torches inside.
func storeys(t testing.TB, size geom.BlockPos) *Blueprint {
	t.Helper()
	return blocks(t, size, func(x, y, z int32) string {
		edge := x == 0 || z == 0 || x == size.X-1 || z == size.Z-1
		inner := (x%8 == 0 || z%8 == 0) && !(x%8 == 4 || z%8 == 4)
		switch {
		case y%6 == 0:
			return []string{"oak_planks", "stone_bricks", "spruce_planks"}[(x/3+z/5)%3]
		case edge && y%6 == 3 && (x+z)%4 != 0:
			return "glass_pane"
		case edge || inner:
			return "bricks"
		case y%6 == 1 && x%8 == 3 && z%8 == 3:
			return "torch"
		}
		return "air"
	})
}

func solid(t testing.TB, size geom.BlockPos) *Blueprint {
	return blocks(t, size, func(x, y, z int32) string {
		return []string{"stone", "cobblestone", "oak_planks", "dirt"}[(x*7+y*3+z*5)%4]
	})
}

func BenchmarkLarge(b *testing.B) {
	for name, make := range map[string]func() *Blueprint{
		"storeys 32": func() *Blueprint { return storeys(b, geom.BlockPos{X: 32, Y: 32, Z: 32}) },
		"storeys 64": func() *Blueprint { return storeys(b, geom.BlockPos{X: 64, Y: 64, Z: 64}) },
		"solid 32":   func() *Blueprint { return solid(b, geom.BlockPos{X: 32, Y: 32, Z: 32}) },
		"solid 48":   func() *Blueprint { return solid(b, geom.BlockPos{X: 48, Y: 48, Z: 48}) },
		"flat 128":   func() *Blueprint { return solid(b, geom.BlockPos{X: 128, Y: 4, Z: 128}) },
		"flat 64":    func() *Blueprint { return solid(b, geom.BlockPos{X: 64, Y: 4, Z: 64}) },
		"flat 256":   func() *Blueprint { return solid(b, geom.BlockPos{X: 256, Y: 4, Z: 256}) },
	} {
		for _, fly := range []bool{false, true} {
			how := "/walking"
			if fly {
				how = "/flying"
			}
			b.Run(name+how, func(b *testing.B) {
				reg, err := registry.Load(registry.V1_21_7)
				if err != nil {
					b.Fatal(err)
				}
				bp := make()
				for b.Loop() {
					p, err := MakePlan(context.Background(), reg, bp, geom.BlockPos{}, Options{CanFly: fly})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(p.Steps)), "steps")
					b.ReportMetric(float64(len(p.Unreachable)), "unreachable")
				}
			})
		}
	}
}

// blocks makes a blueprint cell by cell.
func blocks(t testing.TB, size geom.BlockPos, at func(x, y, z int32) string) *Blueprint {
	t.Helper()
	b, err := New("large", size)
	if err != nil {
		t.Fatal(err)
	}
	b.DataVersion = 3955
	for y := range size.Y {
		for z := range size.Z {
			for x := range size.X {
				s, ok := ParseState(at(x, y, z))
				if !ok {
					t.Fatal(at(x, y, z))
				}
				if err := b.Set(geom.BlockPos{X: x, Y: y, Z: z}, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return b
}
