package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"blockworld/controlplane"
	"blockworld/effects/host"
)

// FuzzStream reads any bytes as a stream of events: it ends, and never with a change that was not there whole.
func FuzzStream(f *testing.F) {
	f.Add(": open\n\nevent: change\nid: 1\ndata: {\"version\":1,\"state\":\"queued\"}\n\n")
	f.Add("event: change\ndata: {\ndata: \"version\":1,\"state\":\"queued\"}\n\n")
	f.Add("event: change\ndata: {\"version\":1}")
	f.Add("data\n\n:\nevent\n\nevent:change\ndata:{}\n\n")
	f.Add("event: change\r\ndata: {}\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		body := io.NopCloser(strings.NewReader(text))
		s := &Stream{body: body, lines: bufio.NewScanner(body), dead: time.AfterFunc(time.Hour, func() {}), cancel: func() {}}
		defer s.Close()
		for n := 0; ; n++ {
			if _, err := s.Next(); err != nil {
				return
			}
			if n > len(text) {
				t.Fatal("more events than bytes")
			}
		}
	})
}

// answering is a way to a server that always gives the same answer.
type answering struct {
	status int
	media  string
	body   string
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.media}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// FuzzAnswer takes any answer for one of the control plane: it is a view, a refusal with a code, or no answer.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/json", `{"id":"00000000000000000000000000000001","state":"succeeded","outcome":null}`)
	f.Add(409, "application/problem+json", `{"code":"stale","detail":"x","status":409}`)
	f.Add(503, "text/html", `<html>`)
	f.Add(302, "", ``)
	f.Add(200, "application/json", `{"id":1}`)
	f.Fuzz(func(t *testing.T, status int, media, body string) {
		if status < 100 || status > 599 {
			return
		}
		c, err := New(Options{Base: "http://127.0.0.1", HTTP: &http.Client{Transport: answering{status, media, body}}, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Operation(context.Background(), host.OpID{})
		var refusal *controlplane.Error
		switch {
		case err == nil && (status < 200 || status > 299):
			t.Fatalf("%d was taken for success", status)
		case errors.As(err, &refusal) && refusal.Code == "":
			t.Fatal("a refusal without a code")
		case err != nil && refusal == nil && !errors.Is(err, ErrNoAnswer) && !errors.Is(err, ErrUnreachable):
			t.Fatalf("%v", err)
		}
	})
}
