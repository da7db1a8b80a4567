package operation

import (
	"blockworld/effects"
	"blockworld/effects/host"
)

// wellFormed admits an operation that names what every later event rests on.
func wellFormed(c *change) bool {
	op := &c.op
	switch {
	case op.ID == (host.OpID{}) || op.Kind != host.KindEffect && op.Kind != host.KindMacro:
		return c.refuse(ErrInvalid, "it needs an id, and a kind out of effect and macro")
	case op.Principal == "" || op.Actor == "" || op.Key == "":
		return c.refuse(ErrInvalid, "principal, actor or key is missing")
	case op.Version != 0 || op.Attempts != 0 || op.Acked || op.Outcome != nil || op.Ended != (effects.Digest{}):
		return c.refuse(ErrInvalid, "it has a history before its creation")
	}
	return true
}

// bound admits an operation that a host has bound.
func bound(c *change) bool {
	if c.op.Bound.Op != c.op.ID || c.op.Bound.Digest == (effects.Digest{}) || c.op.Host == "" {
		return c.refuse(ErrInvalid, "it is not bound by a host")
	}
	return wellFormed(c)
}

// covered is bound for what may rest on the approval of a macro.
func covered(c *change) bool {
	if c.ev.(Created).By != "" && c.op.Parent == (host.OpID{}) {
		return c.refuse(ErrInvalid, "it has no macro whose approval could cover it")
	}
	return bound(c)
}

// saysWhy admits a denial with a reason.
func saysWhy(c *change) bool {
	if r := c.ev.(Created).Rejection; r == nil || r.Code == "" {
		return c.refuse(ErrInvalid, "a denial needs a code")
	}
	return wellFormed(c)
}

// notAskedYet lets the first request to cancel through; a further one changes nothing.
func notAskedYet(c *change) bool { return c.op.CancelRequested == "" }

// sameBinding admits an acknowledgement of the very action that was bound.
func sameBinding(c *change) bool {
	if c.ev.(Acked).Ack.Digest != c.op.Bound.Digest {
		return c.refuse(ErrConflict, "the host acknowledges another binding than the one that was delivered")
	}
	return true
}

// newerReport lets progress move forward only.
func newerReport(c *change) bool {
	run := c.ev.(Progress).Run
	switch last := &c.op.Run; {
	case run.Sequence < last.Seq:
		return c.refuse(ErrStale, "progress %d comes after %d", run.Sequence, last.Seq)
	case run.Sequence == last.Seq && runDigest(&run) != last.Digest:
		return c.refuse(ErrStale, "progress %d was reported before with other content", run.Sequence)
	default:
		return run.Sequence > last.Seq
	}
}

// nothingSent admits the word that nothing was sent unless the host has said before that something was.
func nothingSent(c *change) bool {
	if c.op.Outcome != nil && c.op.Outcome.Sent {
		return c.refuse(ErrConflict, "the host said before that something was sent")
	}
	return true
}

// otherUnknown lets a later unknown take the place of an earlier one: neither is an end.
func otherUnknown(c *change) bool {
	o := c.ev.(OutcomeCame).Outcome
	if c.op.Outcome == nil {
		return true
	}
	if c.op.Outcome.Sent && !o.Sent {
		return c.refuse(ErrConflict, "the host said before that something was sent")
	}
	return o.ContentDigest() != c.op.Outcome.ContentDigest()
}

// roomForChild admits a child to a macro that nobody has asked to end.
func roomForChild(c *change) bool {
	switch {
	case c.op.CancelRequested != "":
		return c.refuse(ErrConflict, "it is asked to cancel, so it gets no further child")
	case c.op.Children >= host.MaxChildren:
		return c.refuse(ErrCapacity, "it has %d children, the most that one may have", c.op.Children)
	}
	return true
}
