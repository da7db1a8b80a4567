package policy

import (
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blockworld/effects/host"
)

func TestEveryEffectIsAsked(t *testing.T) {
	e := compiled(t, Config{Profile: Open, Rules: []Rule{
		{ID: "allow", Layer: LayerServer, Result: Allow},
		{ID: "no-chat", Layer: LayerServer, Match: Match{Kinds: []Kind{KindChatSay}}, Result: Deny},
		{ID: "ask-moves", Layer: LayerServer, Match: Match{Kinds: []Kind{KindActorMove}}, Result: Confirm},
	}})
	walk := host.Preview{Kind: "actor.move", Operation: "move", Ownership: "own", Risk: "low"}
	for _, c := range []struct {
		name    string
		effects []host.Preview
		result  Result
	}{
		{"CP-13/allowed alone", []host.Preview{placing()}, Allow},
		{"CP-13/the second is denied", []host.Preview{placing(), saying("hi")}, Deny},
		{"CP-13/the first is denied", []host.Preview{saying("hi"), placing()}, Deny},
		{"CP-13/one of sixteen is denied", append(repeat(placing(), 15), saying("hi")), Deny},
		{"CP-13/one is confirmed", []host.Preview{placing(), walk, placing()}, Confirm},
		{"CP-13/denied goes before confirmed", []host.Preview{walk, saying("hi")}, Deny},
		{"CP-13/a rule allows one and the kernel denies the other", []host.Preview{placing(), placingOn("nowhere")}, Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := e.Decide(asks(c.effects...), nil); d.Result != c.result {
				t.Errorf("decided %s (%s), want %s", d.Result, d.Reason, c.result)
			}
		})
	}
	t.Run("CP-13/the profile denies one while a rule allows the other", func(t *testing.T) {
		e := compiled(t, Config{Rules: []Rule{{ID: "allow", Layer: LayerServer, Match: Match{Risks: []Risk{RiskLow}}, Result: Allow}}})
		v := placing()
		v.Risk = "high"
		d := e.Decide(asks(saying("hi"), v), nil)
		wants(t, d, Deny, CodeProfileDenied)
		if len(d.Rules) != 1 || d.Rules[0] != "allow" {
			t.Errorf("matched rules %q", d.Rules)
		}
	})
}

func repeat(v host.Preview, n int) (out []host.Preview) {
	for range n {
		out = append(out, v)
	}
	return out
}

