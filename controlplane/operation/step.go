package operation

import (
	"fmt"

	"blockworld/effects"
)

// Step applies an event. It returns the operation afterwards and what its caller has to carry out; a repeat of what was
// taken before returns the operation unchanged (same Version) and no effects. Errors wrap ErrConflict, ErrStale,
// ErrCapacity or ErrInvalid and leave the operation as it was. Neither op nor the event is modified; the result may share
// memory with both.
func Step(op Operation, ev Event, at Instant) (Operation, []Effect, error) {
	k, err := kindOf(&op, ev)
	if err != nil {
		return op, nil, err
	}
	from := phaseOf(&op)
	if from >= phaseCount {
		return op, nil, fmt.Errorf("operation %s: state %d: %w", op.ID, op.State, ErrInvalid)
	}
	c := change{op: op, ev: ev, kind: k, at: max(at, op.Updated)}
	switch r := &table[from][k]; {
	case r.to == stays && r.does == nil && !r.ignore:
		if c.repeated() {
			return op, nil, nil
		}
		return op, nil, c.conflict()
	case r.guard != nil && !r.guard(&c), r.ignore:
		return op, nil, c.refusal
	default:
		c.apply(r)
		return c.op, c.effects, nil
	}
}

// change is a transition under way.
type change struct {
	op      Operation // becomes the result
	ev      Event
	kind    kind
	at      Instant
	effects []Effect
	refusal error // of a guard that says no; nil: there is nothing to do
}

// apply does what a row says and writes the state.
func (c *change) apply(r *row) {
	for _, do := range r.does {
		do(c)
	}
	if r.to != stays {
		c.op.State, c.op.Entered = r.to, c.at
	}
	if c.op.Created == 0 {
		c.op.Created = c.at
	}
	c.op.Updated = c.at
	c.op.Version++
	if c.op.Terminal() {
		c.op.Ended = digestOf(c.kind, c.ev)
		c.effects = append(c.effects, Finish{c.op.State})
	}
}

// repeated tells whether an event that the table refuses is the exact repeat of one that was taken.
func (c *change) repeated() bool {
	switch e := c.ev.(type) {
	case Acked:
		if e.Ack.Accepted {
			return c.op.Acked && e.Ack.Digest == c.op.Bound.Digest
		}
	case Progress:
		return c.op.Run.Seq == e.Run.Sequence && c.op.Run.Digest == runDigest(&e.Run)
	}
	return c.op.Ended != (effects.Digest{}) && c.op.Ended == digestOf(c.kind, c.ev)
}

func (c *change) conflict() error {
	state := c.op.State.String()
	switch {
	case c.op.State == 0:
		state = "not created"
	case c.op.Closure != "":
		state = "closed as " + c.op.Closure
	}
	if c.op.Terminal() {
		state = "over: it ended as " + state
	}
	return fmt.Errorf("operation %s is %s, and %s: %w", c.op.ID, state, c.tooLate(), ErrConflict)
}

// tooLate says why an event that the table refuses does not fit.
func (c *change) tooLate() string {
	switch c.kind {
	case kindCancelAsked, kindFenced, kindStopped:
		return "there is nothing left to cancel"
	case kindAccept:
		return "only an outcome that nobody knows can be accepted as unverified"
	case kindConfirmed, kindDenied:
		return "it waits for nobody's yes or no"
	case kindChildCounted:
		return "children are taken while it is accepted or running"
	}
	return fmt.Sprintf("this does not fit it: %q", c.kind)
}

func invalid(op *Operation, ev Event) error {
	return fmt.Errorf("operation %s: %T is not complete, is of another operation, or holds unknown words: %w", op.ID, ev, ErrInvalid)
}

// refuse is for guards.
func (c *change) refuse(err error, format string, args ...any) bool {
	c.refusal = fmt.Errorf("operation %s: %s: %w", c.op.ID, fmt.Sprintf(format, args...), err)
	return false
}

func (c *change) effect(e Effect) { c.effects = append(c.effects, e) }
