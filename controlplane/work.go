package controlplane

import (
	"errors"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

// work is one transaction on the writer, and what is to be told once it is on disk.
type work struct {
	g    *Gateway
	tx   store.Tx
	at   operation.Instant
	told []told
}

// told is one operation as a transaction left it, and what the table asks for it.
type told struct {
	op      operation.Operation
	effects []operation.Effect
	handed  bool // its delivery goes to a poll that waits
}

// update runs f on the writer. When it returns nil, everything that f did is on disk and has been told.
func (g *Gateway) update(f func(w *work) error) error {
	var w work
	err := g.opt.Engine.Update(func(tx store.Tx) error {
		w = work{g: g, tx: tx, at: operation.InstantOf(g.now()), told: w.told[:0]}
		return f(&w)
	})
	if err != nil {
		return g.failed(err)
	}
	g.tell(w.told)
	return nil
}

// view runs f over a snapshot.
func (g *Gateway) view(f func(tx store.Tx) error) error { return g.failed(g.opt.Engine.View(f)) }

// step applies an event to a stored operation.
func (w *work) step(id host.OpID, ev operation.Event) (operation.Operation, error) {
	op, err := store.Ops(w.tx).Get(id)
	if err != nil {
		return op, err
	}
	return w.apply(op, ev)
}

// apply is step for an operation as this transaction has read it. The end of a macro, or a request for it, takes its
// children along.
func (w *work) apply(op operation.Operation, ev operation.Event) (operation.Operation, error) {
	ev, err := w.counted(&op, ev)
	if err != nil {
		return op, err
	}
	op, effects, err := store.Ops(w.tx).Apply(op, ev, w.at)
	if err != nil {
		return op, err
	}
	w.tells(op, effects)
	if op.Kind == host.KindMacro {
		for _, e := range effects {
			switch e := e.(type) {
			case operation.AskHost:
				err = w.cancelChildren(&op, e.Why)
			case operation.Finish:
				err = w.cancelChildren(&op, "its macro has ended: "+op.State.String())
			}
			if err != nil {
				return op, err
			}
		}
	}
	return op, nil
}

func (w *work) tells(op operation.Operation, effects []operation.Effect) {
	w.told = append(w.told, told{op: op, effects: effects})
}

func (w *work) cancelChildren(parent *operation.Operation, why string) error {
	for _, id := range w.g.childrenOf(parent) {
		if _, err := w.step(id, operation.CancelAsked{Why: why}); err != nil && !over(err) {
			return err
		}
	}
	return nil
}

// fence takes away what all unfinished operations of an actor rest on.
func (w *work) fence(actor host.Name, why operation.Fence) error {
	for _, id := range w.g.openOf(actor) {
		if _, err := w.step(id, operation.Fenced{Why: why}); err != nil && !over(err) {
			return err
		}
	}
	return nil
}

// over tells that an event came too late for an operation: it has ended, or is gone. The index of what is open may name
// such operations for a moment.
func over(err error) bool {
	return errors.Is(err, operation.ErrConflict) || errors.Is(err, store.ErrNotFound)
}

// failed is the function failed with a fault of ours in the log, for its caller is told that the log says more.
func (g *Gateway) failed(err error) error {
	err = failed(err)
	if CodeOf(err) == CodeInternal {
		g.opt.Log.Error("a request failed", "error", err)
	}
	return err
}

// failed puts the store's and the table's errors into this package's words.
func failed(err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return err
	case errors.Is(err, operation.ErrConflict):
		return Errorf(CodeConflict, "%s", sentence(err)).because(err)
	case errors.Is(err, operation.ErrStale):
		return Errorf(CodeStale, "%s", sentence(err)).because(err)
	case errors.Is(err, operation.ErrCapacity):
		return Errorf(CodeCapacity, "%v", err).because(err)
	case errors.Is(err, operation.ErrInvalid), errors.Is(err, host.ErrInvalid):
		return Errorf(CodeInvalid, "%s", sentence(err)).because(err)
	case errors.Is(err, store.ErrNotFound):
		return Errorf(CodeNotFound, "no such operation: list the operations to see which there are").because(err)
	case errors.Is(err, store.ErrDiskFull):
		return Errorf(CodeDiskFull, "%v", err).because(err)
	case errors.Is(err, store.ErrReadOnly):
		return Errorf(CodeReadOnly, "%v", err).because(err)
	case errors.Is(err, store.ErrLocked):
		return Errorf(CodeLocked, "%v", err).because(err)
	case errors.Is(err, store.ErrCorrupt):
		return Errorf(CodeInternal, "%v: run fsck, and go back to a backup if it finds damage", err).because(err)
	case errors.Is(err, store.ErrClosed):
		return Errorf(CodeUnavailable, "the daemon is closing: try again when it is back").because(err)
	}
	return Errorf(CodeInternal, "%v: the daemon's log says more", err).because(err)
}
