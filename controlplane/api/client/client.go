package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/operation"
	"blockworld/effects/host"
)

// Client asks as the principal that its token stands for. It is safe for concurrent use.
type Client struct{ *transport }

// New makes a client; nothing is sent yet.
func New(o Options) (*Client, error) {
	t, err := newTransport(o)
	return &Client{t}, err
}

// fetch asks for a T.
func fetch[T any](ctx context.Context, t *transport, r request) (out T, err error) {
	err = t.call(ctx, r, &out)
	return out, err
}

func get(path string) request { return request{method: http.MethodGet, path: path, repeat: true} }

// post is a request that acts; again says that a repeat changes nothing.
func post(path string, body any, again bool) request {
	return request{method: http.MethodPost, path: path, body: body, repeat: again}
}

// Submit asks for one action. It is repeated under its key when the answer is lost: the operation is the same one.
func (c *Client) Submit(ctx context.Context, r controlplane.SubmitRequest) (operation.View, error) {
	return fetch[operation.View](ctx, c.transport, post("/v1/operations", r, r.Key != ""))
}

// Explain tells what a submit would do, and stores nothing.
func (c *Client) Explain(ctx context.Context, r controlplane.SubmitRequest) (controlplane.Explanation, error) {
	return fetch[controlplane.Explanation](ctx, c.transport, post("/v1/explain", r, true))
}

// Confirm answers a challenge. It is sent once: after a lost answer, look the operation up.
func (c *Client) Confirm(ctx context.Context, r controlplane.ConfirmRequest) (operation.View, error) {
	body := v1.Confirm{Challenge: r.Challenge, Digest: r.Digest, Approve: r.Approve, Sequence: r.Sequence}
	return fetch[operation.View](ctx, c.transport, post(path("v1", "operations", r.Op.String(), "confirm"), body, false))
}

// Operation looks an operation up.
func (c *Client) Operation(ctx context.Context, id host.OpID) (operation.View, error) {
	return fetch[operation.View](ctx, c.transport, get(path("v1", "operations", id.String())))
}

// Operations lists operations.
func (c *Client) Operations(ctx context.Context, f controlplane.Filter) (controlplane.Page, error) {
	r := get("/v1/operations")
	r.query = filterQuery(f)
	return fetch[controlplane.Page](ctx, c.transport, r)
}

