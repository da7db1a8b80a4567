package controlplane

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// request is a submit whose shape is right.
type request struct {
	SubmitRequest
	principal host.Name
	payload   effects.Digest
	key       string    // as stored; told to the host as SubmitRequest.Key
	internal  bool      // a macro's child: its conditions are the parent's
	dry       bool      // nothing will be done, so no lease is needed
	asked     time.Time // when the host was asked to bind it
}

// shape checks a submit without looking at anything else.
func shape(principal host.Name, r SubmitRequest) (*request, error) {
	q := &request{SubmitRequest: r, principal: principal, key: r.Key}
	if err := r.Actor.Check("actor"); err != nil {
		return nil, invalid("actor", err)
	}
	if r.Task != "" {
		if err := r.Task.Check("task"); err != nil {
			return nil, invalid("task", err)
		}
	}
	if err := checkKey(r.Key); err != nil {
		return nil, err
	}
	if len(r.Action.Arguments) > host.MaxArguments {
		return nil, Errorf(CodeTooLarge, "the arguments have %d bytes, %d are allowed", len(r.Action.Arguments), host.MaxArguments).with("field", "arguments")
	}
	if err := r.Action.Validate(); err != nil {
		return nil, invalid("action", err)
	}
	if err := q.digest(); err != nil {
		return nil, err
	}
	return q, nil
}

// conditioned checks the conditions' shape; what is internal has none of its own.
func (q *request) conditioned() error {
	switch {
	case q.internal:
		return nil
	case q.Lease == "" && !q.dry:
		return Errorf(CodeLeaseExpired, "no lease is named: acquire the actor's lease and send its id").with("field", "lease")
	case len(q.Lease) > host.MaxKey:
		return Errorf(CodeInvalid, "the lease is longer than %d bytes", host.MaxKey).with("field", "lease")
	case !q.Epoch.Valid():
		return Errorf(CodeInvalid, "epoch %v is no epoch: take it from an observation of the actor", q.Epoch).with("field", "epoch")
	case q.Sequence == 0:
		return Errorf(CodeInvalid, "the sequence is missing: take it from an observation of the actor").with("field", "sequence")
	}
	return nil
}

// digest stands for what is wanted. White space and the order of members in the arguments do not count.
func (q *request) digest() error {
	args := jsontext.Value(q.Action.Arguments).Clone()
	if err := args.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
		return Errorf(CodeInvalid, "the arguments are not JSON with each name once: %v", err).with("field", "arguments").because(err)
	}
	if args.Kind() != '{' {
		return Errorf(CodeInvalid, "the arguments are a JSON object, as the capability's schema says").with("field", "arguments")
	}
	b := make([]byte, 0, len(args)+256)
	for _, s := range []string{string(q.Actor), q.Action.Capability, string(q.Task)} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, q.Parent[:]...)
	b = append(b, args...)
	q.payload = sha256.Sum256(b)
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > host.MaxKey {
		return Errorf(CodeInvalid, "the key has %d bytes, 1 to %d are allowed", len(key), host.MaxKey).with("field", "key")
	}
	for _, c := range []byte(key) {
		if c < 0x21 || c > 0x7e {
			return Errorf(CodeInvalid, "the key is printable ASCII without blanks").with("field", "key")
		}
	}
	return nil
}

func invalid(field string, err error) *Error {
	return Errorf(CodeInvalid, "%s", sentence(err)).with("field", field).because(err)
}

// childKey is the stored key of a macro's child: it meets that of no other macro's child, and none that its principal has
// chosen without meaning it to.
func childKey(parent host.OpID, key string) string {
	return hex.EncodeToString(parent[:]) + "/" + key
}

// toldKey is the key that the host knows an operation by.
func toldKey(op *operation.Operation) string {
	n := 2 * len(op.Parent)
	if op.Parent != (host.OpID{}) && len(op.Key) > n && op.Key[:n+1] == childKey(op.Parent, "") {
		return op.Key[n+1:]
	}
	return op.Key
}
