package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/operation"
	"blockworld/controlplane/token"
	"blockworld/effects"
	"blockworld/effects/host"
)

// recorder stands behind the server in tests of the server alone: it takes everything and remembers what it took.
type recorder struct {
	mu      sync.Mutex
	calls   []string
	who     controlplane.Principal
	submit  controlplane.SubmitRequest
	err     error
	panics  bool
	changes chan controlplane.Change
	hold    chan struct{} // waits last until it is closed, or their request ends
	inside  chan struct{} // told when a wait has begun
}

func (r *recorder) call(name string, p controlplane.Principal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, name)
	r.who = p
	if r.panics {
		panic("a fault with a secret in it")
	}
	return r.err
}

func (r *recorder) took() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.calls, " ")
}

func (r *recorder) view(name string, p controlplane.Principal) (operation.View, error) {
	return operation.View{State: operation.Queued}, r.call(name, p)
}

func (r *recorder) Submit(_ context.Context, p controlplane.Principal, q controlplane.SubmitRequest) (operation.View, error) {
	r.submit = q
	return r.view("Submit", p)
}
func (r *recorder) Explain(_ context.Context, p controlplane.Principal, _ controlplane.SubmitRequest) (controlplane.Explanation, error) {
	return controlplane.Explanation{}, r.call("Explain", p)
}
func (r *recorder) Confirm(_ context.Context, p controlplane.Principal, _ controlplane.ConfirmRequest) (operation.View, error) {
	return r.view("Confirm", p)
}
func (r *recorder) Operation(_ context.Context, p controlplane.Principal, _ host.OpID) (operation.View, error) {
	return r.view("Operation", p)
}
func (r *recorder) Operations(_ context.Context, p controlplane.Principal, _ controlplane.Filter) (controlplane.Page, error) {
	return controlplane.Page{}, r.call("Operations", p)
}
func (r *recorder) Wait(ctx context.Context, p controlplane.Principal, _ controlplane.WaitRequest) (controlplane.WaitResult, error) {
	if r.hold != nil {
		r.inside <- struct{}{}
		select {
		case <-r.hold:
		case <-ctx.Done():
			return controlplane.WaitResult{}, ctx.Err()
		}
	}
	return controlplane.WaitResult{}, r.call("Wait", p)
}
func (r *recorder) Cancel(_ context.Context, p controlplane.Principal, _ host.OpID, _ string) (operation.View, error) {
	return r.view("Cancel", p)
}
func (r *recorder) AcceptUnverified(_ context.Context, p controlplane.Principal, _ host.OpID) (operation.View, error) {
	return r.view("AcceptUnverified", p)
}
func (r *recorder) Acquire(_ context.Context, p controlplane.Principal, _ host.Name, _ time.Duration) (controlplane.Lease, error) {
	return controlplane.Lease{}, r.call("Acquire", p)
}
func (r *recorder) Renew(_ context.Context, p controlplane.Principal, _ host.Name, _ string, _ time.Duration) (controlplane.Lease, error) {
	return controlplane.Lease{}, r.call("Renew", p)
}
func (r *recorder) Release(_ context.Context, p controlplane.Principal, _ host.Name, _ string) error {
	return r.call("Release", p)
}
func (r *recorder) LeaseOf(_ context.Context, p controlplane.Principal, _ host.Name) (controlplane.Lease, error) {
	return controlplane.Lease{}, r.call("LeaseOf", p)
}
func (r *recorder) Actors(_ context.Context, p controlplane.Principal) ([]controlplane.ActorView, error) {
	return nil, r.call("Actors", p)
}
func (r *recorder) Actor(_ context.Context, p controlplane.Principal, actor host.Name) (controlplane.ActorView, error) {
	return controlplane.ActorView{ID: actor, Authority: host.ClientAdvisory}, r.call("Actor", p)
}
func (r *recorder) Observe(_ context.Context, p controlplane.Principal, actor host.Name) (controlplane.ActorView, error) {
	return controlplane.ActorView{ID: actor}, r.call("Observe", p)
}
func (r *recorder) Capabilities(_ context.Context, p controlplane.Principal, _ host.Name) ([]controlplane.CapabilityView, error) {
	c := func(name string, kind host.Kind) controlplane.CapabilityView {
		return controlplane.CapabilityView{Capability: host.Capability{Name: name, Kind: kind, Risk: "low", Cancellation: "cooperative", BudgetMS: 1,
			Grade: "attributed", LeastGrade: "observed", Schema: json.RawMessage(`{"type":"object"}`), Rollback: "not_reversible"}}
	}
	return []controlplane.CapabilityView{c("place_block", host.KindEffect), c("world_status", host.KindRead), c("build_structure", host.KindMacro)}, r.call("Capabilities", p)
}
func (r *recorder) Read(_ context.Context, p controlplane.Principal, _ host.Name, _ host.Action) (json.RawMessage, error) {
	return json.RawMessage(`{"x":1}`), r.call("Read", p)
}
func (r *recorder) Stop(_ context.Context, p controlplane.Principal, _ host.Name, _ string) (controlplane.ActorView, error) {
	return controlplane.ActorView{}, r.call("Stop", p)
}
func (r *recorder) ClearStop(_ context.Context, p controlplane.Principal, _ host.Name) (controlplane.ActorView, error) {
	return controlplane.ActorView{}, r.call("ClearStop", p)
}
func (r *recorder) PutBlueprint(_ context.Context, p controlplane.Principal, _ host.Name, data []byte) (controlplane.BlueprintView, error) {
	return controlplane.BlueprintView{Size: int64(len(data))}, r.call("PutBlueprint", p)
}
func (r *recorder) Blueprints(_ context.Context, p controlplane.Principal) ([]controlplane.BlueprintView, error) {
	return nil, r.call("Blueprints", p)
}
func (r *recorder) Subscribe(_ context.Context, p controlplane.Principal, _ controlplane.Filter) (<-chan controlplane.Change, error) {
	return r.changes, r.call("Subscribe", p)
}
func (r *recorder) Stats() controlplane.Stats {
	return controlplane.Stats{
		Open: map[operation.State]int{operation.Queued: 3}, Entered: map[operation.State]uint64{operation.Succeeded: 7},
		Receipts: map[string]uint64{"attributed": 5}, Refusals: map[string]uint64{"denied": 2, "rule no-lava": 2},
		Unverified: 1, Hosts: 1, Actors: 2, Ready: 1,
		Decisions: controlplane.Histogram{Bounds: []time.Duration{time.Microsecond, time.Millisecond}, Counts: []uint64{1, 2, 1}, Sum: 2 * time.Second},
		Binds:     controlplane.Histogram{Bounds: []time.Duration{time.Second}, Counts: []uint64{5, 0}, Sum: 500 * time.Millisecond},
		Traffic: map[host.Name]host.Traffic{
			"builder-1": {PacketsIn: 10, PacketsOut: 11, BytesIn: 12, BytesOut: 13, TicksLate: 9},
			"other":     {PacketsIn: 1},
		},
	}
}

