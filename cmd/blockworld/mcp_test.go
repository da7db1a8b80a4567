package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// overheard is a pipe's reading end that keeps every line that comes through.
type overheard struct {
	io.ReadCloser
	mu   sync.Mutex
	text strings.Builder
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p[:n])
	return n, err
}

func (o *overheard) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for s := bufio.NewScanner(strings.NewReader(o.text.String())); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

func TestMCPOnStdio(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	token := st.tokenFile("--principal", "admin", "--scopes", "read,control,execute,cancel")
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	heard := &overheard{ReadCloser: fromProgram}
	var errs lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), []string{"mcp", "--verbose", "--daemon", st.served.Address, "--token-file", token}, in, out, &errs)
		out.Close()
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: heard, Writer: toProgram}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	call := func(tool string, args map[string]any) (all map[string]any, refused bool) {
		t.Helper()
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &all); err != nil {
			t.Fatal(err)
		}
		return all, res.IsError
	}
	t.Run("CP-01/an agent on stdio places a block, with its receipt", func(t *testing.T) {
		lease, _ := call("acquire_lease", map[string]any{"actor": "builder-1"})
		seen, _ := call("observe", map[string]any{"actor": "builder-1"})
		v, refused := call("place_block", map[string]any{"actor": "builder-1", "lease": lease["id"], "observation": seen["observation"], "key": "k",
			"pos": []int{2, -60, 1}, "state": "minecraft:stone"})
		if refused {
			t.Fatalf("%v", v)
		}
		end, _ := call("wait", map[string]any{"operation": v["id"], "until_end": true, "timeout_ms": 25000})
		if op, _ := end["operation"].(map[string]any); op["execution_confirmed"] != true || st.block(2, -60, 1) != "minecraft:stone" {
			t.Errorf("%v", end)
		}
	})
	t.Run("CP-39/policy's no is an answer, not an end", func(t *testing.T) {
		lease, _ := call("acquire_lease", map[string]any{"actor": "builder-1"})
		seen, _ := call("observe", map[string]any{"actor": "builder-1"})
		v, _ := call("say", map[string]any{"actor": "builder-1", "lease": lease["id"], "observation": seen["observation"], "key": "s", "text": "hello"})
		if r, _ := v["rejection"].(map[string]any); v["state"] != "rejected" || r["code"] != "rule_denied" {
			t.Errorf("%v", v)
		}
		if v, refused := call("observe", map[string]any{"actor": "nobody"}); !refused || v["code"] != "not_found" {
			t.Errorf("%v", v)
		}
	})
	c.Close()
	toProgram.Close()
	if code := <-ended; code != exitDone {
		t.Errorf("it ends with %d: %s", code, errs.String())
	}
	t.Run("standard output holds nothing but the protocol, with --verbose too", func(t *testing.T) {
		lines := heard.lines()
		if len(lines) < 5 {
			t.Errorf("only %d lines", len(lines))
		}
		for _, line := range lines {
			var m struct {
				Version string `json:"jsonrpc"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
				t.Errorf("%v: %s", err, line)
			}
		}
	})
}

// TestMCPAnswersWhatWasAskedBeforeTheInputsEnd: who pipes requests in hears of every one of them.
func TestMCPAnswersWhatWasAskedBeforeTheInputsEnd(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy).serve()
	var out, errs bytes.Buffer
	in := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{"actor":"builder-1","timeout_ms":300}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"observe","arguments":{"actor":"builder-1"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait","arguments":{"task":"nothing","cursor":"0","timeout_ms":700}}}
`
	if code := run(t.Context(), []string{"mcp", "--daemon", st.served.Address, "--data", st.data}, strings.NewReader(in), &out, &errs); code != exitDone {
		t.Errorf("%d: %s", code, errs.String())
	}
	got := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Result == nil || strings.Contains(line, "canceled") {
			t.Errorf("%v: %s", err, line)
		}
		got[string(m.ID)] = true
	}
	for _, id := range []string{`"hello"`, "1", "2", "3"} {
		if !got[id] {
			t.Errorf("no answer to %s: %s", id, out.String())
		}
	}
}

func TestMCPAnswersALineThatIsNoMessage(t *testing.T) {
	t.Setenv("BLOCKWORLD_TOKEN", "bw_x")
	t.Setenv("BLOCKWORLD_TOKEN_FILE", "")
	var out, errs bytes.Buffer
	in := strings.NewReader("hello\n" + strings.Repeat("x", 3<<20) + "\n{}\n")
	if code := run(t.Context(), []string{"mcp"}, in, &out, &errs); code != exitDone || errs.Len() > 0 {
		t.Errorf("%d: %s", code, errs.String())
	}
	var codes []int
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID    *int `json:"id"`
			Error struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.ID != nil {
			t.Errorf("%v: %s", err, line)
		}
		codes = append(codes, m.Error.Code)
	}
	if !slices.Equal(codes, []int{-32700, -32700, -32600}) {
		t.Errorf("%v: %s", codes, out.String())
	}
}

func TestMCPWithoutATokenSaysSoOnStandardErrorOnly(t *testing.T) {
	for _, args := range [][]string{{"mcp"}, {"mcp", "--json"}} {
		o := ran(t.Context(), append(args, "--data", t.TempDir())...)
		if o.code != exitUsage || !strings.Contains(o.errs, "no token") || o.out != "" && args[len(args)-1] == "mcp" {
			t.Errorf("%v: %d: %q, %s", args, o.code, o.out, o.errs)
		}
	}
}
