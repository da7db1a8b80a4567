package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// FuzzRequest sends any request through the whole server: it must answer with what was asked for or with a whole problem,
// never fail, and never reach the gateway with a body that a plain reader would understand otherwise.
func FuzzRequest(f *testing.F) {
	s, r := newRecorded(f, nil)
	eachOperation(s.huma.OpenAPI(), func(method, path string, op *huma.Operation) {
		body := ""
		if op.RequestBody != nil && op.RequestBody.Content["application/json"] != nil {
			b, _ := json.Marshal(op.RequestBody.Content["application/json"].Example)
			body = string(b)
		}
		for _, p := range op.Parameters {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", example(p))
		}
		if op.OperationID != "events" {
			f.Add(method, path, "application/json", body)
		}
	})
	for _, body := range []string{"", "{", "[]", "null", `"x"`, `{"key":1}`, `{"a":1,"a":2}`, goodSubmit + "x", strings.Repeat("[", 500), "\xff", `{"sequence":1e400}`} {
		f.Add("POST", "/v1/operations", "application/json", body)
	}
	f.Add("GET", "/v1/operations?limit=%zz", "", "")
	f.Add("GET", "/v1/actors/%00%ff/lease", "", "")
	f.Fuzz(func(t *testing.T, method, path, media, body string) {
		q, err := http.NewRequest(method, "http://127.0.0.1/", strings.NewReader(body))
		if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/v1/events") {
			return
		}
		if q.URL, err = q.URL.Parse(path); err != nil || q.URL.Host != "127.0.0.1" {
			return
		}
		q.Header.Set("Content-Type", media)
		q.Header.Set("Authorization", "Bearer user")
		if strings.HasPrefix(path, "/v1/host/") {
			q.Header.Set("Authorization", "Bearer host")
			q.Header.Set("Blockworld-Host", "bots-1")
			q.Header.Set("Blockworld-Generation", "1")
			q.Header.Set("Blockworld-Session", "SESSION")
		}
		r.calls = nil
		w := httptest.NewRecorder()
		s.ServeHTTP(w, q)
		switch {
		case w.Code >= 500:
			t.Fatalf("%s %q: %d %s", method, path, w.Code, w.Body)
		case w.Code >= 400 && method != http.MethodHead:
			codeOf(t, w)
			if len(r.calls) > 0 {
				t.Fatalf("refused, and the gateway was asked %v", r.calls)
			}
		}
		if len(r.calls) > 0 && body != "" && !strings.HasPrefix(q.URL.Path, "/v1/blueprints") && !json.Valid([]byte(body)) {
			t.Fatalf("the gateway was asked %v with what is no JSON: %q", r.calls, body)
		}
	})
}
