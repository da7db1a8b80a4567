package operation

import "blockworld/effects/host"

// kind is what the table knows of an event: its sort, and the part of its content that decides where it leads.
type kind uint8

const (
	kindCreatedAllow kind = iota
	kindCreatedConfirm
	kindCreatedDeny
	kindConfirmed
	kindDenied
	kindFenced
	kindStopped // Fenced by an emergency stop
	kindCancelAsked
	kindPolled
	kindRedelivered
	kindAckYes
	kindAckNo
	kindAckCancelled // no, because it was asked to cancel
	kindUnbound
	kindProgress
	kindSucceeded
	kindFailed
	kindCancelled
	kindInterrupted
	kindUnknown
	kindGap
	kindMacroGap // a macro sends nothing of its own: its host takes it up again
	kindAccept
	kindChildCounted
	kindCount
)

var kindNames = [kindCount]string{"created: allow", "created: confirm", "created: deny", "confirmed", "denied", "fenced",
	"stopped", "cancel asked", "polled", "redelivered", "ack yes", "ack no", "ack cancelled", "ack unbound", "progress",
	"outcome succeeded", "outcome failed", "outcome cancelled", "outcome interrupted", "outcome unknown", "gap", "macro gap",
	"accepted as unverified", "child counted"}

// String returns the kind's name.
func (k kind) String() string {
	if k >= kindCount {
		return "invalid"
	}
	return kindNames[k]
}

// kindOf reads the kind of an event. What no operation can take is ErrInvalid.
func kindOf(op *Operation, ev Event) (kind, error) {
	switch e := ev.(type) {
	case Created:
		switch e.Decision.Result {
		case Allow:
			return kindCreatedAllow, nil
		case Confirm:
			return kindCreatedConfirm, nil
		case Deny:
			return kindCreatedDeny, nil
		}
	case Confirmed:
		if e.Decision.Result == Allow {
			return kindConfirmed, nil
		}
	case Denied:
		return kindDenied, nil
	case Fenced:
		if e.Why == FenceStop {
			return kindStopped, nil
		} else if e.Why > 0 && e.Why < fenceCount {
			return kindFenced, nil
		}
	case CancelAsked:
		return kindCancelAsked, nil
	case Polled:
		return kindPolled, nil
	case Redelivered:
		return kindRedelivered, nil
	case Acked:
		return kindOfAck(op, &e.Ack)
	case Progress:
		if e.Run.Op == op.ID && e.Run.Validate() == nil {
			return kindProgress, nil
		}
	case OutcomeCame:
		return kindOfOutcome(op, &e.Outcome)
	case Gap:
		if op.Kind == host.KindMacro {
			return kindMacroGap, nil
		}
		return kindGap, nil
	case Accept:
		return kindAccept, nil
	case ChildCounted:
		if op.Kind == host.KindMacro {
			return kindChildCounted, nil
		}
	}
	return 0, invalid(op, ev)
}

func kindOfAck(op *Operation, a *host.Ack) (kind, error) {
	switch {
	case a.Op != op.ID || a.Validate() != nil:
		return 0, invalid(op, Acked{*a})
	case a.Accepted:
		return kindAckYes, nil
	case a.Code == host.CodeUnbound:
		return kindUnbound, nil
	case a.Code == string(host.Cancelled) && op.CancelRequested != "":
		return kindAckCancelled, nil
	}
	return kindAckNo, nil
}

func kindOfOutcome(op *Operation, o *host.Outcome) (kind, error) {
	if o.Op == op.ID && o.Validate() == nil {
		switch o.Status {
		case host.Succeeded:
			return kindSucceeded, nil
		case host.Failed:
			return kindFailed, nil
		case host.Cancelled:
			return kindCancelled, nil
		case host.Interrupted:
			return kindInterrupted, nil
		case host.Unknown:
			return kindUnknown, nil
		}
	}
	return 0, invalid(op, OutcomeCame{Outcome: *o})
}

// phase is a row of the table: a state, or the state of an operation that is not there yet, or of one that its owner has
// closed.
type phase uint8

const (
	phaseNone   = phase(0)
	phaseClosed = phase(stateCount)
	phaseCount  = phaseClosed + 1
)

func phaseOf(op *Operation) phase {
	if op.Closure != "" {
		return phaseClosed
	}
	return phase(op.State)
}

// row is what an event does in a phase. The zero row refuses it.
type row struct {
	to     State              // the state afterwards
	guard  func(*change) bool // nil: always; false: refused with change.refusal, or nothing is to be done
	does   []func(*change)    // in order, before the state is written
	ignore bool               // taken, and changes nothing
}

// stays marks rows that leave the state as it is; it reads as a state in the table.
const stays = State(0)

var (
	reserves   = []func(*change){takeDecision, holdReservations}
	allows     = []func(*change){takeDecision, holdReservations, takeCover}
	rejects    = []func(*change){takeDecision, takeRejection}
	confirms   = []func(*change){takeApproval, swapReservations}
	denies     = []func(*change){takeDenial, giveBack}
	fences     = []func(*change){takeFence, giveBack}
	withdraws  = []func(*change){askedToCancel, giveBack}
	asks       = []func(*change){askedToCancel, askHost}
	collects   = []func(*change){countAttempt}
	redelivers = []func(*change){countAttempt}
	accepts    = []func(*change){takeAck, spend}
	refuses    = []func(*change){takeAckRefusal, giveBack}
	reports    = []func(*change){takeRun}
	ends       = []func(*change){takeOutcome}
	endsUnheld = []func(*change){takeOutcome, settle}         // before the host took it
	endsTaken  = []func(*change){takeAck, spend, takeOutcome} // an outcome says that it was taken
	breaksOff  = []func(*change){takeAckAsInterruption}       // taken, then the host finds that nothing was sent
	resumes    = []func(*change){deliverAgain}
	closes     = []func(*change){takeClosure}
	counts     = []func(*change){countChild}
)

