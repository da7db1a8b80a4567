package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// slow is a body that does not come until its test ends it. It tells when somebody waits for it.
type slow struct {
	read chan<- struct{}
	end  <-chan struct{}
	once sync.Once
}

func (b *slow) Read([]byte) (int, error) {
	b.once.Do(func() { b.read <- struct{}{} })
	<-b.end
	return 0, errors.New("it never came")
}

func (b *slow) Close() error { return nil }

// crowded sends n requests of each token whose bodies do not come, and returns when each of them is waited for or was
// refused, with the number of those that are waited for.
func crowded(t *testing.T, s *Server, n int, method, path string, tokens ...string) (taken int) {
	t.Helper()
	read, over, end := make(chan struct{}), make(chan *httptest.ResponseRecorder), make(chan struct{})
	for _, secret := range tokens {
		for range n {
			go func() {
				w := ask(s, method, path, "{", func(q *http.Request) {
					q.Header.Set("Authorization", "Bearer "+secret)
					q.Body, q.ContentLength = &slow{read: read, end: end}, 100
				})
				over <- w
			}()
		}
	}
	for range n * len(tokens) {
		select {
		case <-read:
			taken++
		case w := <-over:
			if codeOf(t, w) != "busy" {
				t.Errorf("refused by %s", w.Body)
			}
		}
	}
	t.Cleanup(func() {
		close(end)
		for range taken {
			<-over
		}
	})
	return taken
}

// watched is a server that knows n tokens which may only read, beside those of every recorder.
func watched(t *testing.T, n int, change func(*Limits)) (s *Server, r *recorder, secrets []string) {
	t.Helper()
	known := someTokens()
	for i := range n {
		id := host.Name(fmt.Sprint("watcher-", i))
		known[string(id)] = token.Token{Grant: token.Grant{ID: id, Kind: token.User, Principal: "watcher", Scopes: allScopes[:1]}}
		secrets = append(secrets, string(id))
	}
	s, r = newRecorded(t, func(o *Options) {
		o.Tokens = known
		if change != nil {
			change(&o.Limits)
		}
	})
	return s, r, secrets
}

func TestNobodysRequestsKeepAStopOut(t *testing.T) {
	const stop, clearStop, why = "/v1/actors/builder-1/stop", "/v1/actors/builder-1/clear-stop", `{"why":"now"}`
	stops := func(t *testing.T, s *Server) {
		t.Helper()
		for _, q := range []struct{ method, path, body string }{
			{"POST", stop, why}, {"POST", clearStop, ""}, {"DELETE", "/v1/tokens/watcher-0", ""},
		} {
			if w := ask(s, q.method, q.path, q.body, nil); w.Code != 200 {
				t.Errorf("%s: %d %s", q.path, w.Code, w.Body)
			}
		}
	}
	t.Run("slow stops of a token that may only read", func(t *testing.T) {
		s, _, who := watched(t, 1, nil)
		if n := crowded(t, s, 300, "POST", stop, who...); n != s.limits.Urgent.Each {
			t.Errorf("%d of one token are under way, want %d", n, s.limits.Urgent.Each)
		}
		stops(t, s)
	})
	t.Run("slow stops of many tokens", func(t *testing.T) {
		s, _, who := watched(t, 40, nil)
		crowded(t, s, 16, "POST", stop, who...)
		stops(t, s)
	})
	t.Run("everything that is no stop, in full", func(t *testing.T) {
		s, _, _ := watched(t, 0, nil)
		for in := range rooms {
			for in != urgent && s.rooms[in].enter() {
				t.Cleanup(s.rooms[in].leave)
			}
		}
		stops(t, s)
		if w := ask(s, "GET", "/v1/actors", "", nil); codeOf(t, w) != "busy" || w.Header().Get("Retry-After") == "" {
			t.Errorf("the rooms were not full: %s", w.Body)
		}
	})
}

