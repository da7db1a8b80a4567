package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// world is a whole control plane on a file, reached over HTTP with tokens, and a scripted host.
type world struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	clock  *hosttest.Clock
	engine store.Engine
	g      *controlplane.Gateway
	keeper *token.Keeper
	server *api.Server
	web    *httptest.Server
	log    *safeBuffer
	h      *hosttest.Host
	n      int

	secrets        []string // all tokens that were made
	ann, pat, root *client.Client
	annToken       string
	limits         api.Limits
	config         policy.Config
	overHTTP       bool
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// The principals: ann drives bot1 and bot2 and owns them, pat confirms only, root is the admin. Nobody but root sees far1.
var (
	driver = []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute, controlplane.ScopeCancel}
	pats   = []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeConfirm}
	roots  = []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeAdmin}
	annIs  = controlplane.Principal{ID: "ann", Scopes: controlplane.Scopes(driver...), Actors: []string{"bot*"}}
)

func newWorld(t *testing.T, change ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), dir: t.TempDir(), clock: hosttest.NewClock(), log: &safeBuffer{}, overHTTP: true,
		config: policy.Config{Profile: policy.Open, Plots: []policy.Plot{{ID: "plot", Owner: "ann"}}}}
	for _, f := range change {
		f(w)
	}
	log := hclog.New(&hclog.LoggerOptions{Output: w.log, Level: hclog.Trace})
	var err error
	w.engine, err = store.Open(filepath.Join(w.dir, "control.db"), store.Options{})
	w.ok(err)
	t.Cleanup(func() { w.engine.Close() })
	p, err := policy.Compile(w.config)
	w.ok(err)
	w.g, err = controlplane.New(controlplane.Options{Engine: w.engine, Policy: p, Now: w.clock.Now, Rand: rand.NewChaCha8([32]byte{1}), Log: log,
		Owners: map[host.Name]host.Name{"bot1": "ann", "bot2": "ann"}})
	w.ok(err)
	t.Cleanup(func() { w.g.Close() })
	w.keeper = token.New(w.engine, w.clock.Now, nil)
	w.server, err = api.New(api.Options{Gateway: w.g, Hosts: w.g.Host(), Tokens: w.keeper, Log: log, Limits: w.limits, Backup: w.engine.Backup})
	w.ok(err)
	w.web = httptest.NewServer(w.server)
	t.Cleanup(w.web.Close)
	t.Cleanup(w.server.Close)
	w.annToken = w.token(token.Grant{ID: "ann", Kind: token.User, Principal: "ann", Scopes: driver, Actors: []string{"bot*"}})
	w.ann = w.client(w.annToken)
	w.pat = w.client(w.token(token.Grant{ID: "pat", Kind: token.User, Principal: "pat", Scopes: pats, Actors: []string{"*"}}))
	w.root = w.client(w.token(token.Grant{ID: "root", Kind: token.User, Principal: "root", Scopes: roots, Actors: []string{"*"}}))
	w.h = w.host("home", "bot1", "bot2", "far1")
	w.ok(w.h.Join(w.ctx))
	return w
}

func (w *world) token(g token.Grant) string {
	w.t.Helper()
	secret, _, err := w.keeper.Make(g)
	w.ok(err)
	w.secrets = append(w.secrets, secret)
	return secret
}

func (w *world) client(secret string) *client.Client {
	w.t.Helper()
	c, err := client.New(client.Options{Base: w.web.URL, Token: secret})
	w.ok(err)
	w.t.Cleanup(c.Close)
	return c
}

// host is a scripted host with a token of its own, over HTTP or in the process.
func (w *world) host(name host.Name, actors ...host.Name) *hosttest.Host {
	w.t.Helper()
	if !w.overHTTP {
		return hosttest.New(w.g.Host(), name, actors...)
	}
	return hosttest.New(w.daemon(w.token(token.Grant{Kind: token.Host, Principal: name})), name, actors...)
}

func (w *world) daemon(secret string) *client.HostClient {
	w.t.Helper()
	c, err := client.NewHost(client.Options{Base: w.web.URL, Token: secret})
	w.ok(err)
	w.t.Cleanup(c.Close)
	return c
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) code(err error, want controlplane.Code) {
	w.t.Helper()
	if got := controlplane.CodeOf(err); got != want {
		w.t.Fatalf("code %q (%v), want %q", got, err, want)
	}
}

// request is a placement of ann's under the present conditions, with a key of its own.
func (w *world) request(actor host.Name) controlplane.SubmitRequest {
	w.t.Helper()
	w.n++
	lease, err := w.ann.Acquire(w.ctx, actor, time.Minute)
	w.ok(err)
	seen, err := w.ann.Observe(w.ctx, actor)
	w.ok(err)
	return controlplane.SubmitRequest{Actor: actor, Lease: lease.ID, Key: fmt.Sprintf("key-%d", w.n), Epoch: seen.Epoch, Sequence: seen.Sequence,
		Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(fmt.Sprintf(`{"pos":[%d,64,0]}`, w.n))}}
}

// served runs a call that asks the host, and answers for the host until the call ends. What is queued stays queued.
func served[T any](w *world, f func() (T, error)) (T, error) {
	type end struct {
		v   T
		err error
	}
	done := make(chan end, 1)
	go func() {
		v, err := f()
		done <- end{v, err}
	}()
	for {
		select {
		case e := <-done:
			return e.v, e.err
		default:
		}
		if w.g.Stats().Gateways > 0 {
			if _, err := w.h.PollOnce(w.ctx, 1, 0); err != nil {
				var none T
				return none, fmt.Errorf("the host failed: %w", err)
			}
		}
		runtime.Gosched()
	}
}

func (w *world) submit(r controlplane.SubmitRequest) (operation.View, error) {
	return served(w, func() (operation.View, error) { return w.ann.Submit(w.ctx, r) })
}

func (w *world) queued(actor host.Name) operation.View {
	w.t.Helper()
	v, err := w.submit(w.request(actor))
	w.ok(err)
	return w.is(v, operation.Queued)
}

func (w *world) is(v operation.View, want operation.State) operation.View {
	w.t.Helper()
	if v.State != want {
		w.t.Fatalf("operation is %v (%+v), want %v", v.State, v.Rejection, want)
	}
	return v
}

func (w *world) look(id host.OpID) operation.View {
	w.t.Helper()
	v, err := w.ann.Operation(w.ctx, id)
	w.ok(err)
	return v
}

func (w *world) next() host.Delivery {
	w.t.Helper()
	d, err := w.h.Next(w.ctx)
	w.ok(err)
	return d
}

// until waits for what another goroutine does.
func (w *world) until(what string, f func() bool) {
	w.t.Helper()
	for start := time.Now(); !f(); runtime.Gosched() {
		if time.Since(start) > 20*time.Second {
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// raw sends a request as it is with ann's token and returns status and body.
func (w *world) raw(secret, method, path, body string) (int, string) {
	w.t.Helper()
	q, err := http.NewRequestWithContext(w.ctx, method, w.web.URL+path, bytes.NewReader([]byte(body)))
	w.ok(err)
	q.Header.Set("Authorization", "Bearer "+secret)
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	res, err := w.web.Client().Do(q)
	w.ok(err)
	defer res.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	w.ok(err)
	return res.StatusCode, b.String()
}
