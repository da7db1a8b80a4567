package effects

import (
	"errors"
	"fmt"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// StepKey names one step of exactly-once on a server: which cell, which of its steps, in which generation. A repair
// opens a new generation.
type StepKey struct {
	Dimension  string
	Pos        geom.BlockPos // the step's target
	Index      uint32        // in the plan
	Ordinal    uint32        // nth step on this cell, from 0
	Generation uint32
}

// Outcome is everything that is known of one action when its verdict falls.
type Outcome struct {
	Action        ActionID
	Mission       MissionID
	Binding       Digest // of the Binding that was admitted
	Bot           worldstate.UUID
	Server        string // server identity, as in the binding
	Step          StepKey
	Postcondition Postcondition // with the masks of each cell
	Verdict       Verdict
	Grade         Grade // reached
	LeastGrade    Grade // asked for by the server's profile
	Attribution   Attribution
	Reconciled    bool // proven after a rejoin, not by its own bracket
	Code          Code
	Evidence      Evidence
	UnixMilli     int64 // when the verdict fell, by the caller's clock
}

// Receipt is the one durable proof of an action that was done. Only NewReceipt and ParseReceipt make one that is valid.
type Receipt struct{ Outcome Outcome }

// Attempt is the record of an action without a receipt: refused, never run, wrong, unverified; or a walk or slot change
// that is only processed.
type Attempt struct{ Outcome Outcome }

// ErrNoReceipt wraps why an outcome may not have a receipt.
var ErrNoReceipt = errors.New("no receipt")

// NewReceipt makes the receipt of a proven outcome. It checks that the evidence holds the facts of the grade, whoever
// says "ok"; errors wrap ErrNoReceipt.
func NewReceipt(o Outcome) (Receipt, error) {
	if err := provable(&o); err != nil {
		return Receipt{}, fmt.Errorf("%w for action %s: %w", ErrNoReceipt, o.Action, err)
	}
	return Receipt{o}, nil
}

// NewAttempt makes the record of an outcome that has no receipt. A proven outcome belongs into a receipt, unless it is
// merely processed.
func NewAttempt(o Outcome) (Attempt, error) {
	if o.Action == (ActionID{}) {
		return Attempt{}, errors.New("attempt without an action id")
	}
	if o.Verdict == Proven && o.Grade != Processed {
		return Attempt{}, fmt.Errorf("attempt for action %s: it is proven and needs a receipt", o.Action)
	}
	return Attempt{o}, nil
}

// Canonical returns the bytes that are hashed, chained and signed.
func (r Receipt) Canonical() []byte { return canonicalOutcome(kindReceipt, &r.Outcome) }

// Digest returns the hash of the canonical bytes.
func (r Receipt) Digest() Digest { return digestOf(r.Canonical()) }

// Canonical returns the bytes that are hashed, chained and signed.
func (a Attempt) Canonical() []byte { return canonicalOutcome(kindAttempt, &a.Outcome) }

// Digest returns the hash of the canonical bytes.
func (a Attempt) Digest() Digest { return digestOf(a.Canonical()) }

// ParseReceipt reads one canonical receipt, checks its proof again and returns what follows it. Errors wrap
// ErrMalformedRecord, ErrRecordVersion or ErrNoReceipt.
func ParseReceipt(b []byte) (Receipt, []byte, error) {
	o, rest, err := parseOutcome(b, kindReceipt)
	if err != nil {
		return Receipt{}, nil, err
	}
	rec, err := NewReceipt(o)
	if err != nil {
		return Receipt{}, nil, err
	}
	return rec, rest, nil
}

// ParseAttempt reads one canonical attempt record and returns what follows it. Errors wrap ErrMalformedRecord or
// ErrRecordVersion.
func ParseAttempt(b []byte) (Attempt, []byte, error) {
	o, rest, err := parseOutcome(b, kindAttempt)
	if err != nil {
		return Attempt{}, nil, err
	}
	a, err := NewAttempt(o)
	if err != nil {
		return Attempt{}, nil, fmt.Errorf("%w: %w", ErrMalformedRecord, err)
	}
	return a, rest, nil
}

func canonicalOutcome(k kind, o *Outcome) []byte {
	var w writer
	w.raw(o.Action[:])
	w.raw(o.Mission[:])
	w.raw(o.Binding[:])
	w.raw(o.Bot[:])
	w.str(o.Server)
	w.str(o.Step.Dimension)
	w.pos(o.Step.Pos)
	w.u32(o.Step.Index)
	w.u32(o.Step.Ordinal)
	w.u32(o.Step.Generation)
	writePostcondition(&w, o.Postcondition)
	w.u8(uint8(o.Verdict))
	w.u8(uint8(o.Grade))
	w.u8(uint8(o.LeastGrade))
	w.u8(uint8(o.Attribution))
	w.bool(o.Reconciled)
	w.u8(uint8(o.Code))
	o.Evidence.encode(&w)
	w.i64(o.UnixMilli)
	return w.record(k)
}

func parseOutcome(b []byte, k kind) (Outcome, []byte, error) {
	r, rest, err := openRecord(b, k)
	if err != nil {
		return Outcome{}, nil, err
	}
	var o Outcome
	r.fill(o.Action[:])
	r.fill(o.Mission[:])
	r.fill(o.Binding[:])
	r.fill(o.Bot[:])
	o.Server = r.str()
	o.Step = StepKey{r.str(), r.pos(), r.u32(), r.u32(), r.u32()}
	o.Postcondition = readPostcondition(r)
	o.Verdict = enum(r, WrongResult)
	o.Grade = enum(r, Attributed)
	o.LeastGrade = enum(r, Attributed)
	o.Attribution = enum(r, AttributionServer)
	o.Reconciled = r.bool()
	o.Code = enum(r, codeCount-1)
	o.Evidence = readEvidence(r)
	o.UnixMilli = r.i64()
	if err := r.close(); err != nil {
		return Outcome{}, nil, err
	}
	return o, rest, nil
}
