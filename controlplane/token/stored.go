package token

import (
	"fmt"
	"strings"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
	"blockworld/effects"
	"blockworld/effects/host"
)

// stored is the record of a token.
func (t *Token) stored(hash effects.Digest) store.Token {
	s := store.Token{
		ID: string(t.ID), Hash: hash, Principal: t.Principal, Kind: string(t.Kind), Actors: t.Actors,
		Created: instant(t.Created), Expires: instant(t.Expires), Revoked: instant(t.Revoked),
	}
	for _, scope := range t.Scopes {
		s.Scopes = append(s.Scopes, scope.String())
	}
	return s
}

// loaded is the token of a record. What this version does not know is an error: a restriction that is not understood must
// not be dropped.
func loaded(s store.Token) (Token, error) {
	t := Token{
		Grant: Grant{ID: host.Name(s.ID), Kind: Kind(s.Kind), Principal: s.Principal, Actors: s.Actors, Expires: moment(s.Expires),
			Scopes: []controlplane.Scope{}},
		Created: moment(s.Created), Revoked: moment(s.Revoked),
	}
	if t.Kind != User && t.Kind != Host {
		return Token{}, fmt.Errorf("token %q has the unknown kind %q: it was stored by another version", s.ID, s.Kind)
	}
	for _, word := range s.Scopes {
		scope, err := controlplane.ParseScope(word)
		if err != nil {
			return Token{}, fmt.Errorf("token %q was stored by another version: %w", s.ID, err)
		}
		t.Scopes = append(t.Scopes, scope)
	}
	if t.Actors == nil {
		t.Actors = []string{}
	}
	return t, nil
}

func instant(t time.Time) operation.Instant {
	if t.IsZero() {
		return 0
	}
	return operation.InstantOf(t)
}

func moment(i operation.Instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return i.Time()
}

// check refuses a grant that is good for nothing, or for more than its kind can have.
func (g *Grant) check(now time.Time) error {
	bad := func(format string, args ...any) error {
		return controlplane.Errorf(controlplane.CodeInvalid, format, args...)
	}
	switch {
	case g.Kind != User && g.Kind != Host:
		return bad("the kind is none of user, host")
	case g.Kind == Host && g.Principal == Own:
		return bad("%s is the host of the daemon itself, which needs no token: choose another name for this one", Own)
	case g.Kind == Host && (len(g.Scopes) > 0 || len(g.Actors) > 0):
		return bad("a host's token has no scopes and no actors: a host registers its own")
	case g.Kind == User && len(g.Scopes) == 0:
		return bad("a token without scopes is good for nothing: name some of read, control, execute, confirm, cancel, admin")
	case g.Kind == User && (len(g.Actors) == 0 || len(g.Actors) > MaxActors):
		return bad("name 1 to %d actors or patterns, such as *", MaxActors)
	case !g.Expires.IsZero() && !now.Before(g.Expires):
		return bad("the token would have expired already: name a later time, or none")
	}
	for _, err := range []error{g.ID.Check("the token's id"), g.Principal.Check("the principal, whom the token is to speak for,")} {
		if err != nil {
			return bad("%s", strings.TrimPrefix(err.Error(), host.ErrInvalid.Error()+": "))
		}
	}
	for _, a := range g.Actors {
		if a == "" || len(a) > host.MaxName {
			return bad("an actor or pattern is empty or longer than %d bytes", host.MaxName)
		}
	}
	return nil
}
