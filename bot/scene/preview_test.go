package scene

import (
	"testing"

	"blockworld/effects"
	"blockworld/worldstate/registry"
)

// TestPreviewOperation: what stacks onto its own kind replaces nothing, so a rule about replacing does not meet it.
func TestPreviewOperation(t *testing.T) {
	reg, err := registry.Load(registry.V1_21_4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"minecraft:air", "minecraft:stone", "create"},
		{"minecraft:stone_slab[type=bottom]", "minecraft:stone_slab[type=double]", "create"},
		{"minecraft:candle[candles=1]", "minecraft:candle[candles=2]", "create"},
		{"minecraft:short_grass", "minecraft:stone", "replace"},
		{"minecraft:water", "minecraft:stone", "replace"},
	} {
		from, err := reg.ParseState(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := reg.ParseState(c.to)
		if err != nil {
			t.Fatal(err)
		}
		p := Preview(reg, effects.CellsBecome{Cells: []effects.Cell{{From: from, To: to}}}, Ground{Scope: "garden", Ownership: "own"}, 0)
		if p.Operation != c.want {
			t.Errorf("%s -> %s is told as %s", c.from, c.to, p.Operation)
		}
	}
}
