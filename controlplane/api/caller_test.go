package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"blockworld/controlplane"
	"blockworld/controlplane/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhoAsksIsTheTokensWord(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		headers    []string
	}{
		"a user's token":                    {"/v1/actors", "", []string{"Bearer user"}},
		"the scheme in other letters":       {"/v1/actors", "", []string{"bearer user"}},
		"no token":                          {"/v1/actors", "token_missing", nil},
		"two tokens":                        {"/v1/actors", "token_missing", []string{"Bearer user", "Bearer host"}},
		"another scheme":                    {"/v1/actors", "token_missing", []string{"Basic user"}},
		"no scheme":                         {"/v1/actors", "token_missing", []string{"user"}},
		"a wrong token":                     {"/v1/actors", "token_wrong", []string{"Bearer nobody"}},
		"a host's token on a user's route":  {"/v1/actors", "token_kind", []string{"Bearer host"}},
		"a user's token on a host's route":  {"/v1/host/poll", "token_kind", []string{"Bearer user"}},
		"no token on a host's route":        {"/v1/host/poll", "token_missing", nil},
		"no token for the scrape":           {"/metrics", "token_missing", nil},
		"no token for a path that is none":  {"/v1/nothing", "no_route", nil},
		"no token for health":               {"/healthz", "", nil},
		"no token for the document":         {"/openapi.json", "", nil},
		"a host's token for another's call": {"/v1/host/poll", "forbidden", []string{"Bearer host"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := newRecorded(t, nil)
			method, body := "GET", ""
			if strings.HasPrefix(c.path, "/v1/host") {
				method, body = "POST", `{"limit":1,"wait_ms":0}`
			}
			w := ask(s, method, c.path, body, func(q *http.Request) {
				q.Header["Authorization"] = c.headers
				if c.code == "forbidden" {
					q.Header.Set("Blockworld-Host", "bots-2")
				}
			})
			if got := codeOf(t, w); got != c.code {
				t.Fatalf("code %q, want %q: %s", got, c.code, w.Body)
			}
			if c.code != "" && r.took() != "" {
				t.Errorf("the gateway was asked %q", r.took())
			}
			if w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
				t.Error("401 without the scheme to use")
			}
		})
	}
	t.Run("CP-02/the principal is the token's", func(t *testing.T) {
		s, r := newRecorded(t, nil)
		if w := ask(s, "POST", "/v1/operations", goodSubmit, func(q *http.Request) { q.Header.Set("Blockworld-Principal", "root") }); w.Code != 200 {
			t.Fatal(w.Body)
		}
		if r.who.ID != "alice" || !r.who.Sees("builder-1") || !r.who.Scopes.Has(controlplane.ScopeExecute) {
			t.Errorf("the gateway was asked by %+v", r.who)
		}
	})
	t.Run("tokens off: everybody is the local principal", func(t *testing.T) {
		s, r := newRecorded(t, func(o *Options) { o.Tokens, o.Local = nil, controlplane.Principal{ID: "local"} })
		if w := ask(s, "GET", "/v1/actors", "", func(q *http.Request) { q.Header.Del("Authorization") }); w.Code != 200 || r.who.ID != "local" {
			t.Errorf("%d, asked by %q", w.Code, r.who.ID)
		}
	})
	t.Run("CP-02/tokens off and a local principal that is no id", func(t *testing.T) {
		r := &recorder{}
		if _, err := New(Options{Gateway: r, Hosts: hostRecorder{r}, Local: controlplane.Principal{ID: "Every Body"}}); err == nil {
			t.Error("it started")
		}
	})
}

