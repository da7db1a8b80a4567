package operation

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/effects"
	"blockworld/effects/host"
)

// columns are one event of each sort, in the order of the expectations below.
var columns = []struct {
	name string
	kind host.Kind // of the operation that it is tried on
	asks bool      // the operation was asked to cancel before
	ev   Event
}{
	{"allow", host.KindEffect, false, allowed},
	{"confirm", host.KindEffect, false, toConfirm},
	{"deny", host.KindEffect, false, denied},
	{"confirmed", host.KindEffect, false, confirmed},
	{"denied", host.KindEffect, false, Denied{By: "bob", Rejection: Rejection{Code: "not_now"}}},
	{"fenced", host.KindEffect, false, Fenced{FenceLease}},
	{"stopped", host.KindEffect, false, Fenced{FenceStop}},
	{"cancel", host.KindEffect, false, CancelAsked{By: "alice", Why: "enough"}},
	{"polled", host.KindEffect, false, Polled{}},
	{"redeliv", host.KindEffect, false, Redelivered{}},
	{"ack yes", host.KindEffect, false, ackYes},
	{"ack no", host.KindEffect, false, ackNo},
	{"ack canc", host.KindEffect, true, ackGone},
	{"unbound", host.KindEffect, false, unbound},
	{"progress", host.KindEffect, false, progress},
	{"succ", host.KindEffect, false, succeeded},
	{"fail", host.KindEffect, false, failed},
	{"canc", host.KindEffect, false, cancelled},
	{"intr", host.KindEffect, false, interrupted},
	{"unkn", host.KindEffect, false, unknown},
	{"gap", host.KindEffect, false, Gap{}},
	{"gap macro", host.KindMacro, false, Gap{}},
	{"accept", host.KindEffect, false, Accept{By: "owner"}},
	{"child", host.KindMacro, false, ChildCounted{host.OpID{3}}},
}

// expected is what the required behaviours say, written by hand. A word is the state afterwards; "stay" changes the
// operation without moving it; "same" takes the event and changes nothing; "." refuses it with a conflict. A word behind a
// slash is the operation's closure.
var expected = []struct {
	row   string // the behaviour that speaks of the state
	phase string
	path  []Event // how an operation comes there
	cells string
}{
	{"CP-60", "not created", nil,
		`queued awaiting rejected . .   . . .   . .   . . . . .   . . . . .   . .   . .`},
	{"CP-61", "awaiting", []Event{toConfirm},
		`. . .  queued rejected   stale cancelled cancelled   . .   . . . . .   . . . . .   same same   . .`},
	{"CP-62", "queued", []Event{allowed},
		`. . .  . .   stale cancelled cancelled   delivered .   . . . . .   . . . . .   same same   . .`},
	{"CP-63", "delivered", []Event{allowed, Polled{}},
		`. . .  . .   stay stay stay   . stay   accepted rejected cancelled stale .   succeeded failed cancelled interrupted unknown   stay stay   . .`},
	{"CP-64", "accepted", []Event{allowed, Polled{}, ackYes},
		`. . .  . .   stay stay stay   . stay   same . . interrupted running   succeeded failed cancelled interrupted unknown   stay stay   . stay`},
	{"CP-65", "running", []Event{allowed, Polled{}, ackYes, Progress{host.Run{Op: opID, Sequence: 1, Note: "off"}}},
		`. . .  . .   stay stay stay   . stay   same . . interrupted stay   succeeded failed cancelled interrupted unknown   unknown stay   . stay`},
	{"CP-68", "unknown after a gap", []Event{allowed, Polled{}, ackYes, early, Gap{}},
		`. . .  . .   stay stay stay   . stay   same . . interrupted stay   succeeded failed cancelled interrupted stay   stay -   stay -`},
	{"CP-68", "unknown by the host's word", []Event{allowed, Polled{}, ackYes, otherUnknownWord},
		`. . .  . .   stay stay stay   . stay   same . . . stay   succeeded failed cancelled . stay   stay stay   stay .`},
	{"CP-70", "closed", []Event{allowed, Polled{}, ackYes, otherUnknownWord, Accept{By: "somebody"}},
		`. . .  . .   . . .   . .   same . - . .   . . . . .   . .   . .`},
	{"CP-70", "succeeded", []Event{allowed, Polled{}, ackYes, otherSuccess},
		`. . .  . .   . . .   . .   same . - . .   . . . . .   . .   . .`},
	{"CP-70", "failed", []Event{allowed, Polled{}, ackYes, otherFailure},
		`. . .  . .   . . .   . .   same . - . .   . . . . .   . .   . .`},
	{"CP-70", "cancelled", []Event{allowed, CancelAsked{By: "alice", Why: "other reason"}},
		`. . .  . .   . . .   . .   . . - . .   . . . . .   . .   . .`},
	{"CP-70", "interrupted", []Event{allowed, Polled{}, ackYes, otherInterruption},
		`. . .  . .   . . .   . .   same . - . .   . . . . .   . .   . .`},
	{"CP-70", "stale", []Event{allowed, Fenced{FenceEpoch}},
		`. . .  . .   . . .   . .   . . - . .   . . . . .   . .   . .`},
	{"CP-70", "rejected", []Event{allowed, Polled{}, Acked{host.Ack{Op: opID, Code: "too_far"}}},
		`. . .  . .   . . .   . .   . . - . .   . . . . .   . .   . .`},
}

