package policy

import (
	"strings"
	"testing"

	"blockworld/effects/host"
)

func TestExplainSaysItRuleByRule(t *testing.T) {
	e := compiled(t, Config{
		Profile: Survival,
		Plots:   []Plot{{ID: "mine", Owner: "alice"}},
		Rules: []Rule{
			{ID: "no-lava", Layer: LayerServer, Match: Match{Tags: []host.Name{"lava"}}, Result: Deny},
			{ID: "bobs", Layer: LayerOwner, Subject: "bob", Result: Deny},
			{ID: "build", Layer: LayerTask, Subject: "house", Match: Match{Kinds: []Kind{KindWorldPlace}}, Result: Allow},
		},
		Budgets: []Budget{
			{ID: "minute", Layer: LayerActor, Subject: "bot-1", MaxCount: 10, MaxQuantity: 64, WindowTicks: 1200},
			{ID: "full", Layer: LayerServer, MaxQuantity: 5},
			{ID: "chat", Layer: LayerServer, Match: Match{Kinds: []Kind{KindChatSay}}, MaxCount: 1},
		},
	})
	f := asks(placingOn("mine"), saying("hi"))
	f.Effects[0].Quantity = 3
	book := ledger{"minute/0": {2, 10, 1, 4}, "full/0": {0, 1, 0, 1}}
	lines := map[string]Line{}
	for _, l := range e.Explain(f, book) {
		key := string(l.Part) + " " + l.ID
		if l.Effect == 1 {
			key += " of the second effect"
		}
		if _, ok := lines[key]; ok {
			t.Errorf("%s is told twice", key)
		}
		if l.Why == "" || l.Matched == (l.Missed != "") {
			t.Errorf("%s: matched %t, missed %q, why %q", key, l.Matched, l.Missed, l.Why)
		}
		lines[key] = l
	}
	if n := int(kernelCount) + 2*(3+1) + 3 + 1; len(lines) != n {
		t.Errorf("%d lines, want %d", len(lines), n)
	}
	for key, want := range map[string]struct {
		matched bool
		missed  string
		result  Result
		why     string
	}{
		"kernel kernel_code":                    {false, "facts", Deny, "it runs no code"},
		"rule no-lava":                          {false, "tags", Deny, "lava, and this is without any"},
		"rule bobs":                             {false, "subject", Deny, `owner "bob", and this is "alice"`},
		"rule build":                            {true, "", Allow, "rule build (layer task, \"house\") allows it"},
		"rule build of the second effect":       {false, "kinds", Allow, "wants world.place, and this is chat.say"},
		"profile survival":                      {false, "rules", Allow, "a rule speaks"},
		"profile survival of the second effect": {true, "", Allow, "ordinary"},
		"budget minute":                         {true, "", Allow, "1 of 7 actions left and a quantity of 5 of 50 left"},
		"budget full":                           {true, "", Deny, "has 3 of 5 left and this would take 5"},
		"budget chat":                           {true, "", Allow, "1 of 1 actions left"},
		"decision budget_exceeded":              {true, "", Deny, "budget full"},
	} {
		l, ok := lines[key]
		if !ok {
			t.Errorf("%s is not told", key)
			continue
		}
		if l.Matched != want.matched || l.Missed != want.missed || l.Result != want.result || !strings.Contains(l.Why, want.why) {
			t.Errorf("%s: %+v, want %+v", key, l, want)
		}
	}
	if l := lines["budget minute"].Left; l == nil || *l != (Left{Window: 0, Count: 7, Quantity: 50}) {
		t.Errorf("left %v", l)
	}
	if l := lines["budget full"].Left; l == nil || *l != (Left{Window: 0, Count: -1, Quantity: 3}) {
		t.Errorf("left %v", l)
	}
}

func TestExplainStopsNowhere(t *testing.T) {
	e := compiled(t, Config{Rules: []Rule{{ID: "r", Layer: LayerServer, Result: Allow}}, Budgets: []Budget{{ID: "b", Layer: LayerServer, MaxCount: 1, WindowTicks: 5}}})
	bad := placingOn("nowhere")
	bad.Quantity, bad.Kind, bad.Tags = -4, "file.read", []host.Name{"code.run"}
	f := asks(placing(), bad, saying("/op"))
	f.Epoch, f.GameTick, f.Principal = host.Epoch{}, -1, ""
	refused := map[string]int{}
	for _, l := range e.Explain(f, nil) {
		if l.Part == PartKernel && l.Matched {
			refused[l.ID] = l.Effect
		}
		if l.Part == PartBudget && (!l.Matched || l.Result != Deny || !strings.Contains(l.Why, "clock")) {
			t.Errorf("budget: %+v", l)
		}
	}
	for code, effect := range map[Code]int{CodeKernelCode: 1, CodeKernelFiles: 1, CodeKernelAuthority: 2, CodeUnknownEffect: 1, CodeUnknownScope: 1,
		CodeInvalidEffect: 1, CodeInvalidEpoch: -1, CodeInvalidPrincipal: -1} {
		if got, ok := refused[string(code)]; !ok || got != effect {
			t.Errorf("%s is told of effect %d (%t), want %d", code, got, ok, effect)
		}
	}
	for _, e := range []*Engine{nil, {}} {
		if lines := e.Explain(&Facts{}, nil); lines[len(lines)-1].Result != Deny {
			t.Error("an engine that was never compiled does not deny")
		}
	}
}
