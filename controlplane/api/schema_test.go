package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// document is the committed document, as an independent validator reads it.
type document struct {
	Paths map[string]map[string]struct {
		OperationID string `json:"operationId"`
		RequestBody struct {
			Content map[string]struct{ Schema json.RawMessage }
		} `json:"requestBody"`
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
	resolved   map[string]*jsonschema.Resolved
}

func readDocument(t *testing.T) *document {
	t.Helper()
	b, err := os.ReadFile("zz_openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &document{resolved: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte("#/components/schemas/"), []byte("#/$defs/")), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check holds a body to a schema of the document.
func (d *document) check(t *testing.T, what string, schema json.RawMessage, body []byte) {
	t.Helper()
	r := d.resolved[string(schema)]
	if r == nil {
		whole := map[string]any{}
		if err := json.Unmarshal(schema, &whole); err != nil {
			t.Fatal(err)
		}
		whole["$defs"] = d.Components.Schemas
		b, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if r, err = s.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		d.resolved[string(schema)] = r
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s: %v in %s", what, err, body)
		return
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%s: %v\n%s", what, err, body)
	}
}

// exchange is one request with its answer.
type exchange struct {
	method, path, media string
	request, answer     []byte
	status              int
}

// watched remembers what went through a handler.
type watched struct {
	http.Handler
	mu  sync.Mutex
	all []exchange
}

func (wd *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	wd.Handler.ServeHTTP(rec, r)
	wd.mu.Lock()
	wd.all = append(wd.all, exchange{r.Method, r.URL.EscapedPath(), rec.Header().Get("Content-Type"), body, rec.Body.Bytes(), rec.Code})
	wd.mu.Unlock()
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// TestTheDocumentIsTrue holds what really goes over the wire to the document, both ways.
func TestTheDocumentIsTrue(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.config.Rules = []policy.Rule{{ID: "ask", Layer: policy.LayerServer, Match: policy.Match{Kinds: []policy.Kind{policy.KindActorMove}}, Result: policy.Confirm}}
	})
	wd := &watched{Handler: w.server}
	w.web.Config.Handler = wd
	everything(w)

	d := readDocument(t)
	seen := map[string]bool{}
	for _, e := range wd.all {
		for path, methods := range d.Paths {
			op, ok := methods[strings.ToLower(e.method)]
			if !ok || !regexp.MustCompile("^"+regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "[^/]+")+"$").MatchString(e.path) {
				continue
			}
			what := e.method + " " + path
			if m, ok := op.RequestBody.Content["application/json"]; ok && e.status < 300 {
				d.check(t, what+" asked", m.Schema, e.request)
			}
			switch {
			case e.status >= 400:
				d.check(t, what+" refused", op.Responses["default"].Content["application/problem+json"].Schema, e.answer)
			case e.status == 200 && e.media == "application/json":
				seen[op.OperationID] = true
				d.check(t, what, op.Responses["200"].Content["application/json"].Schema, e.answer)
			default:
				seen[op.OperationID] = true
			}
		}
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if !seen[op.OperationID] && op.OperationID != "events" {
				t.Errorf("%s %s was never answered with success", method, path)
			}
		}
	}
}

