package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
)

// Errors of the way to the server and back. Refusals are *controlplane.Error instead.
var (
	ErrUnreachable = errors.New("the control plane cannot be reached: check its address and that it runs")
	ErrNoAnswer    = errors.New("what answered is not the control plane: check the address")
	ErrBadBase     = errors.New("the address of the control plane must look like http://127.0.0.1:7643")
)

// Options say where the control plane is and who asks. Base is required.
type Options struct {
	Base     string       // such as http://127.0.0.1:7643
	Token    string       // bearer token; empty while the server has tokens off
	HTTP     *http.Client // nil: one of its own
	Attempts int          // of a request that may be repeated; 0 means 4
	// Pause waits between two attempts; nil waits by a timer. It returns early with the context's error.
	Pause func(ctx context.Context, d time.Duration) error
}

// transport sends requests; it is shared by both clients.
type transport struct {
	base     string
	token    string
	http     *http.Client
	attempts int
	pause    func(context.Context, time.Duration) error
}

const (
	maxAnswer = 64 << 20 // bytes of an answer
	firstWait = 100 * time.Millisecond
)

func newTransport(o Options) (*transport, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("%q: %w", o.Base, ErrBadBase)
	}
	t := &transport{base: strings.TrimRight(o.Base, "/"), token: o.Token, attempts: o.Attempts, pause: o.Pause}
	if t.attempts <= 0 {
		t.attempts = 4
	}
	if t.pause == nil {
		t.pause = sleep
	}
	t.http = &http.Client{}
	if o.HTTP != nil {
		*t.http = *o.HTTP
	}
	if t.http.Transport == nil {
		t.http.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	t.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return t, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request is one thing to ask.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any    // written as JSON; nil: none
	bytes        []byte // written as they are, instead of body
	repeat       bool   // a repeat changes nothing
}

// path joins escaped segments.
func path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// call sends a request and reads its answer into out; nil out takes none.
func (t *transport) call(ctx context.Context, r request, out any) error {
	body, media, err := r.encode()
	if err != nil {
		return err
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := t.once(ctx, r, body, media, out)
		if err == nil || !r.repeat || attempt >= t.attempts || !passing(err) || ctx.Err() != nil {
			return err
		}
		if paused := t.pause(ctx, wait); paused != nil {
			return err
		}
		wait *= 4
	}
}

// passing tells whether an error may be gone with the next attempt.
func passing(err error) bool {
	return errors.Is(err, ErrUnreachable) || controlplane.CodeOf(err) == "busy"
}

func (r *request) encode() (body []byte, media string, err error) {
	switch {
	case r.bytes != nil:
		return r.bytes, "application/octet-stream", nil
	case r.body == nil:
		return nil, "", nil
	}
	body, err = json.Marshal(r.body, v1.Words)
	if err != nil {
		return nil, "", controlplane.Errorf(controlplane.CodeInvalid, "the request cannot be written as JSON: %v", err)
	}
	return body, "application/json", nil
}

func (t *transport) once(ctx context.Context, r request, body []byte, media string, out any) error {
	res, err := t.send(ctx, r, body, media)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return unreachable(ctx, err)
	case out == nil:
		return nil
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = b
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: %w: %v", r.method, r.path, ErrNoAnswer, err)
	}
	return nil
}

// send sends a request and returns an answer of success; the caller closes its body.
func (t *transport) send(ctx context.Context, r request, body []byte, media string) (*http.Response, error) {
	u := t.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	q, err := http.NewRequestWithContext(ctx, r.method, u, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrBadBase, err)
	}
	for name, values := range r.header {
		q.Header[name] = values
	}
	if media != "" {
		q.Header.Set("Content-Type", media)
	}
	if t.token != "" {
		q.Header.Set("Authorization", "Bearer "+t.token)
	}
	res, err := t.http.Do(q)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(r, res)
}

// unreachable keeps a context's end apart from a server that is away.
func unreachable(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return fmt.Errorf("%w: %v", ErrUnreachable, err)
}

// refusal reads a problem.
func refusal(r request, res *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20)) // what cannot be read is no problem either
	var p v1.Problem
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == "application/problem+json" && json.Unmarshal(b, &p) == nil && p.Code != "" {
		return &controlplane.Error{Code: controlplane.Code(p.Code), Message: p.Detail, Detail: p.Facts}
	}
	err := ErrNoAnswer
	if res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusGatewayTimeout {
		err = ErrUnreachable // something before the server says that it is away
	}
	return fmt.Errorf("%s %s answered %d: %w", r.method, r.path, res.StatusCode, err)
}

// Close lets go of idle connections.
func (t *transport) Close() { t.http.CloseIdleConnections() }
