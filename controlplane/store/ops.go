package store

import (
	"bytes"
	"fmt"
	"iter"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// OpsTx reads and writes operations with all their indexes.
type OpsTx struct{ tx Tx }

// Ops returns the operations of a transaction.
func Ops(tx Tx) OpsTx { return OpsTx{tx} }

// Get returns an operation. Errors wrap ErrNotFound or ErrCorrupt.
func (o OpsTx) Get(id host.OpID) (operation.Operation, error) {
	for _, b := range []Bucket{Unfinished, Operations} {
		if v, op := o.record(b, id[:]); op != nil {
			return *op, nil
		} else if v != nil {
			return decodeOp(b, id[:], v)
		}
	}
	return operation.Operation{}, fmt.Errorf("operation %s: %w", id, ErrNotFound)
}

// keeper is a Tx that may keep an operation with its record.
type keeper interface {
	getOp(b Bucket, key []byte) ([]byte, *operation.Operation)
	putOp(b Bucket, key, value []byte, op *operation.Operation)
}

func (o OpsTx) record(b Bucket, id []byte) ([]byte, *operation.Operation) {
	if k, ok := o.tx.(keeper); ok {
		return k.getOp(b, id)
	}
	return o.tx.Get(b, id), nil
}

// has tells whether an operation is there, without reading it.
func (o OpsTx) has(id host.OpID) bool {
	return o.tx.Get(Unfinished, id[:]) != nil || o.tx.Get(Operations, id[:]) != nil
}

// bucketOf is where an operation lies: those that go on lie together, so that what they go through costs little however
// many have ended.
func bucketOf(op *operation.Operation) Bucket {
	if op.Terminal() {
		return Operations
	}
	return Unfinished
}

func decodeOp(b Bucket, key, value []byte) (operation.Operation, error) {
	op, err := operation.Decode(value)
	switch {
	case err != nil:
	case string(op.ID[:]) != string(key):
		err = fmt.Errorf("it is operation %s", op.ID)
	case bucketOf(&op) != b:
		err = fmt.Errorf("it is %s and does not belong here", op.State)
	}
	if err != nil {
		return operation.Operation{}, fmt.Errorf("%w: %w", damaged(place(b, key), "it cannot be read"), err)
	}
	return op, nil
}

// Create makes op with the event operation.Created, reserves what it reserves, and stores it with its key and indexes.
// The effects that are left are the caller's. The error wraps ErrExists if id or key are taken.
func (o OpsTx) Create(op operation.Operation, ev operation.Created, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	made, _, left, err := o.CreateThen(op, ev, nil, at)
	return made, left, err
}

// CreateThen is Create with an event that follows at once, in the same record; nil: none. It returns the operation as it
// was made and as it is afterwards.
func (o OpsTx) CreateThen(op operation.Operation, ev operation.Created, then operation.Event, at operation.Instant) (made, after operation.Operation, left []operation.Effect, err error) {
	key := keyKey(op.Principal, op.Key)
	switch {
	case o.has(op.ID) || o.tx.Get(Pruned, op.ID[:]) != nil:
		return op, op, nil, fmt.Errorf("operation %s: %w", op.ID, ErrExists)
	case o.tx.Get(Keys, key) != nil:
		return op, op, nil, fmt.Errorf("key %q of %s: %w", op.Key, op.Principal, ErrExists)
	}
	made, left, err = o.step(op, ev, at)
	after = made
	if err == nil && then != nil {
		var more []operation.Effect
		after, more, err = o.step(made, then, at)
		left = append(left, more...)
	}
	if err == nil {
		err = o.write(&after)
	}
	if err != nil {
		return op, op, nil, err
	}
	o.tx.Put(Keys, key, Key{Op: made.ID, Payload: made.Payload}.encode())
	o.tx.Put(ByActor, timeKey(made.Actor, made.Created, made.ID), nil)
	if made.Task != "" {
		o.tx.Put(ByTask, timeKey(made.Task, made.Created, made.ID), nil)
	}
	if made.Parent != (host.OpID{}) {
		o.tx.Put(ByParent, parentKey(made.Parent, made.ID), nil)
	}
	return made, after, left, nil
}

// Step applies an event to a stored operation, carries out what it does to budgets, and stores it; the effects that are
// left are the caller's. A repeat writes nothing. Errors are those of operation.Step, or wrap ErrNotFound or ErrCorrupt.
func (o OpsTx) Step(id host.OpID, ev operation.Event, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	op, err := o.Get(id)
	if err != nil {
		return op, nil, err
	}
	return o.Apply(op, ev, at)
}

// Apply is Step for an operation that was read, or created, in this very transaction.
func (o OpsTx) Apply(op operation.Operation, ev operation.Event, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	after, left, err := o.step(op, ev, at)
	if err == nil && after.Version != op.Version {
		err = o.write(&after)
	}
	if err != nil {
		return op, nil, err
	}
	if after.Terminal() && !op.Terminal() {
		o.tx.Delete(Unfinished, op.ID[:])
	}
	return after, left, nil
}

// step applies an event and carries out its effects on budgets.
func (o OpsTx) step(op operation.Operation, ev operation.Event, at operation.Instant) (operation.Operation, []operation.Effect, error) {
	after, all, err := operation.Step(op, ev, at)
	if err != nil || after.Version == op.Version {
		return after, nil, err
	}
	left := all[:0]
	usage := UsageIn(o.tx)
	for _, e := range all {
		switch e := e.(type) {
		case operation.Reserve:
			err = usage.change(e.Reservations, reserve)
		case operation.Release:
			err = usage.change(e.Reservations, release)
		case operation.Commit:
			err = usage.change(e.Reservations, commit)
		default:
			left = append(left, e)
		}
		if err != nil {
			return op, nil, err
		}
	}
	return after, left, nil
}

// write stores an operation's record. Nobody may change op afterwards.
func (o OpsTx) write(op *operation.Operation) error {
	record, err := operation.Append(make([]byte, 0, 2048), op)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if k, ok := o.tx.(keeper); ok {
		k.putOp(bucketOf(op), op.ID[:], record, op)
	} else {
		o.tx.Put(bucketOf(op), op.ID[:], record)
	}
	return nil
}

// Unfinished calls f for each operation that is not terminal, in the order of their ids, until it returns false.
func (o OpsTx) Unfinished(f func(operation.Operation) bool) error {
	var err error
	o.tx.Scan(Unfinished, nil, nil, func(k, v []byte) bool {
		var op operation.Operation
		op, err = decodeOp(Unfinished, k, v)
		return err == nil && f(op)
	})
	return err
}

// Place is where a listing goes on; the zero Place is its beginning.
type Place struct {
	Created operation.Instant
	ID      host.OpID
}

// ByActor calls f for the operations of an actor, newest first, behind a place, until it returns false.
func (o OpsTx) ByActor(actor host.Name, after Place, f func(operation.Operation) bool) error {
	return o.byName(ByActor, actor, after, f)
}

// ByTask calls f for the operations of a task, newest first, behind a place, until it returns false.
func (o OpsTx) ByTask(task host.Name, after Place, f func(operation.Operation) bool) error {
	return o.byName(ByTask, task, after, f)
}

func (o OpsTx) byName(b Bucket, name host.Name, after Place, f func(operation.Operation) bool) error {
	end := nameEnd(name)
	if after != (Place{}) {
		end = timeKey(name, after.Created, after.ID)
	}
	return o.listed(b, append([]byte(name), 0), end, true, func(k []byte) (host.OpID, bool) {
		_, id, ok := timeKeyOf(k)
		return id, ok
	}, f)
}

// ByParent calls f for the children of a macro, oldest first, until it returns false.
func (o OpsTx) ByParent(parent host.OpID, f func(operation.Operation) bool) error {
	return o.listed(ByParent, parent[:], past(parent[:]), false, func(k []byte) (id host.OpID, ok bool) {
		if len(k) != 32 {
			return id, false
		}
		return idOf(k[16:])
	}, f)
}

// All calls f for all operations, newest ids first, behind an id (zero: the beginning), until it returns false.
func (o OpsTx) All(after host.OpID, f func(operation.Operation) bool) error {
	var end []byte
	if after != (host.OpID{}) {
		end = after[:]
	}
	open, stop := iter.Pull2(o.backwards(Unfinished, end))
	defer stop()
	id, v, more := open()
	var err error
	tell := func(b Bucket, k, v []byte) bool {
		var op operation.Operation
		op, err = decodeOp(b, k, v)
		return err == nil && f(op)
	}
	for k, w := range o.backwards(Operations, end) {
		for ; more && bytes.Compare(id, k) > 0; id, v, more = open() {
			if !tell(Unfinished, id, v) {
				return err
			}
		}
		if !tell(Operations, k, w) {
			return err
		}
	}
	for ; more; id, v, more = open() {
		if !tell(Unfinished, id, v) {
			break
		}
	}
	return err
}

// backwards goes through a bucket below an end, from the last key on.
func (o OpsTx) backwards(b Bucket, end []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) { o.tx.ScanBack(b, nil, end, yield) }
}

