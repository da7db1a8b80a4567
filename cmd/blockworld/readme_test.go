package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"blockworld/controlplane"
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

func TestTheReadmesAgentConfigurationIsOne(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	var c struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	s := c.Servers["blockworld"]
	if s.Command == "" || len(s.Args) != 1 || s.Env["BLOCKWORLD_DAEMON"] != defaultDaemon || s.Env["BLOCKWORLD_TOKEN_FILE"] == "" {
		t.Errorf("%+v", s)
	}
	if cmd, _, err := newRoot(&globals{}).Find(s.Args); err != nil || cmd.Name() != "mcp" {
		t.Errorf("it starts %v, %v", cmd.Name(), err)
	}
}
