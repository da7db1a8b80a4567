package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/hosttest"
	"blockworld/controlplane/mcp"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// web is the protocol over HTTP behind tokens, on a stage.
type web struct {
	t      *testing.T
	server *api.Server
	keeper *token.Keeper
	clock  *hosttest.Clock
}

func newWeb(t *testing.T) *web {
	t.Helper()
	w := &web{t: t, clock: hosttest.NewClock()}
	w.keeper = token.New(store.Memory(), w.clock.Now, nil)
	g := set(t).g
	var err error
	if w.server, err = api.New(api.Options{Gateway: g, Hosts: g.Host(), Tokens: w.keeper}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Close)
	w.server.Mount("/mcp", mcp.Handler(func(r *http.Request) mcp.Gateway {
		c, _ := api.CallerOf(r.Context())
		return mcp.For(g, c.Principal)
	}, "test", w.clock.Now))
	return w
}

// token makes a token of a name that may only read.
func (w *web) token(id host.Name) string {
	w.t.Helper()
	secret, _, err := w.keeper.Make(token.Grant{ID: id, Kind: token.User, Principal: "watcher", Scopes: []controlplane.Scope{controlplane.ScopeRead}, Actors: []string{"bot*"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

func (w *web) ask(ctx context.Context, method, secret, session, body string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, "http://127.0.0.1/mcp", strings.NewReader(body)).WithContext(ctx)
	q.Header.Set("Authorization", "Bearer "+secret)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		q.Header.Set("Mcp-Session-Id", session)
	}
	a := httptest.NewRecorder()
	w.server.ServeHTTP(a, q)
	return a
}

func initialize(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
}

// open opens a session and returns its name; empty when it was refused, with the answer.
func (w *web) open(secret string) (string, *httptest.ResponseRecorder) {
	a := w.ask(w.t.Context(), "POST", secret, "", initialize("1"))
	if a.Code != 200 {
		return "", a
	}
	return a.Header().Get("Mcp-Session-Id"), a
}

func (w *web) fill(secret string, n int) (names []string) {
	w.t.Helper()
	for range n {
		name, a := w.open(secret)
		if name == "" {
			w.t.Fatalf("refused after %d: %d %s", len(names), a.Code, a.Body)
		}
		names = append(names, name)
	}
	return names
}

// alive tells whether a session answers.
func (w *web) alive(secret, session string) bool {
	return w.ask(w.t.Context(), "POST", secret, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).Code == 200
}

// problemOf is the error of an answer, and the id that it is for.
func problemOf(t *testing.T, a *httptest.ResponseRecorder) (id, message string, code int) {
	t.Helper()
	var m struct {
		JSONRPC string
		ID      json.RawMessage
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(a.Body.Bytes(), &m); err != nil || m.JSONRPC != "2.0" || m.Error.Message == "" {
		t.Fatalf("no JSON-RPC error: %d %s", a.Code, a.Body)
	}
	return string(m.ID), m.Error.Message, m.Error.Code
}

func TestSessionsOverHTTPAreFew(t *testing.T) {
	const each, all, idle = 16, 256, 15 * time.Minute
	t.Run("of one token", func(t *testing.T) {
		w := newWeb(t)
		a, b := w.token("a"), w.token("b")
		names := w.fill(a, each)
		_, refused := w.open(a)
		id, message, code := problemOf(t, refused)
		if refused.Code != 429 || id != "1" || code != -32000 || !strings.Contains(message, "DELETE") || refused.Header().Get("Retry-After") == "" {
			t.Errorf("%d %s", refused.Code, refused.Body)
		}
		w.fill(b, 1)
		if !w.alive(a, names[0]) {
			t.Error("one that was open does not go on")
		}
		if d := w.ask(t.Context(), "DELETE", a, names[0], ""); d.Code != 204 {
			t.Errorf("%d %s", d.Code, d.Body)
		}
		w.fill(a, 1)
	})
	t.Run("of all tokens", func(t *testing.T) {
		w := newWeb(t)
		for i := range all / each {
			w.fill(w.token(host.Name(fmt.Sprint("t", i))), each)
		}
		late := w.token("late")
		_, refused := w.open(late)
		if _, message, _ := problemOf(t, refused); refused.Code != 503 || !strings.Contains(message, "later") {
			t.Errorf("%d %s", refused.Code, refused.Body)
		}
		if _, err := w.keeper.Revoke("t0"); err != nil {
			t.Fatal(err)
		}
		w.fill(late, each)
		if _, refused = w.open(w.token("later")); refused.Code != 503 {
			t.Errorf("%d %s", refused.Code, refused.Body)
		}
	})
	t.Run("idle ones end", func(t *testing.T) {
		w := newWeb(t)
		a := w.token("a")
		names := w.fill(a, each)
		w.clock.Advance(idle - time.Second)
		if !w.alive(a, names[0]) {
			t.Error("one ended early")
		}
		w.clock.Advance(time.Second)
		w.fill(a, each-1)
		if _, refused := w.open(a); refused.Code != 429 {
			t.Errorf("the one that was used has ended: %d", refused.Code)
		}
		if !w.alive(a, names[0]) {
			t.Error("the one that was used does not answer")
		}
	})
	t.Run("what opens no session takes no place", func(t *testing.T) {
		w := newWeb(t)
		a := w.token("a")
		for range 2 * each {
			w.ask(t.Context(), "POST", a, "", `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			w.ask(t.Context(), "POST", a, "", `no JSON`)
			w.ask(t.Context(), "GET", a, "", "")
		}
		w.fill(a, each)
	})
}

func TestAnIDComesBackAsItWasSent(t *testing.T) {
	w := newWeb(t)
	a := w.token("a")
	session := w.fill(a, 1)[0]
	for id, good := range map[string]bool{
		`1`: true, `-7`: true, `0`: true, `9007199254740992`: true, `"1.5"`: true, `"x"`: true, `2.0`: true,
		`1.5`: false, `9007199254740993`: false, `18446744073709551616`: false, `1e400`: false, `-0.25`: false, `1.00000000000000000001`: false,
	} {
		t.Run(id, func(t *testing.T) {
			got := w.ask(t.Context(), "POST", a, session, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
			if !good {
				if of, message, code := problemOf(t, got); got.Code != 400 || of != "null" || code != -32600 || !strings.Contains(message, "id") {
					t.Errorf("%d %s", got.Code, got.Body)
				}
				return
			}
			if want := `"id":` + strings.TrimSuffix(id, ".0") + `,`; got.Code != 200 || !strings.Contains(got.Body.String(), want) {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
	t.Run("one of several messages", func(t *testing.T) {
		got := w.ask(t.Context(), "POST", a, session, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1.5,"method":"ping"}]`)
		if _, _, code := problemOf(t, got); code != -32600 {
			t.Errorf("%s", got.Body)
		}
	})
}