// table is the only writer of State. Rows are phases, columns kinds of events; what is not in it is refused.
var table = [phaseCount][kindCount]row{
	phaseNone: {
		kindCreatedAllow:   {to: Queued, guard: covered, does: allows},
		kindCreatedConfirm: {to: AwaitingConfirmation, guard: bound, does: reserves},
		kindCreatedDeny:    {to: Rejected, guard: saysWhy, does: rejects},
	},
	phase(AwaitingConfirmation): {
		kindConfirmed:   {to: Queued, does: confirms},
		kindDenied:      {to: Rejected, does: denies},
		kindFenced:      {to: Stale, does: fences},
		kindStopped:     {to: Cancelled, does: withdraws},
		kindCancelAsked: {to: Cancelled, does: withdraws},
		kindGap:         {ignore: true},
		kindMacroGap:    {ignore: true},
	},
	phase(Queued): {
		kindPolled:      {to: Delivered, does: collects},
		kindFenced:      {to: Stale, does: fences},
		kindStopped:     {to: Cancelled, does: withdraws},
		kindCancelAsked: {to: Cancelled, does: withdraws},
		kindGap:         {ignore: true},
		kindMacroGap:    {ignore: true},
	},
	phase(Delivered): {
		kindFenced:       {to: stays, guard: notAskedYet, does: asks},
		kindStopped:      {to: stays, guard: notAskedYet, does: asks},
		kindCancelAsked:  {to: stays, guard: notAskedYet, does: asks},
		kindRedelivered:  {to: stays, does: redelivers},
		kindAckYes:       {to: Accepted, guard: sameBinding, does: accepts},
		kindAckNo:        {to: Rejected, does: refuses},
		kindAckCancelled: {to: Cancelled, does: refuses},
		kindUnbound:      {to: Stale, does: refuses},
		kindSucceeded:    {to: Succeeded, does: endsTaken},
		kindFailed:       {to: Failed, does: endsTaken},
		kindCancelled:    {to: Cancelled, does: endsUnheld},
		kindInterrupted:  {to: Interrupted, does: endsUnheld},
		kindUnknown:      {to: OutcomeUnknown, does: endsTaken},
		kindGap:          {to: stays, does: resumes},
		kindMacroGap:     {to: stays, does: resumes},
	},
	phase(Accepted): {
		kindFenced:       {to: stays, guard: notAskedYet, does: asks},
		kindStopped:      {to: stays, guard: notAskedYet, does: asks},
		kindCancelAsked:  {to: stays, guard: notAskedYet, does: asks},
		kindRedelivered:  {to: stays, does: redelivers},
		kindAckYes:       {guard: sameBinding, ignore: true},
		kindUnbound:      {to: Interrupted, does: breaksOff},
		kindProgress:     {to: Running, guard: newerReport, does: reports},
		kindSucceeded:    {to: Succeeded, does: ends},
		kindFailed:       {to: Failed, does: ends},
		kindCancelled:    {to: Cancelled, does: ends},
		kindInterrupted:  {to: Interrupted, does: ends},
		kindUnknown:      {to: OutcomeUnknown, does: ends},
		kindGap:          {to: stays, does: resumes},
		kindMacroGap:     {to: stays, does: resumes},
		kindChildCounted: {to: stays, guard: roomForChild, does: counts},
	},
	phase(Running): {
		kindFenced:       {to: stays, guard: notAskedYet, does: asks},
		kindStopped:      {to: stays, guard: notAskedYet, does: asks},
		kindCancelAsked:  {to: stays, guard: notAskedYet, does: asks},
		kindRedelivered:  {to: stays, does: redelivers},
		kindAckYes:       {guard: sameBinding, ignore: true},
		kindUnbound:      {to: Interrupted, does: breaksOff},
		kindProgress:     {to: stays, guard: newerReport, does: reports},
		kindSucceeded:    {to: Succeeded, does: ends},
		kindFailed:       {to: Failed, does: ends},
		kindCancelled:    {to: Cancelled, does: ends},
		kindInterrupted:  {to: Interrupted, does: ends},
		kindUnknown:      {to: OutcomeUnknown, does: ends},
		kindGap:          {to: OutcomeUnknown, does: resumes},
		kindMacroGap:     {to: stays, does: resumes},
		kindChildCounted: {to: stays, guard: roomForChild, does: counts},
	},
	phase(OutcomeUnknown): {
		kindFenced:      {to: stays, guard: notAskedYet, does: asks},
		kindStopped:     {to: stays, guard: notAskedYet, does: asks},
		kindCancelAsked: {to: stays, guard: notAskedYet, does: asks},
		kindRedelivered: {to: stays, does: redelivers},
		kindAckYes:      {guard: sameBinding, ignore: true},
		kindUnbound:     {to: Interrupted, guard: nothingSent, does: breaksOff},
		kindProgress:    {to: stays, guard: newerReport, does: reports},
		kindSucceeded:   {to: Succeeded, does: ends},
		kindFailed:      {to: Failed, does: ends},
		kindCancelled:   {to: Cancelled, does: ends},
		kindInterrupted: {to: Interrupted, guard: nothingSent, does: ends},
		kindUnknown:     {to: stays, guard: otherUnknown, does: ends},
		kindGap:         {to: stays, does: resumes},
		kindMacroGap:    {to: stays, does: resumes},
		kindAccept:      {to: stays, does: closes},
	},
	// Succeeded, Failed, Cancelled, Interrupted, Stale, Rejected and what is closed: nothing, ever.
}
