package host

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"blockworld/effects"
)

// Ask says what a gateway request wants of the host.
type Ask string

// The asks: bind an action without carrying it out, or answer a read. Neither sends an effect packet.
const (
	AskBind Ask = "bind"
	AskRead Ask = "read"
)

// Gateway is a question of the gateway to the host; it is answered once, by its id.
type Gateway struct {
	ID        uint64 `json:"id"`
	Ask       Ask    `json:"ask"`
	Actor     Name   `json:"actor"`
	Action    Action `json:"action"`
	Op        OpID   `json:"op"`        // AskBind: the operation it would become
	Parent    OpID   `json:"parent"`    // the macro it is a child of; zero for none
	Key       string `json:"key"`       // the idempotency key of the request, by which a macro knows its child
	Principal Name   `json:"principal"` // who asks
	Lease     string `json:"lease"`
	Task      Name   `json:"task,omitempty"`
	Epoch     Epoch  `json:"epoch"`
}

// Answer is the host's answer to a gateway request: a bound action, an output, or a refusal with its code.
type Answer struct {
	Gateway uint64          `json:"gateway"`
	Bound   *Bound          `json:"bound,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Code    string          `json:"code,omitempty"`    // refusal, such as no_support, unplaceable_state, busy, not_ready
	Message string          `json:"message,omitempty"` // what a person can do about it
}

// Validate checks an answer.
func (a *Answer) Validate() error {
	n := 0
	for _, set := range []bool{a.Bound != nil, len(a.Output) > 0, a.Code != ""} {
		if set {
			n++
		}
	}
	switch {
	case a.Gateway == 0:
		return invalid("the gateway request is missing")
	case n != 1:
		return invalid("an answer holds one of bound, output and code")
	case len(a.Output) > MaxState || len(a.Output) > 0 && !json.Valid(a.Output):
		return invalid("the output is no JSON of at most %d bytes", MaxState)
	}
	if err := checkCode(a.Code); err != nil {
		return err
	}
	if a.Bound != nil {
		if err := a.Bound.Validate(); err != nil {
			return err
		}
	}
	return checkLine("message", a.Message)
}

// Delivery hands an operation to the host. It may come again: the host answers again and does nothing twice.
type Delivery struct {
	Op        OpID   `json:"op"`
	Actor     Name   `json:"actor"`
	Action    Action `json:"action"`
	Bound     Bound  `json:"bound"`
	Principal Name   `json:"principal"`
	Lease     string `json:"lease"`
	Task      Name   `json:"task,omitempty"`
	Parent    OpID   `json:"parent"`
	Key       string `json:"key"`
	Attempt   uint32 `json:"attempt"`  // from 1
	Accepted  bool   `json:"accepted"` // the host has accepted it before: do not begin again what has a sent mark
}

// Cancellation asks the host to end an operation, or, with Stop, every effect of an actor until Clear.
type Cancellation struct {
	Op    OpID   `json:"op"` // zero with Stop and Clear
	Actor Name   `json:"actor"`
	Why   string `json:"why"`
	Stop  bool   `json:"stop,omitempty"`
	Clear bool   `json:"clear,omitempty"`
}

// Batch is what one poll brings.
type Batch struct {
	Gateways      []Gateway      `json:"gateways"`
	Deliveries    []Delivery     `json:"deliveries"`
	Cancellations []Cancellation `json:"cancellations"`
}

// Empty tells whether nothing came.
func (b *Batch) Empty() bool {
	return len(b.Gateways)+len(b.Deliveries)+len(b.Cancellations) == 0
}

// Ack is the host's yes or no to a delivery. After yes the budget is spent; no means that no packet was sent and none will be.
type Ack struct {
	Op       OpID           `json:"op"`
	Accepted bool           `json:"accepted"`
	Digest   effects.Digest `json:"digest"` // of the binding it is about; Accepted only
	Code     string         `json:"code,omitempty"`
	Message  string         `json:"message,omitempty"`
}

// CodeUnbound is the code of an Ack for a delivery whose binding the host cannot prove any more: the operation is stale.
const CodeUnbound = "unbound"

// Validate checks an acknowledgement.
func (a *Ack) Validate() error {
	switch {
	case a.Op == (OpID{}):
		return invalid("the operation is missing")
	case a.Accepted == (a.Code != ""):
		return invalid("a code goes with a refusal, and only with one")
	case a.Accepted && a.Digest == (effects.Digest{}):
		return invalid("the digest of the binding is missing")
	}
	if err := checkCode(a.Code); err != nil {
		return err
	}
	return checkLine("message", a.Message)
}

// Run is a progress report of an accepted operation; reporting is optional.
type Run struct {
	Op       OpID   `json:"op"`
	Sequence uint64 `json:"progress_seq"` // from 1, rising
	Percent  int    `json:"percent"`      // 0..100
	Note     string `json:"note"`         // what goes on, or the name of the waiting state
}

// Validate checks a report.
func (r *Run) Validate() error {
	switch {
	case r.Op == (OpID{}):
		return invalid("the operation is missing")
	case r.Sequence == 0:
		return invalid("progress_seq counts from 1")
	case r.Percent < 0 || r.Percent > 100:
		return invalid("percent %d is not within 0..100", r.Percent)
	}
	return checkLine("note", r.Note)
}

// Status is how an operation ended, by the host's word.
type Status string

// The statuses. Unknown is not an end: what was sent cannot be told yet, and a later outcome may still say.
const (
	Succeeded   Status = "succeeded"
	Failed      Status = "failed"
	Cancelled   Status = "cancelled"
	Interrupted Status = "interrupted" // ended without a sent mark: nothing was sent
	Unknown     Status = "outcome_unknown"
)

// Receipt is the proof of an executed effect: the one receipt of its action in the host's signed chain.
type Receipt struct {
	Number uint64         `json:"number"` // in the chain
	Digest effects.Digest `json:"digest"` // of its canonical bytes
	Grade  string         `json:"grade"`  // observed, acknowledged, attributed
	Key    string         `json:"key"`    // fingerprint of the signer
}

// Outcome is the host's one outcome of an operation, from game results only. It comes through a durable outbox, so it may
// come again; another outcome for an ended operation is a conflict.
type Outcome struct {
	Op       OpID            `json:"op"`
	Status   Status          `json:"status"`
	Code     string          `json:"code,omitempty"` // proven, refused, not_executed, wrong_result, unverified_effect, ...
	Message  string          `json:"message,omitempty"`
	Receipt  *Receipt        `json:"receipt,omitempty"`  // Succeeded with proof
	Output   json.RawMessage `json:"output,omitempty"`   // result of the capability; world text in it is untrusted
	Sent     bool            `json:"sent"`               // a sent mark exists
	Evidence effects.Digest  `json:"evidence,omitempty"` // of the outcome's canonical bytes in the host's journal
}

// Validate checks what holds of every outcome, one that was stored long ago too: a receipt only with success, interrupted
// only without a sent mark. An outcome that comes from a host is held to Admit.
func (o *Outcome) Validate() error {
	switch {
	case o.Op == (OpID{}):
		return invalid("the operation is missing")
	case !oneOf(string(o.Status), string(Succeeded), string(Failed), string(Cancelled), string(Interrupted), string(Unknown)):
		return invalid("status %q is none of succeeded, failed, cancelled, interrupted, outcome_unknown", o.Status)
	case o.Receipt != nil && o.Status != Succeeded:
		return invalid("a receipt goes with success only, not with %s", o.Status)
	case o.Status == Interrupted && o.Sent:
		return invalid("interrupted means that nothing was sent; what has a sent mark and no verdict is outcome_unknown")
	case len(o.Code) > MaxName:
		return invalid("the code is longer than %d bytes", MaxName)
	case len(o.Output) > MaxState || len(o.Output) > 0 && !json.Valid(o.Output):
		return invalid("the output is no JSON of at most %d bytes", MaxState)
	}
	return checkText("message", o.Message)
}

// Admit checks an outcome as it comes from a host: besides Validate the words that people and programs are shown, and the
// receipt, without which nothing counts as proven.
func (o *Outcome) Admit() error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := checkCode(o.Code); err != nil {
		return err
	}
	if err := checkLine("message", o.Message); err != nil {
		return err
	}
	if o.Receipt == nil {
		return nil
	}
	if !o.Sent {
		return invalid("a receipt proves what was sent, and sent is false")
	}
	return o.Receipt.validate()
}

func (r *Receipt) validate() error {
	grade, known := effects.ParseGrade(r.Grade)
	switch {
	case !known || grade < effects.Observed:
		return invalid("the receipt's grade is none of observed, acknowledged, attributed")
	case r.Number == 0:
		return invalid("the receipt has no number: they count from 1")
	case r.Digest == (effects.Digest{}):
		return invalid("the receipt's digest is missing")
	case !fingerprint(r.Key):
		return invalid("the receipt's key is no fingerprint: SHA256: and 43 characters of base64")
	}
	return nil
}

// fingerprint tells whether s names a key the way a journal does.
func fingerprint(s string) bool {
	text, ok := strings.CutPrefix(s, "SHA256:")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(text)
	return ok && err == nil && len(raw) == sha256.Size && len(text) == base64.RawStdEncoding.EncodedLen(sha256.Size)
}

// ContentDigest stands for an outcome's whole content, to tell a repeat from another outcome.
func (o *Outcome) ContentDigest() effects.Digest { return digestJSON(o) }

// Child is a macro's request for one child: an ordinary operation with the parent's actor, lease, principal and task.
type Child struct {
	Parent OpID   `json:"parent"`
	Key    string `json:"key"` // idempotency key within the parent
	Action Action `json:"action"`
}

// ChildView is what a macro needs to know of its child.
type ChildView struct {
	Op      OpID   `json:"op"`
	State   string `json:"state"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

func digestJSON(v any) effects.Digest {
	b, _ := json.Marshal(v) // made of strings, numbers and checked JSON
	return sha256.Sum256(b)
}
