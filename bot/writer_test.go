package bot

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyEgressWrites (with the status ping, which is no session, and the capture, which sits between egress and the
// connection) looks at every call of the connection's writing methods in the sources below this folder.
func TestOnlyEgressWrites(t *testing.T) {
	t.Run("DC-02/only egress calls the writer", func(t *testing.T) {
		allowed := func(path string) bool {
			return strings.HasPrefix(path, "egress/") || strings.HasPrefix(path, "wire/") || path == "login/ping.go" || path == "capture.go"
		}
		found := 0
		err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
			path = filepath.ToSlash(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return nil // half-written sources are the compiler's business
			}
			ast.Inspect(file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "WritePacket" && sel.Sel.Name != "WriteFrame" {
					return true
				}
				found++
				if !allowed(path) {
					t.Errorf("%s uses %s: only egress writes", path, sel.Sel.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found == 0 {
			t.Error("no writing method was found: the test looks at nothing")
		}
	})
}

// TestOwnProtocol looks at everything that a bot is built from.
func TestOwnProtocol(t *testing.T) {
	t.Run("DC-03/no ready-made client, server or world in the build", func(t *testing.T) {
		out, err := exec.Command("go", "list", "-deps", ".").Output()
		if err != nil {
			t.Fatalf("nobody knows what a bot is built from: go list: %v", err)
		}
		for _, name := range []string{"bot", "server", "level", "registry", "data"} {
			if bytes.Contains(out, []byte("github.com/Tnze/go-mc/"+name+"\n")) {
				t.Errorf("a bot is built with go-mc/%s", name)
			}
		}
	})
}
