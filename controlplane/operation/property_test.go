package operation

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/effects"
	"blockworld/effects/host"
)

// rank says how far on the way a state is: a state never moves to a lower one, and an unknown outcome is behind running.
func rank(op *Operation) int {
	switch op.State {
	case 0, AwaitingConfirmation, Queued, Delivered, Accepted, Running:
		return int(op.State)
	case OutcomeUnknown:
		if op.Closure == "" {
			return 100
		}
	}
	return 200
}

func anyEvent(rt *rapid.T) Event {
	code := rapid.SampledFrom([]string{"", "a", "b"})
	return rapid.OneOf(
		rapid.SampledFrom([]Event{allowed, toConfirm, denied, confirmed, Denied{By: "bob"}, Polled{}, Redelivered{}, Gap{},
			Accept{By: "owner"}, ackYes, ackNo, ackGone, unbound, ChildCounted{host.OpID{1}}}),
		rapid.Custom(func(rt *rapid.T) Event { return Fenced{Fence(rapid.IntRange(1, int(fenceCount)-1).Draw(rt, "fence"))} }),
		rapid.Custom(func(rt *rapid.T) Event { return CancelAsked{Why: code.Draw(rt, "why")} }),
		rapid.Custom(func(rt *rapid.T) Event {
			return Progress{host.Run{Op: opID, Sequence: rapid.Uint64Range(1, 5).Draw(rt, "seq"), Note: code.Draw(rt, "note")}}
		}),
		rapid.Custom(func(rt *rapid.T) Event {
			o := host.Outcome{Op: opID, Code: code.Draw(rt, "code"), Sent: rapid.Bool().Draw(rt, "sent"),
				Status: rapid.SampledFrom([]host.Status{host.Succeeded, host.Failed, host.Cancelled, host.Interrupted, host.Unknown}).Draw(rt, "status")}
			if o.Status == host.Succeeded && rapid.Bool().Draw(rt, "proof") {
				o.Receipt = proof
			}
			if o.Status == host.Interrupted {
				o.Sent = false
			}
			return OutcomeCame{Outcome: o}
		}),
	).Draw(rt, "event")
}

// TestAnySchedule runs any events in any order.
func TestAnySchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]host.Kind{host.KindEffect, host.KindMacro}).Draw(rt, "kind")
		op, at := sketch(kind), Instant(1000)
		reserved, used := 0, 0
		left := map[State]bool{}
		for range rapid.IntRange(1, 30).Draw(rt, "length") {
			ev := anyEvent(rt)
			at += Instant(rapid.IntRange(-5, 50).Draw(rt, "time"))
			before, err := Append(nil, &op)
			if op.State.Valid() && err != nil {
				rt.Fatal(err)
			}
			next, fx, err := Step(op, ev, at)
			if op.State.Valid() {
				if same, _ := Append(nil, &op); string(same) != string(before) {
					rt.Fatal("the operation was written into")
				}
			}
			if err != nil {
				if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrStale) && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrCapacity) {
					rt.Fatal(err)
				}
				if fx != nil || cmp.Diff(op, next) != "" {
					rt.Fatalf("%T was refused and did something", ev)
				}
				continue
			}
			check(rt, &op, &next, ev, fx)
			if next.State != op.State {
				if left[next.State] {
					rt.Fatalf("%s came back", next.State)
				}
				left[op.State] = true
			}
			r, u := budget(fx)
			reserved, used = reserved+r, used+u
			if reserved < 0 || reserved != len(next.Reserved()) || used > 0 && !next.Acked || next.Committed != (used > 0) {
				rt.Fatalf("reserved %d, used %d in %s", reserved, used, next.State)
			}
			// The exact repeat of what a host said or a caller asked is taken, and changes nothing.
			switch ev.(type) {
			case Acked, Progress, OutcomeCame, CancelAsked, Fenced, Accept:
				again, fx, err := Step(next, ev, at+1)
				if err != nil || fx != nil || cmp.Diff(next, again) != "" {
					rt.Fatalf("%T again in %s: %v %v", ev, next.State, err, fx)
				}
			}
			op = next
		}
	})
}

func check(rt *rapid.T, op, next *Operation, ev Event, fx []Effect) {
	changed := next.Version != op.Version
	switch {
	case changed && next.Version != op.Version+1 || !changed && (fx != nil || cmp.Diff(*op, *next) != ""):
		rt.Fatalf("%T: version %d to %d, effects %v", ev, op.Version, next.Version, fx)
	case op.Terminal() && changed:
		rt.Fatalf("%s is an end, and %T changed it", op.State, ev)
	case rank(next) < rank(op):
		rt.Fatalf("%T moved %s back to %s", ev, op.State, next.State)
	case next.Updated < op.Updated || next.Entered < op.Entered || next.Attempts < op.Attempts || next.Run.Seq < op.Run.Seq:
		rt.Fatalf("%T moved a number back", ev)
	case next.State == Stale && next.Attempts == 0 && next.Acked:
		rt.Fatal("never collected and taken")
	case next.Terminal() != (next.Ended != effects.Digest{}):
		rt.Fatal("an end without its event")
	case changed && next.Terminal() != slices.Contains(fx, Effect(Finish{next.State})) && !op.Terminal():
		rt.Fatalf("%T: effects %v", ev, fx)
	case next.Confirmed() && (next.Outcome.Receipt == nil || next.State != Succeeded):
		rt.Fatal("confirmed without a receipt")
	}
	if raw, err := Append(nil, next); err != nil {
		rt.Fatal(err)
	} else if back, err := Decode(raw); err != nil || cmp.Diff(*next, back) != "" {
		rt.Fatal(err, cmp.Diff(*next, back))
	}
}

// TestNeverCollected is what CP-76 rests on: stale without an attempt means that no event of a host was ever taken.
func TestNeverCollected(t *testing.T) {
	t.Run("CP-76/stale with no attempts was never in a host's hands", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			op, polled := sketch(host.KindEffect), false
			for range rapid.IntRange(1, 15).Draw(rt, "length") {
				ev := anyEvent(rt)
				next, _, err := Step(op, ev, 1)
				if err == nil && next.Version != op.Version {
					_, is := ev.(Polled)
					polled = polled || is
				}
				op = next
			}
			if op.State == Stale && (op.Attempts == 0) == polled || !polled && (op.Acked || op.Outcome != nil || op.Run.Seq > 0) {
				rt.Fatalf("%s, %d attempts, polled %v", op.State, op.Attempts, polled)
			}
		})
	})
}
