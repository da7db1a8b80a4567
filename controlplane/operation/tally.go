package operation

import "strings"

// Tally is what the gateway has counted of a macro's children when its host reported the end. The host's word is not in it.
type Tally struct {
	Confirmed uint32 `json:"confirmed"` // children with a receipt
	Unproven  uint32 `json:"unproven"`  // children that may have changed the world, and have none
}

// Add counts a child.
func (t *Tally) Add(child *Operation) {
	switch {
	case child.Confirmed():
		t.Confirmed++
	case child.owesProof():
		t.Unproven++
	}
}

// proves tells whether all that was done is proven, and that something was.
func (t Tally) proves() bool { return t.Confirmed > 0 && t.Unproven == 0 }

// owesProof tells whether an operation without a receipt may have had an effect that needs one: whoever walks or turns leaves
// nothing behind. Failed is an end without the effect; so is what was never carried out.
func (op *Operation) owesProof() bool {
	switch op.State {
	case Failed, Interrupted, Stale, Rejected:
		return false
	case Cancelled:
		if op.Outcome == nil || !op.Outcome.Sent {
			return false
		}
	}
	for _, e := range op.Bound.Effects {
		if !strings.HasPrefix(e.Kind, "actor.") {
			return true
		}
	}
	return len(op.Bound.Effects) == 0
}
