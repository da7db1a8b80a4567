package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
)

// readmeLines are the lines of the README that begin with a word.
func readmeLines(t *testing.T, word string) (out []string) {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(readme)) {
		if strings.HasPrefix(line, word) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestTheReadmesCurlLinesWork(t *testing.T) {
	lines := readmeLines(t, "curl ")
	if len(lines) < 5 {
		t.Fatalf("only %d lines", len(lines))
	}
	st := set(t, "policy: {profile: open}\n").serve()
	res, err := http.Get(st.served.Address + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	document, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("each is an example of the document", func(t *testing.T) {
		for _, line := range lines {
			quoted, _ := json.Marshal(line)
			if !strings.Contains(unescaped(string(document)), unescaped(string(quoted))) {
				t.Errorf("not in /openapi.json: %s", line)
			}
		}
	})
	t.Run("each works as printed, with the lease and the observation put in", func(t *testing.T) {
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("skipped: no curl in PATH")
		}
		c := st.client()
		lease := ""
		for _, line := range lines {
			line = strings.ReplaceAll(line, "http://127.0.0.1:7643", st.served.Address)
			if strings.Contains(line, "LEASE") {
				a, err := c.Observe(t.Context(), "builder-1")
				if err != nil {
					t.Fatal(err)
				}
				epoch := fmt.Sprintf(`"epoch":{"host":%d,"timeline":%d,"world":%d}`, a.Epoch.Host, a.Epoch.Timeline, a.Epoch.World)
				line = regexp.MustCompile(`"epoch":\{[^}]*\}`).ReplaceAllString(line, epoch)
				line = regexp.MustCompile(`"sequence":\d+`).ReplaceAllString(line, fmt.Sprintf(`"sequence":%d`, a.Sequence))
				line = strings.ReplaceAll(line, "LEASE", lease)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Env = append(os.Environ(), "BLOCKWORLD_TOKEN="+st.secret())
			out, err := cmd.Output()
			var said struct {
				ID    string `json:"id"`
				Code  string `json:"code"`
				Actor string `json:"actor"`
			}
			if err != nil || json.Unmarshal(out, &said) != nil || said.Code != "" {
				t.Errorf("%s\nsays %s, %v", line, out, err)
			}
			if strings.Contains(line, "/lease'") {
				lease = said.ID
			}
		}
		page, err := c.Operations(t.Context(), controlplane.Filter{Actor: "builder-1"})
		if err != nil || len(page.Operations) != 1 || page.Operations[0].Capability != "say" {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// unescaped writes < > & as they are, whichever way JSON was written.
func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// readmeBlock is the code block of the README that begins with a line.
func readmeBlock(t *testing.T, first string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "\n"+first)
	if !found {
		t.Fatalf("no block begins with %s", first)
	}
	block, _, _ := strings.Cut(rest, "\n```")
	return first + block
}

// words splits a command line as a shell does it, as far as the README needs it.
func words(line string) (out []string) {
	line, _, _ = strings.Cut(line, " #")
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// TestTheReadmesDaemonWorks follows the README from the configuration to the stop, in a folder of its own, on a server such
// as fixture serve is, and lastly has an agent configured as it says.
func TestTheReadmesDaemonWorks(t *testing.T) {
	config, lines, agent := readmeBlock(t, "# blockworld.yaml"), readmeBlock(t, "./blockworld probe 127.0.0.1:25565"), readmeBlock(t, "{\n  \"mcpServers\"")
	cfg, err := (&serveFlags{listen: "127.0.0.1:0", version: "1.21.8", terrain: "flat", mode: "creative", tick: 10 * time.Millisecond, view: 4, compression: 256}).config()
	if err != nil {
		t.Fatal(err)
	}
	w, err := server.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	t.Chdir(t.TempDir())
	here := strings.NewReplacer("127.0.0.1:25565", w.Addr(), "127.0.0.1:7643", "127.0.0.1:0")
	if err := errors.Join(os.WriteFile("blockworld.yaml", []byte(here.Replace(config)), 0o600),
		os.WriteFile("cottage.schem", blueprints.Twelve(), 0o600)); err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, world: w, data: "blockworld-data", config: "blockworld.yaml"}
	last := ""
	for line := range strings.Lines(lines) {
		args := words(here.Replace(line))
		switch {
		case len(args) < 2 || args[0] != "./blockworld":
			t.Fatalf("no line of ours: %s", line)
		case args[1] == "serve":
			st.start()
			t.Setenv("BLOCKWORLD_DAEMON", st.served.Address)
			st.online()
			continue
		}
		o := ran(t.Context(), args[1:]...)
		if o.code != exitDone || o.out == "" {
			t.Fatalf("%sends with %d: %s%s", line, o.code, o.out, o.errs)
		}
		last = args[2]
	}
	if last != "stop" {
		t.Errorf("the last line is %s", last)
	}
	if o := ran(t.Context(), "ctl", "clear", "builder-1"); o.code != exitDone {
		t.Errorf("%s", o.errs)
	}
	if got := st.block(5, -60, 6); got != "minecraft:stone" {
		t.Errorf("what was placed by hand is %s", got)
	}
	if o := ran(t.Context(), "receipts", "list", "--data", "blockworld-data/bots/builder-1"); o.code != exitDone || !strings.Contains(o.out, "5,-60,6 ") {
		t.Errorf("%d: %s%s", o.code, o.out, o.errs)
	}
	t.Run("an agent configured as it says sees its bot", func(t *testing.T) { readmesAgent(t, agent) })
}

// online waits until the daemon's bot is in its world.
func (st *stage) online() {
	st.t.Helper()
	c := st.client()
	for cursor := ""; ; {
		got, err := c.Wait(st.t.Context(), controlplane.WaitRequest{Actor: "builder-1", Cursor: cursor, TimeoutMS: 20_000})
		if err != nil {
			st.t.Fatal(err)
		}
		if got.Actor.Ready {
			return
		}
		cursor = got.Cursor
	}
}

// readmesAgent starts what the configuration of an agent names, with the folders and the address of the test.
func readmesAgent(t *testing.T, configuration string) {
	var c struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(configuration), &c); err != nil {
		t.Fatal(err)
	}
	s := c.Servers["blockworld"]
	if len(c.Servers) != 1 || s.Command != "/path/to/blockworld" || s.Env["BLOCKWORLD_DAEMON"] != defaultDaemon || s.Env["BLOCKWORLD_TOKEN_FILE"] != "/path/to/agent.token" || len(s.Env) != 2 {
		t.Fatalf("%+v", s)
	}
	t.Setenv("BLOCKWORLD_TOKEN_FILE", "agent.token")
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), s.Args, in, out, io.Discard)
		out.Close()
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromProgram, Writer: toProgram}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_actors", Arguments: map[string]any{}})
	if err != nil || res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, "builder-1") {
		t.Errorf("%+v, %v", res, err)
	}
	list, err := client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 20 {
		t.Errorf("%+v, %v", list, err)
	}
	client.Close()
	toProgram.Close()
	if code := <-ended; code != exitDone {
		t.Errorf("it ends with %d", code)
	}
}