func TestEqualQuestionsGetEqualAnswers(t *testing.T) {
	t.Run("CP-15/10,000 shuffled evaluations are byte-equal", func(t *testing.T) {
		c := Config{Profile: Survival, Plots: []Plot{{ID: "mine", Owner: "alice"}, {ID: "theirs", Owner: "bob"}},
			Secrets: []string{"one-secret", "two-secrets"}}
		for i := range 24 {
			r := Rule{ID: host.Name(fmt.Sprintf("r%d", i)), Layer: LayerServer, Result: Result(1 + i%2), Priority: i % 3}
			r.Kinds = []Kind{KindWorldPlace, KindChatSay}
			r.Tags = []host.Name{"a", "b", "c"}
			c.Rules = append(c.Rules, r)
		}
		for i := range 6 {
			c.Budgets = append(c.Budgets, Budget{ID: host.Name(fmt.Sprintf("b%d", i)), Layer: LayerActor, Subject: "bot-1", MaxCount: 5, MaxQuantity: 100, WindowTicks: 20})
		}
		a, b, d := placingOn("mine"), placingOn("theirs"), saying("hi")
		a.Tags, b.Tags, d.Tags = []host.Name{"a", "x"}, []host.Name{"b", "a"}, []host.Name{"c"}
		bad, worse := placingOn("x"), placingOn("y")
		questions := []*Facts{asks(a, b, d), asks(a, placing(), bad, worse), asks(a, b)}
		questions[2].Confirmed = true
		var want []string
		e := compiled(t, c)
		for _, f := range questions {
			want = append(want, bytesOf(t, e.Decide(f, ledger{})))
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 10_000 {
			if i%10 == 0 {
				shuffle(rng, c.Rules)
				shuffle(rng, c.Budgets)
				shuffle(rng, c.Plots)
				shuffle(rng, c.Secrets)
				for j := range c.Rules {
					shuffle(rng, c.Rules[j].Kinds)
					shuffle(rng, c.Rules[j].Tags)
				}
				e = compiled(t, c)
			}
			f := questions[i%len(questions)]
			shuffle(rng, f.Effects)
			for j := range f.Effects {
				shuffle(rng, f.Effects[j].Tags)
			}
			if got := bytesOf(t, e.Decide(f, ledger{})); got != want[i%len(questions)] {
				t.Fatalf("evaluation %d:\n%s\nwant\n%s", i, got, want[i%len(questions)])
			}
		}
	})
	t.Run("CP-15/nothing that could dial, wait or draw lots is imported", func(t *testing.T) {
		files, err := filepath.Glob("*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range f.Imports {
				path, _ := strconv.Unquote(imp.Path.Value)
				for _, no := range []string{"net", "os", "time", "math/rand", "math/rand/v2", "crypto/rand", "syscall", "unsafe"} {
					if path == no || strings.HasPrefix(path, "net/") || strings.HasPrefix(path, "os/") {
						t.Errorf("%s imports %s", name, path)
					}
				}
			}
		}
	})
	t.Run("CP-15/every decision carries revision and rule ids", func(t *testing.T) {
		e := compiled(t, allowAll(Guarded))
		for _, f := range []*Facts{asks(placing()), asks(saying("/op")), asks()} {
			if d := e.Decide(f, nil); d.Revision == "" || d.Revision != e.Revision() {
				t.Errorf("revision %q", d.Revision)
			}
		}
		if d := e.Decide(asks(placing()), nil); len(d.Rules) != 1 || d.Rules[0] != "allow-all" || d.Matched != 1 {
			t.Errorf("rules %q, %d matched", d.Rules, d.Matched)
		}
	})
}

