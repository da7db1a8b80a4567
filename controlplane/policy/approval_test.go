package policy

import (
	"testing"

	"blockworld/effects/host"
)

// building is a build as its approver was shown it: a box of a plot, at most 20 blocks.
func building() host.Preview {
	return host.Preview{Kind: "world.build", Operation: "create", Ownership: "player", Scope: "garden", Risk: "moderate",
		Quantity: 20, Pos: &[3]int32{0, 64, 0}, To: &[3]int32{4, 68, 4}}
}

// step is one block of it.
func step() host.Preview {
	p := placingOn("garden")
	p.Ownership, p.Pos = "player", &[3]int32{4, 64, 2}
	return p
}

func garden(rules ...Rule) Config {
	return Config{Profile: Survival, Plots: []Plot{{ID: "garden", Owner: "bob"}, {ID: "field", Owner: "bob"}}, Rules: rules}
}

func TestApprovalOfAMacro(t *testing.T) {
	ask := Rule{ID: "ask", Layer: LayerServer, Result: Confirm}
	for name, c := range map[string]struct {
		change func(shown, child *host.Preview)
		want   Result
	}{
		"a block inside the box":             {func(_, _ *host.Preview) {}, Allow},
		"the box's own corner":               {func(_, p *host.Preview) { p.Pos = &[3]int32{4, 68, 4} }, Allow},
		"a milder risk":                      {func(_, p *host.Preview) { p.Risk = "low" }, Allow},
		"creating where replacing was shown": {func(s, _ *host.Preview) { s.Operation = "replace" }, Allow},
		"a walk that was shown": {func(s, p *host.Preview) {
			s.Kind, s.Operation, p.Kind, p.Operation = "actor.move", "move", "actor.move", "move"
		}, Allow},
		"a tag that was shown":                       {func(s, p *host.Preview) { s.Tags, p.Tags = []host.Name{"roof", "wall"}, []host.Name{"wall"} }, Allow},
		"a cell beside the box":                      {func(_, p *host.Preview) { p.Pos = &[3]int32{5, 64, 2} }, Confirm},
		"a cell below the box":                       {func(_, p *host.Preview) { p.Pos = &[3]int32{4, 63, 2} }, Confirm},
		"a box that reaches out of it":               {func(_, p *host.Preview) { p.To = &[3]int32{4, 64, 5} }, Confirm},
		"no cell":                                    {func(_, p *host.Preview) { p.Pos = nil }, Confirm},
		"no box, only its corner":                    {func(s, _ *host.Preview) { s.To = nil }, Confirm},
		"no place shown":                             {func(s, _ *host.Preview) { s.Pos, s.To = nil, nil }, Confirm},
		"another kind":                               {func(_, p *host.Preview) { p.Kind, p.Operation = "actor.move", "move" }, Confirm},
		"a build where a block was shown":            {func(s, p *host.Preview) { s.Kind, p.Kind = "world.place", "world.build" }, Confirm},
		"replacing where creating was shown":         {func(_, p *host.Preview) { p.Operation = "replace" }, Confirm},
		"a higher risk":                              {func(_, p *host.Preview) { p.Risk = "high" }, Confirm},
		"no way back where one was shown":            {func(s, _ *host.Preview) { s.Reversible = true }, Confirm},
		"another plot":                               {func(_, p *host.Preview) { p.Scope = "field" }, Confirm},
		"a tag that was not shown":                   {func(_, p *host.Preview) { p.Tags = []host.Name{"roof"} }, Confirm},
		"more than was shown":                        {func(_, p *host.Preview) { p.Quantity = 21 }, Confirm},
		"another block than was shown":               {func(s, _ *host.Preview) { s.Block = "minecraft:dirt" }, Confirm},
		"a line that was not shown":                  {func(_, p *host.Preview) { p.Text = "hello" }, Confirm},
		"what was shown is nothing that could be so": {func(s, _ *host.Preview) { s.Scope = "nowhere" }, Confirm},
	} {
		t.Run("CP-105/"+name, func(t *testing.T) {
			e := compiled(t, garden(ask))
			shown, child := building(), step()
			c.change(&shown, &child)
			f := asks(child)
			wants(t, e.Decide(f, nil), Confirm, CodeRuleConfirms)
			f.Approved = []host.Preview{placingOn("field"), shown}
			code := CodeRuleConfirms
			if c.want == Allow {
				code = CodeApproved
			}
			wants(t, e.Decide(f, nil), c.want, code)
		})
	}
	approved := func(children ...host.Preview) *Facts {
		f := asks(children...)
		f.Approved = []host.Preview{building()}
		return f
	}
	t.Run("CP-105/what a profile would have confirmed", func(t *testing.T) {
		wants(t, compiled(t, garden()).Decide(approved(step()), nil), Allow, CodeApproved)
	})
	t.Run("CP-105/every effect has to be covered", func(t *testing.T) {
		out := step()
		out.Pos = &[3]int32{9, 9, 9}
		wants(t, compiled(t, garden()).Decide(approved(step(), out), nil), Confirm, CodeProfileConfirms)
	})
	t.Run("CP-105/with an effect that is allowed anyway", func(t *testing.T) {
		look := host.Preview{Kind: "actor.look", Operation: "move", Ownership: "own", Risk: "low", Reversible: true}
		wants(t, compiled(t, garden()).Decide(approved(look, step()), nil), Allow, CodeApproved)
	})
	t.Run("CP-105/a rule that denies goes before", func(t *testing.T) {
		no := Rule{ID: "no", Layer: LayerServer, Match: Match{Kinds: []Kind{KindWorldPlace}}, Result: Deny}
		wants(t, compiled(t, garden(ask, no)).Decide(approved(step()), nil), Deny, CodeRuleDenied)
	})
	t.Run("CP-105/the kernel goes before", func(t *testing.T) {
		p := step()
		p.Tags = []host.Name{"shell"}
		wants(t, compiled(t, garden(ask)).Decide(approved(p), nil), Deny, CodeKernelCode)
	})
	t.Run("CP-41,CP-42/a budget still counts and refuses", func(t *testing.T) {
		c := garden(ask)
		c.Budgets = []Budget{{ID: "few", Layer: LayerServer, MaxCount: 2}}
		e, l := compiled(t, c), ledger{}
		for range 2 {
			d := e.Decide(approved(step()), l)
			wants(t, d, Allow, CodeApproved)
			l.reserve(d.Reservations)
		}
		wants(t, e.Decide(approved(step()), l), Deny, CodeBudgetExceeded)
	})
	t.Run("an explanation ends with it", func(t *testing.T) {
		lines := compiled(t, garden(ask)).Explain(approved(step()), nil)
		if last := lines[len(lines)-1]; last.ID != string(CodeApproved) || last.Result != Allow {
			t.Errorf("%+v", last)
		}
	})
}
