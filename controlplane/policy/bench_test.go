package policy_test

import (
	"fmt"
	"testing"

	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// realistic returns a config as a daemon with many bots grows one: most rules are other subjects' and other kinds', a few
// speak of everybody.
func realistic(n int) policy.Config {
	c := policy.Config{Profile: policy.Survival}
	for i := range 100 {
		c.Plots = append(c.Plots, policy.Plot{ID: host.Name(fmt.Sprintf("plot-%d", i)), Owner: host.Name(fmt.Sprintf("owner-%d", i%20))})
	}
	kinds := []policy.Kind{policy.KindWorldPlace, policy.KindChatSay, policy.KindActorMove, policy.KindWorldBuild}
	layers := []policy.Layer{policy.LayerWorld, policy.LayerOwner, policy.LayerActor, policy.LayerTask}
	for i := range n {
		r := policy.Rule{ID: host.Name(fmt.Sprintf("rule-%d", i)), Priority: i % 7, Result: policy.Result(i % 3)}
		r.Layer = layers[i%4]
		r.Subject = fmt.Sprintf("%s-%d", r.Layer, i%97)
		r.Kinds = kinds[i%4 : i%4+1]
		switch i % 20 {
		case 0:
			r.Layer, r.Subject, r.Risks = policy.LayerServer, "", []policy.Risk{policy.RiskCritical}
		case 1:
			r.Scopes = []host.Name{host.Name(fmt.Sprintf("plot-%d", i%100))}
		case 2:
			r.Tags = []host.Name{"redstone"}
		}
		c.Rules = append(c.Rules, r)
	}
	for i := range 20 {
		c.Budgets = append(c.Budgets, policy.Budget{ID: host.Name(fmt.Sprintf("budget-%d", i)), Layer: policy.LayerActor,
			Subject: fmt.Sprintf("actor-%d", i), MaxCount: 1 << 40, MaxQuantity: 1 << 40, WindowTicks: 1200})
	}
	return c
}

// crowded returns a config of which every rule matches.
func crowded(n int) policy.Config {
	c := realistic(0)
	c.Profile, c.Budgets = policy.Open, nil
	for i := range n {
		c.Rules = append(c.Rules, policy.Rule{ID: host.Name(fmt.Sprintf("rule-%d", i)), Layer: policy.LayerServer, Result: policy.Allow, Priority: i % 50})
	}
	return c
}

func benchmarkFacts() *policy.Facts {
	return &policy.Facts{
		Principal: "owner-3", Actor: "actor-3", Task: "task-3", Server: "play.example:25565 (seed hash 1f, minecraft:overworld)",
		World: "minecraft:overworld", Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, GameTick: 123456,
		Effects: []host.Preview{{Kind: "world.place", Operation: "create", Ownership: "unowned", Scope: "plot-3", Risk: "moderate",
			Quantity: 1, Block: "minecraft:oak_planks", Item: "minecraft:oak_planks", Tags: []host.Name{"building"}}},
	}
}

type noUsage struct{}

func (noUsage) Used(string, int64) (int64, int64, int64, int64) { return 0, 0, 0, 0 }

func BenchmarkDecide(b *testing.B) {
	line := benchmarkFacts()
	line.Effects = []host.Preview{{Kind: "chat.say", Operation: "communicate", Ownership: "public", Risk: "low", Quantity: 60,
		Text: "the north wall stands, I go on with the roof now, wait there"}}
	many := benchmarkFacts()
	for len(many.Effects) < host.MaxEffects {
		many.Effects = append(many.Effects, many.Effects[0])
	}
	for _, bench := range []struct {
		name   string
		config func(int) policy.Config
		facts  *policy.Facts
	}{
		{"place", realistic, benchmarkFacts()}, {"say", realistic, line}, {"16 effects", realistic, many}, {"all rules match", crowded, benchmarkFacts()},
	} {
		for _, n := range []int{20, 200, 2000} {
			c := bench.config(n)
			c.Secrets = []string{"correct horse battery", "tr0ub4dor&3"}
			e, err := policy.Compile(c)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", bench.name, n), func(b *testing.B) {
				b.ReportAllocs()
				var u policy.Usage = noUsage{}
				for b.Loop() {
					if d := e.Decide(bench.facts, u); d.Code == "" {
						b.Fatal("no code")
					}
				}
			})
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	c := realistic(2000)
	for b.Loop() {
		if _, err := policy.Compile(c); err != nil {
			b.Fatal(err)
		}
	}
}
