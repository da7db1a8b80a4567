package sentinel_test

import (
	"testing"

	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/worldstate/registry"
)

// TestPlannerSneaks: wherever the guard refuses a click without sneaking, the planner sneaks; else a plan could hold
// steps that are never admitted. And no block or block item of any version is on no list.
func TestPlannerSneaks(t *testing.T) {
	for _, p := range registry.Protocols() {
		reg, err := registry.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(reg.Blocks()) < 1000 {
			t.Error(p, "has", len(reg.Blocks()), "blocks")
		}
		for _, b := range reg.Blocks() {
			plain := sentinel.ClickClass(b.Name, false) == sentinel.ClassOrdinary
			if c := sentinel.BlockClass(b.Name); !plain && c&sentinel.ClassOrdinary != 0 && !placement.Interactive(reg, b.Default) {
				t.Errorf("%s: a plain click on %s is refused, and the planner does not sneak", p, b.Name)
			}
			if item := reg.ItemByID(b.Item); b.Item >= 0 && item != nil && b.Name != "minecraft:air" && sentinel.ItemClass(item.Name) == sentinel.ClassUnlisted {
				t.Errorf("%s: item %s is on no list", p, item.Name)
			}
		}
	}
}
