package builder

import (
	"slices"
	"strings"

	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/mission"
	"blockworld/effects/placement"
	"blockworld/sentinel"
	"blockworld/sentinel/profile"
	"blockworld/worldstate/geom"
)

// TermsOf reads what a server's profile says as far as building needs it.
func TermsOf(p *profile.Profile) (Terms, error) {
	g, err := p.Generation()
	if err != nil {
		return Terms{}, err
	}
	t := Terms{
		Offered: p.Capabilities(), Fence: p.Found.Fence == profile.FindingYes, Slots: p.Found.Inventory == profile.FindingNo,
		Used: p.Used.Trust(), Policy: sentinel.Pin(g),
	}
	if o, ok := p.Offer(effects.PlaceBlock); ok {
		t.Least = effects.Grade(o.Least)
	}
	return t, nil
}

// UsesOf lists a plan's uses, one per step.
func UsesOf(p *blueprint.Plan) []placement.Use {
	out := make([]placement.Use, len(p.Steps))
	for i := range p.Steps {
		out[i] = p.Steps[i].Use
	}
	return out
}

// MissionOf turns a plan into what the mission machine works with.
func MissionOf(p *blueprint.Plan) mission.Plan {
	var out mission.Plan
	pairs := map[geom.BlockPos]int{} // steps whose chest a later one pairs with
	for i := range p.Steps {
		s := &p.Steps[i]
		m := mission.Step{Item: s.Use.Item, Clicked: s.Use.Click.Pos, Stand: s.Stand, Closing: closing(s.Block)}
		for _, c := range s.Use.Cells {
			m.Cells = append(m.Cells, effects.Cell{Pos: c.Pos, From: c.From, To: c.To, Masked: c.Masked})
			if slices.Contains(c.Masked, placement.PairMask) {
				pairs[c.Pos] = i
			}
		}
		for _, c := range s.Follow {
			if first, ok := pairs[c.Pos]; ok { // the other way round it would come out as the other half, or as none
				m.After = append(m.After, first)
			}
		}
		out.Steps = append(out.Steps, m)
	}
	for _, f := range p.Final {
		out.Final = append(out.Final, mission.FinalCell{Pos: f.Pos, State: f.State, Masked: f.Masked})
	}
	return out
}

// BudgetsOf allows every step once, some more uses for steps that a server refuses at first, and the walking between them.
func BudgetsOf(steps int) effects.Budgets {
	spare := max(16, steps/2)
	return effects.Budgets{Uses: int32(steps + spare), Quantity: int32(steps + spare), Distance: int32(4096 + 256*steps)}
}

// closing tells whether a block may shut a way.
func closing(block string) bool {
	name, _, _ := strings.Cut(block, "[")
	return strings.HasSuffix(name, "door") || strings.HasSuffix(name, "_fence_gate")
}
