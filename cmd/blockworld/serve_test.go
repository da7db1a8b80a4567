package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// lockedBuffer is a buffer that is written and read at the same time.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestServe(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	t.Run("it says what it serves", func(t *testing.T) {
		s := st.served
		if !strings.HasPrefix(s.Address, "http://127.0.0.1:") || s.MCP != s.Address+"/mcp" || len(s.Bots) != 1 || len(s.Plots) != 1 || s.Profile != "survival" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("the first start leaves an admin token that only its owner can read", func(t *testing.T) {
		info, err := os.Stat(st.served.AdminToken)
		if err != nil || othersCanRead(info) {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("CP-90/a second daemon on the directory is told that it is locked", func(t *testing.T) {
		o := ran(t.Context(), "serve", "-c", st.config)
		if o.code != exitFailed || !strings.Contains(o.errs, "locked") {
			t.Errorf("%d: %s", o.code, o.errs)
		}
	})
	t.Run("a store that a daemon has open is backed up by it and not checked beside it", func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "backup.db")
		if o := st.ctl("backup", to); o.code != exitDone {
			t.Fatalf("backup: %s", o.errs)
		}
		if o := st.ctl("fsck", to); o.code != exitDone {
			t.Errorf("fsck of the backup: %s%s", o.out, o.errs)
		}
		if o := st.ctl("backup", to); o.code != exitUsage {
			t.Errorf("over an existing file: %d", o.code)
		}
		if o := st.ctl("fsck"); o.code != exitFailed || !strings.Contains(o.errs, "locked") {
			t.Errorf("fsck beside a daemon: %d: %s", o.code, o.errs)
		}
		agent := st.tokenFile("--principal", "agent", "--scopes", "read,control,execute,cancel")
		if o := ran(t.Context(), "ctl", "--daemon", st.served.Address, "--token-file", agent, "backup", to+"2"); o.code != exitDenied {
			t.Errorf("by whoever is no admin: %d: %s", o.code, o.errs)
		}
	})
	t.Run("SE-52/an address that others reach is asked for, by whatever command opens it", func(t *testing.T) {
		alone := written(t, "policy: {profile: open}\n")
		for _, args := range [][]string{
			{"serve", "-c", alone, "--data", t.TempDir()}, {"fixture", "serve"}, {"demo", "--hold", "--out", t.TempDir()},
		} {
			for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				o := ran(ctx, append(args, "--listen", address)...)
				if o.code != exitUsage || !strings.Contains(o.errs, "expose") {
					t.Errorf("%v on %s: %d: %s%s", args[:1], address, o.code, o.out, o.errs)
				}
				cancel()
			}
		}
	})
	t.Run("SE-52/who is exposed asks for tokens all the same", func(t *testing.T) {
		open := &stage{t: t, data: t.TempDir()}
		open.config = written(t, "policy: {profile: open}\nlisten: 0.0.0.0:0\nexpose: true\ndata: "+open.data+"\n")
		open.start()
		_, port, err := net.SplitHostPort(strings.TrimPrefix(open.served.Address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/v1/actors", "/v1/operations", "/metrics", "/mcp"} {
			res, err := http.Get("http://127.0.0.1:" + port + path)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s without a token: %s", path, res.Status)
			}
		}
	})
	t.Run("CP-90,CP-93/a stopped daemon gives everything free, and the next one goes on with it", func(t *testing.T) {
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", `{"pos":[2,-60,0],"state":"minecraft:stone"}`, "--wait", "--key", "first")
		if !v.ExecutionConfirmed {
			t.Fatalf("not proven: %+v", v)
		}
		if o := st.stop(); o.code != exitDone {
			t.Fatalf("the daemon ends with %d: %s", o.code, o.errs)
		}
		if o := st.ctl("fsck"); o.code != exitDone {
			t.Errorf("fsck: %s%s", o.out, o.errs)
		}
		st.serve()
		if st.served.AdminToken != "" {
			t.Error("a second admin token was made")
		}
		again, err := st.client().Operation(t.Context(), v.ID)
		if err != nil || again.State != operation.Succeeded || !again.ExecutionConfirmed {
			t.Errorf("%+v, %v", again, err)
		}
		uses := len(st.world.Log())
		same := st.ctlView(exitDone, "submit", "builder-1", "place_block", `{"pos":[2,-60,0],"state":"minecraft:stone"}`, "--wait", "--key", "first")
		if same.ID != v.ID || len(st.world.Log()) != uses {
			t.Errorf("the same key gives %s, was %s; %d uses, were %d", same.ID, v.ID, len(st.world.Log()), uses)
		}
	})
}

// asked is what a face says to one request.
type asked struct {
	face string
	code string
}