func idOf(k []byte) (id host.OpID, ok bool) {
	if len(k) != len(id) {
		return id, false
	}
	return host.OpID(k), true
}

// listed calls f for the operations that an index names.
func (o OpsTx) listed(b Bucket, from, to []byte, back bool, id func(key []byte) (host.OpID, bool), f func(operation.Operation) bool) error {
	scan := o.tx.Scan
	if back {
		scan = o.tx.ScanBack
	}
	var err error
	scan(b, from, to, func(k, v []byte) bool {
		var op operation.Operation
		if id, ok := id(k); !ok {
			err = damaged(place(b, k), "it names no operation")
		} else if op, err = o.Get(id); err != nil {
			err = fmt.Errorf("%w: %w", damaged(place(b, k), "its operation is not there"), err)
		}
		return err == nil && f(op)
	})
	return err
}

// Remains is what is kept of an operation that was pruned.
type Remains struct {
	ID      host.OpID         `json:"id"`
	Actor   host.Name         `json:"actor"`
	State   operation.State   `json:"state"`
	Closure string            `json:"closure,omitempty"`
	Ended   effects.Digest    `json:"ended"` // of the event that ended it, to tell its repeat
	Receipt *host.Receipt     `json:"receipt,omitempty"`
	Created operation.Instant `json:"created"`
	Updated operation.Instant `json:"updated"`
}

// Pruned returns what is kept of a pruned operation. Errors wrap ErrNotFound or ErrCorrupt.
func (o OpsTx) Pruned(id host.OpID) (r Remains, err error) {
	v := o.tx.Get(Pruned, id[:])
	if v == nil {
		return r, fmt.Errorf("operation %s: %w", id, ErrNotFound)
	}
	return r, decode(Pruned, id[:], v, &r)
}
