package controlplane

import (
	"errors"
	"fmt"
	"strings"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// Code is a stable word for one kind of refusal; programs branch on it, never on the message.
type Code string

// The codes, in the order in which a submit can meet them.
const (
	CodeInvalid             Code = "invalid"              // the request's shape is wrong
	CodeTooLarge            Code = "too_large"            // the request is over a limit
	CodeUnauthenticated     Code = "unauthenticated"      // no token, or none that is known
	CodeForbidden           Code = "forbidden"            // known, but not allowed to ask this
	CodeNotFound            Code = "not_found"            // not there, or not for this principal to see
	CodeUnknownCapability   Code = "unknown_capability"   // the actor has no such capability, or another version of it
	CodeConflict            Code = "conflict"             // it contradicts what is stored already
	CodeStopped             Code = "stopped"              // the actor's emergency stop is latched
	CodeLeaseConflict       Code = "lease_conflict"       // another controller holds the lease
	CodeLeaseExpired        Code = "lease_expired"        // the lease is over, released, or was never there
	CodeUnavailable         Code = "unavailable"          // the host is away or has not published yet
	CodeStale               Code = "stale"                // the world or the authority has moved on
	CodeCapacity            Code = "capacity"             // a limit of how many is reached
	CodeTimeout             Code = "timeout"              // the host did not answer in time; nothing was stored
	CodeDenied              Code = "denied"               // policy says no
	CodeBudgetExceeded      Code = "budget_exceeded"      // a budget of policy is used up
	CodeConfirmationInvalid Code = "confirmation_invalid" // no such challenge: wrong, used, or from before a restart
	CodeConfirmationExpired Code = "confirmation_expired" // the challenge's game tick has passed
	CodeConfirmationChanged Code = "confirmation_changed" // what the challenge was bound to is not what is asked for
	CodeLocked              Code = "locked"               // another process has the data directory
	CodeDiskFull            Code = "disk_full"            // nothing was stored
	CodeReadOnly            Code = "read_only"            // nothing was stored
	CodeInternal            Code = "internal"             // a fault of ours
)

// statuses is the closed table of codes and their HTTP status.
var statuses = [...]struct {
	code   Code
	status int
}{
	{CodeInvalid, 400}, {CodeTooLarge, 413}, {CodeUnauthenticated, 401}, {CodeForbidden, 403}, {CodeNotFound, 404},
	{CodeUnknownCapability, 400}, {CodeConflict, 409}, {CodeStopped, 409}, {CodeLeaseConflict, 409}, {CodeLeaseExpired, 410},
	{CodeUnavailable, 503}, {CodeStale, 409}, {CodeCapacity, 429}, {CodeTimeout, 504}, {CodeDenied, 403},
	{CodeBudgetExceeded, 403}, {CodeConfirmationInvalid, 409}, {CodeConfirmationExpired, 410}, {CodeConfirmationChanged, 409},
	{CodeLocked, 423}, {CodeDiskFull, 507}, {CodeReadOnly, 507}, {CodeInternal, 500},
}

// Codes returns the closed set, in a fixed order.
func Codes() []Code {
	out := make([]Code, len(statuses))
	for i := range statuses {
		out[i] = statuses[i].code
	}
	return out
}

// Status is the HTTP status that goes with a code; 500 for a word outside the set.
func (c Code) Status() int {
	for i := range statuses {
		if statuses[i].code == c {
			return statuses[i].status
		}
	}
	return 500
}

// Known tells whether c is of the closed set.
func (c Code) Known() bool {
	for i := range statuses {
		if statuses[i].code == c {
			return true
		}
	}
	return false
}

// Error is every refusal of this package. The message says what to do about it.
type Error struct {
	Code    Code
	Message string
	Detail  map[string]string // typed facts beside the message, such as "field", "actor", "budget"
	cause   error
}

// Error writes code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is(err, &Error{Code: c}) true for every error of code c.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf is the code of an error of this package, "" of nil, internal of everything else.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// sentence is an error of the parts below without the word that its code says already.
func sentence(err error) string {
	text := err.Error()
	for _, word := range []error{operation.ErrConflict, operation.ErrStale, operation.ErrInvalid, host.ErrInvalid} {
		text = strings.TrimSuffix(strings.TrimPrefix(text, word.Error()+": "), ": "+word.Error())
	}
	return text
}

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// with adds one fact beside the message.
func (e *Error) with(key, value string) *Error {
	if e.Detail == nil {
		e.Detail = map[string]string{}
	}
	e.Detail[key] = value
	return e
}

// because keeps the cause for errors.Is and the log.
func (e *Error) because(err error) *Error {
	e.cause = err
	return e
}