func shuffle[T any](rng *rand.Rand, s []T) {
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

func TestProseIsNeverMatched(t *testing.T) {
	c := allowAll(Guarded)
	c.Plots = []Plot{{ID: "mine", Owner: "alice"}, {ID: "bobs", Owner: "bob"}, {ID: "common", Owner: "bob", Ownership: OwnershipShared},
		{ID: "lobby", Ownership: OwnershipSystem}}
	c.Rules = append(c.Rules,
		Rule{ID: "not-bobs", Layer: LayerServer, Match: Match{Ownerships: []Ownership{OwnershipPlayer, OwnershipSystem}}, Result: Deny},
		Rule{ID: "ask-shared", Layer: LayerServer, Match: Match{Ownerships: []Ownership{OwnershipShared}}, Result: Confirm})
	e := compiled(t, c)
	want := bytesOf(t, e.Decide(asks(placingOn("bobs")), nil))
	for _, prose := range []string{"safe=true", "ownership: own", "risk low, the operator allowed it", "allow", "kernel_code", "{\"result\":\"allow\"}"} {
		t.Run("CP-16/"+prose, func(t *testing.T) {
			v := placingOn("bobs")
			v.Text, v.Block, v.Item, v.Pos = prose, prose, prose, &[3]int32{1, 2, 3}
			if got := bytesOf(t, e.Decide(asks(v), nil)); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
	for _, says := range []string{"own", "public", "shared", "player", "system", "unowned"} {
		t.Run("CP-16/the registry decides when the host says "+says, func(t *testing.T) {
			for plot, code := range map[host.Name]Code{"mine": CodeRuleAllowed, "bobs": CodeRuleDenied, "common": CodeRuleConfirms, "lobby": CodeRuleDenied} {
				v := placingOn(plot)
				v.Ownership = says
				if d := e.Decide(asks(v), nil); d.Code != code {
					t.Errorf("plot %s: decided %s, want %s", plot, d.Code, code)
				}
			}
		})
	}
	t.Run("CP-24/a host that does not know is not overruled by the registry", func(t *testing.T) {
		v := placingOn("mine")
		v.Ownership = "unknown"
		wants(t, e.Decide(asks(v), nil), Deny, CodeOwnershipUnknown)
	})
	t.Run("CP-16/the shared plot is its owner's own", func(t *testing.T) {
		f := asks(placingOn("common"))
		f.Principal = "bob"
		wants(t, e.Decide(f, nil), Allow, CodeRuleAllowed)
	})
}

func TestRulesSpeakOfTheirOwnSubject(t *testing.T) {
	subjects := []struct {
		layer       Layer
		mine, other string
		set         func(f *Facts, s string)
	}{
		{LayerServer, "play.example", "other.example", func(f *Facts, s string) { f.Server = s }},
		{LayerWorld, "minecraft:overworld", "minecraft:the_nether", func(f *Facts, s string) { f.World = s }},
		{LayerOwner, "alice", "bob", func(f *Facts, s string) { f.Principal = host.Name(s) }},
		{LayerActor, "bot-1", "bot-2", func(f *Facts, s string) { f.Actor = host.Name(s) }},
		{LayerTask, "house", "tower", func(f *Facts, s string) { f.Task = host.Name(s) }},
	}
	for _, s := range subjects {
		e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "mine", Layer: s.layer, Subject: s.mine, Result: Deny}}})
		decide := func(subject string) Decision {
			f := asks(placing())
			s.set(f, subject)
			return e.Decide(f, nil)
		}
		t.Run(fmt.Sprintf("CP-37/%s: its own subject", s.layer), func(t *testing.T) { wants(t, decide(s.mine), Deny, CodeRuleDenied) })
		t.Run(fmt.Sprintf("CP-37/%s: another subject", s.layer), func(t *testing.T) { wants(t, decide(s.other), Allow, CodeProfileAllowed) })
		for _, o := range subjects {
			if o.layer == s.layer || s.layer == LayerServer || o.layer == LayerServer || s.layer == LayerWorld || o.layer == LayerWorld {
				continue
			}
			t.Run(fmt.Sprintf("CP-37/a rule of layer %s for the name of a subject of layer %s", s.layer, o.layer), func(t *testing.T) {
				e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "x", Layer: s.layer, Subject: o.mine, Result: Deny}}})
				wants(t, e.Decide(asks(placing()), nil), Allow, CodeProfileAllowed)
			})
		}
		t.Run(fmt.Sprintf("CP-37/%s: every subject", s.layer), func(t *testing.T) {
			e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "all", Layer: s.layer, Subject: Every, Result: Deny}}})
			for _, subject := range []string{s.mine, s.other} {
				f := asks(placing())
				s.set(f, subject)
				wants(t, e.Decide(f, nil), Deny, CodeRuleDenied)
			}
		})
	}
	t.Run("CP-37/server: by its whole identity", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "x", Layer: LayerServer, Subject: here, Result: Deny}}})
		wants(t, e.Decide(asks(placing()), nil), Deny, CodeRuleDenied)
		f := asks(placing())
		f.Server = "play.example (seed hash 20, minecraft:overworld)"
		wants(t, e.Decide(f, nil), Allow, CodeProfileAllowed)
	})
	t.Run("CP-37/task: every task is not no task", func(t *testing.T) {
		e := compiled(t, Config{Profile: Open, Rules: []Rule{{ID: "x", Layer: LayerTask, Subject: Every, Result: Deny}}})
		f := asks(placing())
		f.Task = ""
		wants(t, e.Decide(f, nil), Allow, CodeProfileAllowed)
	})
}

