package operation

// Append appends the stored form of op, JSON, to b.
func Append(b []byte, op *Operation) ([]byte, error) { return b, ErrMalformed }

// Decode reads a stored operation. Unknown or repeated members and unknown values are refused; errors wrap
// ErrUnknownValue or ErrMalformed.
func Decode(b []byte) (Operation, error) { return Operation{}, ErrMalformed }
