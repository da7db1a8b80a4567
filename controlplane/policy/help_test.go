package policy

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"blockworld/effects/host"
)

const here = "play.example (seed hash 1f, minecraft:overworld)"

// compiled compiles a config that is meant to be right.
func compiled(t fataler, c Config) *Engine {
	t.Helper()
	e, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// allowAll is the most generous config that can be written for a profile.
func allowAll(p Profile) Config {
	return Config{Profile: p, Rules: []Rule{{ID: "allow-all", Layer: LayerServer, Result: Allow, Priority: 1 << 30}}}
}

// asks returns the facts of an action of alice's with these effects.
func asks(effects ...host.Preview) *Facts {
	return &Facts{Principal: "alice", Actor: "bot-1", Task: "house", Server: here, World: "minecraft:overworld", Effects: effects,
		Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, GameTick: 1000}
}

// placing is one block placed where the host knows it to be nobody's.
func placing() host.Preview {
	return host.Preview{Kind: "world.place", Operation: "create", Ownership: "unowned", Risk: "moderate", Quantity: 1,
		Block: "minecraft:stone", Item: "minecraft:stone"}
}

// placingOn is one block placed in a plot.
func placingOn(plot host.Name) host.Preview {
	p := placing()
	p.Scope = plot
	return p
}

func saying(text string) host.Preview {
	return host.Preview{Kind: "chat.say", Operation: "communicate", Ownership: "public", Risk: "low", Quantity: int64(len(text)), Text: text}
}

// wants checks result and code of a decision.
func wants(t testing.TB, d Decision, r Result, c Code) {
	t.Helper()
	if d.Result != r || d.Code != c {
		t.Errorf("decided %s (%s: %s), want %s (%s)", d.Result, d.Code, d.Reason, r, c)
	}
	if d.Reason == "" {
		t.Error("no reason was given")
	}
}

func bytesOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ledger is a plain model of what the budgets hold.
type ledger map[string][4]int64

func (l ledger) key(budget string, window int64) string { return fmt.Sprintf("%s/%d", budget, window) }

func (l ledger) Used(budget string, window int64) (int64, int64, int64, int64) {
	v := l[l.key(budget, window)]
	return v[0], v[1], v[2], v[3]
}

// move books reservations: count and quantity are added to place n and n+1 (0 used, 2 reserved) times sign.
func (l ledger) move(rs []Reservation, n int, sign int64) {
	for _, r := range rs {
		v := l[l.key(r.Budget, r.Window)]
		v[n] += sign * r.Count
		v[n+1] += sign * r.Quantity
		l[l.key(r.Budget, r.Window)] = v
	}
}

func (l ledger) reserve(rs []Reservation) { l.move(rs, 2, 1) }
func (l ledger) release(rs []Reservation) { l.move(rs, 2, -1) }
func (l ledger) commit(rs []Reservation)  { l.move(rs, 2, -1); l.move(rs, 0, 1) }

var everyProfile = []Profile{Guarded, Survival, Open, PrivilegedCustom}

// fataler is what a test of either sort can do.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func sha256Hex(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