func TestNobodyGrantsMoreThanTheyHave(t *testing.T) {
	const body = `{"kind":"user","principal":"bob","scopes":["admin"],"actors":["*"]}`
	for name, c := range map[string]struct {
		scopes []controlplane.Scope
		actors []string
		body   string
		code   string
	}{
		"an admin of all":                     {allScopes, []string{"*"}, body, ""},
		"CP-03/no admin":                      {allScopes[:5], []string{"*"}, body, "forbidden"},
		"a scope that the maker lacks":        {[]controlplane.Scope{controlplane.ScopeAdmin}, []string{"*"}, strings.Replace(body, `"admin"`, `"read"`, 1), "forbidden"},
		"actors that the maker does not see":  {allScopes, []string{"farm-*"}, body, "forbidden"},
		"actors of those that the maker sees": {allScopes, []string{"farm-*"}, strings.Replace(body, `"*"`, `"farm-1","farm-b*"`, 1), ""},
		"a host":                              {allScopes, []string{"farm-*"}, `{"kind":"host","principal":"bots-2"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newRecorded(t, func(o *Options) {
				o.Tokens = fixedTokens{"user": {Grant: token.Grant{ID: "t", Kind: token.User, Principal: "alice", Scopes: c.scopes, Actors: c.actors}}}
			})
			w := ask(s, "POST", "/v1/tokens", c.body, nil)
			if got := codeOf(t, w); got != c.code {
				t.Fatalf("code %q, want %q: %s", got, c.code, w.Body)
			}
			if strings.Contains(w.Body.String(), "bw_secret") != (c.code == "") {
				t.Errorf("the secret: %s", w.Body)
			}
		})
	}
}

func TestWebPagesOfOtherSitesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		host, origin string
		tokens       bool
		code         string
	}{
		"a program":                          {"127.0.0.1:7643", "", false, ""},
		"by name":                            {"localhost:7643", "", false, ""},
		"by IPv6":                            {"[::1]:7643", "", false, ""},
		"a page of this server":              {"127.0.0.1:7643", "http://127.0.0.1:7643", true, ""},
		"a page of another site":             {"127.0.0.1:7643", "https://evil.example", true, "foreign_origin"},
		"a page of a file":                   {"127.0.0.1:7643", "null", true, "foreign_origin"},
		"a name that was made to point here": {"evil.example:7643", "", false, "foreign_origin"},
		"a name of an exposed server":        {"bots.example", "", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newRecorded(t, func(o *Options) {
				if !c.tokens {
					o.Tokens, o.Local = nil, controlplane.Principal{ID: "local"}
				}
			})
			w := ask(s, "GET", "/v1/actors", "", func(q *http.Request) {
				q.Host = c.host
				if c.origin != "" {
					q.Header.Set("Origin", c.origin)
				}
			})
			if got := codeOf(t, w); got != c.code {
				t.Errorf("code %q, want %q", got, c.code)
			}
		})
	}
}

func TestAnAddressIsOpenToOthersOnlyWhenAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		address        string
		expose, tokens bool
		good           bool
	}{
		"loopback":                         {"127.0.0.1:0", false, false, true},
		"loopback by name":                 {"localhost:0", false, false, true},
		"all addresses":                    {"0.0.0.0:0", false, true, false},
		"all addresses by leaving it out":  {":0", false, true, false},
		"all addresses, exposed, no token": {"0.0.0.0:0", true, false, false},
		"all addresses, exposed, tokens":   {"0.0.0.0:0", true, true, true},
		"no address":                       {"7643", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Listen(t.Context(), c.address, c.expose, c.tokens)
			if (err == nil) != c.good {
				t.Fatalf("%v", err)
			}
			if l != nil {
				l.Close()
			} else if c.address != "7643" && !errors.Is(err, ErrExposed) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestRequestsAreLimited(t *testing.T) {
	const wait = "/v1/wait?operation=" + zeroID
	begin := func(s *Server, r *recorder) (w chan *httptest.ResponseRecorder) {
		w = make(chan *httptest.ResponseRecorder, 1)
		go func() { w <- ask(s, "GET", wait, "", nil) }()
		<-r.inside
		return w
	}
	t.Run("waits of all", func(t *testing.T) {
		s, r := newRecorded(t, func(o *Options) { o.Limits.Waiting.All = 1 })
		r.hold = make(chan struct{})
		first := begin(s, r)
		if w := ask(s, "GET", wait, "", nil); codeOf(t, w) != "busy" || w.Header().Get("Retry-After") == "" {
			t.Errorf("the second wait: %d %s", w.Code, w.Body)
		}
		if w := ask(s, "POST", "/v1/actors/a/stop", `{"why":"now"}`, nil); w.Code != 200 {
			t.Errorf("a stop must not wait for waits: %s", w.Body)
		}
		close(r.hold)
		if w := <-first; w.Code != 200 {
			t.Errorf("the first wait: %s", w.Body)
		}
		if w := ask(s, "GET", wait, "", nil); w.Code != 200 {
			t.Errorf("after it: %s", w.Body)
		}
	})
	t.Run("waits of one token", func(t *testing.T) {
		s, r := newRecorded(t, func(o *Options) {
			o.Limits.Waiting.Each = 1
			o.Tokens.(fixedTokens)["other"] = token.Token{Grant: token.Grant{ID: "t-other", Kind: token.User, Principal: "bob", Scopes: allScopes}}
		})
		r.hold = make(chan struct{})
		first := begin(s, r)
		if w := ask(s, "GET", wait, "", nil); codeOf(t, w) != "busy" {
			t.Errorf("the second wait of the token: %s", w.Body)
		}
		other := make(chan *httptest.ResponseRecorder, 1)
		go func() {
			other <- ask(s, "GET", wait, "", func(q *http.Request) { q.Header.Set("Authorization", "Bearer other") })
		}()
		<-r.inside
		close(r.hold)
		if a, b := <-first, <-other; a.Code != 200 || b.Code != 200 {
			t.Errorf("%s %s", a.Body, b.Body)
		}
	})
	t.Run("the end of the server ends waits", func(t *testing.T) {
		s, r := newRecorded(t, nil)
		r.hold = make(chan struct{})
		first := begin(s, r)
		s.Close()
		if w := <-first; codeOf(t, w) != "unavailable" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := ask(s, "GET", "/v1/actors", "", nil); codeOf(t, w) != "unavailable" {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
	})
	t.Run("a blueprint may be larger than a request", func(t *testing.T) {
		s, r := newRecorded(t, func(o *Options) { o.Limits.Blueprint = 2 << 20 })
		send := func(n int) *httptest.ResponseRecorder {
			return ask(s, "PUT", "/v1/blueprints/hut", strings.Repeat("x", n), func(q *http.Request) { q.Header.Set("Content-Type", "application/octet-stream") })
		}
		if w := send(2 << 20); w.Code != 200 {
			t.Error(w.Body)
		}
		if w := send(2<<20 + 1); codeOf(t, w) != "too_large" || r.took() != "PutBlueprint" {
			t.Error(w.Body, r.took())
		}
	})
}

func TestAFaultIsLoggedByItsPlaceAndToldAsOne(t *testing.T) {
	for name, set := range map[string]func(*recorder){
		"a panic":             func(r *recorder) { r.panics = true },
		"an error of no code": func(r *recorder) { r.err = errors.New("open /srv/control.db: a path") },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s, r := newRecorded(t, func(o *Options) { o.Log = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace}) })
			set(r)
			w := ask(s, "GET", "/v1/actors", "", nil)
			if codeOf(t, w) != "internal" || strings.Contains(w.Body.String(), "/srv") || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if log.Len() == 0 || strings.Contains(log.String(), "a secret") || strings.Contains(log.String(), "Bearer") {
				t.Errorf("log: %s", log.String())
			}
			r.panics, r.err = false, nil
			if w := ask(s, "GET", "/v1/actors", "", nil); w.Code != 200 {
				t.Error("the server does not go on")
			}
		})
	}
	t.Run("the end of a caller is no fault", func(t *testing.T) {
		s, r := newRecorded(t, nil)
		r.err = context.DeadlineExceeded
		if w := ask(s, "GET", "/v1/actors", "", nil); codeOf(t, w) != "timeout" {
			t.Error(w.Body)
		}
	})
}

func TestEventsAreStreamed(t *testing.T) {
	s, r := newRecorded(t, func(o *Options) { o.Limits.Beat = time.Millisecond })
	go func() {
		r.changes <- controlplane.Change{Actor: "builder-1", State: 2, Version: 7}
		close(r.changes)
	}()
	w := ask(s, "GET", "/v1/events?actor=builder-1", "", nil)
	body := w.Body.String()
	if w.Header().Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(body, ": open\n\n") ||
		!strings.Contains(body, "event: change\nid: 7\ndata: {") || !strings.Contains(body, `"actor":"builder-1"`) || !strings.HasSuffix(body, "}\n\n") {
		t.Errorf("%v %q", w.Header(), body)
	}
	t.Run("a revoked token ends its stream", func(t *testing.T) {
		tokens := someTokens()
		s, _ := newRecorded(t, func(o *Options) { o.Limits.Beat, o.Tokens = time.Millisecond, &revoking{fixedTokens: tokens, good: 3} })
		w := ask(s, "GET", "/v1/events", "", nil) // returns at all
		if n := strings.Count(w.Body.String(), ": beat"); n != 2 {
			t.Errorf("%d beats: %q", n, w.Body)
		}
	})
}

// revoking finds tokens a number of times.
type revoking struct {
	fixedTokens
	good int
}

func (r *revoking) Find(secret string) (token.Token, error) {
	if r.good--; r.good < 0 {
		return token.Token{}, controlplane.Errorf(token.CodeRevoked, "revoked")
	}
	return r.fixedTokens.Find(secret)
}

func TestMetricsAreTold(t *testing.T) {
	s, _ := newRecorded(t, nil)
	ask(s, "GET", "/v1/nothing", "", nil)
	ask(s, "GET", "/v1/actors/one", "", nil)
	ask(s, "GET", "/v1/actors/two", "", nil)
	w := ask(s, "GET", "/metrics", "", nil)
	for _, line := range []string{
		`blockworld_operations{state="queued"} 3`, `blockworld_operations{state="running"} 0`, `blockworld_operations_total{state="succeeded"} 7`,
		`blockworld_receipts_total{grade="attributed"} 5`, `blockworld_unverified_total 1`, `blockworld_refusals_total{code="denied"} 2`,
		`blockworld_rule_denials_total{rule="no-lava"} 2`, `blockworld_policy_decision_seconds_count 4`, `blockworld_policy_decision_seconds_sum 2`,
		`blockworld_policy_decision_seconds_bucket{le="1e-06"} 1`, `blockworld_policy_decision_seconds_bucket{le="0.001"} 3`,
		`blockworld_policy_decision_seconds_bucket{le="+Inf"} 4`, `blockworld_bind_to_decision_seconds_bucket{le="1"} 5`,
		`blockworld_bind_to_decision_seconds_sum 0.5`, `blockworld_hosts 1`, `blockworld_actors 2`, `blockworld_bots 1`,
		`blockworld_packets_total{actor="builder-1",direction="in"} 10`, `blockworld_packets_total{actor="builder-1",direction="out"} 11`,
		`blockworld_bytes_total{actor="builder-1",direction="in"} 12`, `blockworld_bytes_total{actor="builder-1",direction="out"} 13`,
		`blockworld_ticks_late_total{actor="builder-1"} 9`, `blockworld_packets_total{actor="other",direction="in"} 1`, `blockworld_http_refusals_total{code="no_route"} 1`,
		`blockworld_http_requests_total{route="GET /v1/actors/{actor}",status="200"} 2`, `blockworld_http_requests_total{route="none",status="404"} 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("missing %s", line)
		}
	}
	if t.Failed() {
		t.Log(w.Body)
	}
	t.Run("an actor that a token does not see is in none of its scrapes", func(t *testing.T) {
		s, _ := newRecorded(t, func(o *Options) {
			o.Tokens = fixedTokens{"user": {Grant: token.Grant{Kind: token.User, Principal: "a", Scopes: allScopes, Actors: []string{"builder-*"}}}}
		})
		w := ask(s, "GET", "/metrics", "", nil)
		if strings.Contains(w.Body.String(), "other") || !strings.Contains(w.Body.String(), `blockworld_ticks_late_total{actor="builder-1"} 9`) {
			t.Errorf("%s", w.Body)
		}
	})
	t.Run("CP-03/a scrape needs the scope read", func(t *testing.T) {
		s, _ := newRecorded(t, func(o *Options) {
			o.Tokens = fixedTokens{"user": {Grant: token.Grant{Kind: token.User, Principal: "a", Scopes: []controlplane.Scope{controlplane.ScopeExecute}}}}
		})
		for _, path := range []string{"/metrics", "/v1/stats"} {
			if w := ask(s, "GET", path, "", nil); codeOf(t, w) != "forbidden" {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
	})
}
