package store

import (
	"errors"

	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// pruneStep is how many operations one transaction removes, so that callers never wait long behind it.
const pruneStep = 64

// Prune removes operations that ended before an instant, at most limit of them, and keeps their keys and receipts. An
// operation stays while its macro is open. It returns how many it removed; fewer than limit means that none is left.
func Prune(e Engine, before operation.Instant, limit int) (removed int, err error) {
	for removed < limit {
		var old []host.OpID
		err := e.View(func(tx Tx) (err error) {
			old, err = prunable(tx, before, min(limit-removed, pruneStep))
			return err
		})
		if err != nil || len(old) == 0 {
			return removed, err
		}
		n := 0
		err = e.Update(func(tx Tx) error {
			for _, id := range old {
				op, err := Ops(tx).Get(id)
				if errors.Is(err, ErrNotFound) {
					continue // somebody else prunes too
				}
				if err == nil {
					err = prune(tx, &op)
				}
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// prunable looks for old operations actor by actor; younger ones of an actor are not read.
func prunable(tx Tx, before operation.Instant, limit int) (old []host.OpID, err error) {
	for from := []byte{}; from != nil && len(old) < limit && err == nil; {
		next := []byte(nil)
		tx.Scan(ByActor, from, nil, func(k, _ []byte) bool {
			created, id, ok := timeKeyOf(k)
			if !ok {
				err = damaged(place(ByActor, k), "it names no operation")
				return false
			}
			if created >= before {
				next = append(append(next, k[:len(k)-8-16-1]...), 1)
				return false
			}
			if tx.Get(Unfinished, id[:]) != nil {
				return true
			}
			op, e := Ops(tx).Get(id)
			if e != nil {
				err = e
				return false
			}
			if op.Terminal() && op.Updated < before && (op.Parent == (host.OpID{}) || tx.Get(Unfinished, op.Parent[:]) == nil) {
				old = append(old, id)
			}
			return len(old) < limit
		})
		from = next
	}
	return old, err
}

func prune(tx Tx, op *operation.Operation) error {
	r := Remains{ID: op.ID, Actor: op.Actor, State: op.State, Closure: op.Closure, Ended: op.Ended, Created: op.Created, Updated: op.Updated}
	if op.Outcome != nil {
		r.Receipt = op.Outcome.Receipt
	}
	record, err := encode(r)
	if err != nil {
		return err
	}
	tx.Put(Pruned, op.ID[:], record)
	tx.Put(Keys, keyKey(op.Principal, op.Key), Key{Op: op.ID, Payload: op.Payload, Pruned: true}.encode())
	tx.Delete(ByActor, timeKey(op.Actor, op.Created, op.ID))
	if op.Task != "" {
		tx.Delete(ByTask, timeKey(op.Task, op.Created, op.ID))
	}
	if op.Parent != (host.OpID{}) {
		tx.Delete(ByParent, parentKey(op.Parent, op.ID))
	}
	tx.Delete(Operations, op.ID[:])
	return nil
}
