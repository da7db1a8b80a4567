package api

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write zz_openapi.json anew")

const golden = "zz_openapi.json"

func TestTheDocumentIsTheCommittedOne(t *testing.T) {
	s, _ := newRecorded(t, nil)
	if *update {
		if err := os.WriteFile(golden, s.Document(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(s.Document())); diff != "" {
		t.Errorf("the interface has changed (`go test ./controlplane/api -run TheCommittedOne -args -update`, a part of `make generate`, writes the document anew):\n%s", diff)
	}
	w := ask(s, "GET", "/openapi.json", "", func(q *http.Request) { q.Header.Del("Authorization") })
	if w.Code != 200 || w.Body.String() != string(want) {
		t.Errorf("served: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestRoutesAndDocumentAgree(t *testing.T) {
	s, _ := newRecorded(t, nil)
	documented := map[string]bool{}
	ids := map[string]bool{}
	eachOperation(s.huma.OpenAPI(), func(method, path string, op *huma.Operation) {
		pattern := method + " " + path
		documented[pattern] = true
		if _, got := s.mux.Handler(httptest.NewRequest(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)); got != pattern {
			t.Errorf("%s is documented and answered by %q", pattern, got)
		}
		if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 {
			t.Errorf("%s has no id of its own, no summary or no tag", pattern)
		}
		ids[op.OperationID] = true
		if op.Responses["default"] == nil {
			t.Errorf("%s does not document its refusals", pattern)
		}
		open := slices.Contains([]string{"/healthz", "/openapi.json"}, path)
		if open != (len(op.Security) == 0) {
			t.Errorf("%s documents the wrong need of a token", pattern)
		}
	})
	for _, pattern := range s.Patterns() {
		if !documented[pattern] {
			t.Errorf("%s is answered and not documented", pattern)
		}
	}
}

func TestEveryReferenceOfTheDocumentIsThere(t *testing.T) {
	s, _ := newRecorded(t, nil)
	var doc map[string]any
	if err := json.Unmarshal(s.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	used := map[string]bool{}
	var visit func(any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, schemaPrefix)
				used[name] = true
				if schemas[name] == nil {
					t.Errorf("%s is not there", ref)
				}
			}
			for _, each := range v {
				visit(each)
			}
		case []any:
			for _, each := range v {
				visit(each)
			}
		}
	}
	visit(doc)
	for name := range schemas {
		if !used[name] {
			t.Errorf("schema %s is used by nothing", name)
		}
	}
	for _, code := range Codes() {
		if !strings.Contains(string(s.Document()), `"`+string(code)+`"`) {
			t.Errorf("code %s is not documented", code)
		}
		if statusOf(code) < 400 {
			t.Errorf("code %s has status %d", code, statusOf(code))
		}
	}
}

// TestTheExamplesWork sends every example of the document as it stands.
func TestTheExamplesWork(t *testing.T) {
	s, _ := newRecorded(t, nil)
	eachOperation(s.huma.OpenAPI(), func(method, path string, op *huma.Operation) {
		if op.OperationID == "events" {
			return
		}
		s, _ := newRecorded(t, nil)
		body := ""
		if op.RequestBody != nil {
			if m := op.RequestBody.Content["application/json"]; m != nil {
				if m.Example == nil {
					t.Errorf("%s %s has no example", method, path)
				}
				b, _ := json.Marshal(m.Example)
				body = string(b)
			}
		}
		for _, p := range op.Parameters {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", example(p))
		}
		w := ask(s, method, path, body, func(q *http.Request) {
			if op.OperationID == "put-blueprint" {
				q.Header.Set("Content-Type", "application/octet-stream")
			}
		})
		if w.Code >= 300 {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	})
}

// TestTheCommandLinesWork runs the document's curl lines, where there is curl.
func TestTheCommandLinesWork(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	s, _ := newRecorded(t, func(o *Options) { o.Tokens = fixedTokens{"user": someTokens()["user"]} })
	hosts, _ := newRecorded(t, func(o *Options) { o.Tokens = fixedTokens{"user": someTokens()["host"]} })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, server := range []*Server{s, hosts} {
		web := httptest.NewServer(server)
		defer web.Close()
		eachOperation(s.huma.OpenAPI(), func(_, path string, op *huma.Operation) {
			line := op.Extensions["x-codeSamples"].([]sample)[0]["source"].(string)
			if op.OperationID == "events" || strings.HasPrefix(path, "/v1/host/") != (i == 1) {
				return
			}
			line = strings.NewReplacer("curl -sS", curl+" -sS --fail-with-body", "http://127.0.0.1:7643", web.URL, "@FILE", "@"+file, "-o FILE", "-o "+file+".out").Replace(line)
			c := exec.Command(sh, "-c", line)
			c.Env = append(os.Environ(), "BLOCKWORLD_TOKEN=user")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s\n%v: %s", line, err, out)
			}
		})
	}
}

func TestAnAnswerIsWrittenAsDocumented(t *testing.T) {
	s, _ := newRecorded(t, nil)
	t.Run("CP-72/the view's members", func(t *testing.T) {
		w := ask(s, "GET", "/v1/operations/"+zeroID, "", nil)
		var view map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &view); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"terminal", "execution_confirmed", "reconciliation_pending", "delivery_attempts", "run", "outcome", "output", "rejection"} {
			if _, ok := view[name]; !ok {
				t.Errorf("%s is missing: %s", name, w.Body)
			}
		}
		for _, name := range s.huma.OpenAPI().Components.Schemas.Map()["OperationView"].Required {
			if _, ok := view[name]; !ok {
				t.Errorf("%s is documented as always there, and is not", name)
			}
		}
	})
	t.Run("RU-09/the contract of a capability has seven fields", func(t *testing.T) {
		w := ask(s, "GET", "/v1/actors/builder-1/capabilities", "", nil)
		var all struct {
			Capabilities []struct {
				Contract map[string]any
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || len(all.Capabilities) != 3 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, c := range all.Capabilities {
			for _, field := range []string{"capability", "authority", "request", "result", "dry_run", "idempotency", "receipt", "rollback"} {
				if _, ok := c.Contract[field]; !ok {
					t.Errorf("%s is missing: %v", field, c.Contract)
				}
			}
		}
	})
	t.Run("RU-09/a result has no private field of the host", func(t *testing.T) {
		view := s.huma.OpenAPI().Components.Schemas.Map()["OperationView"]
		for _, private := range []string{"binding", "lease", "payload", "token", "session", "reservations"} {
			if view.Properties[private] != nil {
				t.Errorf("%s is told", private)
			}
		}
	})
}
