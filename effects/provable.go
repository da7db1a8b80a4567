package effects

import (
	"errors"
	"fmt"
)

// provable tells whether the outcome's evidence carries the facts of its grade. It trusts no verdict: whoever calls
// itself proven must show the facts, in an order in which they prove something.
func provable(o *Outcome) error {
	switch {
	case o.Action == ActionID{}:
		return errors.New("it has no action id")
	case o.Verdict != Proven:
		return fmt.Errorf("the verdict is %s", o.Verdict)
	case o.Grade < Observed:
		return fmt.Errorf("grade %s proves nothing", o.Grade)
	case o.Grade < o.LeastGrade:
		return fmt.Errorf("grade %s is below the least grade %s", o.Grade, o.LeastGrade)
	case (o.Grade == Attributed) != (o.Attribution != AttributionNone):
		return fmt.Errorf("grade %s does not fit attribution %s", o.Grade, o.Attribution)
	}
	switch p := o.Postcondition.(type) {
	case CellsBecome:
		if err := p.check(); err != nil {
			return err
		}
		if o.Reconciled {
			return provesReconciled(&o.Evidence, p)
		}
		return provesPlacement(&o.Evidence, p, o.Grade)
	case LineHeard:
		return needs(&o.Evidence, FactEcho)
	case HoldsItem:
		if needsAny(&o.Evidence, FactWitness, FactServerWord) == nil {
			return nil
		}
		return errors.Join(needs(&o.Evidence, FactSnapshot), needs(&o.Evidence, FactHeldSlot))
	case StandsIn:
		return needsAny(&o.Evidence, FactDistance, FactWitness, FactServerWord)
	case LooksTowards:
		return needsAny(&o.Evidence, FactWitness, FactServerWord)
	}
	return errors.New("it has no postcondition")
}

// provesPlacement checks a bracket: opening reply < direct updates < closing reply, ack behind the direct updates,
// counter exactly +1; each grade asks for its own part.
func provesPlacement(e *Evidence, p CellsBecome, g Grade) error {
	last := uint64(0)
	for i, c := range p.Cells {
		f, ok := cellFact(e, FactCell, c)
		if !ok {
			return fmt.Errorf("no fact shows cell %v", c.Pos)
		}
		if i == 0 {
			last = f.Sequence
		}
	}
	if g == Observed {
		return nil
	}
	open, a := e.find(FactOpeningReply)
	clicked, b := e.find(FactOtherCell)
	shut, c := e.find(FactClosingReply)
	ack, d := e.find(FactAck)
	if !a || !b || !c || !d {
		return errors.New("the bracket is not complete: opening reply, clicked cell, closing reply, ack")
	}
	target, _ := cellFact(e, FactCell, p.Cells[0])
	for _, s := range []uint64{clicked.Sequence, target.Sequence} {
		if s <= open.Sequence || s >= shut.Sequence {
			return errors.New("a direct update lies outside the fence replies")
		}
	}
	if ack.Sequence <= max(last, clicked.Sequence) || ack.Value < e.UseSequence {
		return errors.New("the acknowledgement is not of this use")
	}
	if g == Acknowledged {
		return nil
	}
	if k := e.Counter; !k.Known || k.Item != p.Item || k.After != k.Before+1 {
		return errors.New("the use counter did not rise by exactly one")
	}
	return nil
}

func provesReconciled(e *Evidence, p CellsBecome) error {
	if err := needs(e, FactFullReply); err != nil {
		return err
	}
	for _, c := range p.Cells {
		if _, ok := cellFact(e, FactCellRead, c); !ok {
			return fmt.Errorf("cell %v was not read after the rejoin", c.Pos)
		}
	}
	if k := e.Counter; !k.Known || k.Item != p.Item || k.After <= k.Before {
		return errors.New("the use counter did not rise")
	}
	return nil
}

func cellFact(e *Evidence, k FactKind, c Cell) (FactRef, bool) {
	for _, f := range e.Facts {
		if f.Kind == k && f.Pos == c.Pos && (f.State == c.To || len(c.Masked) > 0) {
			return f, true
		}
	}
	return FactRef{}, false
}

func needs(e *Evidence, k FactKind) error {
	if _, ok := e.find(k); !ok {
		return fmt.Errorf("the fact %s is missing", k)
	}
	return nil
}

func needsAny(e *Evidence, kinds ...FactKind) error {
	for _, k := range kinds {
		if _, ok := e.find(k); ok {
			return nil
		}
	}
	return fmt.Errorf("none of the facts %v is there", kinds)
}