// everyFace submits one action by every way there is.
func (st *stage) everyFace(a host.Action, key string) (out []asked) {
	st.t.Helper()
	ctx := st.t.Context()
	c := st.client()
	v, err := c.Observe(ctx, "builder-1")
	if err != nil {
		st.t.Fatal(err)
	}
	lease := "none"
	if l, err := c.LeaseOf(ctx, "builder-1"); err == nil && l.ID != "" {
		lease = l.ID
	}
	code := func(v operation.View, err error) string {
		var e *controlplane.Error
		switch {
		case errors.As(err, &e):
			return string(e.Code)
		case err != nil:
			return err.Error()
		case v.Rejection != nil:
			return v.Rejection.Code
		}
		return v.State.String()
	}
	r := controlplane.SubmitRequest{Actor: "builder-1", Lease: lease, Epoch: v.Epoch, Sequence: v.Sequence, Action: a}

	r.Key = key + "-client"
	got, err := c.Submit(ctx, r)
	out = append(out, asked{"Go client", code(got, err)})

	r.Key = key + "-http"
	body, _ := json.Marshal(r)
	q, _ := http.NewRequestWithContext(ctx, "POST", st.served.Address+"/v1/operations", bytes.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Authorization", "Bearer "+st.secret())
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		st.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Code      string `json:"code"`
		State     string `json:"state"`
		Rejection *struct {
			Code string `json:"code"`
		} `json:"rejection"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		st.t.Fatal(err)
	}
	if answer.Rejection != nil {
		answer.Code = answer.Rejection.Code
	}
	out = append(out, asked{"HTTP", or(answer.Code, answer.State)})

	o := st.ctl("--json", "submit", "builder-1", a.Capability, string(a.Arguments), "--key", key+"-ctl", "--lease", lease)
	out = append(out, asked{"ctl", codeIn(o.out)})

	agent := st.agent(st.secret())
	args := map[string]any{}
	json.Unmarshal(a.Arguments, &args)
	args["actor"], args["lease"], args["key"] = "builder-1", lease, key+"-mcp"
	args["observation"] = fmt.Sprintf("%d.%d.%d@%d", v.Epoch.Host, v.Epoch.World, v.Epoch.Timeline, v.Sequence)
	tool, err := agent.CallTool(ctx, &sdk.CallToolParams{Name: a.Capability, Arguments: args})
	if err != nil {
		st.t.Fatal(err)
	}
	out = append(out, asked{"MCP", codeIn(tool.Content[0].(*sdk.TextContent).Text)})
	return out
}

// codeIn finds the code in what a face says.
func codeIn(text string) string {
	var v struct {
		Code      string                `json:"code"`
		Error     string                `json:"error"`
		State     string                `json:"state"`
		Rejection struct{ Code string } `json:"rejection"`
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if json.Unmarshal([]byte(lines[len(lines)-1]), &v) != nil {
		return text
	}
	word, _, _ := strings.Cut(v.Error, ":")
	return or(v.Rejection.Code, v.Code, word, v.State)
}

// secret is the admin's.
func (st *stage) secret() string {
	b, err := readSecret((&config{Data: st.data}).adminFile())
	if err != nil {
		st.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// agent is an MCP client over streamable HTTP.
func (st *stage) agent(secret string) *sdk.ClientSession {
	st.t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(st.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: st.served.MCP, HTTPClient: &http.Client{Transport: bearer(secret)}}, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { s.Close() })
	return s
}

// bearer shows a token with every request.
type bearer string

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

func TestEveryFaceIsRefusedAlike(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	look := host.Action{Capability: "look_at", Arguments: json.RawMessage(`{"point":[5,-60,5]}`)}
	alike := func(t *testing.T, got []asked, want string) {
		t.Helper()
		for _, a := range got {
			if a.code != want {
				t.Errorf("%s says %q, want %q", a.face, a.code, want)
			}
		}
	}
	t.Run("CP-05/nobody acts without the lease, by whatever face", func(t *testing.T) {
		before := st.effectPackets()
		alike(t, st.everyFace(look, "no-lease"), "lease_expired")
		if n := st.effectPackets() - before; n != 0 {
			t.Errorf("%d effect packets", n)
		}
	})
	t.Run("CP-01/policy's no is the same by every face", func(t *testing.T) {
		if o := st.ctl("lease", "acquire", "builder-1"); o.code != exitDone {
			t.Fatal(o.errs)
		}
		before := st.effectPackets()
		alike(t, st.everyFace(host.Action{Capability: "say", Arguments: json.RawMessage(`{"text":"hello"}`)}, "say"), "rule_denied")
		alike(t, st.everyFace(host.Action{Capability: "say", Arguments: json.RawMessage(`{"text":"/op Builder1"}`)}, "op"), "invalid")
		if n := st.effectPackets() - before; n != 0 {
			t.Errorf("%d effect packets", n)
		}
	})
	t.Run("CP-01,CP-97,CP-98/under the stop every face hears the same, and nothing is sent", func(t *testing.T) {
		agent := st.tokenFile("--principal", "agent", "--scopes", "read,control,execute,cancel")
		if o := ran(t.Context(), "ctl", "--daemon", st.served.Address, "--token-file", agent, "stop", "builder-1"); o.code != exitDenied {
			t.Errorf("a stop by whoever is neither owner nor admin: %d", o.code)
		}
		if o := st.ctl("stop", "builder-1", "--why", "a test"); o.code != exitDone {
			t.Fatal(o.errs)
		}
		before := st.effectPackets()
		alike(t, st.everyFace(look, "stopped"), "stopped")
		if n := st.effectPackets() - before; n != 0 {
			t.Errorf("%d effect packets", n)
		}
		if o := st.ctl("clear", "builder-1"); o.code != exitDone {
			t.Fatal(o.errs)
		}
		if v := st.ctlView(exitDone, "submit", "builder-1", "look_at", `{"point":[5,-60,5]}`, "--wait"); v.State != operation.Succeeded {
			t.Errorf("after the clear: %+v", v)
		}
	})
}

func TestMCPSessionsBelongToTheirToken(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	blind := strings.TrimSpace(string(must(readSecret(st.tokenFile("--principal", "blind", "--scopes", "read", "--actors", "elsewhere-*")))))
	t.Run("CP-04/a token that sees no actor is shown none", func(t *testing.T) {
		res, err := st.agent(blind).CallTool(t.Context(), &sdk.CallToolParams{Name: "list_actors"})
		if err != nil || strings.Contains(res.Content[0].(*sdk.TextContent).Text, "builder-1") {
			t.Errorf("%v, %v", res, err)
		}
	})
	t.Run("a session is not gone on with by another token", func(t *testing.T) {
		admin := st.agent(st.secret())
		body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_actors","arguments":{}}}`
		q, _ := http.NewRequestWithContext(t.Context(), "POST", st.served.MCP, strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Accept", "application/json, text/event-stream")
		q.Header.Set("Mcp-Session-Id", admin.ID())
		q.Header.Set("Authorization", "Bearer "+blind)
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("another token goes on with the session: %d", res.StatusCode)
		}
	})
	t.Run("without a token there is no session", func(t *testing.T) {
		res, err := http.Post(st.served.MCP, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%d", res.StatusCode)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestBotsInAProcessOfTheirOwn(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy)
	whole, err := os.ReadFile(st.config)
	if err != nil {
		t.Fatal(err)
	}
	bots := written(t, string(whole)+"host: far\n")
	text, _, _ := strings.Cut(string(whole), "bots:")
	st.config = written(t, text)
	st.start()
	key := st.tokenFile("--kind", "host", "--principal", "far")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() { ended <- ran(ctx, "host", "--daemon", st.served.Address, "--token-file", key, "-c", bots) }()
	st.ready()
	t.Run("CP-82/bots of another process do what is submitted here", func(t *testing.T) {
		v := st.ctlView(exitDone, "submit", "builder-1", "place_block", `{"pos":[2,-60,1],"state":"minecraft:stone"}`, "--wait")
		if !v.ExecutionConfirmed || st.block(2, -60, 1) != "minecraft:stone" || v.Host != "far" {
			t.Errorf("%+v; the cell is %s", v, st.block(2, -60, 1))
		}
	})
	t.Run("a host's token speaks for that host alone", func(t *testing.T) {
		secret := strings.TrimSpace(string(must(readSecret(key))))
		c, err := client.NewHost(client.Options{Base: st.served.Address, Token: secret})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Register(t.Context(), host.Manifest{Host: "near", Revision: "1", Authority: host.ClientAdvisory, Actors: []host.Actor{{ID: "a", Mode: "attached"}}})
		if controlplane.CodeOf(err) != controlplane.CodeForbidden {
			t.Errorf("%v", err)
		}
	})
	cancel()
	if o := <-ended; o.code != exitDone {
		t.Errorf("host ends with %d: %s", o.code, o.errs)
	}
}

func TestADaemonThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve("--listen", "127.0.0.1:0")
	address := strings.TrimPrefix(st.served.Address, "http://")
	v := st.ctlView(exitDone, "submit", "builder-1", "place_block", `{"pos":[2,-60,1],"state":"minecraft:stone"}`, "--task", "careful")
	var out lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), []string{"ctl", "--daemon", st.served.Address, "--data", st.data, "wait", v.ID.String()}, strings.NewReader(""), &out, &out)
	}()
	t.Run("CP-76,CP-79/a wait goes on over a restart, and tells what became of the operation", func(t *testing.T) {
		if o := st.stop(); o.code != exitDone {
			t.Fatal(o.errs)
		}
		st.serve("--listen", address)
		if code := <-ended; code != exitFailed || !strings.Contains(out.String(), v.ID.String()) {
			t.Errorf("%d: %s", code, out.String())
		}
		again, err := st.client().Operation(t.Context(), v.ID)
		if err != nil || again.State != operation.Stale || again.DeliveryAttempts != 0 {
			t.Errorf("what was bound in the session before is %v, %v\n%s", again.State, err, out.String())
		}
	})
}
