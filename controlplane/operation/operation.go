package operation

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"blockworld/effects"
	"blockworld/effects/host"
)

// Instant is a moment in milliseconds since the Unix epoch, by the caller's clock. Zero is none.
type Instant int64

// InstantOf returns the instant of a time.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time returns the instant as a time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Result is what policy decided. The zero Result is Deny.
type Result uint8

// The results.
const (
	Deny Result = iota
	Confirm
	Allow
	resultCount
)

var resultNames = [resultCount]string{"deny", "confirm", "allow"}

// String returns the result's name.
func (r Result) String() string {
	if r >= resultCount {
		return "invalid"
	}
	return resultNames[r]
}

// MarshalText writes the result's name.
func (r Result) MarshalText() ([]byte, error) {
	if r >= resultCount {
		return nil, fmt.Errorf("result %d: %w", uint8(r), ErrUnknownValue)
	}
	return []byte(resultNames[r]), nil
}

// UnmarshalText reads a result's name.
func (r *Result) UnmarshalText(b []byte) error {
	for i, name := range resultNames {
		if name == string(b) {
			*r = Result(i)
			return nil
		}
	}
	return fmt.Errorf("result %q: %w", b, ErrUnknownValue)
}

// Decision is what policy said, with what it said it by.
type Decision struct {
	Result   Result   `json:"result"`
	Revision string   `json:"revision"` // of the policy
	Rules    []string `json:"rules,omitempty"`
}

// Reservation is what an operation takes from one window of one budget.
type Reservation struct {
	Budget   string `json:"budget"`
	Window   int64  `json:"window"` // number of the window; 0 for budgets without
	Count    int64  `json:"count"`
	Quantity int64  `json:"quantity"`
}

// Rejection says who refused and why.
type Rejection struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Rules   []string `json:"rules,omitempty"` // of the policy, if it was policy
}

// Run is the host's last progress report. The zero Run is none.
type Run struct {
	Seq     uint64         `json:"progress_seq"`
	Percent int            `json:"percent"`
	Note    string         `json:"note"`
	Digest  effects.Digest `json:"digest"` // of the report, to tell a repeat from another one
}

// ClosureUnverified is the closure of an unknown outcome that its owner has accepted as such. It is not success.
const ClosureUnverified = "accepted_unverified"

// Operation is one action on its way. Everything up to Bound is fixed at its creation; the rest is written by Step alone.
type Operation struct {
	ID        host.OpID      `json:"id"`
	Kind      host.Kind      `json:"kind"` // effect or macro
	Principal host.Name      `json:"principal"`
	Actor     host.Name      `json:"actor"`
	Host      host.Name      `json:"host"`
	Task      host.Name      `json:"task,omitempty"`
	Lease     string         `json:"lease"`
	Key       string         `json:"key"`     // idempotency key, unique to the principal
	Payload   effects.Digest `json:"payload"` // of the request that came with the key
	Parent    host.OpID      `json:"parent,omitzero"`
	Action    host.Action    `json:"action"`
	Bound     host.Bound     `json:"bound,omitzero"` // zero if the host refused to bind it

	State           State         `json:"state"`
	Attempts        uint32        `json:"attempts"` // deliveries, durable before each
	Acked           bool          `json:"acked"`    // the host has taken it: from then on the budget is spent
	Children        uint32        `json:"children,omitzero"`
	Tally           Tally         `json:"tally,omitzero"`             // of a macro that has succeeded
	CancelRequested string        `json:"cancel_requested,omitempty"` // why; empty: nobody asked
	Run             Run           `json:"run,omitzero"`
	Outcome         *host.Outcome `json:"outcome,omitempty"`
	Rejection       *Rejection    `json:"rejection,omitempty"` // of a rejected operation; of a stale one, what did not hold
	Decision        Decision      `json:"decision"`
	Reservations    []Reservation `json:"reservations,omitempty"`
	Committed       bool          `json:"committed"` // the reservations count as used
	ApprovedBy      host.Name     `json:"approved_by,omitempty"`
	ApprovedIn      host.OpID     `json:"approved_in,omitzero"` // the macro whose approval covers it; zero: it has its own, or none
	Closure         string        `json:"closure,omitempty"`
	ClosedBy        host.Name     `json:"closed_by,omitempty"`

	Created Instant        `json:"created"`
	Entered Instant        `json:"entered"` // when the present state began; a redelivery does not move it
	Updated Instant        `json:"updated"`
	Version uint64         `json:"version"`        // rises by one with every change, from 1
	Ended   effects.Digest `json:"ended,omitzero"` // of the event that ended it, to tell its repeat
}

// Terminal tells whether nothing can change the operation any more.
func (op *Operation) Terminal() bool { return op.State.Terminal() || op.Closure != "" }

// Confirmed tells whether the effect is proven: success with its one receipt.
func (op *Operation) Confirmed() bool {
	return op.State == Succeeded && op.Outcome != nil && op.Outcome.Receipt != nil
}

// MayTellDone tells whether "done" may be said of it: it succeeded, the outcome is there, and a receipt confirms it; a macro is
// confirmed by the receipts of its children.
func (op *Operation) MayTellDone() bool {
	return op.State == Succeeded && op.Outcome != nil && op.Outcome.Status == host.Succeeded && (op.Confirmed() || op.Tally.proves())
}

// Reserved returns what the operation holds back from budgets without having spent it.
func (op *Operation) Reserved() []Reservation {
	if op.Committed || op.Terminal() {
		return nil
	}
	return op.Reservations
}

// NewID draws an operation id: the time in its first six bytes, so that ids sort as they were made and a store appends,
// and ten random bytes from r.
func NewID(at Instant, r io.Reader) (host.OpID, error) {
	random, err := effects.NewActionID(r)
	if err != nil {
		return host.OpID{}, err
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(at)<<16)
	copy(id[6:], random[6:])
	return id, nil
}