func TestOneTokensRequestsAreNotAnothersTrouble(t *testing.T) {
	const cancel = "/v1/operations/" + zeroID + "/cancel"
	t.Run("slow bodies of many tokens", func(t *testing.T) {
		s, _, who := watched(t, 5, nil) // 5 times 64 are more than 256
		if n := crowded(t, s, 70, "POST", cancel, who...); n != 5*s.limits.Quick.Each {
			t.Errorf("%d are under way", n)
		}
		if w := ask(s, "POST", cancel, `{"why":"no"}`, nil); w.Code != 200 {
			t.Errorf("another's: %s", w.Body)
		}
		if w := ask(s, "GET", "/v1/actors", "", func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+who[0]) }); codeOf(t, w) != "busy" {
			t.Errorf("one more of the first: %d %s", w.Code, w.Body)
		}
	})
	t.Run("large bodies are few", func(t *testing.T) {
		s, _, who := watched(t, 1, nil)
		ofBytes := func(q *http.Request) { q.Header.Set("Content-Type", "application/octet-stream") }
		for range s.limits.Large.Each {
			if !s.rooms[large].add(who[0]) {
				t.Fatal("no room")
			}
		}
		first := func(q *http.Request) { ofBytes(q); q.Header.Set("Authorization", "Bearer "+who[0]) }
		if w := ask(s, "PUT", "/v1/blueprints/hut", "x", first); codeOf(t, w) != "busy" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := ask(s, "PUT", "/v1/blueprints/hut", "x", ofBytes); w.Code != 200 {
			t.Errorf("another's: %s", w.Body)
		}
	})
	t.Run("long polls keep out neither actions nor hosts", func(t *testing.T) {
		s, r, _ := watched(t, 0, func(l *Limits) { l.Waiting.All = 1 })
		r.hold = make(chan struct{})
		held := make(chan *httptest.ResponseRecorder)
		go func() { held <- ask(s, "GET", "/v1/wait?operation="+zeroID, "", nil) }()
		<-r.inside
		for path, body := range map[string]string{
			"/v1/operations":                        goodSubmit,
			"/v1/operations/" + zeroID + "/confirm": `{"challenge":"C","effect_digest":"` + zeroDigest + `","approve":true}`,
			"/v1/actors/builder-1/read":             `{"capability":"world_status","arguments":{}}`,
			"/v1/host/poll":                         `{"limit":1,"wait_ms":0}`,
			"/v1/host/children":                     `{"parent":"` + zeroID + `","key":"step-0001","action":{"capability":"look_at","arguments":{}}}`,
		} {
			if w := ask(s, "POST", path, body, nil); w.Code != 200 {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		close(r.hold)
		if w := <-held; w.Code != 200 {
			t.Error(w.Body)
		}
	})
	t.Run("slow bodies of another protocol", func(t *testing.T) {
		s, _, who := watched(t, 1, func(l *Limits) { l.Mounted.All = 1 })
		s.Mount("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
		crowded(t, s, 3, "POST", "/mcp", who...)
		if w := ask(s, "POST", "/mcp", "{}", nil); w.Code != 200 || w.Body.String() != "{}" {
			t.Errorf("another's: %d %s", w.Code, w.Body)
		}
		if w := ask(s, "POST", "/mcp", "{}", func(q *http.Request) { q.ContentLength = s.limits.Foreign + 1 }); codeOf(t, w) != "too_large" {
			t.Errorf("more than may be: %d %s", w.Code, w.Body)
		}
	})
	t.Run("what has ended takes no room", func(t *testing.T) {
		s, _, _ := watched(t, 0, func(l *Limits) { l.Quick, l.Urgent.Each = Room{1, 1}, 1 })
		for range 3 {
			if w := ask(s, "GET", "/v1/actors", "", nil); w.Code != 200 {
				t.Error(w.Body)
			}
			if w := ask(s, "POST", "/v1/actors/a/stop", "{", nil); codeOf(t, w) != "invalid_json" {
				t.Error(w.Body)
			}
		}
		for in := range rooms {
			if c := s.rooms[in]; c.all != 0 || len(c.each) != 0 {
				t.Errorf("room %d: %d, %v", in, c.all, c.each)
			}
		}
	})
}

func TestAStreamOfAnotherProtocolEndsWithItsToken(t *testing.T) {
	s, _ := newRecorded(t, func(o *Options) {
		o.Limits.Beat, o.Tokens = time.Millisecond, &revoking{fixedTokens: someTokens(), good: 3}
	})
	s.Mount("/mcp", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	ask(s, "GET", "/mcp", "", nil) // returns at all
}
