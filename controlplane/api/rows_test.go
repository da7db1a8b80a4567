package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/api/client"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

func TestOneActionOverHTTP(t *testing.T) {
	w := newWorld(t)
	events, err := w.ann.Events(w.ctx, controlplane.Filter{Actor: "bot1"})
	w.ok(err)
	defer events.Close()
	v := w.queued("bot1")
	d := w.next()
	w.ok(w.h.Accept(w.ctx, d))
	w.ok(w.h.Progress(w.ctx, d.Op, 1, 50, "placing"))
	w.ok(w.h.Report(w.ctx, hosttest.Proven(d.Op, 1)))
	done := w.is(w.look(v.ID), operation.Succeeded)
	if !done.ExecutionConfirmed || !done.Terminal || done.DeliveryAttempts != 1 || !done.MaySayDone {
		t.Errorf("%+v", done)
	}
	t.Run("CP-01/the view over HTTP is the gateway's own", func(t *testing.T) {
		own, err := w.g.Operation(w.ctx, annIs, v.ID)
		w.ok(err)
		sameJSON(t, own, done)
	})
	var states []string
	for !slicesHas(states, "succeeded") {
		c, err := events.Next()
		w.ok(err)
		if c.Op == v.ID {
			states = append(states, c.State.String())
		}
	}
	if diff := cmp.Diff([]string{"queued", "delivered", "accepted", "running", "succeeded"}, states); diff != "" {
		t.Error(diff)
	}
}

