package policy

import (
	"fmt"
	"testing"

	"blockworld/effects/host"
)

// oracle is what the rows say about an effect that no rule speaks of, written from their text and in no words of the code.
func oracle(profile, operation, ownership, risk string, reversible bool) string {
	if ownership == "unknown" {
		return "deny" // CP-24: denied, also under open
	}
	switch profile {
	case "guarded":
		if risk == "high" || risk == "critical" {
			return "deny" // CP-29: denies high and critical
		}
		// CP-28: allows low-risk reads, communication, reversible owned actions
		if risk == "low" && (operation == "read" || operation == "communicate" || reversible && ownership == "own") {
			return "allow"
		}
		return "confirm" // CP-30: confirms the rest
	case "survival":
		if risk == "critical" {
			return "deny" // CP-33
		}
		if ownership == "player" || ownership == "shared" || ownership == "system" || risk == "high" {
			return "confirm" // CP-32
		}
		return "allow" // CP-31
	case "open", "privileged-custom": // CP-36: privileged-custom is the open kernel
		if risk == "critical" {
			return "confirm" // CP-35
		}
		return "allow" // CP-34
	}
	panic("no such profile: " + profile)
}

func TestProfilesAnswerAsTheRowsSay(t *testing.T) {
	kinds := map[string]string{"read": "world.read", "communicate": "chat.say", "move": "actor.move", "arrange": "actor.equip",
		"create": "world.place", "replace": "world.place", "destroy": "world.place", "execute": "world.build"}
	rows := map[string]string{"guarded": "CP-28 CP-29 CP-30", "survival": "CP-31 CP-32 CP-33", "open": "CP-34 CP-35", "privileged-custom": "CP-36"}
	cases := 0
	for _, profile := range []string{"guarded", "survival", "open", "privileged-custom"} {
		var p Profile
		if err := p.UnmarshalText([]byte(profile)); err != nil {
			t.Fatal(err)
		}
		e := compiled(t, Config{Profile: p})
		for _, operation := range []string{"read", "communicate", "move", "arrange", "create", "replace", "destroy", "execute"} {
			t.Run(fmt.Sprintf("%s/%s under %s", rows[profile], operation, profile), func(t *testing.T) {
				for _, ownership := range []string{"own", "public", "shared", "player", "system", "unowned", "unknown"} {
					for _, risk := range []string{"low", "moderate", "high", "critical"} {
						for _, reversible := range []bool{false, true} {
							cases++
							d := e.Decide(asks(host.Preview{Kind: kinds[operation], Operation: operation, Ownership: ownership, Risk: risk, Reversible: reversible}), nil)
							if want := oracle(profile, operation, ownership, risk, reversible); d.Result.String() != want {
								t.Errorf("%s, %s, reversible %t: decided %s (%s), want %s", ownership, risk, reversible, d.Result, d.Reason, want)
							}
						}
					}
				}
			})
		}
	}
	if cases != 8*7*4*2*4 {
		t.Errorf("%d cases", cases)
	}
}

func TestProfilesInTheCasesThatTheRowsName(t *testing.T) {
	plots := []Plot{{ID: "mine", Owner: "alice"}, {ID: "common", Owner: "bob", Ownership: OwnershipShared}}
	guarded := compiled(t, Config{Plots: plots})
	survival := compiled(t, Config{Profile: Survival, Plots: plots})
	t.Run("CP-30/a moderate placement in one's own plot is confirmed", func(t *testing.T) {
		wants(t, guarded.Decide(asks(placingOn("mine")), nil), Confirm, CodeProfileConfirms)
	})
	t.Run("CP-28/a moderate read is not of low risk", func(t *testing.T) {
		v := host.Preview{Kind: "world.read", Operation: "read", Ownership: "public", Risk: "moderate", Reversible: true}
		wants(t, guarded.Decide(asks(v), nil), Confirm, CodeProfileConfirms)
	})
	t.Run("CP-32/a chest in a shared plot is confirmed", func(t *testing.T) {
		wants(t, survival.Decide(asks(placingOn("common")), nil), Confirm, CodeProfileConfirms)
	})
	t.Run("CP-28/the zero config is guarded", func(t *testing.T) {
		if e := compiled(t, Config{}); e.Profile() != Guarded {
			t.Error(e.Profile())
		}
	})
	t.Run("CP-36/a custom rule tightens one effect and leaves the others", func(t *testing.T) {
		e := compiled(t, Config{Profile: PrivilegedCustom, Rules: []Rule{
			{ID: "no-destroying", Layer: LayerServer, Match: Match{Operations: []Operation{OperationDestroy}}, Result: Deny}}})
		v := placing()
		wants(t, e.Decide(asks(v), nil), Allow, CodeProfileAllowed)
		v.Operation = "destroy"
		wants(t, e.Decide(asks(v), nil), Deny, CodeRuleDenied)
	})
	t.Run("CP-36/a custom budget limits it", func(t *testing.T) {
		e := compiled(t, Config{Profile: PrivilegedCustom, Budgets: []Budget{{ID: "one", Layer: LayerServer, MaxCount: 1}}})
		l := ledger{}
		d := e.Decide(asks(placing()), l)
		wants(t, d, Allow, CodeProfileAllowed)
		l.reserve(d.Reservations)
		wants(t, e.Decide(asks(placing()), l), Deny, CodeBudgetExceeded)
	})
}

func TestEveryProfileRowIsNeeded(t *testing.T) {
	for _, p := range everyProfile {
		reached := map[int]bool{}
		for risk := RiskLow; risk < riskCount; risk++ {
			for op := OperationRead; op < operationCount; op++ {
				for own := OwnershipOwn; own < ownershipCount; own++ {
					for _, rev := range []bool{false, true} {
						reached[profileRowOf(p, &effect{risk: risk, operation: op, ownership: own, reversible: rev})] = true
					}
				}
			}
		}
		if len(reached) != len(profiles[p]) {
			t.Errorf("%s: %d of %d rows are reached", p, len(reached), len(profiles[p]))
		}
	}
}
