package controlplane

import (
	"fmt"
	"strings"

	"blockworld/effects/host"
)

// Scope is one right of a principal. The zero value is none.
type Scope uint8

// The scopes.
const (
	ScopeRead    Scope = iota + 1 // see actors, operations, publications; ask the reads
	ScopeControl                  // hold a controller lease
	ScopeExecute                  // submit actions
	ScopeConfirm                  // approve or refuse what awaits confirmation
	ScopeCancel                   // ask for the end of an operation
	ScopeAdmin                    // stop and clear any actor, close unknown outcomes, manage the daemon
	scopeEnd
)

var scopeNames = [scopeEnd]string{ScopeRead: "read", ScopeControl: "control", ScopeExecute: "execute",
	ScopeConfirm: "confirm", ScopeCancel: "cancel", ScopeAdmin: "admin"}

// String gives the scope's word.
func (s Scope) String() string {
	if s == 0 || s >= scopeEnd {
		return fmt.Sprintf("scope(%d)", uint8(s))
	}
	return scopeNames[s]
}

// ParseScope reads a scope's word.
func ParseScope(word string) (Scope, error) {
	for s := ScopeRead; s < scopeEnd; s++ {
		if scopeNames[s] == word {
			return s, nil
		}
	}
	return 0, Errorf(CodeInvalid, "scope %q is none of read, control, execute, confirm, cancel, admin", word)
}

// MarshalText writes the word.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Scope) UnmarshalText(b []byte) (err error) {
	*s, err = ParseScope(string(b))
	return err
}

// ScopeSet is a set of scopes; the zero set has none.
type ScopeSet uint16

// Scopes makes a set.
func Scopes(all ...Scope) (set ScopeSet) {
	for _, s := range all {
		set |= 1 << s
	}
	return set
}

// Has tells whether s is in the set.
func (set ScopeSet) Has(s Scope) bool { return s > 0 && s < scopeEnd && set&(1<<s) != 0 }

// List gives the scopes in a fixed order.
func (set ScopeSet) List() (out []Scope) {
	for s := ScopeRead; s < scopeEnd; s++ {
		if set.Has(s) {
			out = append(out, s)
		}
	}
	return out
}

// Principal is who asks, as the daemon's configuration or a token says; it never comes from a request's body.
type Principal struct {
	ID     host.Name
	Scopes ScopeSet
	Actors []string // names it sees; a trailing * stands for any ending, "*" for all. None: sees no actor
}

// Sees tells whether the actor is visible to p.
func (p *Principal) Sees(actor host.Name) bool {
	for _, pattern := range p.Actors {
		if prefix, any := strings.CutSuffix(pattern, "*"); any && strings.HasPrefix(string(actor), prefix) || pattern == string(actor) {
			return true
		}
	}
	return false
}

// check refuses a principal that is none, or that lacks a scope.
func (p *Principal) check(need Scope) error {
	if err := p.ID.Check("principal"); err != nil {
		return Errorf(CodeInvalid, "%s; the daemon's configuration gives principals their ids", sentence(err)).because(err)
	}
	if !p.Scopes.Has(need) {
		return Errorf(CodeForbidden, "principal %s lacks the scope %s: %s", p.ID, need, HowToGet(need)).with("scope", need.String())
	}
	return nil
}

// HowToGet says in words how a person comes by a scope.
func HowToGet(s Scope) string {
	return fmt.Sprintf("an admin makes a token that has it, with `blockworld ctl token create --principal NAME --scopes read,%s`", s)
}

// hidden is the one answer to an actor that is not there and to one that may not be seen.
func hidden(actor host.Name) error {
	return Errorf(CodeNotFound, "no actor %s: list the actors to see which there are", actor).with("actor", string(actor))
}
