package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestPlain: whatever a world, a host or a file holds, nothing printed can steer a terminal.
func TestPlain(t *testing.T) {
	const nasty = "a\x1b[31mb\u009b2Jc\u202ed\re\x07"
	t.Run("SE-15/a line for people", func(t *testing.T) {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		(&globals{}).printer(cmd).say("receipt 1, %s\n\tnext line", nasty)
		if got := out.String(); got != "receipt 1, a[31mb2Jcde\n\tnext line\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("SE-15/an error that quotes a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "blockworld.yaml")
		if err := os.WriteFile(path, []byte("data: x\n"+strings.Repeat("y", 3)+": \""+nasty+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := ran(t.Context(), "serve", "--check", "-c", path)
		if o.code != exitUsage || strings.ContainsAny(o.errs, "\x1b\u009b\r\x07") || !strings.Contains(o.errs, "yyy") {
			t.Errorf("%d: %q", o.code, o.errs)
		}
	})
}