func filterQuery(f controlplane.Filter) url.Values {
	q := url.Values{}
	set(q, "actor", string(f.Actor))
	set(q, "task", string(f.Task))
	set(q, "after", f.After)
	if f.Parent != (host.OpID{}) {
		q.Set("parent", f.Parent.String())
	}
	if f.State != 0 {
		q.Set("state", f.State.String())
	}
	if f.Limit != 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// Wait returns when something newer than the cursor is there, or at the timeout. Its end cancels nothing.
func (c *Client) Wait(ctx context.Context, r controlplane.WaitRequest) (controlplane.WaitResult, error) {
	q := get("/v1/wait")
	q.query = url.Values{"timeout_ms": {strconv.FormatInt(r.TimeoutMS, 10)}}
	if r.Op != (host.OpID{}) {
		q.query.Set("operation", r.Op.String())
	}
	set(q.query, "actor", string(r.Actor))
	set(q.query, "task", string(r.Task))
	set(q.query, "cursor", r.Cursor)
	return fetch[controlplane.WaitResult](ctx, c.transport, q)
}

// Cancel asks for the end of an operation; it undoes nothing.
func (c *Client) Cancel(ctx context.Context, id host.OpID, why string) (operation.View, error) {
	return fetch[operation.View](ctx, c.transport, post(path("v1", "operations", id.String(), "cancel"), v1.Cancel{Why: why}, true))
}

// AcceptUnverified closes an unknown outcome as what it is.
func (c *Client) AcceptUnverified(ctx context.Context, id host.OpID) (operation.View, error) {
	return fetch[operation.View](ctx, c.transport, post(path("v1", "operations", id.String(), "accept"), nil, false))
}

// Acquire takes the lease of an actor; the holder's own is renewed.
func (c *Client) Acquire(ctx context.Context, actor host.Name, ttl time.Duration) (controlplane.Lease, error) {
	return fetch[controlplane.Lease](ctx, c.transport, post(ofActor(actor, "lease"), v1.Acquire{TTL: ttl.Milliseconds()}, true))
}

// Renew keeps a lease for longer.
func (c *Client) Renew(ctx context.Context, actor host.Name, lease string, ttl time.Duration) (controlplane.Lease, error) {
	return fetch[controlplane.Lease](ctx, c.transport, post(ofActor(actor, "lease", "renew"), v1.Renew{Lease: lease, TTL: ttl.Milliseconds()}, true))
}

// Release gives a lease back.
func (c *Client) Release(ctx context.Context, actor host.Name, lease string) error {
	return c.call(ctx, post(ofActor(actor, "lease", "release"), v1.Release{Lease: lease}, false), nil)
}

// LeaseOf tells who holds an actor's lease; the zero Lease: nobody.
func (c *Client) LeaseOf(ctx context.Context, actor host.Name) (controlplane.Lease, error) {
	return fetch[controlplane.Lease](ctx, c.transport, get(ofActor(actor, "lease")))
}

// Actors lists the actors that the token sees.
func (c *Client) Actors(ctx context.Context) ([]controlplane.ActorView, error) {
	all, err := fetch[v1.Actors](ctx, c.transport, get("/v1/actors"))
	return all.Actors, err
}

// Actor tells what is known of an actor now.
func (c *Client) Actor(ctx context.Context, actor host.Name) (controlplane.ActorView, error) {
	return fetch[controlplane.ActorView](ctx, c.transport, get(ofActor(actor)))
}

// Observe is Actor: what a submit's epoch and sequence are taken from.
func (c *Client) Observe(ctx context.Context, actor host.Name) (controlplane.ActorView, error) {
	return fetch[controlplane.ActorView](ctx, c.transport, get(ofActor(actor, "observation")))
}

// Capabilities lists what an actor can be asked for.
func (c *Client) Capabilities(ctx context.Context, actor host.Name) ([]controlplane.CapabilityView, error) {
	all, err := c.Contracts(ctx, actor)
	var out []controlplane.CapabilityView
	for _, each := range all {
		out = append(out, each.CapabilityView)
	}
	return out, err
}

// Contracts lists what an actor can be asked for, each with the contract that it is asked for under.
func (c *Client) Contracts(ctx context.Context, actor host.Name) ([]v1.Capability, error) {
	all, err := fetch[v1.Capabilities](ctx, c.transport, get(ofActor(actor, "capabilities")))
	return all.Capabilities, err
}

// Read asks one of the reads. World text in its output is untrusted.
func (c *Client) Read(ctx context.Context, actor host.Name, a host.Action) (json.RawMessage, error) {
	out, err := fetch[v1.Output](ctx, c.transport, post(ofActor(actor, "read"), v1.Read(a), true))
	return out.Untrusted, err
}

// Stop latches an actor's emergency stop.
func (c *Client) Stop(ctx context.Context, actor host.Name, why string) (controlplane.ActorView, error) {
	return fetch[controlplane.ActorView](ctx, c.transport, post(ofActor(actor, "stop"), v1.Stop{Why: why}, true))
}

// ClearStop lifts an actor's emergency stop. It is sent once: a repeat could lift a stop that came between.
func (c *Client) ClearStop(ctx context.Context, actor host.Name) (controlplane.ActorView, error) {
	return fetch[controlplane.ActorView](ctx, c.transport, post(ofActor(actor, "clear-stop"), nil, false))
}

// PutBlueprint stores a blueprint for macros.
func (c *Client) PutBlueprint(ctx context.Context, name host.Name, data []byte) (controlplane.BlueprintView, error) {
	r := request{method: http.MethodPut, path: path("v1", "blueprints", string(name)), bytes: append([]byte{}, data...), repeat: true}
	return fetch[controlplane.BlueprintView](ctx, c.transport, r)
}

// Blueprints lists the stored blueprints.
func (c *Client) Blueprints(ctx context.Context) ([]controlplane.BlueprintView, error) {
	all, err := fetch[v1.Blueprints](ctx, c.transport, get("/v1/blueprints"))
	return all.Blueprints, err
}

// Stats are the server's counts.
func (c *Client) Stats(ctx context.Context) (v1.Stats, error) {
	return fetch[v1.Stats](ctx, c.transport, get("/v1/stats"))
}

// Me tells whom the client's token speaks for, and what it may do.
func (c *Client) Me(ctx context.Context) (v1.Me, error) {
	return fetch[v1.Me](ctx, c.transport, get("/v1/me"))
}

// Backup writes a copy of the server's store, as it is at one moment, and returns its length. What it wrote when it fails
// is no backup.
func (c *Client) Backup(ctx context.Context, w io.Writer) (int64, error) {
	r := get("/v1/backup")
	res, err := c.send(ctx, r, nil, "")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(w, res.Body)
	return n, err
}

// MakeToken makes a token; its secret is told this once.
func (c *Client) MakeToken(ctx context.Context, g v1.TokenGrant) (v1.NewToken, error) {
	return fetch[v1.NewToken](ctx, c.transport, post("/v1/tokens", g, false))
}

// Tokens lists the tokens.
func (c *Client) Tokens(ctx context.Context) ([]v1.Token, error) {
	all, err := fetch[v1.Tokens](ctx, c.transport, get("/v1/tokens"))
	return all.Tokens, err
}

// RevokeToken ends a token.
func (c *Client) RevokeToken(ctx context.Context, id string) (v1.Token, error) {
	r := request{method: http.MethodDelete, path: path("v1", "tokens", id), repeat: true}
	return fetch[v1.Token](ctx, c.transport, r)
}

func ofActor(actor host.Name, rest ...string) string {
	return path(append([]string{"v1", "actors", string(actor)}, rest...)...)
}
