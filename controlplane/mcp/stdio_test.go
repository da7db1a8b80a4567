package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/mcp"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
)

// wired is a server on a pair of streams, spoken to line by line.
type wired struct {
	t     testing.TB
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

func wire(t testing.TB, gw mcp.Gateway) *wired {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wired{t: t, in: inW, out: bufio.NewReader(outR), ended: make(chan error, 1)}
	go func() {
		err := mcp.Serve(context.Background(), gw, "test", time.Now, inR, outW)
		outW.Close()
		inR.Close()
		w.ended <- err
	}()
	return w
}

// send writes a line; what the server does not read any more is no fault of the test's yet.
func (w *wired) send(line string) {
	go io.WriteString(w.in, line+"\n")
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

func (w *wired) hear() (r response) {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("it has ended: %v, %v", err, <-w.ended)
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Version != "2.0" {
		w.t.Fatalf("%v: %s", err, line)
	}
	return r
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestALineThatIsNoMessageEndsNothing(t *testing.T) {
	w := wire(t, mcp.For(set(t).g, agent))
	w.send(hello)
	if r := w.hear(); string(r.ID) != `"hello"` || r.Result == nil {
		t.Fatalf("%+v", r)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i, bad := range []struct {
		line string
		code int
		id   string
	}{
		{"hello there", -32700, "null"},
		{`{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
		{"\x00\xff", -32700, "null"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", mcp.MaxLine) + `"}}`, -32700, "null"},
		{strings.Repeat("[", mcp.MaxLine+1), -32700, "null"},
		{"7", -32600, "null"},
		{"null", -32600, "null"},
		{`"ping"`, -32600, "null"},
		{`{}`, -32600, "null"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
		{`{"id":"mine","method":"ping"}`, -32600, `"mine"`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "1"},
	} {
		w.send(bad.line)
		if r := w.hear(); r.Error.Code != bad.code || string(r.ID) != bad.id || r.Error.Message == "" || r.Result != nil {
			t.Errorf("%.60s: %+v", bad.line, r)
		}
		w.send(fmt.Sprintf(`  {"jsonrpc":"2.0","id":%d,"method":"ping"} `+"\r", 100+i))
		if r := w.hear(); string(r.ID) != fmt.Sprint(100+i) || r.Result == nil {
			t.Fatalf("after %.60s: %+v", bad.line, r)
		}
	}
	w.send("")
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	if r := w.hear(); string(r.ID) != "5" || !strings.Contains(string(r.Result), "observe") {
		t.Errorf("%+v", r)
	}
	w.in.Close()
	if err := <-w.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestTheLastLineNeedsNoEnd(t *testing.T) {
	var out bytes.Buffer
	if err := mcp.Serve(t.Context(), mcp.For(set(t).g, agent), "test", time.Now, strings.NewReader("\n\nnonsense"), &out); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "-32700") {
		t.Errorf("%q", out.String())
	}
}

// FuzzLines holds that nothing that comes in ends the session: a ping behind it is answered.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{hello, "nonsense", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","arguments":{"actor":"bot1"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `[]`, "\n\n", `{"jsonrpc":"2.0","id":1.5,"method":""}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`} {
		f.Add([]byte(seed))
	}
	e, err := policy.Compile(policy.Config{})
	if err != nil {
		f.Fatal(err)
	}
	g, err := controlplane.New(controlplane.Options{Engine: store.Memory(), Policy: e, Now: time.Now, Rand: rand.NewChaCha8([32]byte{1})})
	if err != nil {
		f.Fatal(err)
	}
	defer g.Close()
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire(t, mcp.For(g, agent))
		go func() {
			w.in.Write(data)
			io.WriteString(w.in, "\n"+`{"jsonrpc":"2.0","id":"the last","method":"ping"}`+"\n")
		}()
		for string(w.hear().ID) != `"the last"` {
		}
		w.in.Close()
		for {
			if _, err := w.out.ReadString('\n'); err != nil {
				break
			}
		}
		<-w.ended
	})
}
