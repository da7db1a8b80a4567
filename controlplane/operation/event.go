package operation

import "blockworld/effects/host"

// Event is something that happened to an operation. The set is closed.
type Event interface{ event() }

// Created is the submit's last step: what policy, or the host's refusal to bind, made of the request.
type Created struct {
	Decision     Decision
	Reservations []Reservation // Allow and Confirm: what is held back from now on
	Rejection    *Rejection    // Deny: why
	By           host.Name     // Allow: who approved its macro, and with it what this one does; empty: nobody had to
}

// Confirmed is a valid confirmation, with policy's second look at the same bound action.
type Confirmed struct {
	By           host.Name
	Decision     Decision      // Result is Allow
	Reservations []Reservation // in place of those held so far
}

// CodeConfirmationDenied is the code of an approver's no.
const CodeConfirmationDenied = "confirmation_denied"

// Denied ends what waits for confirmation: the approver said no, or policy denies it by now.
type Denied struct {
	By        host.Name // empty: policy
	Decision  Decision
	Rejection Rejection
}

// Fence says what an operation rested on and does not hold any more.
type Fence uint8

// The fences.
const (
	FenceEpoch       Fence = iota + 1 // reconnect, respawn, change of dimension or server
	FenceLease                        // expired, released or somebody else's
	FenceObservation                  // bound too long ago
	FenceHost                         // its host is gone
	FenceAuthority                    // the policy or the rights it was decided by have changed
	FenceExpired                      // the binding's time is over
	FenceStop                         // emergency stop
	fenceCount
)

// Fenced takes away what an operation rests on.
type Fenced struct{ Why Fence }

// CancelAsked asks for an end. It undoes nothing.
type CancelAsked struct {
	By  host.Name
	Why string // for people; empty is taken for "cancelled"
}

// Polled is the first delivery to the host.
type Polled struct{}

// Redelivered is a further delivery, after a new session of the host or a while without its answer.
type Redelivered struct{}

// Acked is the host's yes or no to a delivery; the code host.CodeUnbound says that it cannot prove the binding any more.
type Acked struct{ Ack host.Ack }

// Progress is a report of the host.
type Progress struct{ Run host.Run }

// OutcomeCame is the host's word about the result.
type OutcomeCame struct {
	Outcome  host.Outcome
	Children Tally // of a macro's success: what the gateway has counted; not the host's word
}

// Gap means that host or gateway were away: what ran may have been lost.
type Gap struct{}

// Accept is an owner's decision to close an unknown outcome as accepted_unverified.
type Accept struct{ By host.Name }

// ChildCounted adds a child to a macro.
type ChildCounted struct{ Child host.OpID }

func (Created) event()      {}
func (Confirmed) event()    {}
func (Denied) event()       {}
func (Fenced) event()       {}
func (CancelAsked) event()  {}
func (Polled) event()       {}
func (Redelivered) event()  {}
func (Acked) event()        {}
func (Progress) event()     {}
func (OutcomeCame) event()  {}
func (Gap) event()          {}
func (Accept) event()       {}
func (ChildCounted) event() {}

// Effect is something for the caller to carry out. The set is closed.
type Effect interface{ effect() }

// Reserve holds something back from budgets, in the same transaction.
type Reserve struct{ Reservations []Reservation }

// Release gives back what was held, in the same transaction.
type Release struct{ Reservations []Reservation }

// Commit turns what was held into used, in the same transaction. It is never given back.
type Commit struct{ Reservations []Reservation }

// AskHost tells the host to end the operation, after the transaction.
type AskHost struct{ Why string }

// Redeliver says that the operation is to be delivered again once its host is there, after the transaction.
type Redeliver struct{}

// Finish says that the operation has ended, after the transaction: children are to be cancelled, a macro's host is to hear.
type Finish struct{ State State }

func (Reserve) effect()   {}
func (Release) effect()   {}
func (Commit) effect()    {}
func (AskHost) effect()   {}
func (Redeliver) effect() {}
func (Finish) effect()    {}
