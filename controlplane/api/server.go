package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/hashicorp/go-hclog"

	"blockworld/controlplane"
	"blockworld/controlplane/token"
)

// Options make a server. Gateway and Hosts are required; every other zero means its default.
type Options struct {
	Gateway Gateway
	Hosts   HostService
	Tokens  Tokens                 // who may call; nil: everybody who reaches the server is Local
	Local   controlplane.Principal // with tokens off
	Limits  Limits
	Version string // of the program, for the document
	Log     hclog.Logger
	Backup  func(io.Writer) error // writes a copy of the store; nil: there is none to copy
}

// Server answers HTTP. Its zero value is of no use; New makes one.
type Server struct {
	gateway Gateway
	hosts   HostService
	tokens  Tokens
	local   controlplane.Principal
	limits  Limits
	log     hclog.Logger
	store   func(io.Writer) error // writes a copy of it

	huma     huma.API
	mux      *http.ServeMux
	patterns []string // of the routes and of what is mounted, method and path
	doc      []byte
	rooms    [rooms]*crowd
	counts   *counts

	ctx context.Context // ends with Close; waits and streams end with it
	end context.CancelFunc
}

// New makes a server; nothing listens yet.
func New(o Options) (*Server, error) {
	if o.Gateway == nil || o.Hosts == nil {
		return nil, fmt.Errorf("a server needs a gateway and a host service")
	}
	if o.Tokens == nil {
		if err := o.Local.ID.Check("local principal"); err != nil {
			return nil, fmt.Errorf("tokens are off, and everybody would be nobody: %w", err)
		}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	s := &Server{
		gateway: o.Gateway, hosts: o.Hosts, tokens: o.Tokens, local: o.Local, limits: o.Limits.orDefaults(), log: o.Log, store: o.Backup,
		mux: http.NewServeMux(),
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.rooms = newRooms(s.limits)
	s.counts = newCounts(o.Gateway.Stats)
	s.huma = humago.New(s, s.config(o.Version))
	s.addRoutes()
	s.finishDocument()
	if err := s.writeDocument(); err != nil {
		return nil, err
	}
	s.HandleFunc("GET /healthz", s.health)
	s.HandleFunc("GET /openapi.json", s.document)
	s.HandleFunc("GET /metrics", s.guard(quick, 0, s.metrics()).ServeHTTP)
	return s, nil
}

// HandleFunc registers a route as it is, for the framework. Other protocols come in by Mount.
func (s *Server) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, h)
}

// Close ends every wait and stream. Requests that come later are refused.
func (s *Server) Close() { s.end() }

// Mount adds a handler of another protocol for users, behind the same tokens and limits. CallerOf tells it who calls; its
// streams may last, and end with the token that they were asked for with.
func (s *Server) Mount(pattern string, h http.Handler) {
	s.HandleFunc(pattern, s.guard(mounted, s.limits.Foreign, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // what has no deadlines needs none moved
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go s.watch(ctx, cancel)
		h.ServeHTTP(w, r.WithContext(ctx))
	})))
}

// watch ends a request whose token is one no more.
func (s *Server) watch(ctx context.Context, end context.CancelFunc) {
	beat := time.NewTicker(s.limits.Beat)
	defer beat.Stop()
	who, _ := CallerOf(ctx)
	for {
		select {
		case <-beat.C:
			if !who.Still() {
				end()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// Patterns lists what is answered: each route as the document has it, method and path, and what was mounted.
func (s *Server) Patterns() []string { return slices.Clone(s.patterns) }

// guard puts a handler for users behind tokens and limits. Like every route it takes its place with its body in hand.
func (s *Server) guard(in room, most int64, h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, leave, err := s.enter(r, token.User, in)
		if err != nil {
			s.writeProblem(w, err)
			return
		}
		defer leave()
		body, long := readBody(w, r, most)
		if long != nil {
			s.writeProblem(w, long)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // as in readInto
		if !s.rooms[in].enter() {
			s.writeProblem(w, errBusy())
			return
		}
		defer s.rooms[in].leave()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	}
}

// ServeHTTP answers one request. No request makes it panic: what does is a fault of ours, is logged, and is answered so.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &answer{ResponseWriter: w}
	h, pattern := s.mux.Handler(r)
	defer func() {
		if fault := recover(); fault == http.ErrAbortHandler {
			panic(fault) // a handler's way to cut the connection, which net/http knows
		} else if fault != nil {
			// The fault's text may hold parts of the request, so the log gets the place alone.
			s.log.Error("a handler panicked", "route", pattern, "at", panicPlace())
			if seen.status == 0 {
				s.writeProblem(seen, problem(controlplane.CodeInternal, "the server failed at this: its log says where"))
			}
		}
		s.counts.answered(pattern, seen.status)
		s.log.Debug("answered", "route", pattern, "status", seen.status)
	}()
	seen.Header().Set("X-Content-Type-Options", "nosniff")
	seen.Header().Set("Cache-Control", "no-store")
	switch {
	case s.ctx.Err() != nil:
		s.writeProblem(seen, problem(controlplane.CodeUnavailable, "the server is stopping: ask again when it is back"))
	case !sameSite(r, s.tokens != nil):
		s.writeProblem(seen, problem(CodeForeignOrigin, "this was sent by a web page of another site, or to a name that is not this machine's: ask from a program, or by 127.0.0.1"))
	case pattern == "":
		s.lost(seen, r, h)
	default:
		ctx, cancel := context.WithCancel(r.Context())
		defer context.AfterFunc(s.ctx, cancel)()
		defer cancel()
		s.mux.ServeHTTP(seen, r.WithContext(ctx))
	}
}

// lost answers a path or a method that no route has.
func (s *Server) lost(w http.ResponseWriter, r *http.Request, h http.Handler) {
	probe := &answer{ResponseWriter: discard{http.Header{}}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		allow := probe.Header().Get("Allow")
		w.Header().Set("Allow", allow)
		s.writeProblem(w, problem(CodeMethod, "this path takes %s", allow))
		return
	}
	s.writeProblem(w, problem(CodeNoRoute, "there is nothing at this path: /openapi.json lists what there is"))
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// answer remembers the status of an answer.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(b)
}

// Flush lets streams of handlers that were mounted go out line by line.
func (a *answer) Flush() {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush() // the reader has gone when this fails
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// discard is a writer whose answer nobody gets.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
