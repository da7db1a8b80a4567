package policy_test

import (
	"fmt"

	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// nothingSpent is a usage for a daemon that has just begun.
type nothingSpent struct{}

func (nothingSpent) Used(string, int64) (usedCount, usedQuantity, reservedCount, reservedQuantity int64) {
	return 0, 0, 0, 0
}

// A config allows what one bot builds in its own plot, up to a stack of blocks a minute; the profile answers for the rest.
func ExampleEngine_Decide() {
	config, err := policy.ParseYAML([]byte(`
profile: guarded
plots:
  - {id: garden, owner: alice}
rules:
  - {id: build-at-home, layer: actor, subject: bot-1, kinds: [world.place], ownerships: [own], result: allow}
budgets:
  - {id: a-stack-a-minute, layer: actor, subject: bot-1, max_quantity: 64, window_ticks: 1200}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := policy.Compile(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(principal host.Name, e host.Preview) {
		d := engine.Decide(&policy.Facts{
			Principal: principal, Actor: "bot-1", Server: "play.example", World: "minecraft:overworld",
			Effects: []host.Preview{e}, Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, GameTick: 2500,
		}, nothingSpent{})
		fmt.Printf("%s: %s\n", d.Result, d.Reason)
		for _, r := range d.Reservations {
			fmt.Printf("  takes %d of %s, window %d\n", r.Quantity, r.Budget, r.Window)
		}
	}
	place := host.Preview{Kind: "world.place", Operation: "create", Ownership: "own", Scope: "garden", Risk: "moderate", Quantity: 1}
	ask("alice", place)
	ask("bob", place)
	place.Quantity = 65
	ask("alice", place)
	ask("alice", host.Preview{Kind: "chat.say", Operation: "communicate", Ownership: "public", Risk: "low", Text: "/op bot-1"})
	// Output:
	// allow: rule build-at-home (layer actor, "bot-1") allows it
	//   takes 1 of a-stack-a-minute, window 2
	// confirm: profile guarded wants everything else confirmed; confirm it, or allow it by a rule
	// deny: budget a-stack-a-minute has 64 of 64 left and this would take 65; take less at once or raise the budget
	// deny: effect "chat.say": it would use or claim authority that it was not given, as every slash command does; say it without the slash, or have a person do it
}
