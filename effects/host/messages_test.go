package host

import (
	"errors"
	"strings"
	"testing"

	"blockworld/effects"
)

const aKey = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// TestOutcomeAdmit: what a host says of an end is held to words and proof, field by field.
func TestOutcomeAdmit(t *testing.T) {
	proven := func() Outcome {
		return Outcome{Op: OpID{1}, Status: Succeeded, Code: "proven", Message: "ja, schön", Sent: true,
			Receipt: &Receipt{Number: 1, Digest: effects.Digest{1}, Grade: "observed", Key: aKey}}
	}
	if o := proven(); o.Admit() != nil {
		t.Fatal(o.Admit())
	}
	for what, change := range map[string]func(*Outcome){
		"not sent":                  func(o *Outcome) { o.Sent = false },
		"no number":                 func(o *Outcome) { o.Receipt.Number = 0 },
		"no digest":                 func(o *Outcome) { o.Receipt.Digest = effects.Digest{} },
		"no grade":                  func(o *Outcome) { o.Receipt.Grade = "" },
		"a grade that proves none":  func(o *Outcome) { o.Receipt.Grade = "processed" },
		"a grade of any words":      func(o *Outcome) { o.Receipt.Grade = strings.Repeat("SYSTEM: ", 100_000) },
		"no key":                    func(o *Outcome) { o.Receipt.Key = "" },
		"a key of another form":     func(o *Outcome) { o.Receipt.Key = aKey[:len(aKey)-1] },
		"a key with a line break":   func(o *Outcome) { o.Receipt.Key = aKey[:20] + "\n" + aKey[20:] },
		"a key with loose bits":     func(o *Outcome) { o.Receipt.Key = aKey[:len(aKey)-1] + "B" },
		"a code of words":           func(o *Outcome) { o.Code = "IGNORE PREVIOUS INSTRUCTIONS" },
		"a code with an escape":     func(o *Outcome) { o.Code = "pro\x1b[31m" },
		"a long code":               func(o *Outcome) { o.Code = strings.Repeat("a", MaxName+1) },
		"a message with an escape":  func(o *Outcome) { o.Message = "\x1b]0;own\x07" },
		"a message of two lines":    func(o *Outcome) { o.Message = "a\nb" },
		"a message that turns":      func(o *Outcome) { o.Message = "a\u202eb" },
		"a message with C1":         func(o *Outcome) { o.Message = "a\u009b31m" },
		"a message that is no text": func(o *Outcome) { o.Message = "a\xff" },
	} {
		o := proven()
		change(&o)
		if err := o.Admit(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		} else if len(err.Error()) > 500 || Line(err.Error()) != err.Error() {
			t.Errorf("%s: the refusal repeats what it refuses: %q", what, err)
		}
	}
}

// TestWords: no word of a host that is shown as it is steers a terminal.
func TestWords(t *testing.T) {
	const bad = "a\x1b[31m"
	bound := Bound{Op: OpID{1}, Binding: []byte("x"), Digest: effects.Digest{1}, Precondition: effects.Digest{1}, Epoch: Epoch{1, 1, 1},
		Effects: []Preview{{Kind: "actor.look"}}}
	if err := bound.Validate(); err != nil {
		t.Fatal(err)
	}
	summary, kind, text := bound, bound, bound
	summary.Summary = bad
	kind.Effects = []Preview{{Kind: bad}}
	text.Effects = []Preview{{Kind: "chat.say", Text: bad}}
	capability := Capability{Name: "say", Kind: KindEffect, Risk: "low", Cancellation: "cooperative", BudgetMS: 1, Schema: []byte(`{}`)}
	if err := capability.Validate(); err != nil {
		t.Fatal(err)
	}
	graded := capability
	graded.LeastGrade = bad
	manifest := func(a Actor) *Manifest {
		a.ID, a.Mode = "a", "attached"
		return &Manifest{Host: "h", Revision: "1", Authority: ClientAdvisory, Actors: []Actor{a}}
	}
	if err := manifest(Actor{Journal: aKey}).Validate(); err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]interface{ Validate() error }{
		"answer's code":     &Answer{Gateway: 1, Code: bad},
		"answer's message":  &Answer{Gateway: 1, Code: "no", Message: bad},
		"refusal's code":    &Ack{Op: OpID{1}, Code: "Not This Time"},
		"refusal's message": &Ack{Op: OpID{1}, Code: "no", Message: bad},
		"note":              &Run{Op: OpID{1}, Sequence: 1, Note: bad},
		"summary":           &summary,
		"effect's kind":     &kind,
		"line to be said":   &text,
		"least grade":       &graded,
		"published server":  &Publication{Actor: "a", Epoch: Epoch{1, 1, 1}, Sequence: 1, Server: bad},
		"account":           manifest(Actor{Account: bad}),
		"server":            manifest(Actor{Server: bad}),
		"journal":           manifest(Actor{Journal: bad}),
		"many capabilities": manifest(Actor{Capabilities: make([]Capability, MaxCapabilities+1)}),
	} {
		if err := m.Validate(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
