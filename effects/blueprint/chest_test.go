package blueprint

import (
	"slices"
	"testing"

	"blockworld/effects/placement"
	"blockworld/worldstate/registry"
)

// Whether a chest stands alone is masked only where a later step of the plan pairs with it.
func TestChestMasks(t *testing.T) {
	reg := load(t, registry.V1_21)
	for name, c := range map[string]struct {
		row    []string
		masked []bool // by step
	}{
		"alone":               {[]string{"chest[facing=north]"}, []bool{false}},
		"two beside":          {[]string{"chest[facing=north]", "chest[facing=north]"}, []bool{false, false}},
		"a pair":              {[]string{"chest[facing=north,type=left]", "chest[facing=north,type=right]"}, []bool{true, false}},
		"a pair and a single": {[]string{"chest[facing=north,type=left]", "chest[facing=north,type=right]", "chest[facing=north]"}, []bool{true, false, false}},
		"trapped beside":      {[]string{"trapped_chest[facing=north]", "chest[facing=north]"}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustPlan(t, reg, layout(t, c.row), Options{CanFly: true})
			checkPlan(t, reg, p, nil)
			if len(p.Steps) != len(c.masked) {
				t.Fatalf("%d steps, rejected %v", len(p.Steps), p.Rejected)
			}
			for i, s := range p.Steps {
				if got := slices.Contains(s.Use.Cells[0].Masked, placement.PairMask); got != c.masked[i] {
					t.Errorf("step %d, %s: type masked %v", i, s.Block, got)
				}
			}
		})
	}
}
