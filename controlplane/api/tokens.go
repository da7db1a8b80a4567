package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/token"
)

func (s *Server) addTokens() {
	add(s, post("make-token", "/v1/tokens", "tokens", "Makes a token", "The secret is told this once and stored nowhere. Nobody grants more than they have. Needs the scope admin.",
		sample{"id": "alice-laptop", "kind": "user", "principal": "alice", "scopes": []string{"read", "control", "execute", "cancel"}, "actors": []string{"*"}}),
		s.makeToken)
	add(s, get("list-tokens", "/v1/tokens", "tokens", "Lists the tokens, revoked and expired ones too", "Needs the scope admin."), s.listTokens)
	revoke := get("revoke-token", "/v1/tokens/{token}", "tokens", "Revokes a token", "It ends with the next request that shows it. Needs the scope admin.").in(urgent)
	revoke.method = http.MethodDelete
	add(s, revoke, s.revokeToken)
}

// keeper is where tokens are kept, for callers that may manage them.
func (s *Server) keeper(c Caller) (Tokens, error) {
	if err := c.needs(controlplane.ScopeAdmin); err != nil {
		return nil, err
	}
	if s.tokens == nil {
		return nil, problem(controlplane.CodeUnavailable, "tokens are off: start the server with tokens on to make some")
	}
	return s.tokens, nil
}

func (s *Server) makeToken(_ context.Context, c Caller, _ *noParams, b *v1.TokenGrant) (*v1.NewToken, error) {
	k, err := s.keeper(c)
	if err != nil {
		return nil, err
	}
	g := token.Grant{ID: b.ID, Kind: token.Kind(b.Kind), Principal: b.Principal, Scopes: b.Scopes, Actors: b.Actors}
	if b.Expires != 0 {
		g.Expires = time.UnixMilli(b.Expires).UTC()
	}
	if err := within(g, c.Principal); err != nil {
		return nil, err
	}
	secret, t, err := k.Make(g)
	if err != nil {
		return nil, err
	}
	return &v1.NewToken{Token: tokenView(t), Secret: secret}, nil
}

// within refuses a grant of more than its maker has: a token must not be a way around another token.
func within(g token.Grant, by controlplane.Principal) error {
	for _, scope := range g.Scopes {
		if !by.Scopes.Has(scope) {
			return problem(controlplane.CodeForbidden, "you lack the scope %s yourself: have the token made by somebody who has it", scope)
		}
	}
	for _, pattern := range g.Actors {
		if !slices.ContainsFunc(by.Actors, func(own string) bool { return covers(own, pattern) }) {
			return problem(controlplane.CodeForbidden, "you do not see all of the actors yourself: name only some that you see")
		}
	}
	return nil
}

// covers tells whether every actor that pattern stands for is one that own stands for.
func covers(own, pattern string) bool {
	prefix, many := strings.CutSuffix(own, "*")
	return own == pattern || many && strings.HasPrefix(pattern, prefix)
}

func (s *Server) listTokens(_ context.Context, c Caller, _ *noParams, _ *none) (*v1.Tokens, error) {
	k, err := s.keeper(c)
	if err != nil {
		return nil, err
	}
	all, err := k.List()
	if err != nil {
		return nil, err
	}
	out := &v1.Tokens{}
	for _, t := range all {
		out.Tokens = append(out.Tokens, tokenView(t))
	}
	return out, nil
}

func (s *Server) revokeToken(_ context.Context, c Caller, p *ofToken, _ *none) (*v1.Token, error) {
	k, err := s.keeper(c)
	if err != nil {
		return nil, err
	}
	t, err := k.Revoke(p.ID)
	if err != nil {
		return nil, err
	}
	view := tokenView(t)
	return &view, nil
}

func tokenView(t token.Token) v1.Token {
	return v1.Token{
		ID: t.ID, Kind: string(t.Kind), Principal: t.Principal, Scopes: t.Scopes, Actors: t.Actors,
		Created: unix(t.Created), Expires: unix(t.Expires), Revoked: unix(t.Revoked),
	}
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
