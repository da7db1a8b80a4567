package host

import (
	"crypto/sha256"
	"encoding/json"

	"blockworld/effects"
)

// Authority says whose word an outcome of this host is. The zero value is the careful one.
type Authority string

// The authorities.
const (
	ClientAdvisory Authority = "client-advisory" // attached: the host is a client of the server it reports about
	ServerSide     Authority = "server"          // managed: the guard stands at the server's boundary
)

// Kind says what a capability does.
type Kind string

// The kinds: a read changes nothing, an effect is one action, a macro submits children of its own.
const (
	KindRead   Kind = "read"
	KindEffect Kind = "effect"
	KindMacro  Kind = "macro"
)

// Capability is what one actor can be asked for, as published.
type Capability struct {
	Name         string          `json:"name"`
	Kind         Kind            `json:"kind"`
	Risk         string          `json:"risk"`           // low, moderate, high, critical
	Cancellation string          `json:"cancellation"`   // unsupported_once_sent, cooperative, preemptive
	BudgetMS     int64           `json:"time_budget_ms"` // how long one may take
	Grade        string          `json:"grade"`          // best grade of proof reachable here; none for reads
	LeastGrade   string          `json:"least_grade"`    // grade below which it is unverified
	Schema       json.RawMessage `json:"schema"`         // closed JSON Schema of the arguments
	Rollback     string          `json:"rollback"`       // none, not_reversible, compensating_action; never automatic
}

// Digest stands for everything that is published of a capability; it changes when a schema or a limit does.
func (c *Capability) Digest() effects.Digest {
	b, _ := json.Marshal(c) // strings, numbers and checked JSON cannot fail
	return sha256.Sum256(b)
}

// Validate checks a capability.
func (c *Capability) Validate() error {
	if err := Name(c.Name).Check("capability"); err != nil {
		return err
	}
	switch {
	case c.Kind != KindRead && c.Kind != KindEffect && c.Kind != KindMacro:
		return invalid("capability %s: kind %q is none of read, effect, macro", c.Name, c.Kind)
	case !oneOf(c.Risk, "low", "moderate", "high", "critical"):
		return invalid("capability %s: risk %q is none of low, moderate, high, critical", c.Name, c.Risk)
	case !oneOf(c.Cancellation, "unsupported_once_sent", "cooperative", "preemptive"):
		return invalid("capability %s: cancellation %q is none of unsupported_once_sent, cooperative, preemptive", c.Name, c.Cancellation)
	case !grade(c.Grade) || !grade(c.LeastGrade):
		return invalid("capability %s: grade or least_grade is none of none, processed, observed, acknowledged, attributed", c.Name)
	case c.BudgetMS <= 0:
		return invalid("capability %s: a time budget is missing", c.Name)
	case len(c.Schema) == 0 || len(c.Schema) > MaxState || !json.Valid(c.Schema):
		return invalid("capability %s: the schema is no JSON of at most %d bytes", c.Name, MaxState)
	}
	return nil
}

// Actor is one bot of a host, as registered.
type Actor struct {
	ID           Name         `json:"id"`
	Server       string       `json:"server"`  // server identity: address as typed, hashed seed, dimension names; empty before the first join
	Account      string       `json:"account"` // player name
	Mode         string       `json:"mode"`    // attached or managed
	Capabilities []Capability `json:"capabilities"`
	// Journal is the fingerprint of the key of the actor's journal, which one process at a time can open: by it a host that
	// was restarted is told from another one under the same name. Where neither of two says it, the name alone counts.
	Journal string `json:"journal,omitempty"`
}

// Manifest introduces a host.
type Manifest struct {
	Host      Name      `json:"host"`
	Revision  string    `json:"revision"` // of the code that turns bindings into packets
	Authority Authority `json:"authority"`
	Actors    []Actor   `json:"actors"`
}

// Validate checks a manifest: names, no actor twice, no capability twice.
func (m *Manifest) Validate() error {
	if err := m.Host.Check("host"); err != nil {
		return err
	}
	switch {
	case m.Revision == "" || len(m.Revision) > MaxName:
		return invalid("the adapter revision is missing or longer than %d bytes", MaxName)
	case m.Authority != ClientAdvisory && m.Authority != ServerSide:
		return invalid("authority %q is none of client-advisory, server", m.Authority)
	case len(m.Actors) == 0 || len(m.Actors) > MaxActors:
		return invalid("a host has 1 to %d actors, not %d", MaxActors, len(m.Actors))
	}
	seen := map[Name]bool{}
	for i := range m.Actors {
		if err := m.Actors[i].validate(); err != nil {
			return err
		}
		if seen[m.Actors[i].ID] {
			return invalid("actor %s is listed twice", m.Actors[i].ID)
		}
		seen[m.Actors[i].ID] = true
	}
	return nil
}

