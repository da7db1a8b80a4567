package api

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
}

// CallerOf returns the caller of a request that came in through Mount, for handlers that speak another protocol.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// caller finds out who sent r. While tokens are off everybody is the local principal, or a host where a host is wanted.
func (s *Server) caller(r *http.Request, want token.Kind) (Caller, error) {
	if s.tokens == nil {
		return Caller{Kind: want, Principal: s.local}, nil
	}
	t, err := s.tokens.Find(bearer(r))
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

// admit is the step that lets a request in: who it is from, and whether there is room for it.
func (s *Server) admit(rt route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(c)
		who, leave, err := s.enter(r, rt.who, rt.waits)
		if err != nil {
			s.write(c, err)
			return
		}
		defer leave()
		next(huma.WithValue(c, callerKey{}, who))
	}
}

// enter finds the caller and takes its place among the requests under way.
func (s *Server) enter(r *http.Request, want token.Kind, waits bool) (Caller, func(), error) {
	who, err := s.caller(r, want)
	if err != nil {
		return Caller{}, nil, err
	}
	most := s.limits.Each
	if want == token.Host {
		most = s.limits.EachHost
	}
	leave, ok := s.room.enter(who.Token, most, waits)
	if !ok {
		return Caller{}, nil, problem(CodeBusy, "too many requests at the same time: ask again in a second, with the same key")
	}
	return who, leave, nil
}

// room counts the requests under way. Those that wait are counted apart, so that long polls never keep a stop out.
type room struct {
	quick, waiting gate

	mu   sync.Mutex
	each map[string]int // waiting requests by token
}

func newRoom(l Limits) *room {
	return &room{quick: newGate(l.Quick), waiting: newGate(l.Waiting), each: map[string]int{}}
}

func (r *room) enter(who string, most int, waits bool) (leave func(), ok bool) {
	if !waits {
		return r.quick.leave, r.quick.enter()
	}
	if !r.take(who, 1, most) {
		return nil, false
	}
	if !r.waiting.enter() {
		r.take(who, -1, most)
		return nil, false
	}
	return func() { r.waiting.leave(); r.take(who, -1, most) }, true
}

// take adds n to what one token has waiting, unless that would be more than most.
func (r *room) take(who string, n, most int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.each[who] + n; {
	case who == "": // tokens are off: there is one caller
	case n > 0 && now > most:
		return false
	case now == 0:
		delete(r.each, who)
	default:
		r.each[who] = now
	}
	return true
}
