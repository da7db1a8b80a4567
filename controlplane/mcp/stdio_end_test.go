package mcp

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestTheInputsEndIsHeldBackUntilAllIsAnswered, and no longer than patience lasts.
func TestTheInputsEndIsHeldBackUntilAllIsAnswered(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for name, c := range map[string]struct {
		patience time.Duration
		answers  []string
		held     bool // for longer than the test looks
	}{
		"answered":           {time.Hour, []string{`{"jsonrpc":"2.0","id":7,"result":{}}`}, false},
		"refused":            {time.Hour, []string{`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`}, false},
		"another's answer":   {time.Hour, []string{`{"jsonrpc":"2.0","id":"7","result":{}}`}, true},
		"progress":           {time.Hour, []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`}, true},
		"never, and no time": {time.Nanosecond, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &lineWriter{w: io.Discard, open: map[jsonrpc.ID]int{}, answered: make(chan struct{}, 1)}
			m := &messages{ctx: ctx, in: bufio.NewReader(strings.NewReader(asked)), out: w, patience: c.patience}
			buf := make([]byte, 1024)
			for range 2 {
				if _, err := m.Read(buf); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan error)
			go func() {
				_, err := m.Read(buf)
				ended <- err
			}()
			for _, line := range c.answers {
				if _, err := w.Write([]byte(line + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			if c.held {
				select {
				case err := <-ended:
					t.Error("it has ended:", err)
					return
				case <-time.After(20 * time.Millisecond):
				}
				cancel()
			}
			if err := <-ended; err != io.EOF {
				t.Error(err)
			}
		})
	}
}
