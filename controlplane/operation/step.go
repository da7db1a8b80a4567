package operation

// Step applies an event. It returns the operation afterwards and what its caller has to carry out; a repeat of what was
// taken before returns the operation unchanged (same Version) and no effects. Errors wrap ErrConflict, ErrStale,
// ErrCapacity or ErrInvalid and leave the operation as it was. Neither op nor the event is modified; the result may share
// memory with both.
func Step(op Operation, ev Event, at Instant) (Operation, []Effect, error) {
	return op, nil, ErrInvalid
}
