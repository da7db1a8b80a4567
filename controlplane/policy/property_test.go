package policy

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects/host"
)

// some draws a list of up to two of the values, often an empty one.
func some[T any](t *rapid.T, label string, values ...T) []T {
	if rapid.IntRange(0, 2).Draw(t, label+" any") > 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.SampledFrom(values), 1, 2).Draw(t, label)
}

var (
	someKinds = []Kind{KindWorldRead, KindWorldPlace, KindChatSay, KindActorMove}
	somePlots = []Plot{{ID: "mine", Owner: "alice"}, {ID: "bobs", Owner: "bob"}, {ID: "common", Owner: "bob", Ownership: OwnershipShared}}
	someTags  = []host.Name{"roof", "wall", "light"}
)

func drawMatch(t *rapid.T) Match {
	m := Match{
		Kinds:      some(t, "kinds", someKinds...),
		Ownerships: some(t, "ownerships", OwnershipOwn, OwnershipShared, OwnershipPlayer, OwnershipUnowned),
		Scopes:     some(t, "scopes", host.Name("mine"), "bobs", "common"),
		Tags:       some(t, "tags", someTags...),
		Risks:      some(t, "risks", RiskLow, RiskModerate, RiskHigh, RiskCritical),
	}
	if m.Kinds == nil {
		m.Operations = some(t, "operations", OperationRead, OperationCreate, OperationDestroy, OperationCommunicate)
	}
	if rapid.IntRange(0, 3).Draw(t, "reversible any") == 0 {
		is := rapid.Bool().Draw(t, "reversible")
		m.Reversible = &is
	}
	return m
}

func drawRule(t *rapid.T, id string) Rule {
	r := Rule{ID: host.Name(id), Layer: Layer(rapid.IntRange(1, 5).Draw(t, "layer")), Match: drawMatch(t),
		Result: Result(rapid.IntRange(0, 2).Draw(t, "result")), Priority: rapid.IntRange(-1, 1).Draw(t, "priority")}
	subjects := map[Layer][]string{LayerServer: {"", Every, "play.example", here, "other"}, LayerWorld: {Every, "minecraft:overworld", "x"},
		LayerOwner: {Every, "alice", "bob"}, LayerActor: {Every, "bot-1", "bot-2"}, LayerTask: {Every, "house", "tower"}}
	r.Subject = rapid.SampledFrom(subjects[r.Layer]).Draw(t, "subject")
	return r
}

func drawConfig(t *rapid.T) Config {
	c := Config{Profile: rapid.SampledFrom(everyProfile).Draw(t, "profile"), Plots: slices.Clone(somePlots)}
	for i := range rapid.IntRange(0, 70).Draw(t, "rules") {
		c.Rules = append(c.Rules, drawRule(t, fmt.Sprintf("r%d", i)))
	}
	return c
}

func drawFacts(t *rapid.T) *Facts {
	f := asks()
	f.Principal = rapid.SampledFrom([]host.Name{"alice", "bob", "carol"}).Draw(t, "principal")
	f.Task = rapid.SampledFrom([]host.Name{"", "house"}).Draw(t, "task")
	for range rapid.IntRange(1, 3).Draw(t, "effects") {
		v := rapid.SampledFrom([]host.Preview{placing(), saying("hi"),
			{Kind: "actor.move", Operation: "move", Ownership: "own"}, {Kind: "world.read", Operation: "read", Ownership: "public"}}).Draw(t, "effect")
		v.Risk = rapid.SampledFrom([]string{"low", "moderate", "high", "critical"}).Draw(t, "risk")
		v.Reversible = rapid.Bool().Draw(t, "reversible")
		v.Tags = some(t, "tags", someTags...)
		v.Scope = rapid.SampledFrom([]host.Name{"", "mine", "bobs", "common"}).Draw(t, "scope")
		if v.Kind == "world.place" {
			v.Operation = rapid.SampledFrom([]string{"create", "replace", "destroy"}).Draw(t, "operation")
		}
		f.Effects = append(f.Effects, v)
	}
	return f
}

func TestAnotherDenyNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := drawConfig(t), drawFacts(t)
		before := compiled(t, c).Decide(f, nil)
		deny := drawRule(t, "another")
		deny.Result = Deny
		c.Rules = append(c.Rules, deny)
		if after := compiled(t, c).Decide(f, nil); after.Result > before.Result {
			t.Fatalf("%s (%s) became %s (%s)", before.Result, before.Reason, after.Result, after.Reason)
		}
	})
}

func TestOrderOfRulesNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := drawConfig(t), drawFacts(t)
		want := fmt.Sprintf("%+v", compiled(t, c).Decide(f, nil))
		c.Rules = rapid.Permutation(c.Rules).Draw(t, "order")
		f.Effects = rapid.Permutation(f.Effects).Draw(t, "order of effects")
		if got := fmt.Sprintf("%+v", compiled(t, c).Decide(f, nil)); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

// TestIndexAgreesWithAskingOneByOne: Explain asks rules field by field and without the index; from its lines the decision
// is worked out once more, by the words of the rows.
func TestIndexAgreesWithAskingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := drawConfig(t), drawFacts(t)
		e := compiled(t, c)
		d := e.Decide(f, nil)
		matched := map[string]bool{}
		strictest := Allow
		for i := range f.Effects {
			spoken, rules, profile := false, Allow, Allow
			for _, l := range e.Explain(f, nil) {
				switch {
				case l.Effect != i || !l.Matched:
				case l.Part == PartRule:
					spoken, rules = true, min(rules, l.Result)
					matched[l.ID] = true
				case l.Part == PartProfile:
					profile = l.Result
				}
			}
			if spoken {
				strictest = min(strictest, rules)
			} else {
				strictest = min(strictest, profile)
			}
		}
		if d.Result != strictest || d.Matched != len(matched) {
			t.Fatalf("decided %s with %d rules, one by one %s with %d", d.Result, d.Matched, strictest, len(matched))
		}
		for _, id := range d.Rules {
			if !matched[id] {
				t.Fatalf("rule %s matched in the index only", id)
			}
		}
	})
}

func TestDecisionsAllocateLittle(t *testing.T) {
	c := Config{Profile: Open, Plots: somePlots, Secrets: []string{"a long secret"},
		Rules:   []Rule{{ID: "r", Layer: LayerServer, Result: Allow}},
		Budgets: []Budget{{ID: "b", Layer: LayerServer, MaxCount: 10}}}
	e := compiled(t, c)
	var u Usage = ledgerOfNothing{}
	for name, f := range map[string]*Facts{"place": asks(placingOn("mine")), "say": asks(saying("the north wall stands, I go on with the roof"))} {
		// the list of rules and the list of reservations
		if n := testing.AllocsPerRun(100, func() { e.Decide(f, u) }); n > 2 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

type ledgerOfNothing struct{}

func (ledgerOfNothing) Used(string, int64) (int64, int64, int64, int64) { return 0, 0, 0, 0 }
