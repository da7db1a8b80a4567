package effects

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// provenOutcome is a complete bracket's outcome.
func provenOutcome() Outcome {
	p := place(1)
	return Outcome{
		Action: p.Action, Mission: MissionID{2}, Binding: Digest{3}, Bot: worldstate.UUID{4}, Server: "s",
		Step:          StepKey{Dimension: "minecraft:overworld", Pos: target, Index: 5, Ordinal: 1, Generation: 2},
		Postcondition: CellsBecome{brickItem, p.Cells}, Verdict: Proven, Grade: Attributed, LeastGrade: Attributed,
		Attribution: AttributionCounter, Code: CodeBracketExact, UnixMilli: 1_800_000_000_000,
		Evidence: Evidence{
			Epoch: Epoch{1, 2, 3}, UseSequence: 1,
			Facts: []FactRef{
				{Kind: FactOpeningReply, Sequence: 10}, {Kind: FactOtherCell, Sequence: 11, Pos: floor, State: stone},
				{Kind: FactCell, Sequence: 12, Pos: target, State: brick}, {Kind: FactClosingReply, Sequence: 13},
				{Kind: FactAck, Sequence: 15, Value: 1},
			},
			Counter: CounterChange{brickItem, 7, 8, true},
		},
	}
}

func TestReceiptNeedsItsFacts(t *testing.T) {
	if _, err := NewReceipt(provenOutcome()); err != nil {
		t.Fatal(err)
	}
	// A hostile adapter says "ok" and leaves out, or lies about, one thing.
	for name, lie := range map[string]func(*Outcome){
		"verdict":          func(o *Outcome) { o.Verdict = UnverifiedEffect },
		"no action":        func(o *Outcome) { o.Action = ActionID{} },
		"grade":            func(o *Outcome) { o.Grade, o.LeastGrade = Processed, Processed },
		"below least":      func(o *Outcome) { o.Grade, o.Attribution = Acknowledged, AttributionNone },
		"attribution":      func(o *Outcome) { o.Attribution = AttributionNone },
		"no facts":         func(o *Outcome) { o.Evidence.Facts = nil },
		"no opening":       func(o *Outcome) { o.Evidence.Facts = o.Evidence.Facts[1:] },
		"no ack":           func(o *Outcome) { o.Evidence.Facts = o.Evidence.Facts[:4] },
		"early update":     func(o *Outcome) { o.Evidence.Facts[2].Sequence = 9 },
		"late update":      func(o *Outcome) { o.Evidence.Facts[1].Sequence = 14 },
		"early ack":        func(o *Outcome) { o.Evidence.Facts[4].Sequence = 11 },
		"ack of another":   func(o *Outcome) { o.Evidence.Facts[4].Value = 0 },
		"other cell":       func(o *Outcome) { o.Evidence.Facts[2].Pos = above },
		"other state":      func(o *Outcome) { o.Evidence.Facts[2].State = dirt },
		"counter +0":       func(o *Outcome) { o.Evidence.Counter.After = 7 },
		"counter +2":       func(o *Outcome) { o.Evidence.Counter.After = 9 },
		"counter unknown":  func(o *Outcome) { o.Evidence.Counter.Known = false },
		"other counter":    func(o *Outcome) { o.Evidence.Counter.Item = otherItem },
		"no postcondition": func(o *Outcome) { o.Postcondition = nil },
		"reconciled":       func(o *Outcome) { o.Reconciled = true },
	} {
		t.Run("SE-54/"+name, func(t *testing.T) {
			o := provenOutcome()
			lie(&o)
			if _, err := NewReceipt(o); !errors.Is(err, ErrNoReceipt) {
				t.Errorf("got %v", err)
			}
			forged := Receipt{o}
			if _, _, err := ParseReceipt(forged.Canonical()); err == nil {
				t.Error("a forged receipt was read")
			}
		})
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	r, err := NewReceipt(provenOutcome())
	if err != nil {
		t.Fatal(err)
	}
	o := provenOutcome()
	o.Verdict, o.Code, o.Postcondition = Refused, CodeRefusedAck, nil
	a, err := NewAttempt(o)
	if err != nil {
		t.Fatal(err)
	}
	stream := append(r.Canonical(), a.Canonical()...)
	back, rest, err := ParseReceipt(stream)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
	attempt, rest, err := ParseAttempt(rest)
	if err != nil || len(rest) != 0 {
		t.Fatal(err, len(rest))
	}
	if diff := cmp.Diff(a, attempt); diff != "" {
		t.Error(diff)
	}
	if _, _, err := ParseAttempt(r.Canonical()); !errors.Is(err, ErrMalformedRecord) {
		t.Errorf("a receipt read as an attempt: %v", err)
	}
	if _, err := NewAttempt(provenOutcome()); err == nil {
		t.Error("a proven outcome became an attempt")
	}
	newer := r.Canonical()
	newer[1]++
	if _, _, err := ParseReceipt(newer); !errors.Is(err, ErrRecordVersion) {
		t.Errorf("a newer version: %v", err)
	}
}

// TestReceiptGolden pins the bytes: a change here breaks every journal that exists.
func TestReceiptGolden(t *testing.T) {
	r, _ := NewReceipt(provenOutcome())
	const want = "9434916cd16e95452af4a64295b599315dabcf1eb58e3ccda4eb00e16422932b"
	if got := r.Digest().String(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// TestReceiptBytes: one changed byte is never the same receipt, and equal receipts have equal bytes.
func TestReceiptBytes(t *testing.T) {
	r, _ := NewReceipt(provenOutcome())
	data := r.Canonical()
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
		bit := rapid.IntRange(0, 7).Draw(t, "bit")
		changed := append([]byte(nil), data...)
		changed[i] ^= 1 << bit
		back, _, err := ParseReceipt(changed)
		if err == nil && back.Digest() == r.Digest() {
			t.Errorf("byte %d bit %d: the same digest", i, bit)
		}
		if err == nil && string(back.Canonical()) != string(changed) {
			t.Errorf("byte %d bit %d: read as other bytes", i, bit)
		}
	})
}

func TestCountersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCounters(rapid.Int32().Draw(t, "leave"))
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			c.set(registry.ItemID(rapid.Int32Range(0, 30).Draw(t, "item")), rapid.Int32().Draw(t, "v"))
		}
		back, rest, err := ParseCounters(c.Canonical())
		if err != nil || len(rest) != 0 {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Entries(), back.Entries()); diff != "" || back.LeaveGame != c.LeaveGame || !back.Known() {
			t.Error(diff)
		}
	})
}

func FuzzRecords(f *testing.F) {
	r, _ := NewReceipt(provenOutcome())
	o := provenOutcome()
	o.Verdict = UnverifiedEffect
	a, _ := NewAttempt(o)
	b := fullBinding()
	f.Add(r.Canonical())
	f.Add(a.Canonical())
	f.Add(b.Canonical())
	f.Add(NewCounters(3, UsedCount{brickItem, 4}).Canonical())
	f.Add([]byte{4, 1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, rest, err := ParseReceipt(data); err == nil && string(r.Canonical()) != string(data[:len(data)-len(rest)]) {
			t.Error("a receipt with two encodings")
		}
		if a, rest, err := ParseAttempt(data); err == nil && string(a.Canonical()) != string(data[:len(data)-len(rest)]) {
			t.Error("an attempt with two encodings")
		}
		if b, rest, err := ParseBinding(data); err == nil && string(b.Canonical()) != string(data[:len(data)-len(rest)]) {
			t.Error("a binding with two encodings")
		}
		if c, rest, err := ParseCounters(data); err == nil && string(c.Canonical()) != string(data[:len(data)-len(rest)]) {
			t.Error("counters with two encodings")
		}
	})
}
