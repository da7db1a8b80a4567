package operation

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"blockworld/effects"
	"blockworld/effects/host"
)

func full() bool { return os.Getenv("BLOCKWORLD_FULL") == "1" }

func TestMain(m *testing.M) {
	flag.Parse()
	if !full() {
		flag.Set("rapid.checks", "300")
	}
	os.Exit(m.Run())
}

var opID = host.OpID{1, 2, 3, 15: 9}

// sketch is an operation before its creation.
func sketch(kind host.Kind) Operation {
	pos := [3]int32{10, 64, -3}
	return Operation{
		ID: opID, Kind: kind, Principal: "alice", Actor: "builder", Host: "home", Task: "house", Lease: "lease-1", Key: "key-1",
		Payload: effects.Digest{7}, Parent: host.OpID{9, 9},
		Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{"pos":[10,64,-3],"block":"minecraft:oak_stairs[facing=north]"}`)},
		Bound: host.Bound{
			Op: opID, Binding: []byte(strings.Repeat("canonical ", 45)), Digest: effects.Digest{1}, Precondition: effects.Digest{2},
			Epoch: host.Epoch{Host: 1, World: 2, Timeline: 3}, Sequence: 17, Summary: "place minecraft:oak_stairs at 10 64 -3", ValidUntil: 5000,
			Effects: []host.Preview{{Kind: "world.place", Operation: "create", Ownership: "own", Scope: "plot-1", Tags: []host.Name{"building"},
				Risk: "moderate", Reversible: true, Quantity: 1, Pos: &pos, To: &[3]int32{10, 65, -3}, Block: "minecraft:oak_stairs[facing=north]", Item: "minecraft:oak_stairs"}},
		},
	}
}

var held = []Reservation{{Budget: "blocks", Window: 3, Count: 1, Quantity: 1}, {Budget: "all", Count: 1, Quantity: 1}}

// Events that fit sketch, one for each kind that the table knows.
var (
	allowed     = Created{Decision: Decision{Result: Allow, Revision: "r1", Rules: []string{"own"}}, Reservations: held}
	covering    = Created{Decision: Decision{Result: Allow, Revision: "r1", Rules: []string{"ask"}}, Reservations: held, By: "bob"}
	toConfirm   = Created{Decision: Decision{Result: Confirm, Revision: "r1", Rules: []string{"ask"}}, Reservations: held}
	denied      = Created{Decision: Decision{Revision: "r1"}, Rejection: &Rejection{Code: "rule_denied", Message: "rule no says no", Rules: []string{"no"}}}
	confirmed   = Confirmed{By: "bob", Decision: Decision{Result: Allow, Revision: "r2"}, Reservations: held}
	ackYes      = Acked{host.Ack{Op: opID, Accepted: true, Digest: effects.Digest{1}}}
	ackNo       = Acked{host.Ack{Op: opID, Code: "busy", Message: "later"}}
	ackGone     = Acked{host.Ack{Op: opID, Code: "cancelled"}}
	unbound     = Acked{host.Ack{Op: opID, Code: host.CodeUnbound}}
	progress    = Progress{host.Run{Op: opID, Sequence: 3, Percent: 40, Note: "walking"}}
	proof       = &host.Receipt{Number: 4, Digest: effects.Digest{5}, Grade: "attributed", Key: "abc"}
	succeeded   = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Succeeded, Code: "proven", Receipt: proof, Sent: true, Output: json.RawMessage(`{"a":1}`), Evidence: effects.Digest{6}}}
	failed      = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Failed, Code: "refused", Message: "no", Sent: true}}
	cancelled   = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Cancelled}}
	interrupted = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Interrupted, Code: "kicked"}}
	unknown     = OutcomeCame{Outcome: host.Outcome{Op: opID, Status: host.Unknown, Code: "unverified_effect", Sent: true}}
)

// after runs events on a new operation.
func after(t testing.TB, kind host.Kind, events ...Event) Operation {
	t.Helper()
	op := sketch(kind)
	for i, ev := range events {
		var err error
		if op, _, err = Step(op, ev, Instant(1000+i)); err != nil {
			t.Fatalf("event %d, %T: %v", i, ev, err)
		}
	}
	return op
}
