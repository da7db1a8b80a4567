package blueprint

import (
	"testing"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// sim is a world of a map over a base.
type sim struct {
	base  placement.Cells
	cells map[geom.BlockPos]registry.StateID
}

func (s *sim) Block(p geom.BlockPos) (registry.StateID, bool) {
	if v, ok := s.cells[p]; ok {
		return v, true
	}
	return s.base.Block(p)
}

// checkPlan walks through a plan from the outside and proves its promises step by step.
func checkPlan(t *testing.T, reg *registry.Registry, p *Plan, world placement.Cells) {
	t.Helper()
	if world == nil {
		stone, _ := reg.Block("stone")
		world = flat{p.Bounds.Min.Y, stone.Default}
	}
	w := &sim{world, map[geom.BlockPos]registry.StateID{}}
	nth := map[geom.BlockPos]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Index != i || s.Ordinal != nth[s.Use.Target()] {
			t.Fatalf("step %d is numbered %d, ordinal %d instead of %d", i, s.Index, s.Ordinal, nth[s.Use.Target()])
		}
		nth[s.Use.Target()]++
		checkStep(t, reg, p, s, w)
		for _, c := range s.Use.Cells {
			if from, _ := w.Block(c.Pos); from != c.From {
				t.Fatalf("step %d: %v is %s before, not %s", i, c.Pos, reg.FormatState(from), reg.FormatState(c.From))
			}
			w.cells[c.Pos] = c.To
		}
		for _, c := range s.Follow {
			w.cells[c.Pos] = c.To
		}
	}
	for _, f := range p.Final {
		if got, _ := w.Block(f.Pos); !placement.Same(reg, f.State, got, f.Masked) {
			t.Fatalf("%v ends as %s, the plan says %s", f.Pos, reg.FormatState(got), reg.FormatState(f.State))
		}
	}
}

func checkStep(t *testing.T, reg *registry.Registry, p *Plan, s *Step, w *sim) {
	t.Helper()
	u := s.Use
	clicked, ok := w.Block(u.Click.Pos)
	onto := u.Click.Pos == u.Target()
	if !ok || !onto && (reg.Replaceable(clicked) || len(reg.Shape(clicked)) == 0 && placement.FamilyOf(reg.BlockOf(clicked).Name) != placement.FamilyOf(blockName(s.Block))) {
		t.Fatalf("step %d clicks %v, which is %s by then", s.Index, u.Click.Pos, reg.FormatState(clicked))
	}
	if !p.Click.Contains(u.Click.Pos) {
		t.Fatalf("step %d clicks outside the click box", s.Index)
	}
	cells, err := placement.Predict(reg, w, u.Item, u.Click, u.Look, u.Sneak == placement.SneakMust)
	if err != nil {
		t.Fatalf("step %d %s: %v", s.Index, s.Block, err)
	}
	for k, c := range cells {
		if c.Pos != u.Cells[k].Pos || c.To != u.Cells[k].To || !p.Build.Contains(c.Pos) {
			t.Fatalf("step %d makes %v %s, the plan says %v %s", s.Index, c.Pos, reg.FormatState(c.To), u.Cells[k].Pos, reg.FormatState(u.Cells[k].To))
		}
	}
	spot, ok := placement.SpotAt(reg, w, u, s.Stand, p.CanFly)
	if !ok || spot.Flying && !p.CanFly || spot.Hidden != s.Hidden || !p.Walk.Contains(s.Stand) {
		t.Fatalf("step %d cannot be made from %v: %+v %v", s.Index, s.Stand, spot, ok)
	}
	if spot.Feet != s.Feet {
		t.Fatalf("step %d: feet at %v, the plan says %v", s.Index, spot.Feet, s.Feet)
	}
	if d := placement.Eye(u, s.Feet).Sub(u.Click.Point()).Len(); d > placement.PlanReach {
		t.Fatalf("step %d reaches %.2f blocks", s.Index, d)
	}
}
