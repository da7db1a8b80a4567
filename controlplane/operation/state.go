package operation

import (
	"fmt"
	"strings"
)

// State is where an operation stands. The zero State is none: an operation that was not created yet.
type State uint8

// The states.
const (
	AwaitingConfirmation State = iota + 1
	Queued
	Delivered
	Accepted
	Running
	Succeeded
	Failed
	Cancelled
	Interrupted
	Stale
	Rejected
	OutcomeUnknown
	stateCount
)

// stateWords is the table behind String and Meaning.
var stateWords = [stateCount]struct{ name, meaning string }{
	0:                    {"invalid", "not an operation"},
	AwaitingConfirmation: {"awaiting_confirmation", "stored, and waits for a person or program with authority to confirm it; nothing was sent"},
	Queued:               {"queued", "stored durably; no host has collected it yet, nothing was sent"},
	Delivered:            {"delivered", "a host has collected it and has not yet said whether it takes it"},
	Accepted:             {"accepted", "the host has taken it; that is not yet a result"},
	Running:              {"running", "the host has reported progress; that is not yet a result"},
	Succeeded:            {"succeeded", "the host reported success; may_say_done says whether receipts prove it"},
	Failed:               {"failed", "it ended without the wanted effect, for the reason given"},
	Cancelled:            {"cancelled", "ended on request; what was done before is not undone"},
	Interrupted:          {"interrupted", "the host was interrupted before anything was sent"},
	Stale:                {"stale", "what it rested on was no longer true, so it was not carried out"},
	Rejected:             {"rejected", "policy, an approver or the host said no; nothing was sent"},
	OutcomeUnknown:       {"outcome_unknown", "something may have been sent and nothing proves what came of it; it is never sent again to find out"},
}

// States returns all states in their order.
func States() []State {
	all := make([]State, 0, stateCount-1)
	for s := AwaitingConfirmation; s < stateCount; s++ {
		all = append(all, s)
	}
	return all
}

// Valid tells whether s is one of the states.
func (s State) Valid() bool { return s > 0 && s < stateCount }

// String returns the state's name, as in awaiting_confirmation.
func (s State) String() string {
	if !s.Valid() {
		return stateWords[0].name
	}
	return stateWords[s].name
}

// Meaning says in words what the state tells, and no more than it tells.
func (s State) Meaning() string {
	if !s.Valid() {
		return stateWords[0].meaning
	}
	return stateWords[s].meaning
}

// Terminal tells whether the state by itself is an end. OutcomeUnknown is none: it ends by a late outcome, or by its
// owner's closure, which Operation.Terminal knows of.
func (s State) Terminal() bool { return s >= Succeeded && s <= Rejected }

// ParseState reads a state's name; hyphens are taken for underscores. Errors wrap ErrUnknownValue.
func ParseState(name string) (State, error) {
	name = strings.ReplaceAll(name, "-", "_")
	for s := AwaitingConfirmation; s < stateCount; s++ {
		if stateWords[s].name == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("state %q: %w", name, ErrUnknownValue)
}

// MarshalText writes the state's name.
func (s State) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("state %d: %w", uint8(s), ErrUnknownValue)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a state's name.
func (s *State) UnmarshalText(b []byte) (err error) {
	*s, err = ParseState(string(b))
	return err
}