var (
	early             = Progress{host.Run{Op: opID, Sequence: 1, Note: "off"}}
	otherUnknownWord  = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Unknown, Code: "cut", Sent: true}}
	otherSuccess      = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Succeeded, Code: "other"}}
	otherFailure      = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Failed, Code: "other"}}
	otherInterruption = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Interrupted, Code: "other"}}
)

// reached brings an operation into a phase for a column; false: there is no such operation.
func reached(t *testing.T, path []Event, kind host.Kind, asks bool) Operation {
	t.Helper()
	op := after(t, kind, path...)
	if asks && len(path) > 0 && !op.Terminal() && op.Attempts > 0 {
		var err error
		if op, _, err = Step(op, CancelAsked{By: "alice", Why: "first"}, 2000); err != nil {
			t.Fatal(err)
		}
	}
	return op
}

// TestEveryPair tries every event in every state.
func TestEveryPair(t *testing.T) {
	names := map[string]State{"awaiting": AwaitingConfirmation, "unknown": OutcomeUnknown}
	for _, s := range States() {
		names[s.String()] = s
	}
	tried := map[[2]int]bool{}
	for _, want := range expected {
		cells := strings.Fields(want.cells)
		if len(cells) != len(columns) {
			t.Fatalf("%s: %d cells for %d columns", want.phase, len(cells), len(columns))
		}
		for i, col := range columns {
			cell := cells[i]
			if cell == "-" {
				continue // no operation of that sort comes there
			}
			t.Run(fmt.Sprintf("%s/%s, %s", want.row, want.phase, col.name), func(t *testing.T) {
				op := reached(t, want.path, col.kind, col.asks)
				k, err := kindOf(&op, col.ev)
				if err != nil {
					t.Fatal(err)
				}
				tried[[2]int{int(phaseOf(&op)), int(k)}] = true
				got, effects, err := Step(op, col.ev, 9000)
				switch to, known := names[cell]; {
				case cell == ".":
					if !errors.Is(err, ErrConflict) || effects != nil || cmp.Diff(op, got) != "" {
						t.Errorf("%v %v %s", err, effects, got.State)
					}
				case cell == "same":
					if err != nil || effects != nil || cmp.Diff(op, got) != "" {
						t.Errorf("%v %v\n%s", err, effects, cmp.Diff(op, got))
					}
				case cell == "stay":
					if err != nil || got.State != op.State || got.Version != op.Version+1 || got.Entered != op.Entered || got.Updated != 9000 {
						t.Errorf("%v %s version %d", err, got.State, got.Version)
					}
				case known:
					if err != nil || got.State != to || got.Version != op.Version+1 || got.Entered != 9000 {
						t.Errorf("%v %s version %d, want %s", err, got.State, got.Version, to)
					}
				default:
					t.Fatal("the table has no word", cell)
				}
			})
		}
	}
	for p := range phaseCount {
		for k := range kindCount {
			reachable := k != kindAckCancelled || p >= phase(Delivered) && p <= phase(Running) || p == phase(OutcomeUnknown)
			if reachable && !tried[[2]int{int(p), int(k)}] {
				t.Errorf("phase %d with %s was not tried", p, k)
			}
		}
	}
}

// TestTerminalRefusesAll tries, on each end, every event with its own and with other content.
func TestTerminalRefusesAll(t *testing.T) {
	ends := map[string][]Event{
		"succeeded": {allowed, Polled{}, ackYes, succeeded}, "failed": {allowed, Polled{}, ackYes, failed},
		"cancelled": {allowed, Polled{}, ackYes, cancelled}, "interrupted": {allowed, Polled{}, ackYes, interrupted},
		"stale": {allowed, Polled{}, unbound}, "rejected": {allowed, Polled{}, ackNo},
	}
	other := []Event{
		Acked{host.Ack{Op: opID, Accepted: true, Digest: effects.Digest{42}}}, Acked{host.Ack{Op: opID, Code: "else"}},
		Progress{host.Run{Op: opID, Sequence: 99}}, otherSuccess, otherFailure, otherInterruption, otherUnknownWord,
		OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Cancelled, Code: "else"}},
		CancelAsked{Why: "again"}, Fenced{FenceHost}, Gap{}, Accept{}, Polled{}, Redelivered{}, allowed, confirmed,
	}
	for name, path := range ends {
		t.Run("CP-70/"+name+" refuses what is new", func(t *testing.T) {
			op := after(t, host.KindEffect, path...)
			for _, ev := range other {
				if got, fx, err := Step(op, ev, 9000); !errors.Is(err, ErrConflict) || fx != nil || cmp.Diff(op, got) != "" {
					t.Errorf("%T: %v, now %s", ev, err, got.State)
				}
			}
		})
		t.Run("CP-84/"+name+" takes the exact repeat of its end", func(t *testing.T) {
			op := after(t, host.KindEffect, path...)
			got, fx, err := Step(op, path[len(path)-1], 9000)
			if err != nil || fx != nil || cmp.Diff(op, got) != "" {
				t.Error(err, fx)
			}
		})
	}
}
