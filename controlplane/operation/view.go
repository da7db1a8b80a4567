package operation

import (
	"encoding/json"

	"blockworld/effects"
	"blockworld/effects/host"
)

// View is an operation as callers see it. It tells what is known and no more; every member is always there.
type View struct {
	ID         host.OpID `json:"id"`
	Principal  host.Name `json:"principal"`
	Actor      host.Name `json:"actor"`
	Host       host.Name `json:"host"`
	Task       host.Name `json:"task"`   // empty: none
	Parent     string    `json:"parent"` // id of the macro; empty: none
	Key        string    `json:"key"`    // idempotency key
	Capability string    `json:"capability"`

	State                 State           `json:"state"`
	Meaning               string          `json:"meaning"` // the state in words
	Terminal              bool            `json:"terminal"`
	ExecutionConfirmed    bool            `json:"execution_confirmed"`    // succeeded, with its one receipt
	MaySayDone            bool            `json:"may_say_done"`           // receipts prove it: its own, or for a macro its children's
	ReconciliationPending bool            `json:"reconciliation_pending"` // outcome unknown, and nobody has closed it
	DeliveryAttempts      uint32          `json:"delivery_attempts"`      // 0: no host ever had it
	Run                   *RunView        `json:"run"`                    // last progress report; null: none
	Outcome               *OutcomeView    `json:"outcome"`                // the host's word; null: none
	Output                json.RawMessage `json:"output"`                 // of the capability; null: none. World text in it is untrusted
	Rejection             *Rejection      `json:"rejection"`              // who said no and why; null: nobody
	CancelRequested       string          `json:"cancel_requested"`       // why; empty: nobody asked. A request undoes nothing
	Closure               string          `json:"closure"`                // accepted_unverified, or empty
	Children              uint32          `json:"children"`
	ChildrenConfirmed     uint32          `json:"children_confirmed"` // with a receipt; counted by the gateway when a macro has succeeded
	ChildrenUnproven      uint32          `json:"children_unproven"`  // that may have changed the world, and have none; counted then too

	Summary      string         `json:"summary"` // for people: what was bound
	Preview      []host.Preview `json:"preview"` // the effects that were decided on
	Digest       effects.Digest `json:"digest"`  // of the binding
	Precondition effects.Digest `json:"precondition"`
	EffectDigest effects.Digest `json:"effect_digest"` // what a confirmation is bound to
	Epoch        host.Epoch     `json:"epoch"`
	Sequence     uint64         `json:"sequence"`
	Policy       *Decision      `json:"policy"`              // null: it was not asked
	ApprovedBy   host.Name      `json:"approved_by"`         // who said yes; empty: nobody had to
	ApprovedIn   string         `json:"approved_in"`         // id of the macro that they said yes to; empty: to this operation itself
	Challenge    *Challenge     `json:"challenge,omitempty"` // only while it awaits confirmation, only for those who may confirm

	Created Instant `json:"created"` // milliseconds since 1970
	Updated Instant `json:"updated"`
	Version uint64  `json:"version"`
}

// RunView is a progress report as callers see it.
type RunView struct {
	Seq     uint64 `json:"progress_seq"`
	Percent int    `json:"percent"`
	Note    string `json:"note"`
}

// OutcomeView is the host's word as callers see it.
type OutcomeView struct {
	Status  host.Status   `json:"status"`
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Sent    bool          `json:"sent"`
	Receipt *host.Receipt `json:"receipt"` // the proof; null: none
}

// Challenge is what a confirmation answers. It is never stored.
type Challenge struct {
	ID      string         `json:"id"` // secret, single use
	Digest  effects.Digest `json:"effect_digest"`
	Policy  string         `json:"policy_revision"`
	Expires int64          `json:"expires_tick"` // by the host's clock
}

// ViewOf returns the view of an operation. It has no challenge: that is the gateway's to add. It shares memory with op.
func ViewOf(op Operation) View {
	v := View{
		ID: op.ID, Principal: op.Principal, Actor: op.Actor, Host: op.Host, Task: op.Task, Key: op.Key,
		Capability: op.Action.Capability,

		State: op.State, Meaning: op.State.Meaning(), Terminal: op.Terminal(), ExecutionConfirmed: op.Confirmed(),
		ReconciliationPending: op.State == OutcomeUnknown && op.Closure == "", DeliveryAttempts: op.Attempts,
		Rejection: op.Rejection, CancelRequested: op.CancelRequested, Closure: op.Closure, Children: op.Children,
		MaySayDone: op.MayTellDone(), ChildrenConfirmed: op.Tally.Confirmed, ChildrenUnproven: op.Tally.Unproven,

		Summary: op.Bound.Summary, Preview: op.Bound.Effects, Digest: op.Bound.Digest, Precondition: op.Bound.Precondition,
		Epoch: op.Bound.Epoch, Sequence: op.Bound.Sequence, ApprovedBy: op.ApprovedBy,
		Created: op.Created, Updated: op.Updated, Version: op.Version,
	}
	if op.Parent != (host.OpID{}) {
		v.Parent = op.Parent.String()
	}
	if op.ApprovedIn != (host.OpID{}) {
		v.ApprovedIn = op.ApprovedIn.String()
	}
	if v.Preview == nil {
		v.Preview = []host.Preview{}
	}
	if op.Bound.Digest != (effects.Digest{}) {
		v.EffectDigest = op.Bound.EffectDigest()
	}
	if op.Decision.Revision != "" {
		v.Policy = &op.Decision
	}
	if op.State == Rejected {
		v.Meaning = v.refusedBy() + "; nothing was sent"
	}
	if op.Closure != "" {
		v.Meaning += "; its owner has closed it as " + op.Closure + ", which is not success"
	}
	if op.Run.Seq > 0 {
		v.Run = &RunView{op.Run.Seq, op.Run.Percent, op.Run.Note}
	}
	if o := op.Outcome; o != nil {
		v.Outcome = &OutcomeView{o.Status, o.Code, o.Message, o.Sent, o.Receipt}
		v.Output = o.Output
	}
	return v
}

// RefusedByHost tells a host's no from one of policy or of an approver.
func (v *View) RefusedByHost() bool {
	return v.State == Rejected && (v.Policy == nil || v.DeliveryAttempts > 0) // whom policy lets through, only a host refuses
}

// refusedBy says who said no to a rejected operation.
func (v *View) refusedBy() string {
	switch {
	case v.RefusedByHost():
		return "the bot's host said no"
	case v.Rejection != nil && v.Rejection.Code == CodeConfirmationDenied:
		return "an approver said no"
	}
	return "policy said no"
}
