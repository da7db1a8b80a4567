package operation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"

	"blockworld/effects"
	"blockworld/effects/host"
)

func takeDecision(c *change) { c.op.Decision = c.ev.(Created).Decision }

// takeCover notes whose approval of the macro covers a child.
func takeCover(c *change) {
	if by := c.ev.(Created).By; by != "" {
		c.op.ApprovedBy, c.op.ApprovedIn = by, c.op.Parent
	}
}

func holdReservations(c *change) {
	c.op.Reservations = c.ev.(Created).Reservations
	if len(c.op.Reservations) > 0 {
		c.effect(Reserve{c.op.Reservations})
	}
}

func takeRejection(c *change) { c.op.Rejection = c.ev.(Created).Rejection }

func takeApproval(c *change) {
	e := c.ev.(Confirmed)
	c.op.ApprovedBy, c.op.Decision = e.By, e.Decision
}

// swapReservations puts what the second decision asks for in place of what is held.
func swapReservations(c *change) {
	e := c.ev.(Confirmed)
	if slices.Equal(c.op.Reservations, e.Reservations) {
		return
	}
	giveBack(c)
	c.op.Reservations = e.Reservations
	if len(e.Reservations) > 0 {
		c.effect(Reserve{e.Reservations})
	}
}

func takeDenial(c *change) {
	e := c.ev.(Denied)
	c.op.Decision, c.op.Rejection = e.Decision, &e.Rejection
}

// giveBack releases what is held. It comes before the state is written.
func giveBack(c *change) {
	if held := c.op.Reserved(); len(held) > 0 {
		c.effect(Release{held})
	}
}

// spend commits what is held.
func spend(c *change) {
	if held := c.op.Reserved(); len(held) > 0 {
		c.effect(Commit{held})
		c.op.Committed = true
	}
}

// settle gives back what is held, unless something was sent: then the host has taken it, whatever became of its word.
func settle(c *change) {
	if c.ev.(OutcomeCame).Outcome.Sent {
		takeAck(c)
		spend(c)
	} else {
		giveBack(c)
	}
}

func takeFence(c *change) {
	why := c.ev.(Fenced).Why
	c.op.Rejection = &Rejection{Code: why.String(), Message: why.Words()}
}

func askedToCancel(c *change) {
	switch e := c.ev.(type) {
	case Fenced:
		c.op.CancelRequested = e.Why.Words()
	case CancelAsked:
		c.op.CancelRequested = e.Why
		if e.Why == "" {
			c.op.CancelRequested = "cancelled"
		}
	}
}

func askHost(c *change) { c.effect(AskHost{c.op.CancelRequested}) }

func countAttempt(c *change) { c.op.Attempts++ }

func takeAck(c *change) { c.op.Acked = true }

func takeAckRefusal(c *change) {
	a := c.ev.(Acked).Ack
	c.op.Rejection = &Rejection{Code: a.Code, Message: a.Message}
}

func takeAckAsInterruption(c *change) {
	a := c.ev.(Acked).Ack
	c.op.Outcome = &host.Outcome{Op: c.op.ID, Status: host.Interrupted, Code: a.Code, Message: a.Message}
}

func takeRun(c *change) {
	run := c.ev.(Progress).Run
	c.op.Run = Run{Seq: run.Sequence, Percent: run.Percent, Note: run.Note, Digest: runDigest(&run)}
}

func takeOutcome(c *change) {
	o := c.ev.(OutcomeCame).Outcome
	c.op.Outcome = &o
	if c.op.Kind == host.KindMacro {
		c.op.Tally = c.ev.(OutcomeCame).Children
	}
}

func deliverAgain(c *change) { c.effect(Redeliver{}) }

func takeClosure(c *change) {
	c.op.Closure, c.op.ClosedBy = ClosureUnverified, c.ev.(Accept).By
}

func countChild(c *change) { c.op.Children++ }

func runDigest(r *host.Run) effects.Digest {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 64), r.Sequence)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Percent))
	return sha256.Sum256(append(b, r.Note...))
}

// digestOf stands for an event's whole content.
func digestOf(k kind, ev Event) effects.Digest {
	if o, ok := ev.(OutcomeCame); ok {
		return o.Outcome.ContentDigest()
	}
	b, _ := json.Marshal(ev) // strings and numbers
	return sha256.Sum256(append(append([]byte(k.String()), 0), b...))
}

// fenceWords is the table behind a Fence's String and Words.
var fenceWords = [fenceCount][2]string{
	0:                {"invalid", "not a reason"},
	FenceEpoch:       {"epoch", "the bot has reconnected, respawned or changed dimension or server since"},
	FenceLease:       {"lease", "the controller's lease has ended"},
	FenceObservation: {"observation", "it rests on an observation that is too old"},
	FenceHost:        {"host", "its host is gone"},
	FenceAuthority:   {"authority", "the policy, or what its principal may do, has changed"},
	FenceExpired:     {"expired", "the time that it was bound for is over"},
	FenceStop:        {"emergency_stop", "emergency stop"},
}

// String returns the fence's name.
func (f Fence) String() string {
	if f >= fenceCount {
		f = 0
	}
	return fenceWords[f][0]
}

// Words says what does not hold any more.
func (f Fence) Words() string {
	if f >= fenceCount {
		f = 0
	}
	return fenceWords[f][1]
}
