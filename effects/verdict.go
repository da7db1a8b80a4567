package effects

// Grade says how much of an effect the server's own packets prove. Order matters: a higher grade includes what the
// lower ones ask for. The numbers are persisted: do not reorder.
type Grade uint8

// The grades.
const (
	GradeNone    Grade = iota
	Processed          // the server ran the packet and did not correct it; never a receipt
	Observed           // a fact after the send shows the result
	Acknowledged       // and the server answered this very request
	Attributed         // and a server-kept fact says that we did it
)

// String returns the grade's name in lower case.
func (g Grade) String() string {
	return pick(g, "none", "processed", "observed", "acknowledged", "attributed")
}

// ParseGrade reads a name as String writes it.
func ParseGrade(s string) (Grade, bool) {
	for g := GradeNone; g <= Attributed; g++ {
		if g.String() == s {
			return g, true
		}
	}
	return GradeNone, false
}

// Verdict is what the facts say about one sent action. The zero value claims nothing. Persisted: do not reorder.
type Verdict uint8

// The verdicts.
const (
	UnverifiedEffect Verdict = iota // cannot be told; the step is barred
	Proven                          // done, and the facts of the required grade are in
	Refused                         // the server handled it and said no
	NotExecuted                     // the server never ran it
	WrongResult                     // executed, but another state came of it
)

// String returns the verdict's name.
func (v Verdict) String() string {
	return pick(v, "unverified_effect", "proven", "refused", "not_executed", "wrong_result")
}

// MaySendAgain tells whether a new action may be bound for the step. After Refused only when a fact that the refusal
// rests on has changed.
func (v Verdict) MaySendAgain() bool { return v == Refused || v == NotExecuted }

// Operation returns the operation state and its code in the words of the host protocol. Only proven succeeds.
func (v Verdict) Operation() (state, code string) {
	switch v {
	case Proven:
		return "succeeded", ""
	case Refused, NotExecuted, WrongResult:
		return "failed", v.String()
	}
	return "outcome_unknown", UnverifiedEffect.String()
}

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalText writes the grade's name.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Attribution names the server fact that says who did it.
type Attribution uint8

// The attributions. Persisted: do not reorder.
const (
	AttributionNone    Attribution = iota // nothing says that it was us
	AttributionCounter                    // minecraft:used rose by exactly one in our bracket
	AttributionSalt                       // a signed chat line came back with our salt
	AttributionServer                     // who rules on the server's side said so
)

// String returns the attribution's name.
func (a Attribution) String() string { return pick(a, "none", "counter", "salt", "server") }

// MarshalText writes the attribution's name.
func (a Attribution) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
