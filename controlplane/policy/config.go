package policy

import (
	"errors"

	"blockworld/effects/host"
)

// ErrConfig is wrapped by every complaint about a config; the text names the rule and the field and says what to do.
var ErrConfig = errors.New("policy config")

// Limits of a config.
const (
	MaxRules   = 4096
	MaxBudgets = 1024
	MaxPlots   = 4096
	MaxSecrets = 256
	MaxList    = 64 // entries of one list of a rule or a budget

	// LeastSecret is the length below which a secret is refused: shorter ones would forbid ordinary lines.
	LeastSecret = 6
)

// Every is the subject of a rule that speaks of every subject of its layer.
const Every = "*"

// Config is what an operator writes. The zero Config is the profile guarded with no rules, no budgets and no plots.
type Config struct {
	Profile Profile  `json:"profile" yaml:"profile"`
	Plots   []Plot   `json:"plots,omitempty" yaml:"plots,omitempty"`
	Rules   []Rule   `json:"rules,omitempty" yaml:"rules,omitempty"`
	Budgets []Budget `json:"budgets,omitempty" yaml:"budgets,omitempty"`
	// Secrets must never be said: literal texts of at least LeastSecret characters, or "sha256:" and the 64 hex digits of
	// a word's hash. They come from the environment or a file of mode 0600, not from the config file.
	Secrets []string `json:"secrets,omitempty" yaml:"secrets,omitempty"`
}

// Plot is one registered scope and the word on who owns what stands in it.
type Plot struct {
	ID     host.Name `json:"id" yaml:"id"`
	Server string    `json:"server,omitempty" yaml:"server,omitempty"` // a server by its address as typed or by its whole identity; empty for any
	World  string    `json:"world,omitempty" yaml:"world,omitempty"`   // as Facts.World; empty for any
	Owner  host.Name `json:"owner,omitempty" yaml:"owner,omitempty"`   // a principal; empty: not known, effects there are denied unless Ownership tells
	// Ownership is what it is to everybody but the owner: shared, public, system, unowned or player. The zero value is
	// player when there is an owner and unknown when there is none.
	Ownership Ownership `json:"ownership,omitzero" yaml:"ownership,omitempty"`
}

// Match is what a rule or a budget speaks of. An empty list and a missing Reversible match everything; an effect matches
// a list when it has one of its entries.
type Match struct {
	Kinds      []Kind      `json:"kinds,omitempty" yaml:"kinds,omitempty"`
	Operations []Operation `json:"operations,omitempty" yaml:"operations,omitempty"`
	Ownerships []Ownership `json:"ownerships,omitempty" yaml:"ownerships,omitempty"` // as decided by the plot registry; unknown never comes to a rule
	Scopes     []host.Name `json:"scopes,omitempty" yaml:"scopes,omitempty"`         // registered plots
	Tags       []host.Name `json:"tags,omitempty" yaml:"tags,omitempty"`
	Risks      []Risk      `json:"risks,omitempty" yaml:"risks,omitempty"`
	Reversible *bool       `json:"reversible,omitempty" yaml:"reversible,omitempty"`
}

// Rule answers for the effects that it matches. Of all that match, deny goes before confirm before allow, whatever their
// priority; priority (higher first), layer (task first, server last) and id choose the one whose reason is told.
type Rule struct {
	ID       host.Name `json:"id" yaml:"id"`
	Layer    Layer     `json:"layer" yaml:"layer"`
	Subject  string    `json:"subject,omitempty" yaml:"subject,omitempty"` // whose, or Every; empty means Every in layer server and is an error elsewhere
	Match    `yaml:",inline"`
	Result   Result `json:"result" yaml:"result"` // a rule without one denies
	Priority int    `json:"priority,omitempty" yaml:"priority,omitempty"`
	Why      string `json:"why,omitempty" yaml:"why,omitempty"` // for people; told when the rule decides, never matched
}

// Budget limits the actions that have a matching effect: how many, and the sum of their matching effects' quantities.
type Budget struct {
	ID          host.Name `json:"id" yaml:"id"`
	Layer       Layer     `json:"layer" yaml:"layer"`
	Subject     string    `json:"subject,omitempty" yaml:"subject,omitempty"` // whose; empty or Every, in layer server only, is one budget for all
	Match       `yaml:",inline"`
	MaxCount    int64 `json:"max_count,omitempty" yaml:"max_count,omitempty"`       // actions; 0 for no limit
	MaxQuantity int64 `json:"max_quantity,omitempty" yaml:"max_quantity,omitempty"` // as Preview.Quantity counts; 0 for no limit
	WindowTicks int64 `json:"window_ticks,omitempty" yaml:"window_ticks,omitempty"` // of the host clock, 20 a second; 0 for ever
}
