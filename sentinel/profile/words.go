package profile

import (
	"fmt"

	"blockworld/effects"
)

// Finding is what probe learned about one thing. The zero value is unknown.
type Finding uint8

// The findings.
const (
	FindingUnknown  Finding = iota
	FindingExpected         // not tried, but every known server of this version does it
	FindingYes              // seen
	FindingNo               // asked for and not seen
)

// Used is what is known of the server's own count of our uses. The zero value is expected: until it has counted once,
// "not executed" is not believed.
type Used uint8

// The answers.
const (
	UsedExpected Used = iota
	UsedCounted
	UsedFrozen // acknowledged is the best grade
)

// Trust returns the evidence machine's word for it.
func (u Used) Trust() effects.UsedTrust {
	switch u {
	case UsedCounted:
		return effects.UsedCounts
	case UsedFrozen:
		return effects.UsedFrozen
	}
	return effects.UsedExpected
}

// Accept says which proof is enough for a receipt. The zero value wants the server's word that it was us.
type Accept uint8

// The answers.
const (
	AcceptAttributed Accept = iota // or acknowledged, where an offer's least grade says so
	AcceptObserved                 // the exact state after the send is enough; such receipts say attribution: none
)

// Attribution says whether the server can tell whose effect it was.
type Attribution uint8

// The answers.
const (
	AttributionNone Attribution = iota
	AttributionCounter
)

// Grade is an effects.Grade in a profile's words.
type Grade effects.Grade

// Each set's words, by value.
var (
	findingWords     = []string{"unknown", "expected", "yes", "no"}
	usedWords        = []string{"expected", "counted", "frozen"}
	acceptWords      = []string{"attributed", "observed"}
	attributionWords = []string{"none", "counter"}
	chatWords        = []string{"system", "disguised", "unsigned", "signed", "unknown"}
	modeWords        = []string{"unknown", "survival", "creative", "adventure", "spectator"}
	gradeWords       = []string{"none", "processed", "observed", "acknowledged", "attributed"}
)

func word[T ~uint8](v T, words []string) string {
	if int(v) < len(words) {
		return words[v]
	}
	return "invalid"
}

func parse[T ~uint8](v *T, text []byte, words []string) error {
	for i, w := range words {
		if w == string(text) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("%q is none of %v", text, words)
}

// String returns the profile's word.
func (f Finding) String() string { return word(f, findingWords) }

// String returns the profile's word.
func (u Used) String() string { return word(u, usedWords) }

// String returns the profile's word.
func (a Accept) String() string { return word(a, acceptWords) }

// String returns the profile's word.
func (a Attribution) String() string { return word(a, attributionWords) }

// String returns the profile's word.
func (g Grade) String() string { return word(g, gradeWords) }

// MarshalText writes the profile's word.
func (f Finding) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// MarshalText writes the profile's word.
func (u Used) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalText writes the profile's word.
func (a Accept) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText writes the profile's word.
func (a Attribution) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText writes the profile's word.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the profile's word; anything else is an error.
func (f *Finding) UnmarshalText(b []byte) error { return parse(f, b, findingWords) }

// UnmarshalText reads the profile's word; anything else is an error.
func (u *Used) UnmarshalText(b []byte) error { return parse(u, b, usedWords) }

// UnmarshalText reads the profile's word; anything else is an error.
func (a *Accept) UnmarshalText(b []byte) error { return parse(a, b, acceptWords) }

// UnmarshalText reads the profile's word; anything else is an error.
func (a *Attribution) UnmarshalText(b []byte) error { return parse(a, b, attributionWords) }

// UnmarshalText reads the profile's word; anything else is an error.
func (g *Grade) UnmarshalText(b []byte) error { return parse(g, b, gradeWords) }
