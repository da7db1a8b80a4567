package api

import (
	"fmt"
	"net/http"
	"testing"

	"blockworld/controlplane"
)

func TestAnotherProtocolIsMountedBehindTheSameTokens(t *testing.T) {
	s, _ := newRecorded(t, nil)
	s.Mount("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := CallerOf(r.Context())
		if !ok || r.Method == http.MethodDelete {
			s.Refuse(w, controlplane.Errorf(controlplane.CodeForbidden, "not this"))
			return
		}
		fmt.Fprint(w, c.Principal.ID, " by ", c.Token)
		w.(http.Flusher).Flush()
	}))
	if w := ask(s, "POST", "/mcp", "{}", nil); w.Code != 200 || w.Body.String() != "alice by t-user" || !w.Flushed {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, "DELETE", "/mcp", "", nil); codeOf(t, w) != "forbidden" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, "POST", "/mcp", "{}", func(q *http.Request) { q.Header.Del("Authorization") }); codeOf(t, w) != "token_missing" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, "POST", "/mcp", "{}", func(q *http.Request) { q.Header.Set("Authorization", "Bearer host") }); codeOf(t, w) != "token_kind" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
