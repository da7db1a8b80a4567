package client

import (
	"context"
	"net/http"
	"strconv"
	"time"

	v1 "blockworld/controlplane/api/v1"
	"blockworld/effects"
	"blockworld/effects/host"
)

// HostClient speaks for a host. It is safe for concurrent use. What a repeat of changes nothing (answers,
// acknowledgements, reports, outcomes, children under their key) is repeated when the reply is lost; the rest is sent once,
// for the host's own loop registers and polls again.
type HostClient struct{ *transport }

// NewHost makes a host's client; nothing is sent yet.
func NewHost(o Options) (*HostClient, error) {
	t, err := newTransport(o)
	return &HostClient{t}, err
}

func hostPost(se host.Session, name string, body any, again bool) request {
	r := post("/v1/host/"+name, body, again)
	r.header = sessionHeader(se)
	return r
}

func sessionHeader(se host.Session) http.Header {
	h := http.Header{}
	h.Set(v1.HeaderHost, string(se.Host))
	h.Set(v1.HeaderGeneration, strconv.FormatUint(se.Generation, 10))
	h.Set(v1.HeaderSession, se.Token)
	return h
}

// Register introduces a host and starts a session.
func (c *HostClient) Register(ctx context.Context, m host.Manifest) (host.Session, error) {
	return fetch[host.Session](ctx, c.transport, post("/v1/host/register", m, false))
}

// Renew keeps a session.
func (c *HostClient) Renew(ctx context.Context, se host.Session) (host.Session, error) {
	return fetch[host.Session](ctx, c.transport, hostPost(se, "renew", nil, true))
}

// Unregister ends a session.
func (c *HostClient) Unregister(ctx context.Context, se host.Session) error {
	return c.call(ctx, hostPost(se, "unregister", nil, false), nil)
}

// Publish brings the read model of one actor.
func (c *HostClient) Publish(ctx context.Context, se host.Session, p host.Publication) error {
	return c.call(ctx, hostPost(se, "publish", p, false), nil)
}

// Poll waits at most wait for up to limit items.
func (c *HostClient) Poll(ctx context.Context, se host.Session, limit int, wait time.Duration) (host.Batch, error) {
	return fetch[host.Batch](ctx, c.transport, hostPost(se, "poll", v1.Poll{Limit: limit, Wait: wait.Milliseconds()}, false))
}

// Answer answers a gateway request.
func (c *HostClient) Answer(ctx context.Context, se host.Session, a host.Answer) error {
	return c.call(ctx, hostPost(se, "answer", a, true), nil)
}

// Ack takes or refuses a delivery.
func (c *HostClient) Ack(ctx context.Context, se host.Session, a host.Ack) error {
	return c.call(ctx, hostPost(se, "ack", a, true), nil)
}

// Run reports progress.
func (c *HostClient) Run(ctx context.Context, se host.Session, r host.Run) error {
	return c.call(ctx, hostPost(se, "run", r, true), nil)
}

// Outcome reports the one outcome of an operation.
func (c *HostClient) Outcome(ctx context.Context, se host.Session, o host.Outcome) error {
	return c.call(ctx, hostPost(se, "outcome", o, true), nil)
}

// SubmitChild submits a child of a macro.
func (c *HostClient) SubmitChild(ctx context.Context, se host.Session, child host.Child) (host.ChildView, error) {
	return fetch[host.ChildView](ctx, c.transport, hostPost(se, "children", child, child.Key != ""))
}

// Blueprint fetches a blueprint that a macro names.
func (c *HostClient) Blueprint(ctx context.Context, se host.Session, d effects.Digest) ([]byte, error) {
	r := get(path("v1", "host", "blueprints", d.String()))
	r.header = sessionHeader(se)
	return fetch[[]byte](ctx, c.transport, r)
}
