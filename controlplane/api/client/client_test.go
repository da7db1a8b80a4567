package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/effects/host"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pauses remembers how long a client wanted to wait, and does not.
type pauses []time.Duration

func (p *pauses) pause(ctx context.Context, d time.Duration) error {
	*p = append(*p, d)
	return ctx.Err()
}

// served is a client of a server that answers with h.
func served(t *testing.T, h http.HandlerFunc) (*Client, *HostClient, *pauses) {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	p := &pauses{}
	o := Options{Base: web.URL, Token: "bw_x", Pause: p.pause}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	hc, err := NewHost(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	t.Cleanup(hc.Close)
	return c, hc, p
}

func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func TestOnlyWhatMayComeTwiceIsSentTwice(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		call func(*Client, *HostClient) error
		sent int32
	}{
		"CP-79/a submit, under its key": {func(c *Client, _ *HostClient) error {
			_, err := c.Submit(ctx, controlplane.SubmitRequest{Key: "k"})
			return err
		}, 4},
		"a submit without a key": {func(c *Client, _ *HostClient) error {
			_, err := c.Submit(ctx, controlplane.SubmitRequest{})
			return err
		}, 1},
		"a look-up":         {func(c *Client, _ *HostClient) error { _, err := c.Operation(ctx, host.OpID{}); return err }, 4},
		"a wait":            {func(c *Client, _ *HostClient) error { _, err := c.Wait(ctx, controlplane.WaitRequest{}); return err }, 4},
		"an emergency stop": {func(c *Client, _ *HostClient) error { _, err := c.Stop(ctx, "a", ""); return err }, 4},
		"lifting a stop":    {func(c *Client, _ *HostClient) error { _, err := c.ClearStop(ctx, "a"); return err }, 1},
		"CP-50/a confirmation": {func(c *Client, _ *HostClient) error {
			_, err := c.Confirm(ctx, controlplane.ConfirmRequest{})
			return err
		}, 1},
		"making a token":           {func(c *Client, _ *HostClient) error { _, err := c.MakeToken(ctx, v1.TokenGrant{}); return err }, 1},
		"registering":              {func(_ *Client, h *HostClient) error { _, err := h.Register(ctx, host.Manifest{}); return err }, 1},
		"a poll":                   {func(_ *Client, h *HostClient) error { _, err := h.Poll(ctx, host.Session{}, 1, 0); return err }, 1},
		"publishing":               {func(_ *Client, h *HostClient) error { return h.Publish(ctx, host.Session{}, host.Publication{}) }, 1},
		"an answer":                {func(_ *Client, h *HostClient) error { return h.Answer(ctx, host.Session{}, host.Answer{}) }, 4},
		"CP-84/an acknowledgement": {func(_ *Client, h *HostClient) error { return h.Ack(ctx, host.Session{}, host.Ack{}) }, 4},
		"CP-86/an outcome":         {func(_ *Client, h *HostClient) error { return h.Outcome(ctx, host.Session{}, host.Outcome{}) }, 4},
		"a child, under its key": {func(_ *Client, h *HostClient) error {
			_, err := h.SubmitChild(ctx, host.Session{}, host.Child{Key: "k"})
			return err
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int32
			cl, hc, waited := served(t, func(w http.ResponseWriter, _ *http.Request) { sent.Add(1); cut(w) })
			// The transport of net/http repeats idempotent requests on kept connections by itself; here none is kept.
			for _, tr := range []*transport{cl.transport, hc.transport} {
				tr.http.Transport.(*http.Transport).DisableKeepAlives = true
			}
			if err := c.call(cl, hc); !errors.Is(err, ErrUnreachable) {
				t.Errorf("%v", err)
			}
			if sent.Load() != c.sent || len(*waited) != int(c.sent)-1 {
				t.Errorf("sent %d times with %d pauses, want %d times", sent.Load(), len(*waited), c.sent)
			}
		})
	}
}