// everything asks for everything there is, once at least.
func everything(w *world) {
	w.t.Helper()
	ctx := w.ctx
	w.ok(w.h.Join(ctx))
	w.raw(w.annToken, "GET", "/healthz", "")
	w.raw(w.annToken, "GET", "/openapi.json", "")
	w.raw(w.annToken, "GET", "/metrics", "")
	w.raw(w.annToken, "GET", "/v1/operations?nothing=1", "")
	_, err := w.ann.Actors(ctx)
	w.ok(err)
	_, err = w.ann.Actor(ctx, "bot1")
	w.ok(err)
	_, err = w.ann.Contracts(ctx, "bot1")
	w.ok(err)
	_, err = served(w, func() (json.RawMessage, error) {
		return w.ann.Read(ctx, "bot1", host.Action{Capability: "world_status", Arguments: json.RawMessage(`{}`)})
	})
	w.ok(err)
	done := w.queued("bot1")
	d := w.next()
	w.ok(w.h.Accept(ctx, d))
	w.ok(w.h.Progress(ctx, d.Op, 1, 10, "placing"))
	w.ok(w.h.Report(ctx, hosttest.Proven(d.Op, 1)))
	w.look(done.ID)
	unknown := w.queued("bot1")
	d = w.next()
	w.ok(w.h.Accept(ctx, d))
	w.ok(w.h.Report(ctx, hosttest.Ended(d.Op, host.Unknown, "unverified_effect", true)))
	_, err = w.root.AcceptUnverified(ctx, unknown.ID)
	w.ok(err)
	move := w.request("bot1")
	move.Action.Capability = "move_to"
	explained, err := served(w, func() (controlplane.Explanation, error) { return w.ann.Explain(ctx, move) })
	w.ok(err)
	if explained.Bound == nil {
		w.t.Error("nothing explained")
	}
	asked, err := w.submit(move)
	w.ok(err)
	w.is(asked, operation.AwaitingConfirmation)
	seen, err := w.pat.Operation(ctx, asked.ID)
	w.ok(err)
	_, err = w.pat.Confirm(ctx, controlplane.ConfirmRequest{Op: asked.ID, Challenge: seen.Challenge.ID, Digest: seen.EffectDigest, Approve: true})
	w.ok(err)
	_, err = w.ann.Cancel(ctx, asked.ID, "enough")
	w.ok(err)
	w.h.Bind = func(q host.Gateway) host.Answer { return hosttest.Refusal(q, "no_support", "nothing to place it on") }
	refused := w.queuedOr(operation.Rejected)
	w.h.Bind = nil
	_, err = w.ann.Wait(ctx, controlplane.WaitRequest{Op: refused.ID})
	w.ok(err)
	_, err = w.ann.Wait(ctx, controlplane.WaitRequest{Actor: "bot1"})
	w.ok(err)
	_, err = w.ann.Operations(ctx, controlplane.Filter{Actor: "bot1", Limit: 2})
	w.ok(err)
	_, err = w.ann.LeaseOf(ctx, "bot1")
	w.ok(err)
	everythingElse(w)
}

// queuedOr submits a placement that ends in another state than queued.
func (w *world) queuedOr(state operation.State) operation.View {
	w.t.Helper()
	v, err := w.submit(w.request("bot1"))
	w.ok(err)
	return w.is(v, state)
}

func everythingElse(w *world) {
	w.t.Helper()
	ctx := w.ctx
	plan, err := w.ann.PutBlueprint(ctx, "hut", []byte("plan"))
	w.ok(err)
	_, err = w.ann.Blueprints(ctx)
	w.ok(err)
	_, err = w.h.Daemon.Blueprint(ctx, w.h.Session(), plan.Digest)
	w.ok(err)
	macro := w.request("bot1")
	macro.Action.Capability, macro.Task = "build_structure", "hut"
	parent, err := w.submit(macro)
	w.ok(err)
	w.ok(w.h.Accept(ctx, w.next()))
	_, err = served(w, func() (host.ChildView, error) {
		return w.h.Daemon.SubmitChild(ctx, w.h.Session(), host.Child{Parent: parent.ID, Key: "1", Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{}`)}})
	})
	w.ok(err)
	lease, err := w.ann.Acquire(ctx, "bot2", time.Minute)
	w.ok(err)
	_, err = w.ann.Renew(ctx, "bot2", lease.ID, time.Minute)
	w.ok(err)
	w.ok(w.ann.Release(ctx, "bot2", lease.ID))
	_, err = w.ann.Stop(ctx, "bot1", "enough")
	w.ok(err)
	_, err = w.h.PollOnce(ctx, 64, 0)
	w.ok(err)
	_, err = w.ann.ClearStop(ctx, "bot1")
	w.ok(err)
	_, err = w.ann.Stats(ctx)
	w.ok(err)
	_, err = w.ann.Me(ctx)
	w.ok(err)
	_, err = w.root.Backup(ctx, io.Discard)
	w.ok(err)
	_, err = w.root.MakeToken(ctx, v1.TokenGrant{ID: "x", Kind: "host", Principal: "x"})
	w.ok(err)
	_, err = w.root.Tokens(ctx)
	w.ok(err)
	_, err = w.root.RevokeToken(ctx, "x")
	w.ok(err)
	_, err = w.h.Daemon.Renew(ctx, w.h.Session())
	w.ok(err)
	w.ok(w.h.Daemon.Unregister(ctx, w.h.Session()))
}