// hostRecorder is the recorder's host side.
type hostRecorder struct{ *recorder }

func (h hostRecorder) tell(name string) error {
	return h.call("host."+name, controlplane.Principal{})
}
func (h hostRecorder) Register(context.Context, host.Manifest) (host.Session, error) {
	return host.Session{Host: "bots-1", Token: "SESSION", Generation: 1}, h.tell("Register")
}
func (h hostRecorder) Renew(_ context.Context, se host.Session) (host.Session, error) {
	return se, h.tell("Renew")
}
func (h hostRecorder) Unregister(context.Context, host.Session) error { return h.tell("Unregister") }
func (h hostRecorder) Publish(context.Context, host.Session, host.Publication) error {
	return h.tell("Publish")
}
func (h hostRecorder) Poll(context.Context, host.Session, int, time.Duration) (host.Batch, error) {
	return host.Batch{}, h.tell("Poll")
}
func (h hostRecorder) Answer(context.Context, host.Session, host.Answer) error {
	return h.tell("Answer")
}
func (h hostRecorder) Ack(context.Context, host.Session, host.Ack) error { return h.tell("Ack") }
func (h hostRecorder) Run(context.Context, host.Session, host.Run) error { return h.tell("Run") }
func (h hostRecorder) Outcome(context.Context, host.Session, host.Outcome) error {
	return h.tell("Outcome")
}
func (h hostRecorder) SubmitChild(context.Context, host.Session, host.Child) (host.ChildView, error) {
	return host.ChildView{}, h.tell("SubmitChild")
}
func (h hostRecorder) Blueprint(context.Context, host.Session, effects.Digest) ([]byte, error) {
	return []byte("blueprint"), h.tell("Blueprint")
}

// fixedTokens knows the tokens "user" and "host", and whatever was put into it.
type fixedTokens map[string]token.Token

func (f fixedTokens) Find(secret string) (token.Token, error) {
	if t, ok := f[secret]; ok {
		return t, nil
	}
	if secret == "" {
		return token.Token{}, controlplane.Errorf(token.CodeMissing, "no token was shown")
	}
	return token.Token{}, controlplane.Errorf(token.CodeWrong, "the token is none of this server")
}
func (f fixedTokens) Make(g token.Grant) (string, token.Token, error) {
	return "bw_secret", token.Token{Grant: g}, nil
}
func (f fixedTokens) List() ([]token.Token, error) { return nil, nil }
func (f fixedTokens) Revoke(id string) (token.Token, error) {
	return token.Token{Grant: token.Grant{ID: host.Name(id)}}, nil
}

var allScopes = []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute,
	controlplane.ScopeConfirm, controlplane.ScopeCancel, controlplane.ScopeAdmin}

func someTokens() fixedTokens {
	return fixedTokens{
		"user": {Grant: token.Grant{ID: "t-user", Kind: token.User, Principal: "alice", Scopes: allScopes, Actors: []string{"*"}}},
		"host": {Grant: token.Grant{ID: "t-host", Kind: token.Host, Principal: "bots-1"}},
	}
}

// newRecorded is a server in front of a recorder.
func newRecorded(t testing.TB, change func(*Options)) (*Server, *recorder) {
	t.Helper()
	r := &recorder{changes: make(chan controlplane.Change), inside: make(chan struct{}, 64)}
	o := Options{Gateway: r, Hosts: hostRecorder{r}, Tokens: someTokens(), Backup: func(w io.Writer) error {
		_, err := io.WriteString(w, "the store")
		return err
	}}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, r
}

// ask sends one request with the token that its path needs.
func ask(s *Server, method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	q.Header.Set("Authorization", "Bearer user")
	if strings.HasPrefix(path, "/v1/host/") {
		q.Header.Set("Authorization", "Bearer host")
		q.Header.Set("Blockworld-Host", "bots-1")
		q.Header.Set("Blockworld-Generation", "1")
		q.Header.Set("Blockworld-Session", "SESSION")
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(q)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	return w
}

// codeOf is the code of a problem; it must be a whole problem whose status is the answer's.
func codeOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code < 400 {
		return ""
	}
	var p struct {
		Type, Title, Code, Detail string
		Status                    int
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code == "" || p.Detail == "" || p.Type == "" || p.Status != w.Code {
		t.Fatalf("not a problem: %d %s", w.Code, w.Body)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
		t.Fatalf("a problem of content type %q", ct)
	}
	return p.Code
}
