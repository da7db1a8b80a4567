package policy

import (
	"errors"
	"fmt"
	"strings"
)

// ErrWord is wrapped by every complaint about a word outside its set.
var ErrWord = errors.New("unknown word")

// Profile is what happens to effects that no rule speaks of. The zero value is the most careful one.
type Profile uint8

// The profiles; their tables are in profiles.go.
const (
	Guarded          Profile = iota // allows low risk, confirms moderate, denies the rest
	Survival                        // allows ordinary play, confirms what is others' or of high risk, denies critical
	Open                            // allows all but critical, which it confirms
	PrivilegedCustom                // as open; meant for configs that tighten it with rules and budgets
	profileCount
)

// Layer says whose a rule or a budget is, from the widest to the narrowest. The zero value is invalid.
type Layer uint8

// The layers, with the fact that their subject is compared with.
const (
	LayerServer Layer = iota + 1 // Facts.Server
	LayerWorld                   // Facts.World, a dimension name
	LayerOwner                   // Facts.Principal
	LayerActor                   // Facts.Actor
	LayerTask                    // Facts.Task
	layerCount
)

// Result is the answer of a rule, of a profile and of a decision. The zero value denies; a smaller value is stricter.
type Result uint8

// The results.
const (
	Deny Result = iota
	Confirm
	Allow
	resultCount
)

// Kind is a registered kind of effect. The zero value is unregistered.
type Kind uint8

// The registered kinds, with the operations that an effect of the kind can be (kinds.go).
const (
	KindUnknown    Kind = iota
	KindWorldRead       // looks at the world and changes nothing
	KindWorldPlace      // places one block
	KindWorldBuild      // builds a whole plan through children
	KindActorMove       // walks
	KindActorLook       // turns the head
	KindActorEquip      // changes the slot in hand
	KindChatSay         // says a line in public chat
	kindCount
)

// Operation is what an effect does. The zero value is unknown.
type Operation uint8

// The eight operations.
const (
	OperationUnknown Operation = iota
	OperationRead
	OperationCommunicate
	OperationMove
	OperationArrange
	OperationCreate
	OperationReplace
	OperationDestroy
	OperationExecute
	operationCount
)

// Ownership is whose the things are that an effect touches. The zero value is unknown and denied.
type Ownership uint8

// The seven ownerships.
const (
	OwnershipUnknown Ownership = iota
	OwnershipOwn               // the principal's
	OwnershipPublic
	OwnershipShared
	OwnershipPlayer // another player's
	OwnershipSystem
	OwnershipUnowned // known to be nobody's; never a guess
	ownershipCount
)

// Risk says how much an effect can cost if it was a mistake. The zero value is unknown and denied.
type Risk uint8

// The four risks.
const (
	RiskUnknown Risk = iota
	RiskLow
	RiskModerate
	RiskHigh
	RiskCritical
	riskCount
)

// Each set's words, by value; an empty word has no spelling.
var (
	profileWords   = []string{"guarded", "survival", "open", "privileged-custom"}
	layerWords     = []string{"", "server", "world", "owner", "actor", "task"}
	resultWords    = []string{"deny", "confirm", "allow"}
	kindWords      = []string{"", "world.read", "world.place", "world.build", "actor.move", "actor.look", "actor.equip", "chat.say"}
	operationWords = []string{"", "read", "communicate", "move", "arrange", "create", "replace", "destroy", "execute"}
	ownershipWords = []string{"unknown", "own", "public", "shared", "player", "system", "unowned"}
	riskWords      = []string{"", "low", "moderate", "high", "critical"}
)

func word[T ~uint8](v T, words []string) string {
	if int(v) < len(words) && words[v] != "" {
		return words[v]
	}
	return "invalid"
}

func marshal[T ~uint8](v T, words []string) ([]byte, error) {
	if int(v) < len(words) && words[v] != "" {
		return []byte(words[v]), nil
	}
	return nil, fmt.Errorf("%w: %d has no word", ErrConfig, v)
}

// parse reads one word of a closed set; anything else is an error that lists the set.
func parse[T ~uint8](v *T, text []byte, words []string) error {
	for i, w := range words {
		if w != "" && w == string(text) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("%w: %.64q is none of %s", ErrWord, text, list(words))
}

func list(words []string) string {
	known := make([]string, 0, len(words))
	for _, w := range words {
		if w != "" {
			known = append(known, w)
		}
	}
	return strings.Join(known, ", ")
}

// String returns the word.
func (p Profile) String() string { return word(p, profileWords) }

// String returns the word.
func (l Layer) String() string { return word(l, layerWords) }

// String returns the word.
func (r Result) String() string { return word(r, resultWords) }

// String returns the word.
func (k Kind) String() string { return word(k, kindWords) }

// String returns the word.
func (o Operation) String() string { return word(o, operationWords) }

// String returns the word.
func (o Ownership) String() string { return word(o, ownershipWords) }

// String returns the word.
func (r Risk) String() string { return word(r, riskWords) }

// MarshalText writes the word; a value outside the set is an error.
func (p Profile) MarshalText() ([]byte, error) { return marshal(p, profileWords) }

// MarshalText writes the word; a value outside the set is an error.
func (l Layer) MarshalText() ([]byte, error) { return marshal(l, layerWords) }

// MarshalText writes the word; a value outside the set is an error.
func (r Result) MarshalText() ([]byte, error) { return marshal(r, resultWords) }

// MarshalText writes the word; a value outside the set is an error.
func (k Kind) MarshalText() ([]byte, error) { return marshal(k, kindWords) }

// MarshalText writes the word; a value outside the set is an error.
func (o Operation) MarshalText() ([]byte, error) { return marshal(o, operationWords) }

// MarshalText writes the word; a value outside the set is an error.
func (o Ownership) MarshalText() ([]byte, error) { return marshal(o, ownershipWords) }

// MarshalText writes the word; a value outside the set is an error.
func (r Risk) MarshalText() ([]byte, error) { return marshal(r, riskWords) }

// UnmarshalText reads the word; anything else is an error.
func (p *Profile) UnmarshalText(b []byte) error { return parse(p, b, profileWords) }

// UnmarshalText reads the word; anything else is an error.
func (l *Layer) UnmarshalText(b []byte) error { return parse(l, b, layerWords) }

// UnmarshalText reads the word; anything else is an error.
func (r *Result) UnmarshalText(b []byte) error { return parse(r, b, resultWords) }

// UnmarshalText reads the word; anything else is an error.
func (k *Kind) UnmarshalText(b []byte) error { return parse(k, b, kindWords) }

// UnmarshalText reads the word; anything else is an error.
func (o *Operation) UnmarshalText(b []byte) error { return parse(o, b, operationWords) }

// UnmarshalText reads the word; anything else is an error.
func (o *Ownership) UnmarshalText(b []byte) error { return parse(o, b, ownershipWords) }

// UnmarshalText reads the word; anything else is an error.
func (r *Risk) UnmarshalText(b []byte) error { return parse(r, b, riskWords) }
