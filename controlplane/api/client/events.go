package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
)

const (
	maxLine = 1 << 20          // bytes of a line of an event stream
	silence = 60 * time.Second // a stream that says nothing for so long is dead: it has a comment every 15 s
)

// Stream is an open stream of changes. It is for one goroutine, but for Close.
type Stream struct {
	body   io.ReadCloser
	lines  *bufio.Scanner
	dead   *time.Timer
	cancel context.CancelFunc
}

// Events opens a stream of changes. It is live when Events returns: no later change is missed.
func (c *Client) Events(ctx context.Context, f controlplane.Filter) (*Stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := get("/v1/events")
	r.query = filterQuery(f)
	res, err := c.send(ctx, r, nil, "")
	if err != nil {
		cancel()
		return nil, err
	}
	s := &Stream{body: res.Body, lines: bufio.NewScanner(res.Body), dead: time.AfterFunc(silence, cancel), cancel: cancel}
	s.lines.Buffer(nil, maxLine)
	return s, nil
}

// Next returns the next change; io.EOF when the server has ended the stream.
func (s *Stream) Next() (controlplane.Change, error) {
	var name string
	var data strings.Builder
	for s.lines.Scan() {
		s.dead.Reset(silence)
		line := s.lines.Text()
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if name == v1.EventChange && data.Len() > 0 {
				var change controlplane.Change
				if err := json.Unmarshal([]byte(data.String()), &change); err != nil {
					return controlplane.Change{}, fmt.Errorf("an event: %w: %v", ErrNoAnswer, err)
				}
				return change, nil
			}
			name = ""
			data.Reset()
		case field == "event":
			name = value
		case field == "data":
			if data.Len()+len(value) > maxLine {
				return controlplane.Change{}, fmt.Errorf("an event is longer than %d bytes: %w", maxLine, ErrNoAnswer)
			}
			data.WriteString(value)
		}
	}
	if err := s.lines.Err(); err != nil {
		return controlplane.Change{}, fmt.Errorf("%w: %v", ErrUnreachable, err)
	}
	return controlplane.Change{}, io.EOF
}

// Close ends the stream.
func (s *Stream) Close() error {
	s.dead.Stop()
	s.cancel()
	return s.body.Close()
}

// Subscribe sends changes until ctx ends; then the channel is closed. A lost stream is opened again, and a change with
// Lagged says that some may have been missed between: list anew.
func (c *Client) Subscribe(ctx context.Context, f controlplane.Filter) (<-chan controlplane.Change, error) {
	s, err := c.Events(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make(chan controlplane.Change)
	go func() {
		defer close(out)
		for c.forward(ctx, s, out) {
			if s = c.reopen(ctx, f); s == nil {
				return
			}
			select {
			case out <- controlplane.Change{Lagged: true}:
			case <-ctx.Done():
			}
		}
	}()
	return out, nil
}

// forward sends what a stream brings until it ends; false: nobody listens any more.
func (c *Client) forward(ctx context.Context, s *Stream, out chan<- controlplane.Change) bool {
	defer s.Close()
	for {
		change, err := s.Next()
		if err != nil {
			return ctx.Err() == nil
		}
		select {
		case out <- change:
		case <-ctx.Done():
			return false
		}
	}
}

// reopen opens the stream again as often as needed; nil when ctx has ended or the server refuses.
func (c *Client) reopen(ctx context.Context, f controlplane.Filter) *Stream {
	for wait := firstWait; ; wait = min(2*wait, 10*time.Second) {
		if c.pause(ctx, wait) != nil {
			return nil
		}
		s, err := c.Events(ctx, f)
		switch {
		case err == nil:
			return s
		case !passing(err):
			return nil
		}
	}
}