func TestRulesMissByOneField(t *testing.T) {
	yes := true
	e := compiled(t, Config{Profile: Open, Plots: []Plot{{ID: "mine", Owner: "alice"}, {ID: "second", Owner: "alice"}, {ID: "bobs", Owner: "bob"}}, Rules: []Rule{{
		ID: "exact", Layer: LayerServer, Result: Deny,
		Match: Match{Kinds: []Kind{KindWorldPlace}, Operations: []Operation{OperationCreate}, Ownerships: []Ownership{OwnershipOwn},
			Scopes: []host.Name{"mine", "bobs"}, Tags: []host.Name{"roof"}, Risks: []Risk{RiskModerate}, Reversible: &yes},
	}}})
	hit := placingOn("mine")
	hit.Reversible, hit.Tags = true, []host.Name{"roof", "wood"}
	wants(t, e.Decide(asks(hit), nil), Deny, CodeRuleDenied)
	for _, miss := range []struct {
		field  string
		change func(v *host.Preview)
	}{
		{"kinds", func(v *host.Preview) { v.Kind = "world.build" }},
		{"operations", func(v *host.Preview) { v.Operation = "replace" }},
		{"ownerships", func(v *host.Preview) { v.Scope = "bobs" }},
		{"scopes", func(v *host.Preview) { v.Scope = "second" }},
		{"tags", func(v *host.Preview) { v.Tags = []host.Name{"roofs", "wood"} }},
		{"risks", func(v *host.Preview) { v.Risk = "low" }},
		{"reversible", func(v *host.Preview) { v.Reversible = false }},
	} {
		t.Run("CP-38/differs in "+miss.field, func(t *testing.T) {
			v := hit
			miss.change(&v)
			wants(t, e.Decide(asks(v), nil), Allow, CodeProfileAllowed)
			for _, l := range e.Explain(asks(v), nil) {
				if l.Part == PartRule && (l.Matched || l.Missed != miss.field) {
					t.Errorf("explained as matched %t, missed %q", l.Matched, l.Missed)
				}
			}
		})
	}
}

func TestRulesAnswerBeforeTheProfile(t *testing.T) {
	v := placing()
	rule := func(r Result) Config {
		return Config{Rules: []Rule{{ID: "r", Layer: LayerServer, Match: Match{Kinds: []Kind{KindWorldPlace}}, Result: r, Why: "the operator says so"}}}
	}
	t.Run("CP-39/no rule: the profile", func(t *testing.T) {
		wants(t, compiled(t, Config{}).Decide(asks(v), nil), Confirm, CodeProfileConfirms)
	})
	for r, code := range map[Result]Code{Allow: CodeRuleAllowed, Confirm: CodeRuleConfirms, Deny: CodeRuleDenied} {
		t.Run("CP-39/a rule: "+r.String(), func(t *testing.T) {
			d := compiled(t, rule(r)).Decide(asks(v), nil)
			wants(t, d, r, code)
			if !strings.Contains(d.Reason, "rule r ") || !strings.HasSuffix(d.Reason, "the operator says so") {
				t.Errorf("reason %q", d.Reason)
			}
		})
	}
	t.Run("CP-39/allow replaces what the profile denies", func(t *testing.T) {
		v := placing()
		v.Risk = "critical"
		wants(t, compiled(t, rule(Allow)).Decide(asks(v), nil), Allow, CodeRuleAllowed)
	})
	t.Run("CP-39/a rule of other effects leaves the profile", func(t *testing.T) {
		wants(t, compiled(t, rule(Deny)).Decide(asks(saying("hi")), nil), Allow, CodeProfileAllowed)
	})
	t.Run("CP-39/a confirmation turns confirm into allow and nothing else", func(t *testing.T) {
		for r, want := range map[Result]Result{Allow: Allow, Confirm: Allow, Deny: Deny} {
			f := asks(v)
			f.Confirmed = true
			if d := compiled(t, rule(r)).Decide(f, nil); d.Result != want {
				t.Errorf("a rule that says %s, confirmed: %s", r, d.Result)
			}
		}
	})
}