func TestDoneOverHTTP(t *testing.T) {
	t.Run("CP-73/what no receipt confirms may not be told as done", func(t *testing.T) {
		w := newWorld(t)
		v := w.queued("bot1")
		d := w.next()
		w.ok(w.h.Accept(w.ctx, d))
		if got := w.look(v.ID); got.MaySayDone {
			t.Errorf("while it is %s", got.State)
		}
		w.ok(w.h.Report(w.ctx, hosttest.Ended(d.Op, host.Succeeded, "seen", true)))
		if got := w.is(w.look(v.ID), operation.Succeeded); got.MaySayDone || got.ExecutionConfirmed {
			t.Errorf("%+v", got)
		}
	})
	t.Run("CP-73/a build is done when the receipts of its children are there", func(t *testing.T) {
		for _, proven := range []bool{true, false} {
			w := newWorld(t)
			r := w.request("bot1")
			r.Action.Capability, r.Task = "build_structure", "hut"
			parent, err := w.submit(r)
			w.ok(err)
			w.ok(w.h.Accept(w.ctx, w.next()))
			for _, key := range []string{"1", "2"} {
				_, err = served(w, func() (host.ChildView, error) {
					return w.h.Daemon.SubmitChild(w.ctx, w.h.Session(), host.Child{Parent: parent.ID, Key: key, Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{}`)}})
				})
				w.ok(err)
				d := w.next()
				w.ok(w.h.Accept(w.ctx, d))
				end := hosttest.Proven(d.Op, 1)
				if key == "2" && !proven {
					end = hosttest.Ended(d.Op, host.Succeeded, "seen", true)
				}
				w.ok(w.h.Report(w.ctx, end))
			}
			w.ok(w.h.Report(w.ctx, hosttest.Ended(parent.ID, host.Succeeded, "built", true)))
			v := w.is(w.look(parent.ID), operation.Succeeded)
			if v.MaySayDone != proven || v.ExecutionConfirmed || v.ChildrenConfirmed+v.ChildrenUnproven != 2 {
				t.Errorf("all proven %v: %+v", proven, v)
			}
		}
	})
}

func slicesHas(all []string, one string) bool { return strings.Contains(strings.Join(all, " "), one) }

// sameJSON compares what two values say.
func sameJSON(t *testing.T, a, b any) {
	t.Helper()
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	if errX != nil || errY != nil || !bytes.Equal(x, y) {
		t.Errorf("%v %v\n%s\n%s", errX, errY, x, y)
	}
}

func TestNothingIsStoredOfWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	good := w.request("bot1")
	submit, err := json.Marshal(good)
	w.ok(err)
	id := strings.Repeat("1", 32)
	routes := []struct{ method, path, body string }{
		{"GET", "/v1/actors", ""}, {"GET", "/v1/actors/bot1", ""}, {"GET", "/v1/actors/bot1/observation", ""},
		{"GET", "/v1/actors/bot1/capabilities", ""}, {"POST", "/v1/actors/bot1/read", `{"capability":"world_status","arguments":{}}`},
		{"POST", "/v1/actors/bot1/stop", `{"why":"x"}`}, {"POST", "/v1/actors/bot1/clear-stop", ""},
		{"GET", "/v1/actors/bot1/lease", ""}, {"POST", "/v1/actors/bot1/lease", `{"ttl_ms":60000}`},
		{"POST", "/v1/actors/bot1/lease/renew", `{"lease":"x","ttl_ms":60000}`}, {"POST", "/v1/actors/bot1/lease/release", `{"lease":"x"}`},
		{"POST", "/v1/operations", string(submit)}, {"POST", "/v1/explain", string(submit)}, {"GET", "/v1/operations", ""},
		{"GET", "/v1/operations/" + id, ""}, {"GET", "/v1/wait?actor=bot1", ""}, {"POST", "/v1/operations/" + id + "/cancel", `{"why":"x"}`},
		{"POST", "/v1/operations/" + id + "/confirm", `{"challenge":"x","effect_digest":"` + strings.Repeat("0", 64) + `","approve":true}`},
		{"POST", "/v1/operations/" + id + "/accept", ""}, {"GET", "/v1/blueprints", ""}, {"GET", "/v1/stats", ""},
		{"POST", "/v1/tokens", `{"kind":"host","principal":"x"}`}, {"GET", "/v1/tokens", ""}, {"DELETE", "/v1/tokens/ann", ""}, {"GET", "/v1/events", ""},
	}
	grants := map[string]token.Grant{}
	for _, scope := range []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute, controlplane.ScopeConfirm, controlplane.ScopeCancel} {
		grants[scope.String()] = token.Grant{Kind: token.User, Principal: "eve", Scopes: []controlplane.Scope{scope}, Actors: []string{"*"}}
	}
	// The routes that each scope alone opens; every other one is forbidden to it.
	opens := map[string][]string{
		"read":    {"GET /v1/actors", "GET /v1/actors/bot1", "GET /v1/actors/bot1/observation", "GET /v1/actors/bot1/capabilities", "POST /v1/actors/bot1/read", "GET /v1/actors/bot1/lease", "GET /v1/operations", "GET /v1/operations/" + id, "GET /v1/wait?actor=bot1", "GET /v1/blueprints", "GET /v1/stats", "GET /v1/events"},
		"control": {"POST /v1/actors/bot1/lease", "POST /v1/actors/bot1/lease/renew", "POST /v1/actors/bot1/lease/release"},
		"execute": {"POST /v1/operations", "POST /v1/explain"},
		"confirm": {"POST /v1/operations/" + id + "/confirm"},
		"cancel":  {"POST /v1/operations/" + id + "/cancel"},
	}
	for scope, g := range grants {
		secret := w.token(g)
		before := w.engine.Stats().Writes
		t.Run("CP-03/the scope "+scope+" alone", func(t *testing.T) {
			for _, r := range routes {
				if slicesEqualAny(opens[scope], r.method+" "+r.path) {
					continue
				}
				status, body := w.raw(secret, r.method, r.path, r.body)
				if status != 403 || !strings.Contains(body, `"code":"forbidden"`) {
					t.Errorf("%s %s: %d %s", r.method, r.path, status, body)
				}
			}
			if after := w.engine.Stats().Writes; after != before {
				t.Errorf("%d writes", after-before)
			}
		})
	}
	t.Run("CP-02/a principal that is no id", func(t *testing.T) {
		server, err := api.New(api.Options{Gateway: w.g, Hosts: w.g.Host(), Tokens: badPrincipal{w.keeper}})
		w.ok(err)
		defer server.Close()
		before := w.engine.Stats().Writes
		for _, r := range routes {
			if strings.Contains(r.path, "tokens") || strings.Contains(r.path, "stats") {
				continue // not the gateway's
			}
			q, err := http.NewRequest(r.method, "http://127.0.0.1"+r.path, strings.NewReader(r.body))
			w.ok(err)
			q.Header.Set("Authorization", "Bearer x")
			if r.body != "" {
				q.Header.Set("Content-Type", "application/json")
			}
			rec := &recorded{header: http.Header{}}
			server.ServeHTTP(rec, q)
			if rec.status != 400 || !strings.Contains(rec.body.String(), `"code":"invalid"`) {
				t.Errorf("%s %s: %d %s", r.method, r.path, rec.status, &rec.body)
			}
		}
		if after := w.engine.Stats().Writes; after != before {
			t.Errorf("%d writes", after-before)
		}
	})
}

func slicesEqualAny(all []string, one string) bool {
	for _, each := range all {
		if each == one {
			return true
		}
	}
	return false
}

// badPrincipal finds every token to be one of a principal that is no id.
type badPrincipal struct{ *token.Keeper }

func (badPrincipal) Find(string) (token.Token, error) {
	return token.Token{Grant: token.Grant{ID: "x", Kind: token.User, Principal: "Not An Id", Actors: []string{"*"},
		Scopes: append(append([]controlplane.Scope{}, driver...), controlplane.ScopeConfirm, controlplane.ScopeAdmin)}}, nil
}

type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header         { return r.header }
func (r *recorded) WriteHeader(status int)      { r.status = status }
func (r *recorded) Write(b []byte) (int, error) { return r.body.Write(b) }

func TestAHiddenActorIsAnsweredLikeNone(t *testing.T) {
	w := newWorld(t)
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/actors/NAME", ""}, {"GET", "/v1/actors/NAME/observation", ""}, {"GET", "/v1/actors/NAME/capabilities", ""},
		{"POST", "/v1/actors/NAME/read", `{"capability":"world_status","arguments":{}}`},
		{"GET", "/v1/actors/NAME/lease", ""}, {"POST", "/v1/actors/NAME/lease", `{"ttl_ms":60000}`},
		{"POST", "/v1/actors/NAME/lease/renew", `{"lease":"x","ttl_ms":60000}`}, {"POST", "/v1/actors/NAME/lease/release", `{"lease":"x"}`},
		{"POST", "/v1/actors/NAME/stop", `{"why":"x"}`}, {"POST", "/v1/actors/NAME/clear-stop", ""},
		{"POST", "/v1/operations", `{"actor":"NAME","lease":"x","key":"k","epoch":{"host":1,"world":1,"timeline":1},"sequence":1,"action":{"capability":"place_block","arguments":{}}}`},
		{"POST", "/v1/explain", `{"actor":"NAME","lease":"x","key":"k","epoch":{"host":1,"world":1,"timeline":1},"sequence":1,"action":{"capability":"place_block","arguments":{}}}`},
		{"GET", "/v1/wait?actor=NAME&timeout_ms=0", ""}, {"GET", "/v1/operations?actor=NAME", ""},
	} {
		t.Run("CP-04/"+r.method+" "+r.path, func(t *testing.T) {
			ask := func(name string) (int, string) {
				status, body := w.raw(w.annToken, r.method, strings.ReplaceAll(r.path, "NAME", name), strings.ReplaceAll(r.body, "NAME", name))
				return status, strings.ReplaceAll(body, name, "NAME")
			}
			hiddenStatus, hidden := ask("far1") // it exists, and ann does not see it
			unknownStatus, unknown := ask("far2")
			if hiddenStatus != unknownStatus || hidden != unknown {
				t.Errorf("hidden: %d %s\nunknown: %d %s", hiddenStatus, hidden, unknownStatus, unknown)
			}
			if hiddenStatus == 200 && r.path != "/v1/operations?actor=NAME" {
				t.Errorf("answered: %s", hidden)
			}
		})
	}
	t.Run("CP-04/an operation of a hidden actor", func(t *testing.T) {
		far := w.token(token.Grant{Kind: token.User, Principal: "zoe", Scopes: driver, Actors: []string{"far1"}})
		c := w.client(far)
		lease, err := c.Acquire(w.ctx, "far1", time.Minute)
		w.ok(err)
		epoch, seq := w.h.Seen("far1")
		v, err := served(w, func() (operation.View, error) {
			return c.Submit(w.ctx, controlplane.SubmitRequest{Actor: "far1", Lease: lease.ID, Key: "k", Epoch: epoch, Sequence: seq,
				Action: host.Action{Capability: "place_block", Arguments: json.RawMessage(`{}`)}})
		})
		w.ok(err)
		for _, path := range []string{"/v1/operations/ID", "/v1/wait?timeout_ms=0&operation=ID"} {
			ask := func(id string) (int, string) {
				status, body := w.raw(w.annToken, "GET", strings.ReplaceAll(path, "ID", id), "")
				return status, strings.ReplaceAll(body, id, "ID")
			}
			hiddenStatus, hidden := ask(v.ID.String())
			unknownStatus, unknown := ask(strings.Repeat("1", 32))
			if hiddenStatus != unknownStatus || hidden != unknown || hiddenStatus != 404 {
				t.Errorf("hidden: %d %s\nunknown: %d %s", hiddenStatus, hidden, unknownStatus, unknown)
			}
		}
	})
}

func TestNoSecretIsWrittenDown(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.config.Rules = []policy.Rule{{ID: "ask", Layer: policy.LayerServer, Match: policy.Match{Risks: []policy.Risk{policy.RiskLow}}, Result: policy.Confirm}}
	})
	v, err := w.submit(w.request("bot1"))
	w.ok(err)
	w.is(v, operation.AwaitingConfirmation)
	seen, err := w.pat.Operation(w.ctx, v.ID)
	w.ok(err)
	if seen.Challenge == nil || v.Challenge != nil {
		t.Fatalf("the challenge is for those who may confirm: %+v, %+v", v.Challenge, seen.Challenge)
	}
	challenge := seen.Challenge.ID
	// Wrong tokens and a wrong challenge are refused, and a body that is none; nothing of them is written down either.
	w.raw("bw_wrong-token-of-somebody", "GET", "/v1/actors", "")
	w.raw(w.annToken, "POST", "/v1/operations", `{"password":"hunter2-hunter2"}`)
	w.raw(w.annToken, "GET", "/v1/operations?token=hunter2-hunter2", "")
	_, err = w.pat.Confirm(w.ctx, controlplane.ConfirmRequest{Op: v.ID, Challenge: challenge, Digest: seen.EffectDigest, Approve: true})
	w.ok(err)
	w.ok(w.h.Perform(w.ctx, w.next()))
	w.is(w.look(v.ID), operation.Succeeded)

	files := map[string][]byte{"the log": []byte(w.log.String())}
	w.ok(filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path], err = os.ReadFile(path)
		}
		return err
	}))
	find := func(t *testing.T, what, secret string) {
		t.Helper()
		for name, b := range files {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %s", name, what)
			}
		}
	}
	t.Run("CP-49/no challenge", func(t *testing.T) { find(t, "the challenge", challenge) })
	t.Run("CP-21/no token", func(t *testing.T) {
		for _, secret := range w.secrets {
			find(t, "a token", secret)
			find(t, "a token's key", secret[3:])
		}
		find(t, "a host's session", w.h.Session().Token)
		find(t, "a wrong token", "wrong-token-of-somebody")
		find(t, "what a refused body or query said", "hunter2")
	})
	if len(files["the log"]) == 0 {
		t.Error("there is no log to look at")
	}
}

func TestReadsChangeNoByte(t *testing.T) {
	w := newWorld(t)
	v := w.queued("bot1")
	digest, err := w.ann.PutBlueprint(w.ctx, "hut", []byte("plan"))
	w.ok(err)
	dry := w.request("bot1") // renews the lease
	file := filepath.Join(w.dir, "control.db")
	before, err := os.ReadFile(file)
	w.ok(err)
	for name, read := range map[string]func() error{
		"actors":       func() error { _, err := w.ann.Actors(w.ctx); return err },
		"actor":        func() error { _, err := w.ann.Actor(w.ctx, "bot1"); return err },
		"observe":      func() error { _, err := w.ann.Observe(w.ctx, "bot1"); return err },
		"capabilities": func() error { _, err := w.ann.Capabilities(w.ctx, "bot1"); return err },
		"lease":        func() error { _, err := w.ann.LeaseOf(w.ctx, "bot1"); return err },
		"a read of the host": func() error {
			_, err := served(w, func() (json.RawMessage, error) {
				return w.ann.Read(w.ctx, "bot1", host.Action{Capability: "world_status", Arguments: json.RawMessage(`{}`)})
			})
			return err
		},
		"an operation": func() error { _, err := w.ann.Operation(w.ctx, v.ID); return err },
		"operations":   func() error { _, err := w.ann.Operations(w.ctx, controlplane.Filter{Actor: "bot1"}); return err },
		"a wait":       func() error { _, err := w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID}); return err },
		"blueprints":   func() error { _, err := w.ann.Blueprints(w.ctx); return err },
		"a blueprint":  func() error { _, err := w.h.Daemon.Blueprint(w.ctx, w.h.Session(), digest.Digest); return err },
		"stats":        func() error { _, err := w.ann.Stats(w.ctx); return err },
		"tokens":       func() error { _, err := w.root.Tokens(w.ctx); return err },
		"whoami":       func() error { _, err := w.ann.Me(w.ctx); return err },
		"backup":       func() error { _, err := w.root.Backup(w.ctx, io.Discard); return err },
		"metrics":      func() error { w.raw(w.annToken, "GET", "/metrics", ""); return nil },
		"the document": func() error { w.raw("", "GET", "/openapi.json", ""); return nil },
		"events":       func() error { s, err := w.ann.Events(w.ctx, controlplane.Filter{}); s.Close(); return err },
		"a dry run": func() error {
			e, err := served(w, func() (controlplane.Explanation, error) { return w.ann.Explain(w.ctx, dry) })
			if err == nil && (e.Bound == nil || len(e.Lines) == 0) {
				t.Errorf("it explains nothing: %+v", e)
			}
			return err
		},
		"a refused token": func() error { w.raw("bw_x", "GET", "/v1/actors", ""); return nil },
	} {
		t.Run("RU-05/"+name, func(t *testing.T) {
			if err := read(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed (%v)", err)
			}
		})
	}
}

func TestWaitsOverHTTP(t *testing.T) {
	w := newWorld(t)
	v := w.queued("bot1")
	first, err := w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID})
	w.ok(err)
	t.Run("CP-80/25 seconds at most", func(t *testing.T) {
		_, err := w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID, TimeoutMS: 25_001})
		w.code(err, controlplane.CodeInvalid)
		_, err = w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID, TimeoutMS: 25_000})
		w.ok(err)
	})
	t.Run("CP-80/a cursor is opaque, and a mangled one gives the present view", func(t *testing.T) {
		if first.Cursor == "" || strings.Contains(first.Cursor, v.ID.String()) {
			t.Errorf("cursor %q", first.Cursor)
		}
		for _, cursor := range []string{"x", first.Cursor + "x", first.Cursor[1:], "\x00\xff", strings.Repeat("a", 4000)} {
			r, err := w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: 25_000})
			w.ok(err)
			if r.Operation == nil || r.Operation.ID != v.ID {
				t.Errorf("%q: %+v", cursor, r)
			}
		}
	})
	t.Run("CP-81/the end of a wait cancels nothing", func(t *testing.T) {
		done := make(chan error, 1)
		var r controlplane.WaitResult
		go func() {
			var err error
			r, err = w.ann.Wait(w.ctx, controlplane.WaitRequest{Op: v.ID, Cursor: first.Cursor, TimeoutMS: 1000})
			done <- err
		}()
		w.until("the wait", func() bool { return w.g.Stats().Waiters > 0 })
		w.clock.Advance(time.Second)
		w.ok(w.g.Sweep())
		w.ok(<-done)
		if r.Changed || w.is(w.look(v.ID), operation.Queued).CancelRequested != "" {
			t.Errorf("%+v", r)
		}
		w.ok(w.h.Perform(w.ctx, w.next()))
		w.is(w.look(v.ID), operation.Succeeded)
	})
}

func TestAStopHoldsOverHTTP(t *testing.T) {
	w := newWorld(t)
	request, other := w.request("bot1"), w.request("bot2")
	_, err := w.ann.Stop(w.ctx, "bot1", "enough")
	w.ok(err)
	t.Run("CP-98/both sources are refused alike", func(t *testing.T) {
		_, outside := w.ann.Submit(w.ctx, request)
		_, inside := w.g.Submit(w.ctx, annIs, request)
		w.code(outside, controlplane.CodeStopped)
		w.code(inside, controlplane.CodeStopped)
		if outside.Error() != inside.Error() {
			t.Errorf("%v\n%v", outside, inside)
		}
	})
	t.Run("CP-97/another actor goes on, a stranger lifts nothing", func(t *testing.T) {
		v, err := w.submit(other)
		w.ok(err)
		w.is(v, operation.Queued)
		_, err = w.pat.ClearStop(w.ctx, "bot1")
		w.code(err, controlplane.CodeForbidden)
	})
	t.Run("CP-101/after the clear an old lease is not enough", func(t *testing.T) {
		_, err := w.ann.ClearStop(w.ctx, "bot1")
		w.ok(err)
		if _, err := w.ann.Submit(w.ctx, request); err == nil {
			t.Error("taken")
		}
	})
}

// losing drops the first answers of a kind after the server has given them.
type losing struct {
	path string
	left atomic.Int32
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.URL.Path == l.path && l.left.Add(-1) >= 0 {
		res.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return res, err
}

func TestALostAnswerIsAskedForAgain(t *testing.T) {
	w := newWorld(t)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	l := &losing{path: "/v1/operations"}
	l.left.Store(2)
	c, err := client.New(client.Options{Base: w.web.URL, Token: w.annToken, HTTP: &http.Client{Transport: l}})
	w.ok(err)
	t.Run("CP-77/the same request is the same operation", func(t *testing.T) {
		r := w.request("bot1")
		v, err := served(w, func() (operation.View, error) { return c.Submit(w.ctx, r) })
		w.ok(err)
		page, err := w.ann.Operations(w.ctx, controlplane.Filter{Actor: "bot1"})
		w.ok(err)
		if len(page.Operations) != 1 || page.Operations[0].ID != v.ID || w.h.Binds() != 1 || l.left.Load() >= 0 {
			t.Errorf("%d operations, %d binds", len(page.Operations), w.h.Binds())
		}
	})
}

func TestResultsTellNothingPrivate(t *testing.T) {
	w := newWorld(t)
	v := w.queued("bot1")
	d := w.next()
	w.ok(w.h.Perform(w.ctx, d))
	status, body := w.raw(w.annToken, "GET", "/v1/operations/"+v.ID.String(), "")
	t.Run("RU-09/no private field of the host", func(t *testing.T) {
		lease, err := w.ann.LeaseOf(w.ctx, "bot1")
		w.ok(err)
		for what, private := range map[string]string{"the lease": lease.ID, "the binding": string(d.Bound.Binding), "the session": w.h.Session().Token, "a member binding": `"binding"`} {
			if private != "" && strings.Contains(body, private) {
				t.Errorf("%s is told: %d %s", what, status, body)
			}
		}
	})
	t.Run("RU-09/another's lease is shown without its id", func(t *testing.T) {
		seen, err := w.pat.LeaseOf(w.ctx, "bot1")
		w.ok(err)
		if seen.Holder != "ann" || seen.ID != "" {
			t.Errorf("%+v", seen)
		}
	})
	t.Run("RU-09/the contract of every effect is whole", func(t *testing.T) {
		all, err := w.ann.Contracts(w.ctx, "bot1")
		w.ok(err)
		for _, c := range all {
			k := c.Contract
			if k.Capability != c.Name || k.Authority != host.ClientAdvisory || len(k.Request) == 0 || k.Result == "" || k.Idempotency == "" || k.Receipt == "" ||
				k.Rollback == "" || (k.DryRun == "") != (c.Kind == host.KindRead) {
				t.Errorf("%+v", k)
			}
		}
	})
}

func TestTokensOverHTTP(t *testing.T) {
	w := newWorld(t)
	made, err := w.root.MakeToken(w.ctx, v1.TokenGrant{ID: "agent", Kind: "user", Principal: "agent", Scopes: []controlplane.Scope{controlplane.ScopeRead}, Actors: []string{"bot1"}})
	w.ok(err)
	agent := w.client(made.Secret)
	actors, err := agent.Actors(w.ctx)
	w.ok(err)
	if len(actors) != 1 || actors[0].ID != "bot1" {
		t.Errorf("%+v", actors)
	}
	all, err := w.root.Tokens(w.ctx)
	w.ok(err)
	if len(all) != 5 {
		t.Errorf("%+v", all)
	}
	_, err = w.root.RevokeToken(w.ctx, "agent")
	w.ok(err)
	_, err = agent.Actors(w.ctx)
	w.code(err, token.CodeRevoked)
	_, err = w.root.MakeToken(w.ctx, v1.TokenGrant{Kind: "user", Principal: "agent", Scopes: []controlplane.Scope{controlplane.ScopeExecute}, Actors: []string{"bot1"}})
	w.code(err, controlplane.CodeForbidden)
	short, err := w.root.MakeToken(w.ctx, v1.TokenGrant{Kind: "host", Principal: "other", Expires: w.clock.Now().Add(time.Minute).UnixMilli()})
	w.ok(err)
	h := hosttest.New(w.daemon(short.Secret), "other", "bot9")
	w.ok(h.Join(w.ctx))
	w.clock.Advance(time.Minute)
	_, err = h.PollOnce(w.ctx, 1, 0)
	w.code(err, token.CodeExpired)
}
