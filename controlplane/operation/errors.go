package operation

import "errors"

// Errors of Step. The operation is then as it was.
var (
	ErrConflict = errors.New("conflict") // the event does not fit the state: look the operation up, do not repeat the event
	ErrStale    = errors.New("stale")    // a report that is older than, or differs from, one that was taken
	ErrCapacity = errors.New("capacity") // a macro has all the children it may have: start another operation for the rest
	ErrInvalid  = errors.New("invalid")  // the event makes no sense for any operation
)

// Errors of reading a stored operation.
var (
	ErrUnknownValue = errors.New("unknown value: written by a newer version of this program, or damaged")
	ErrMalformed    = errors.New("not an operation")
)