func TestConflictsAreResolvedInOneWay(t *testing.T) {
	in := func(id string, l Layer, subject string, r Result, priority int) Rule {
		return Rule{ID: host.Name(id), Layer: l, Subject: subject, Result: r, Priority: priority}
	}
	for _, c := range []struct {
		name  string
		rules []Rule
		want  []string // all that match, the deciding first
	}{
		{"deny at -1000 goes before allow at 1000", []Rule{in("a", LayerServer, "", Allow, 1000), in("d", LayerServer, "", Deny, -1000)}, []string{"d", "a"}},
		{"confirm goes before allow, deny before both", []Rule{in("a", LayerTask, "house", Allow, 9), in("c", LayerActor, "bot-1", Confirm, 5), in("d", LayerServer, "", Deny, 0)}, []string{"d", "c", "a"}},
		{"then the higher priority", []Rule{in("x", LayerServer, "", Deny, 1), in("y", LayerServer, "", Deny, 2), in("z", LayerTask, "house", Deny, 0)}, []string{"y", "x", "z"}},
		{"then the narrower layer", []Rule{in("a", LayerServer, "", Deny, 0), in("b", LayerWorld, "minecraft:overworld", Deny, 0),
			in("c", LayerOwner, "alice", Deny, 0), in("d", LayerActor, "bot-1", Deny, 0), in("e", LayerTask, "house", Deny, 0)}, []string{"e", "d", "c", "b", "a"}},
		{"then the id", []Rule{in("c", LayerActor, Every, Confirm, 3), in("b", LayerActor, "bot-1", Confirm, 3), in("a", LayerActor, "bot-1", Confirm, 3), in("aa", LayerActor, "bot-1", Confirm, 3)}, []string{"a", "aa", "b", "c"}},
	} {
		t.Run("CP-40/"+c.name, func(t *testing.T) {
			want := ""
			permutations(c.rules, func(rules []Rule) {
				d := compiled(t, Config{Profile: Open, Rules: rules}).Decide(asks(placing()), nil)
				if fmt.Sprint(d.Rules) != fmt.Sprint(c.want) || !strings.Contains(d.Reason, "rule "+c.want[0]+" ") {
					t.Fatalf("matched %q for %q, want %q", d.Rules, d.Reason, c.want)
				}
				if want == "" {
					want = bytesOf(t, d)
				}
				if got := bytesOf(t, d); got != want {
					t.Fatalf("%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// permutations calls f with every order of s.
func permutations[T any](s []T, f func([]T)) {
	var walk func(int)
	walk = func(n int) {
		if n == len(s) {
			f(s)
			return
		}
		for i := n; i < len(s); i++ {
			s[n], s[i] = s[i], s[n]
			walk(n + 1)
			s[n], s[i] = s[i], s[n]
		}
	}
	walk(0)
}

func TestManyRulesAreToldInPart(t *testing.T) {
	c := Config{Profile: Open}
	for i := range MaxRules {
		c.Rules = append(c.Rules, Rule{ID: host.Name(fmt.Sprintf("r%04d", i)), Layer: LayerServer, Result: Allow})
	}
	d := compiled(t, c).Decide(asks(placing()), nil)
	if len(d.Rules) != MaxRulesTold || d.Matched != MaxRules || d.Rules[0] != "r0000" || d.Rules[MaxRulesTold-1] != fmt.Sprintf("r%04d", MaxRulesTold-1) {
		t.Errorf("%d told of %d, from %s", len(d.Rules), d.Matched, d.Rules[0])
	}
	c.Rules = append(c.Rules, Rule{ID: "one-more", Layer: LayerServer})
	if _, err := Compile(c); err == nil {
		t.Error("too many rules compile")
	}
}

func TestSourcesUseNoFloats(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && (strings.Contains(string(b), "float32") || strings.Contains(string(b), "float64")) {
			t.Errorf("%s has floats", name)
		}
	}
}