func TestARefusalIsTheGatewaysError(t *testing.T) {
	var sent atomic.Int32
	answer := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			sent.Add(1)
			w.Header().Set("Content-Type", media)
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	problem := func(code string, status int) string {
		return fmt.Sprintf(`{"type":"urn:blockworld:problem:%s","title":"x","status":%d,"code":%q,"detail":"do this","facts":{"actor":"a"},"later":1}`, code, status, code)
	}
	const media = "application/problem+json"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   controlplane.Code
		is     error
		sent   int32
	}{
		"a refusal":                          {answer(409, media, problem("stale", 409)), controlplane.CodeStale, nil, 1},
		"a code of a later version":          {answer(418, media, problem("teapot", 418)), "teapot", nil, 1},
		"an actor whose host is away":        {answer(503, media, problem("unavailable", 503)), controlplane.CodeUnavailable, nil, 1},
		"a busy server is asked again":       {answer(503, media, problem("busy", 503)), "busy", nil, 4},
		"a page of another server":           {answer(404, "text/html", "<html>"), "", ErrNoAnswer, 1},
		"a redirect, which is not followed":  {answer(302, "text/html", ""), "", ErrNoAnswer, 1},
		"a proxy whose server is away":       {answer(502, "text/html", "bad gateway"), "", ErrUnreachable, 4},
		"success of something else":          {answer(200, "text/html", "<html>"), "", ErrNoAnswer, 1},
		"a problem that is none":             {answer(400, media, "{"), "", ErrNoAnswer, 1},
		"an answer with a member twice":      {answer(200, "application/json", `{"id":"","id":""}`), "", ErrNoAnswer, 1},
		"an answer with a member of later":   {answer(200, "application/json", `{"later":1}`), "", nil, 1},
		"an answer with an unknown state":    {answer(200, "application/json", `{"state":"done"}`), "", ErrNoAnswer, 1},
		"RU-04/an answer with another state": {answer(200, "application/json", `{"state":"outcome_unknown"}`), "", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			sent.Store(0)
			cl, _, _ := served(t, c.answer)
			_, err := cl.Operation(context.Background(), host.OpID{})
			var refusal *controlplane.Error
			switch {
			case c.code != "":
				if !errors.As(err, &refusal) || refusal.Code != c.code || refusal.Message != "do this" || refusal.Detail["actor"] != "a" {
					t.Errorf("%#v", err)
				}
			case !errors.Is(err, c.is):
				t.Errorf("%v, want %v", err, c.is)
			}
			if sent.Load() != c.sent {
				t.Errorf("sent %d times", sent.Load())
			}
		})
	}
}

func TestAContextEndsACall(t *testing.T) {
	inside := make(chan struct{})
	cl, _, waited := served(t, func(_ http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-inside; cancel() }()
	if _, err := cl.Wait(ctx, controlplane.WaitRequest{}); !errors.Is(err, context.Canceled) || len(*waited) != 0 {
		t.Errorf("%v after %d pauses", err, len(*waited))
	}
}

func TestNamesAreEscaped(t *testing.T) {
	var got string
	cl, _, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath()
		fmt.Fprint(w, `{}`)
	})
	if _, err := cl.Actor(context.Background(), "a/../b?c"); err != nil {
		t.Fatal(err)
	}
	if got != "/v1/actors/a%2F..%2Fb%3Fc" {
		t.Errorf("asked %s", got)
	}
}

func TestAnAddressIsChecked(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:7643", "ftp://x", "http://", "http://user:pw@host", "http://host/?x=1", "http://%zz"} {
		if _, err := New(Options{Base: base}); !errors.Is(err, ErrBadBase) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestAStreamIsReadEventByEvent(t *testing.T) {
	const change = `{"op":"00000000000000000000000000000001","actor":"a","task":"","state":"queued","version":%d,"lagged":false}`
	t.Run("events, comments and other events", func(t *testing.T) {
		cl, _, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, ": open\n\nevent: other\ndata: {}\n\nretry: 5\n\nevent: change\nid: 1\ndata: "+fmt.Sprintf(change, 1)+"\n\n: beat\n\nevent: change\ndata: "+fmt.Sprintf(change, 2)+"\n\n")
		})
		s, err := cl.Events(context.Background(), controlplane.Filter{Actor: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for want := uint64(1); want <= 2; want++ {
			if c, err := s.Next(); err != nil || c.Version != want {
				t.Fatalf("%+v %v", c, err)
			}
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("%v", err)
		}
	})
	t.Run("an event that is none", func(t *testing.T) {
		for _, data := range []string{"{", strings.Repeat("x", maxLine+1)} {
			cl, _, _ := served(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "event: change\ndata: "+data+"\n\n") })
			s, err := cl.Events(context.Background(), controlplane.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Next(); err == nil || err == io.EOF {
				t.Errorf("%v", err)
			}
			s.Close()
		}
	})
	t.Run("a lost stream is opened again, and says so", func(t *testing.T) {
		var opened atomic.Int32
		cl, _, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
			switch opened.Add(1) {
			case 1:
				fmt.Fprint(w, "event: change\ndata: "+fmt.Sprintf(change, 1)+"\n\n")
			case 2:
				cut(w)
			default:
				fmt.Fprint(w, "event: change\ndata: "+fmt.Sprintf(change, 2)+"\n\n")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		changes, err := cl.Subscribe(ctx, controlplane.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if c := <-changes; c.Version != 1 {
			t.Errorf("%+v", c)
		}
		if c := <-changes; !c.Lagged {
			t.Errorf("%+v", c)
		}
		if c := <-changes; c.Version != 2 {
			t.Errorf("%+v", c)
		}
		cancel()
		if _, more := <-changes; more {
			t.Error("the channel stays open")
		}
	})
	t.Run("a refused stream is an error", func(t *testing.T) {
		cl, _, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(403)
			fmt.Fprint(w, `{"code":"forbidden","detail":"x"}`)
		})
		if _, err := cl.Subscribe(context.Background(), controlplane.Filter{}); controlplane.CodeOf(err) != controlplane.CodeForbidden {
			t.Errorf("%v", err)
		}
	})
}
