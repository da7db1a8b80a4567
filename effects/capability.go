package effects

import (
	"errors"
	"fmt"
	"time"
)

// Capability is one of the ten things a bot can be asked for. The set is closed; the zero value is invalid. The numbers
// are persisted in journals: do not reorder.
type Capability uint8

// The ten capabilities: five reads, five effects.
const (
	WorldStatus Capability = iota + 1
	InventorySummary
	ScanRegion
	NearbyEntities
	ChatSince
	MoveTo
	LookAt
	Say
	Equip
	PlaceBlock
)

// ErrUnknownCapability is returned for a name outside the closed set, such as break_block or use_item.
var ErrUnknownCapability = errors.New("unknown capability")

// Risk says how much an effect can cost if it was a mistake. The zero value is unknown and must be treated as critical.
type Risk uint8

// The risks, from the least.
const (
	RiskUnknown  Risk = iota
	RiskLow           // reads, own position and look, own hotbar, a line of chat
	RiskModerate      // one block in a plot
	RiskHigh
	RiskCritical
)

// Cancellation says whether an action can still be called back. The zero value is the careful one.
type Cancellation uint8

// The two modes.
const (
	CancelUnsupportedOnceSent Cancellation = iota // a sent packet cannot be taken back
	CancelCooperative                             // stops at its next step, what is done stays done
)

// traits is one row of the capability table.
type traits struct {
	name   string
	effect bool
	risk   Risk
	cancel Cancellation
	budget time.Duration
	mode   RollbackMode
}

// capabilities is the table of the closed set; its index is the Capability.
var capabilities = [...]traits{
	WorldStatus:      {"world_status", false, RiskLow, CancelCooperative, 5 * time.Second, RollbackNone},
	InventorySummary: {"inventory_summary", false, RiskLow, CancelCooperative, 5 * time.Second, RollbackNone},
	ScanRegion:       {"scan_region", false, RiskLow, CancelCooperative, 10 * time.Second, RollbackNone},
	NearbyEntities:   {"nearby_entities", false, RiskLow, CancelCooperative, 5 * time.Second, RollbackNone},
	ChatSince:        {"chat_since", false, RiskLow, CancelCooperative, 5 * time.Second, RollbackNone},
	MoveTo:           {"move_to", true, RiskLow, CancelCooperative, 2 * time.Minute, RollbackCompensating},
	LookAt:           {"look_at", true, RiskLow, CancelUnsupportedOnceSent, 10 * time.Second, RollbackCompensating},
	Say:              {"say", true, RiskLow, CancelUnsupportedOnceSent, 10 * time.Second, RollbackNotReversible},
	Equip:            {"equip", true, RiskLow, CancelUnsupportedOnceSent, 10 * time.Second, RollbackCompensating},
	PlaceBlock:       {"place_block", true, RiskModerate, CancelUnsupportedOnceSent, 30 * time.Second, RollbackNotReversible},
}

// Capabilities returns all ten, reads first, as a fresh slice.
func Capabilities() []Capability {
	out := make([]Capability, 0, len(capabilities)-1)
	for c := WorldStatus; c <= PlaceBlock; c++ {
		out = append(out, c)
	}
	return out
}

// ParseCapability reads a name as String writes it; anything else wraps ErrUnknownCapability.
func ParseCapability(name string) (Capability, error) {
	for c := WorldStatus; c <= PlaceBlock; c++ {
		if capabilities[c].name == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%w %q: there are ten, from world_status to place_block, and no others", ErrUnknownCapability, name)
}

// Valid tells whether c is one of the ten.
func (c Capability) Valid() bool { return c >= WorldStatus && c <= PlaceBlock }

func (c Capability) row() traits {
	if !c.Valid() {
		return traits{name: "invalid"}
	}
	return capabilities[c]
}

// String returns the name used in requests and schemas.
func (c Capability) String() string { return c.row().name }

// Effect tells whether c sends packets that need an admission; the rest only reads the mirror.
func (c Capability) Effect() bool { return c.row().effect }

// Risk returns the risk of the capability; unknown for an invalid one.
func (c Capability) Risk() Risk { return c.row().risk }

// Cancellation returns whether an action of this capability can be called back.
func (c Capability) Cancellation() Cancellation { return c.row().cancel }

// TimeBudget returns how long one action may take until it is given up as unverified; 0 for an invalid capability.
func (c Capability) TimeBudget() time.Duration { return c.row().budget }

// Rollback returns the boundary that every binding of this capability carries, with ref as its reference.
func (c Capability) Rollback(ref string) Rollback { return Rollback{Mode: c.row().mode, Ref: ref} }

// String returns the risk in lower case.
func (r Risk) String() string {
	return pick(r, "unknown", "low", "moderate", "high", "critical")
}

// String returns the mode as published in manifests.
func (c Cancellation) String() string {
	return pick(c, "unsupported_once_sent", "cooperative")
}

// pick returns the name of a small enum's value, with "invalid" outside.
func pick[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "invalid"
}

// MarshalText writes the capability's name.
func (c Capability) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name of the closed set.
func (c *Capability) UnmarshalText(b []byte) error {
	v, err := ParseCapability(string(b))
	if err != nil {
		return err
	}
	*c = v
	return nil
}