// Same tells whether two manifests of one name can be one host's: they hold a journal in common, or neither says a word of
// journals. Whoever leaves its journals out is not taken for the one who names them.
func (m *Manifest) Same(o *Manifest) bool {
	held := map[string]bool{}
	for i := range m.Actors {
		if j := m.Actors[i].Journal; j != "" {
			held[j] = true
		}
	}
	said := false
	for i := range o.Actors {
		if j := o.Actors[i].Journal; j != "" {
			if held[j] {
				return true
			}
			said = true
		}
	}
	return !said && len(held) == 0
}

func (a *Actor) validate() error {
	if err := a.ID.Check("actor"); err != nil {
		return err
	}
	if a.Mode != "attached" && a.Mode != "managed" {
		return invalid("actor %s: mode %q is none of attached, managed", a.ID, a.Mode)
	}
	if a.Journal != "" && !fingerprint(a.Journal) {
		return invalid("actor %s: the journal is named by no fingerprint: SHA256: and 43 characters of base64", a.ID)
	}
	if len(a.Capabilities) > MaxCapabilities {
		return invalid("actor %s has %d capabilities, at most %d are allowed", a.ID, len(a.Capabilities), MaxCapabilities)
	}
	if Line(a.Server) != a.Server || Line(a.Account) != a.Account {
		return invalid("actor %s: server or account holds a control character", a.ID)
	}
	if len(a.Server) > 4*MaxText || len(a.Account) > MaxName {
		return invalid("actor %s: server or account is too long", a.ID)
	}
	seen := map[string]bool{}
	for i := range a.Capabilities {
		c := &a.Capabilities[i]
		if err := c.Validate(); err != nil {
			return err
		}
		if seen[c.Name] {
			return invalid("actor %s: capability %s is listed twice", a.ID, c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// Session is a registered host's place at a gateway. Whoever holds the token speaks for the host.
type Session struct {
	Host       Name   `json:"host"`
	Token      string `json:"token"`
	Generation uint64 `json:"generation"` // rises with every registration of this host
	TTLMS      int64  `json:"ttl_ms"`     // renew before; any call renews
}

// Publication is the read model of one actor: which epoch, what was seen last, and a state for people and agents.
type Publication struct {
	Actor    Name   `json:"actor"`
	Epoch    Epoch  `json:"epoch"`
	Sequence uint64 `json:"sequence"` // rises by one or more with each publication of an epoch
	Server   string `json:"server"`   // server identity
	World    string `json:"world"`    // dimension name
	// GameTick is the server's game time in ticks when it was seen last; -1 when it never was. It is the host clock of
	// windows and challenges; without it the gateway's own clock counts in steps of 50 ms. It never goes back within an epoch.
	GameTick int64 `json:"game_tick"`
	Ready    bool  `json:"ready"` // placed in a loaded world and able to act
	// State is what world_status and the running macro say, as JSON of at most MaxState bytes. World text in it is untrusted.
	State json.RawMessage `json:"state"`
	// Traffic is that of the actor's live session, or between two of the last one. It alone is no news: it comes with
	// whatever is published next.
	Traffic Traffic `json:"traffic,omitzero"`
}

// Validate checks a publication.
func (p *Publication) Validate() error {
	if err := p.Actor.Check("actor"); err != nil {
		return err
	}
	switch {
	case !p.Epoch.Valid():
		return invalid("epoch %v is no epoch", p.Epoch)
	case p.Sequence == 0:
		return invalid("sequence 0: publications count from 1")
	case len(p.Server) > 4*MaxText || len(p.World) > MaxText:
		return invalid("server or world name is too long")
	case Line(p.Server) != p.Server || Line(p.World) != p.World:
		return invalid("server or world name holds a control character")
	case p.GameTick < -1:
		return invalid("game tick %d", p.GameTick)
	case len(p.State) > MaxState || len(p.State) > 0 && !json.Valid(p.State):
		return invalid("the state is no JSON of at most %d bytes", MaxState)
	}
	return p.Traffic.Validate()
}

// grade tells whether s names a grade of proof; a read has none.
func grade(s string) bool {
	_, known := effects.ParseGrade(s)
	return known || s == ""
}

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}
