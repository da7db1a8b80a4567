package policy

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"blockworld/effects/host"
)

func TestConfigLoadsFromYAMLAndJSON(t *testing.T) {
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseYAML(data)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := Config{
		Profile: PrivilegedCustom,
		Plots: []Plot{
			{ID: "spawn", Server: "play.example", World: "minecraft:overworld", Ownership: OwnershipSystem},
			{ID: "garden", Owner: "alice", Ownership: OwnershipShared},
		},
		Rules: []Rule{
			{ID: "no-spawn", Layer: LayerServer, Match: Match{Scopes: []host.Name{"spawn"}}, Result: Deny, Priority: 10, Why: "the spawn is finished"},
			{ID: "ask-roofs", Layer: LayerTask, Subject: "house", Match: Match{Kinds: []Kind{KindWorldPlace, KindWorldBuild}, Operations: []Operation{OperationCreate},
				Ownerships: []Ownership{OwnershipOwn, OwnershipShared}, Tags: []host.Name{"roof"}, Risks: []Risk{RiskModerate}, Reversible: &yes}, Result: Confirm},
		},
		Budgets: []Budget{{ID: "blocks", Layer: LayerActor, Subject: "bot-1", Match: Match{Kinds: []Kind{KindWorldPlace}}, MaxCount: 100, MaxQuantity: 640, WindowTicks: 24000}},
		Secrets: []string{"correct horse battery"},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	e := compiled(t, c)
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, again); d != "" {
		t.Error(d)
	}
	if y, err := yaml.Marshal(c); err != nil {
		t.Error(err)
	} else if third, err := ParseYAML(y); err != nil || compiled(t, third).Revision() != e.Revision() {
		t.Errorf("as YAML again: %v\n%s", err, y)
	}
}

