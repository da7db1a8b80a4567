package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane/api"
)

// Bounds of sessions over HTTP.
const (
	maxBody     = 2 << 20          // bytes of a request: a blueprint in base64 and something around it
	maxSessions = 256              // of all tokens
	maxEach     = 16               // of one token
	maxIdle     = 15 * time.Minute // of a session without any request; one that hears a stream is not idle
	lastIdle    = time.Hour        // of a session that sends nothing, whatever it hears
)

// codeRefused is the JSON-RPC code of what this server refuses before a session sees it.
const codeRefused = -32000

// Handler serves streamable HTTP. Who says for each new session which gateway it uses, by the token that its request
// shows; nil refuses it. Sessions are few for each token, and end when they are idle or their token is revoked.
func Handler(who func(*http.Request) Gateway, version string, now func() time.Time) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{SessionTimeout: lastIdle, MaxRequestBodyBytes: maxBody})
	all := &sessions{now: now}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, problem := check(w, r)
		if problem != nil {
			problem.write(w, id)
			return
		}
		caller, _ := api.CallerOf(r.Context())
		defer func() {
			if !caller.Still() {
				all.endOf(caller.Token)
			}
		}()
		name := r.Header.Get(sessionHeader)
		if r.Method != http.MethodPost || name != "" {
			defer all.use(name)()
			inner.ServeHTTP(w, r)
			return
		}
		var server *sdk.Server
		if gw := who(r); gw != nil {
			server = New(gw, version, now)
		}
		opened, problem := all.open(caller, server)
		if problem != nil {
			problem.write(w, id)
			return
		}
		defer all.opened(opened)
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, server)))
	})
}

const sessionHeader = "Mcp-Session-Id"

// serverKey is the key of the server that was made for a session's first request.
type serverKey struct{}

func serverOf(r *http.Request) *sdk.Server {
	s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
	return s
}

// session is one that is open, or being opened.
type session struct {
	token  string
	still  func() bool // whether the token stands
	server *sdk.Server // its own; empty when it has ended
	seen   time.Time   // the end of its last request
	under  int         // requests under way
}

func (s *session) ended() bool {
	if s.server != nil {
		for range s.server.Sessions() {
			return false
		}
	}
	return true
}

func (s *session) has(name string) bool {
	if s.server != nil {
		for each := range s.server.Sessions() {
			return each.ID() == name
		}
	}
	return false
}

// end closes it. A call that is under way has its answer first, which nobody waits for here.
func (s *session) end() {
	if s.server == nil {
		return
	}
	for each := range s.server.Sessions() {
		go func() { _ = each.Close() }() // it has ended when this fails
	}
}

// sessions are all that there are.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all []*session
}

// open takes the place of a new session, after those that are over have left theirs.
func (s *sessions) open(c api.Caller, server *sdk.Server) (*session, *refused) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(func(each *session) bool { return !each.still() })
	own := 0
	for _, each := range s.all {
		if each.token == c.Token {
			own++
		}
	}
	switch {
	case own >= maxEach:
		return nil, &refused{http.StatusTooManyRequests, codeRefused, fmt.Sprintf(
			"the token has %d MCP sessions open, the most there may be: end one (DELETE with its %s) or go on in one; idle ones end after %d minutes",
			own, sessionHeader, int(maxIdle.Minutes()))}
	case len(s.all) >= maxSessions:
		return nil, &refused{http.StatusServiceUnavailable, codeRefused, fmt.Sprintf(
			"the server has %d MCP sessions open, the most there may be: try again later, or have some ended; idle ones end after %d minutes",
			len(s.all), int(maxIdle.Minutes()))}
	}
	opened := &session{token: c.Token, still: c.Still, server: server, under: 1}
	s.all = append(s.all, opened)
	return opened, nil
}

// opened says that the first request of a session is over; one that did not introduce itself has ended with it.
func (s *sessions) opened(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left(of)
	if !slices.Contains(s.all, of) {
		of.end() // it was to end before it had begun
	}
	s.sweep(nil)
}

func (s *sessions) left(of *session) { of.under, of.seen = of.under-1, s.now() }

// use says that a request of a session is under way, until what it returns is called.
func (s *sessions) use(name string) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(nil)
	i := slices.IndexFunc(s.all, func(each *session) bool { return each.has(name) })
	if i < 0 {
		return func() {}
	}
	of := s.all[i]
	of.under++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left(of)
	}
}

// endOf ends the sessions of one token.
func (s *sessions) endOf(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(func(each *session) bool { return each.token == token })
}

// sweep ends what is idle, and what also says, and forgets what has ended.
func (s *sessions) sweep(also func(*session) bool) {
	now := s.now()
	s.all = slices.DeleteFunc(s.all, func(each *session) bool {
		idle := each.under == 0 && (now.Sub(each.seen) >= maxIdle || each.ended())
		if idle || also != nil && also(each) {
			each.end()
			return true
		}
		return false
	})
}

// refused is a refusal before any session sees a request.
type refused struct {
	status  int
	code    int64
	message string
}

// write answers with a JSON-RPC error to the message of that id.
func (p *refused) write(w http.ResponseWriter, id json.RawMessage) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": p.code, "message": p.message}})
	if err != nil {
		http.Error(w, p.message, p.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "60")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(b) // the caller has gone when this fails
}

// check reads the body of r, puts it back for the next reader, and refuses what would be answered under another id than
// its own. It returns the id of a single message. What cannot be read as messages is left to the protocol.
func check(w http.ResponseWriter, r *http.Request) (json.RawMessage, *refused) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, &refused{http.StatusRequestEntityTooLarge, codeRefused, fmt.Sprintf("the request has more than %d bytes, the most it may have: send less", maxBody)}
	case err != nil:
		return nil, &refused{http.StatusBadRequest, jsonrpc.CodeParseError, "the body ended early or came too slowly: send it again as a whole"}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	ids := idsOf(body)
	if slices.ContainsFunc(ids, func(id jsontext.Value) bool { return !exact(id) }) {
		return nil, &refused{http.StatusBadRequest, jsonrpc.CodeInvalidRequest,
			"an id is a string, or a whole number of at most 2^53: any other number would come back as another one"}
	}
	if len(ids) == 1 {
		return json.RawMessage(ids[0]), nil
	}
	return nil, nil
}

// idsOf are the ids of a message, or of a batch of them.
func idsOf(body []byte) (ids []jsontext.Value) {
	type message struct {
		ID jsontext.Value `json:"id"`
	}
	lax := jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	all := make([]message, 1)
	var err error
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
		err = jsonv2.Unmarshal(body, &all, lax)
	} else {
		err = jsonv2.Unmarshal(body, &all[0], lax)
	}
	if err != nil {
		return nil
	}
	for _, m := range all {
		if m.ID != nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// exact tells whether an id comes back as it was sent: the protocol's library reads every number as a float64 and keeps
// its whole part.
func exact(id jsontext.Value) bool {
	if id.Kind() != '0' {
		return true
	}
	const most = 1 << 53
	whole, rest, _ := strings.Cut(string(id), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	return err == nil && strings.Trim(rest, "0") == "" && -most <= n && n <= most
}
