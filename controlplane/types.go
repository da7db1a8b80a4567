package controlplane

import (
	"encoding/json"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Limits of the gateway, beside those of the host protocol.
const (
	MaxWaitMS     = 25_000   // of one Wait, Poll or gateway request
	MinLeaseMS    = 5_000    // TTL of a lease
	MaxLeaseMS    = 300_000  // TTL of a lease
	Window        = 8        // publications that a submit may lie behind
	MaxList       = 200      // operations of one list
	MaxBlueprint  = 16 << 20 // bytes
	MaxGateways   = 1024     // requests to hosts that are under way
	MaxWaiters    = 4096     // calls of Wait under way
	MaxSubscribed = 256      // subscriptions
)

// SubmitRequest asks for one action of one actor. Key names the request for ever: the same principal, key and payload give
// the same operation, however often it is sent; another payload is a conflict. The payload is what is wanted (Actor, Action,
// Task, Parent); Lease, Epoch, Sequence and CapabilityDigest are the conditions it is sent under and may be newer in a retry.
type SubmitRequest struct {
	Actor            host.Name   `json:"actor"`
	Lease            string      `json:"lease"`    // id of the lease held
	Key              string      `json:"key"`      // 1 to 128 bytes, printable ASCII
	Epoch            host.Epoch  `json:"epoch"`    // as observed; must match exactly
	Sequence         uint64      `json:"sequence"` // as observed; one of the last 8 publications
	CapabilityDigest string      `json:"capability_digest,omitempty"`
	Action           host.Action `json:"action"`
	Task             host.Name   `json:"task,omitempty"`  // needed for a macro and its children
	Parent           host.OpID   `json:"parent,omitzero"` // the macro that this is a step of
}

// ConfirmRequest answers a challenge. Digest is the effect digest that the approver has seen.
type ConfirmRequest struct {
	Op        host.OpID      `json:"op"`
	Challenge string         `json:"challenge"`
	Digest    effects.Digest `json:"effect_digest"`
	Approve   bool           `json:"approve"`
	// Sequence is the observation that the approver looked at; it must be one of the last 8 publications. Zero: the
	// approver looked at the operation only, and the newest publication counts.
	Sequence uint64 `json:"sequence,omitzero"`
}

// Filter chooses operations; empty fields choose all. Parent goes before Task, Task before Actor.
type Filter struct {
	Actor  host.Name       `json:"actor,omitempty"`
	Task   host.Name       `json:"task,omitempty"`
	Parent host.OpID       `json:"parent,omitzero"`
	State  operation.State `json:"state,omitzero"`
	After  string          `json:"after,omitempty"` // opaque cursor of the page before
	Limit  int             `json:"limit,omitzero"`  // 1..200; 0 means 50
}

// Page is one page of operations, newest first; of a macro's children oldest first.
type Page struct {
	Operations []operation.View `json:"operations"`
	Next       string           `json:"next"` // cursor of the next page; empty: that was the last
}

// WaitRequest names one thing to wait on: an operation, an actor, or a task.
type WaitRequest struct {
	Op        host.OpID `json:"op,omitzero"`
	Actor     host.Name `json:"actor,omitempty"`
	Task      host.Name `json:"task,omitempty"`
	Cursor    string    `json:"cursor,omitempty"` // of the last answer; empty or not ours: the answer is the present view, at once
	TimeoutMS int64     `json:"timeout_ms"`       // 0..25000
}

// WaitResult is what there is now. Changed false says only that nothing newer was seen; it cancels nothing.
type WaitResult struct {
	Changed    bool             `json:"changed"`
	Cursor     string           `json:"cursor"`
	Operation  *operation.View  `json:"operation,omitempty"`  // waiting on an operation
	Actor      *ActorView       `json:"actor,omitempty"`      // waiting on an actor
	Operations []operation.View `json:"operations,omitempty"` // waiting on an actor or a task: what changed since, newest state, at most 50
}

// Lease is the exclusive right to drive an actor.
type Lease struct {
	ID      string            `json:"id,omitempty"` // secret of its holder; empty in what others see
	Actor   host.Name         `json:"actor"`
	Holder  host.Name         `json:"holder"`
	Expires operation.Instant `json:"expires"`
}

// StopView is a latched emergency stop.
type StopView struct {
	Why   string            `json:"why"`
	By    host.Name         `json:"by"`
	Since operation.Instant `json:"since"`
}

// ActorView is what is known of an actor now.
type ActorView struct {
	ID        host.Name      `json:"id"`
	Host      host.Name      `json:"host"`
	Authority host.Authority `json:"authority"`
	Mode      string         `json:"mode"`
	Account   string         `json:"account"`
	Owner     host.Name      `json:"owner"`  // who may stop and clear it; empty: admins only
	Online    bool           `json:"online"` // its host has a session and has published it
	Ready     bool           `json:"ready"`
	Server    string         `json:"server"`
	World     string         `json:"world"`
	Epoch     host.Epoch     `json:"epoch"`
	Sequence  uint64         `json:"sequence"`
	GameTick  int64          `json:"game_tick"`
	Stop      *StopView      `json:"stop"`  // null: not stopped
	Lease     *Lease         `json:"lease"` // null: free
	// State is the host's published state. Names, chat and other world text in it are data of class untrusted.
	State json.RawMessage `json:"state,omitempty"`
}

// CapabilityView is one capability of an actor with the digest that a submit may name.
type CapabilityView struct {
	host.Capability
	Digest effects.Digest `json:"digest"`
}

// Explanation is a dry run: what the host would bind and what policy says to it, rule by rule. Nothing was stored.
type Explanation struct {
	Bound    *host.Bound         `json:"bound"`          // null: the host refuses to bind
	Refusal  operation.Rejection `json:"refusal"`        // of the host; empty code: none
	Note     string              `json:"note,omitempty"` // why policy was not asked
	Decision policy.Decision     `json:"decision"`
	Lines    []policy.Line       `json:"lines"`
}

// BlueprintView is a stored blueprint.
type BlueprintView struct {
	Name   host.Name      `json:"name"`
	Digest effects.Digest `json:"digest"`
	Size   int64          `json:"size"`
}

// Change says that an operation has a new version. Look it up for its view.
type Change struct {
	Op      host.OpID       `json:"op"`
	Actor   host.Name       `json:"actor"`
	Task    host.Name       `json:"task"`
	Parent  host.OpID       `json:"parent,omitzero"`
	State   operation.State `json:"state"`
	Version uint64          `json:"version"`
	Lagged  bool            `json:"lagged"` // changes before this one were left out: list anew
}

// Stats are counts for metrics. Totals count since the gateway was opened.
type Stats struct {
	Open       map[operation.State]int    // unfinished operations now
	Entered    map[operation.State]uint64 // operations that came to a state
	Receipts   map[string]uint64          // by grade
	Refusals   map[string]uint64          // rejected operations and refused submits by code, and by "rule ID" where a rule decided
	Unverified uint64                     // outcomes unknown by the host's word
	Decisions  Histogram                  // how long policy took, by the clock that was passed in
	Binds      Histogram                  // from the question to a host until policy had decided on its answer
	Traffic    map[host.Name]host.Traffic // of every actor that was ever published
	Hosts      int
	Actors     int // that are known, there or not
	Ready      int // of these, in a world now and able to act
	Gateways   int // requests to hosts under way
	Waiters    int
	Commits    uint64 // of the store
	Writes     uint64
}