func TestRevisionStandsForTheWholeConfig(t *testing.T) {
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	base := func() Config {
		c, err := ParseYAML(data)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	seen := map[string]string{compiled(t, base()).Revision(): "nothing"}
	no := false
	for name, change := range map[string]func(c *Config){
		"profile":          func(c *Config) { c.Profile = Open },
		"plot owner":       func(c *Config) { c.Plots[1].Owner = "bob" },
		"plot ownership":   func(c *Config) { c.Plots[1].Ownership = OwnershipPublic },
		"plot server":      func(c *Config) { c.Plots[1].Server = "x" },
		"plot world":       func(c *Config) { c.Plots[1].World = "x" },
		"a plot more":      func(c *Config) { c.Plots = append(c.Plots, Plot{ID: "p"}) },
		"rule id":          func(c *Config) { c.Rules[0].ID = "x" },
		"rule layer":       func(c *Config) { c.Rules[1].Layer = LayerActor },
		"rule subject":     func(c *Config) { c.Rules[1].Subject = "x" },
		"rule result":      func(c *Config) { c.Rules[1].Result = Allow },
		"rule priority":    func(c *Config) { c.Rules[1].Priority = 1 },
		"rule why":         func(c *Config) { c.Rules[1].Why = "x" },
		"rule kinds":       func(c *Config) { c.Rules[1].Kinds = nil },
		"rule operations":  func(c *Config) { c.Rules[1].Operations = nil },
		"rule ownerships":  func(c *Config) { c.Rules[1].Ownerships = nil },
		"rule scopes":      func(c *Config) { c.Rules[1].Scopes = []host.Name{"garden"} },
		"rule tags":        func(c *Config) { c.Rules[1].Tags = nil },
		"rule risks":       func(c *Config) { c.Rules[1].Risks = nil },
		"rule reversible":  func(c *Config) { c.Rules[1].Reversible = &no },
		"budget id":        func(c *Config) { c.Budgets[0].ID = "x" },
		"budget layer":     func(c *Config) { c.Budgets[0].Layer = LayerTask },
		"budget subject":   func(c *Config) { c.Budgets[0].Subject = "x" },
		"budget kinds":     func(c *Config) { c.Budgets[0].Kinds = nil },
		"budget count":     func(c *Config) { c.Budgets[0].MaxCount++ },
		"budget quantity":  func(c *Config) { c.Budgets[0].MaxQuantity++ },
		"budget window":    func(c *Config) { c.Budgets[0].WindowTicks++ },
		"secret":           func(c *Config) { c.Secrets[0] = "another secret" },
		"a secret more":    func(c *Config) { c.Secrets = append(c.Secrets, "another secret") },
		"a rule less":      func(c *Config) { c.Rules = c.Rules[:1] },
		"a budget less":    func(c *Config) { c.Budgets = nil },
		"no plots, no one": func(c *Config) { c.Plots, c.Rules = nil, nil },
	} {
		c := base()
		change(&c)
		r := compiled(t, c).Revision()
		if other, ok := seen[r]; ok {
			t.Errorf("%s and %s changed give the same revision", name, other)
		}
		seen[r] = name
	}
}

func TestBadConfigsSayWhereAndWhat(t *testing.T) {
	rule := func(change func(r *Rule)) Config {
		r := Rule{ID: "bad", Layer: LayerServer, Result: Deny}
		change(&r)
		return Config{Plots: []Plot{{ID: "mine", Owner: "alice"}}, Rules: []Rule{r}}
	}
	budget := func(change func(b *Budget)) Config {
		b := Budget{ID: "bad", Layer: LayerServer, MaxCount: 1}
		change(&b)
		return Config{Budgets: []Budget{b}}
	}
	plot := func(p Plot) Config { return Config{Plots: []Plot{p}} }
	for _, c := range []struct {
		name   string
		config Config
		says   []string
	}{
		{"rule without id", rule(func(r *Rule) { r.ID = "" }), []string{"rule 0", "id", "give it one"}},
		{"rule with a bad id", rule(func(r *Rule) { r.ID = "Bad Id" }), []string{`"Bad Id"`, "id", "lower case"}},
		{"rule without layer", rule(func(r *Rule) { r.Layer = 0 }), []string{`rule "bad"`, "layer", "server, world, owner, actor, task"}},
		{"rule with layer 6", rule(func(r *Rule) { r.Layer = 6 }), []string{`rule "bad"`, "layer"}},
		{"rule without subject", rule(func(r *Rule) { r.Layer = LayerTask }), []string{`rule "bad"`, "subject", `"*"`}},
		{"rule with a bad subject", rule(func(r *Rule) { r.Layer, r.Subject = LayerOwner, "Alice" }), []string{`rule "bad"`, "subject", `"Alice"`}},
		{"rule with spaces around its server", rule(func(r *Rule) { r.Subject = " x" }), []string{`rule "bad"`, "subject", "spaces"}},
		{"rule for an unknown plot", rule(func(r *Rule) { r.Scopes = []host.Name{"yours"} }), []string{`rule "bad"`, "scopes", `"yours"`, "register"}},
		{"rule for unknown ownership", rule(func(r *Rule) { r.Ownerships = []Ownership{OwnershipUnknown} }), []string{`rule "bad"`, "ownerships", "never comes to a rule"}},
		{"rule for a kind outside the set", rule(func(r *Rule) { r.Kinds = []Kind{99} }), []string{`rule "bad"`, "kinds", "world.place"}},
		{"rule for a kernel class", rule(func(r *Rule) { r.Tags = []host.Name{"file.read"} }), []string{`rule "bad"`, "tags", "kernel_files", "leave it out"}},
		{"rule for a bad tag", rule(func(r *Rule) { r.Tags = []host.Name{"Roof"} }), []string{`rule "bad"`, "tags", `"Roof"`}},
		{"rule that can never match", rule(func(r *Rule) { r.Kinds, r.Operations = []Kind{KindChatSay}, []Operation{OperationCreate} }), []string{`rule "bad"`, "operations", "correct"}},
		{"rule with result 3", rule(func(r *Rule) { r.Result = 3 }), []string{`rule "bad"`, "result", "allow, confirm or deny"}},
		{"rule with a long why", rule(func(r *Rule) { r.Why = strings.Repeat("x", 401) }), []string{`rule "bad"`, "why", "400"}},
		{"rule with a long list", rule(func(r *Rule) { r.Risks = make([]Risk, MaxList+1) }), []string{`rule "bad"`, "risks", "64"}},
		{"rule with an empty list", rule(func(r *Rule) { r.Kinds = []Kind{} }), []string{`rule "bad"`, "kinds", "leave the list out"}},
		{"rule with an empty list of tags", rule(func(r *Rule) { r.Tags = []host.Name{} }), []string{`rule "bad"`, "tags", "leave the list out"}},
		{"two rules of one id", Config{Rules: []Rule{{ID: "bad", Layer: LayerServer}, {ID: "bad", Layer: LayerServer}}}, []string{`rule "bad"`, "id", "differ"}},
		{"budget without limits", budget(func(b *Budget) { b.MaxCount = 0 }), []string{`budget "bad"`, "max_count", "limits nothing"}},
		{"budget below nothing", budget(func(b *Budget) { b.WindowTicks = -1 }), []string{`budget "bad"`, "window_ticks", "0 or more"}},
		{"budget for every bot", budget(func(b *Budget) { b.Layer, b.Subject = LayerActor, Every }), []string{`budget "bad"`, "subject", "name it"}},
		{"budget for no bot", budget(func(b *Budget) { b.Layer = LayerActor }), []string{`budget "bad"`, "subject", "name it"}},
		{"plot of a bad owner", plot(Plot{ID: "p", Owner: "Bob"}), []string{`plot "p"`, "owner", `"Bob"`}},
		{"plot that says own", plot(Plot{ID: "p", Ownership: OwnershipOwn}), []string{`plot "p"`, "ownership", "owner"}},
		{"two plots of one id", Config{Plots: []Plot{{ID: "p"}, {ID: "p"}}}, []string{`plot "p"`, "differ"}},
		{"short secret", Config{Secrets: []string{"good enough", "abcde"}}, []string{"secret 1", "6"}},
		{"invisible secret", Config{Secrets: []string{"a\u200b\u200b\u200b\u200b\u200b"}}, []string{"secret 0", "visible"}},
		{"bad hash", Config{Secrets: []string{"sha256:12"}}, []string{"secret 0", "64 hex digits"}},
		{"too many plots", Config{Plots: make([]Plot, MaxPlots+1)}, []string{"plots", "too many"}},
		{"too many budgets", Config{Budgets: make([]Budget, MaxBudgets+1)}, []string{"budgets", "too many"}},
		{"everything wrong", Config{Rules: make([]Rule, 100)}, []string{"and ", " more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := Compile(c.config)
			if err == nil || e != nil || !errors.Is(err, ErrConfig) {
				t.Fatalf("error %v", err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), "abcde") {
				t.Error("a secret is printed")
			}
		})
	}
}

func TestBadTextsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           "",
		"unknown key":     "profile: open\nrulez: []\n",
		"unknown in rule": "rules:\n- id: a\n  layer: server\n  colour: red\n",
		"doubled key":     "profile: open\nprofile: guarded\n",
		"unknown layer":   "rules:\n- id: a\n  layer: galaxy\n",
		"unknown kind":    "rules:\n- id: a\n  layer: server\n  kinds: [world.unknown]\n",
		"a number":        "rules:\n- id: a\n  layer: server\n  priority: many\n",
		"no YAML":         "\t{",
	} {
		if _, err := ParseYAML([]byte(text)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty":          "",
		"unknown member": `{"profile":"open","rulez":[]}`,
		"doubled member": `{"profile":"open","profile":"open"}`,
		"unknown word":   `{"rules":[{"id":"a","layer":"galaxy"}]}`,
		"wrong type":     `{"rules":{}}`,
		"more behind":    `{} {}`,
	} {
		if _, err := ParseJSON([]byte(text)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := ParseYAML([]byte("profile: open\nsecrets: [correct horse battery]\nrules:\n- id: a\n  layer: galaxy\n"))
	if err == nil || !strings.Contains(err.Error(), "[5:10]") || !strings.Contains(err.Error(), `"galaxy" is none of server, world`) || strings.Contains(err.Error(), "horse") {
		t.Error(err)
	}
	if _, err := ParseYAML(make([]byte, MaxConfig+1)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if _, err := ParseJSON(make([]byte, MaxConfig+1)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

func TestCompileKeepsNothingOfItsInput(t *testing.T) {
	yes := true
	c := Config{Profile: Open, Rules: []Rule{{ID: "r", Layer: LayerServer, Match: Match{Kinds: []Kind{KindWorldPlace}, Reversible: &yes}, Result: Deny}}}
	e := compiled(t, c)
	v := placing()
	v.Reversible = true
	want := bytesOf(t, e.Explain(asks(v), nil))
	c.Rules[0].Kinds[0], c.Rules[0].Result, yes = KindChatSay, Allow, false
	if got := bytesOf(t, e.Explain(asks(v), nil)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestWordsAreClosedSets(t *testing.T) {
	for i := range profileCount {
		roundTrip(t, i)
	}
	for i := Layer(1); i < layerCount; i++ {
		roundTrip(t, i)
	}
	for i := range resultCount {
		roundTrip(t, i)
	}
	for i := Kind(1); i < kindCount; i++ {
		roundTrip(t, i)
		if kindOf(i.String()) != i || kindOperations[i] == 0 || !strings.Contains(kindList, i.String()) {
			t.Errorf("kind %s is not known everywhere", i)
		}
	}
	for i := Operation(1); i < operationCount; i++ {
		roundTrip(t, i)
		if operationOf(i.String()) != i {
			t.Errorf("operation %s is not known everywhere", i)
		}
	}
	for i := range ownershipCount {
		roundTrip(t, i)
		if ownershipOf(i.String()) != i {
			t.Errorf("ownership %s is not known everywhere", i)
		}
	}
	for i := Risk(1); i < riskCount; i++ {
		roundTrip(t, i)
		if riskOf(i.String()) != i {
			t.Errorf("risk %s is not known everywhere", i)
		}
	}
	if d := (Decision{}); d.Result != Deny {
		t.Error("the zero decision does not deny")
	}
}

func roundTrip[T interface {
	comparable
	String() string
	MarshalText() ([]byte, error)
}, P interface {
	*T
	UnmarshalText([]byte) error
}](t *testing.T, v T) {
	t.Helper()
	b, err := v.MarshalText()
	if err != nil || string(b) != v.String() || v.String() == "invalid" {
		t.Errorf("%v is written %q, %v", v, b, err)
	}
	var got T
	if err := P(&got).UnmarshalText(b); err != nil || got != v {
		t.Errorf("%q is read %v, %v", b, got, err)
	}
	for _, bad := range []string{"", "x", strings.ToUpper(v.String()), v.String() + " ", "invalid"} {
		if err := P(&got).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

// FuzzConfig: whatever a config says, reading it does not fail hard; what compiles decides, and means the same when it is
// written and read again.
func FuzzConfig(f *testing.F) {
	for _, name := range []string{"testdata/full.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		if c, err := ParseYAML(data); err == nil {
			b, _ := json.Marshal(c)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return // the YAML parser takes time by the square of nesting
		}
		for _, parse := range []func([]byte) (Config, error){ParseYAML, ParseJSON} {
			c, err := parse(data)
			if err != nil {
				if !errors.Is(err, ErrConfig) {
					t.Fatalf("foreign error %v", err)
				}
				continue
			}
			e, err := Compile(c)
			if err != nil {
				if !errors.Is(err, ErrConfig) {
					t.Fatalf("foreign error %v", err)
				}
				continue
			}
			b, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParseJSON(b)
			if err != nil {
				t.Fatalf("%v of %s", err, b)
			}
			if compiled(t, again).Revision() != e.Revision() {
				t.Fatalf("another revision of %s", b)
			}
			for _, facts := range []*Facts{asks(placing(), saying("hi")), asks(), {}} {
				d := e.Decide(facts, ledger{})
				if d.Code == "" || d.Reason == "" || d.Revision == "" {
					t.Fatalf("decided %+v", d)
				}
				if lines := e.Explain(facts, ledger{}); lines[len(lines)-1].Result != d.Result {
					t.Fatal("explained another decision")
				}
			}
			if d := e.Decide(asks(saying("/op")), ledger{}); d.Code != CodeKernelAuthority {
				t.Fatalf("a command is %s", d.Code)
			}
		}
	})
}
