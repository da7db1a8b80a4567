package operation

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Decode reads a stored operation. Unknown or repeated members and unknown values are refused; errors wrap
// ErrUnknownValue or ErrMalformed.
func Decode(b []byte) (Operation, error) {
	var op Operation
	if err := json.Unmarshal(b, &op, json.RejectUnknownMembers(true)); err != nil {
		if errors.Is(err, ErrUnknownValue) || errors.Is(err, json.ErrUnknownName) {
			return Operation{}, fmt.Errorf("%w: %w", ErrUnknownValue, err)
		}
		return Operation{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := op.check(); err != nil {
		return Operation{}, fmt.Errorf("operation %s: %w", op.ID, err)
	}
	return op, nil
}

// check refuses what Step could never have made.
func (op *Operation) check() error {
	switch {
	case op.ID == (host.OpID{}):
		return fmt.Errorf("no id: %w", ErrMalformed)
	case !op.State.Valid():
		return fmt.Errorf("no state: %w", ErrUnknownValue)
	case op.Kind != host.KindEffect && op.Kind != host.KindMacro:
		return fmt.Errorf("kind %q: %w", op.Kind, ErrUnknownValue)
	case op.Closure != "" && op.Closure != ClosureUnverified:
		return fmt.Errorf("closure %q: %w", op.Closure, ErrUnknownValue)
	case op.Closure != "" && op.State != OutcomeUnknown:
		return fmt.Errorf("a closure belongs to an unknown outcome, not to %s: %w", op.State, ErrMalformed)
	case op.Version == 0 || op.Created == 0:
		return fmt.Errorf("no version or time: %w", ErrMalformed)
	case op.State <= Queued && (op.Attempts > 0 || op.Acked):
		return fmt.Errorf("it is %s and was delivered: %w", op.State, ErrMalformed)
	case op.Terminal() != (op.Ended != effects.Digest{}):
		return fmt.Errorf("its end and its state disagree: %w", ErrMalformed)
	case op.ApprovedIn != (host.OpID{}) && (op.ApprovedBy == "" || op.ApprovedIn != op.Parent):
		return fmt.Errorf("it is covered by another approval than its macro's: %w", ErrMalformed)
	case op.Tally != (Tally{}) && (op.Kind != host.KindMacro || op.State != Succeeded || uint64(op.Tally.Confirmed)+uint64(op.Tally.Unproven) > uint64(op.Children)):
		return fmt.Errorf("more of its children are counted than it has: %w", ErrMalformed)
	case op.Committed && !op.Acked:
		return fmt.Errorf("its budget is spent and no host took it: %w", ErrMalformed)
	}
	return op.checkOutcome()
}

// checkOutcome refuses an outcome that does not fit the state.
func (op *Operation) checkOutcome() error {
	var want State
	if op.Outcome != nil {
		if err := op.Outcome.Validate(); err != nil || op.Outcome.Op != op.ID {
			return fmt.Errorf("its outcome is not one of its own: %w: %w", ErrUnknownValue, err)
		}
		want, _ = ParseState(string(op.Outcome.Status))
	}
	switch op.State {
	case Succeeded, Failed, Interrupted:
		if want != op.State {
			return fmt.Errorf("it is %s and its outcome is %q: %w", op.State, want, ErrMalformed)
		}
	case OutcomeUnknown, Cancelled: // a gap leaves no outcome; what was never taken is cancelled without one
		if op.Outcome != nil && want != op.State {
			return fmt.Errorf("it is %s and its outcome is %s: %w", op.State, want, ErrMalformed)
		}
	default:
		if op.Outcome != nil {
			return fmt.Errorf("it is %s and has an outcome: %w", op.State, ErrMalformed)
		}
	}
	return nil
}
