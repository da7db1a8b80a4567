package journal

import (
	"fmt"

	"blockworld/effects"
)

// Settle stores what came of actions: a proven outcome becomes the action's one receipt on the signed chain, everything
// else an attempt record. It is durable BEFORE it returns, and so before the outcome is reported to anybody. All
// outcomes of one call are one transaction.
//
// An outcome that is already stored is taken again without a trace. A final one is never replaced (ErrSettled); an
// unverified one may be, by any other. An outcome must belong to a mark (ErrUnknownAction) and to its binding
// (ErrOtherBinding).
func (j *Journal) Settle(outcomes ...effects.Outcome) error {
	err := j.update(func(t *txn) error {
		for i := range outcomes {
			if err := t.settle(&outcomes[i], j.opts.Outbox); err != nil {
				return fmt.Errorf("settle action %s: %w", outcomes[i].Action, err)
			}
		}
		return nil
	})
	if err == nil {
		j.at(AfterReceipt)
	}
	return err
}

func (t *txn) settle(o *effects.Outcome, outbox bool) error {
	a, err := t.action(o.Action)
	if err != nil {
		return err
	}
	if o.Mission != a.Mission || o.Binding != a.Binding || a.Places && o.Step != a.Step {
		return ErrOtherBinding
	}
	if o.Verdict == effects.Proven && o.Grade <= effects.Processed && a.Places {
		return fmt.Errorf("%w: a placement that is only %s is not proven", effects.ErrNoReceipt, o.Grade)
	}
	var receipt effects.Receipt
	var attempt effects.Attempt
	var digest effects.Digest
	proven := o.Verdict == effects.Proven && o.Grade > effects.Processed
	if proven {
		receipt, err = effects.NewReceipt(*o)
		digest = receipt.Digest()
	} else {
		attempt, err = effects.NewAttempt(*o)
		digest = attempt.Digest()
	}
	switch {
	case err != nil:
		return err
	case digest == a.Outcome:
		return nil
	case !a.Status.Unresolved():
		return fmt.Errorf("%w (%s)", ErrSettled, a.Status)
	}
	a.Status, a.Outcome = statusOf(o.Verdict), digest
	if proven {
		err = t.addReceipt(receipt)
	} else {
		err = t.addAttempt(attempt)
	}
	if err == nil && effects.FateOf(*o) == effects.FateAddedSince {
		err = t.trust(o.Server, o.Bot, effects.UsedCounts)
	}
	if err == nil && outbox {
		err = t.post(Message{Action: o.Action, Mission: o.Mission, Status: a.Status, Outcome: digest})
	}
	if err != nil {
		return err
	}
	return t.store(&a)
}

func (t *txn) addAttempt(a effects.Attempt) error {
	id := a.Outcome.Action
	last, _, err := t.last(attemptsBucket, id[:])
	if err != nil {
		return err
	}
	n := uint64(1)
	if last != nil {
		n = numberOf(last[len(id):]) + 1
	}
	e := newEncoder()
	e.blob(a.Canonical())
	return t.put(attemptsBucket, append(id[:len(id):len(id)], number(n)...), e.b)
}

// store writes an action whose status changed, its step, and lifts the bar of its cell when it is resolved.
func (t *txn) store(a *Action) error {
	if err := t.put(actionsBucket, a.ID[:], a.encode()); err != nil {
		return err
	}
	if a.Places {
		key := stepKey(a.Mission, a.Step)
		record, err := t.get(stepsBucket, key)
		if err != nil {
			return err
		}
		if s, err := decodeStepRecord(record); err != nil {
			return err
		} else if s.Action == a.ID {
			s.Status = a.Status
			if err := t.putStep(a.Mission, &s); err != nil {
				return err
			}
		}
	}
	if a.Status.Unresolved() {
		return nil
	}
	m, err := t.mark(a.ID)
	if err != nil {
		return err
	}
	var cell []byte
	if a.Places {
		cell = cellKey(m.Binding.Server, a.Step)
	}
	if err := t.delete(openBucket, openKey(cell, a.ID)); err != nil {
		return err
	}
	if newest, err := t.newest(m.Scope); err != nil || newest == a.ID {
		return err
	}
	return t.delete(marksBucket, a.ID[:])
}

