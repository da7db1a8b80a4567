package api

import (
	"context"
	"net/http"
	"strings"

	"blockworld/controlplane"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// Caller is who sent a request, by the token that it showed. Nothing in a request's body ever changes it.
type Caller struct {
	Kind      token.Kind
	Principal controlplane.Principal // of a user
	Host      host.Name              // of a host; empty while tokens are off: whoever registers may be any host
	Token     string                 // id of the token; empty while tokens are off

	again func() bool
}

// Still tells whether the token is one that still stands: a revoked or expired one ends what it began.
func (c *Caller) Still() bool { return c.again == nil || c.again() }

// CallerOf returns the caller of a request that came in through Mount, for handlers that speak another protocol.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// caller finds out who sent r. While tokens are off everybody is the local principal, or a host where a host is wanted.
func (s *Server) caller(r *http.Request, want token.Kind) (Caller, error) {
	secret := bearer(r)
	c, err := s.holder(secret, want)
	c.again = func() bool {
		now, err := s.holder(secret, want)
		return err == nil && now.Token == c.Token
	}
	return c, err
}

// holder is who shows a secret.
func (s *Server) holder(secret string, want token.Kind) (Caller, error) {
	if s.tokens == nil {
		return Caller{Kind: want, Principal: s.local}, nil
	}
	t, err := s.tokens.Find(secret)
	if err != nil {
		return Caller{}, err
	}
	if t.Kind != want {
		return Caller{}, problem(token.CodeKind, "this is asked by a %s, and the token is one of a %s: use the other token", want, t.Kind)
	}
	c := Caller{Kind: want, Token: string(t.ID)}
	if want == token.Host {
		c.Host = t.Principal
		return c, nil
	}
	c.Principal = controlplane.Principal{ID: t.Principal, Scopes: controlplane.Scopes(t.Scopes...), Actors: t.Actors}
	return c, nil
}

// bearer is the token of a request: one Authorization header of that scheme, or nothing.
func bearer(r *http.Request) string {
	h := r.Header.Values("Authorization")
	if len(h) != 1 {
		return ""
	}
	scheme, secret, ok := strings.Cut(h[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
