package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// TestWhatTheDaemonServesIsDocumented holds the routes of a daemon as it is really put together to its own document.
func TestWhatTheDaemonServesIsDocumented(t *testing.T) {
	t.Parallel()
	st := set(t, trialPolicy)
	c, err := loadConfig(st.config, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDaemon(context.Background(), &printer{g: &globals{}, out: io.Discard, errs: io.Discard}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(d.api.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			documented[strings.ToUpper(method)+" "+path] = true
		}
	}
	otherProtocol := map[string]bool{mcpPath: true} // it describes itself
	served := map[string]bool{}
	for _, pattern := range d.api.Patterns() {
		served[pattern] = true
		if !documented[pattern] && !otherProtocol[pattern] {
			t.Errorf("%s is served and not in the document", pattern)
		}
	}
	for pattern := range documented {
		if !served[pattern] {
			t.Errorf("%s is in the document and not served", pattern)
		}
	}
	if !served[mcpPath] || !served["GET /v1/backup"] {
		t.Errorf("only %v are served", served)
	}
}