// Decision is how an unverified action may be closed without a verdict.
type Decision uint8

// The decisions. None of them is a success or makes a receipt.
const (
	Present Decision = iota + 1 // all its cells show their to-state after a full rejoin
	Accept                      // its owner takes it as done
	Release                     // its owner's `reconcile: world`, and the world shows the state before after a full rejoin
)

// Decide closes an unverified action by decision. Doing it again is no error; an action with a final verdict, or one that
// is still open because nobody has judged it yet, is not closed (ErrSettled).
func (j *Journal) Decide(id effects.ActionID, d Decision) error {
	status, ok := map[Decision]Status{Present: StatusPresent, Accept: StatusAccepted, Release: StatusReleased}[d]
	if !ok {
		return fmt.Errorf("close action %s: unknown decision %d", id, d)
	}
	return j.update(func(t *txn) error {
		a, err := t.action(id)
		if err != nil || a.Status == status {
			return err
		}
		if a.Status != StatusUnverified {
			return fmt.Errorf("close action %s: %w (%s)", id, ErrSettled, a.Status)
		}
		a.Status = status
		return t.store(&a)
	})
}

// Attempts returns an action's attempt records in the order they were stored.
func (j *Journal) Attempts(id effects.ActionID) ([]effects.Attempt, error) {
	return read(j, func(t *txn) ([]effects.Attempt, error) {
		return collect(t, attemptsBucket, id[:], func(record []byte) (effects.Attempt, error) {
			d := newDecoder(record)
			b := d.blob()
			if err := d.close(); err != nil {
				return effects.Attempt{}, err
			}
			return whole(effects.ParseAttempt(b))
		})
	})
}

// Receipt returns an action's receipt; ok is false when there is none.
func (j *Journal) Receipt(id effects.ActionID) (r effects.Receipt, ok bool, err error) {
	r, err = read(j, func(t *txn) (effects.Receipt, error) {
		n, err := t.receiptNumber(id)
		if n == 0 || err != nil {
			return effects.Receipt{}, err
		}
		c, err := t.chainEntry(n)
		if err != nil {
			return effects.Receipt{}, err
		}
		ok = true
		return c.receipt()
	})
	return r, ok && err == nil, err
}

// ReceiptNumber returns the place of an action's receipt in the chain; ok is false when there is none.
func (j *Journal) ReceiptNumber(id effects.ActionID) (n uint64, ok bool, err error) {
	n, err = read(j, func(t *txn) (uint64, error) { return t.receiptNumber(id) })
	return n, n > 0 && err == nil, err
}

// receiptNumber returns 0 when there is none.
func (t *txn) receiptNumber(id effects.ActionID) (uint64, error) {
	record, err := t.get(receiptsBucket, id[:])
	if record == nil || err != nil {
		return 0, err
	}
	d := newDecoder(record)
	n := d.u64()
	return n, d.close()
}

// Receipts calls f for every receipt in the order of the chain, with its number there, until f returns false. Pass the
// zero id for all missions.
func (j *Journal) Receipts(mission effects.MissionID, f func(number uint64, r effects.Receipt) bool) error {
	_, err := read(j, func(t *txn) (struct{}, error) {
		stop := false
		return struct{}{}, t.each(chainBucket, nil, func(_, record []byte) error {
			if stop {
				return nil
			}
			c, err := decodeChainRecord(record)
			if err != nil || c.kind != chainReceipt {
				return err
			}
			r, err := c.receipt()
			if err == nil && (mission == effects.MissionID{} || r.Outcome.Mission == mission) {
				stop = !f(c.number, r)
			}
			return err
		})
	})
	return err
}

func (t *txn) chainEntry(n uint64) (chainEntry, error) {
	record, err := t.get(chainBucket, number(n))
	if err != nil {
		return chainEntry{}, err
	}
	c, err := decodeChainRecord(record)
	if err != nil {
		err = damaged(place(chainBucket, number(n)), "%v", err)
	}
	return c, err
}
