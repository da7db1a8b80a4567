package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/mcp"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// daemon is everything that serve runs.
type daemon struct {
	config   *config
	policy   *policy.Engine
	store    store.Engine
	gateway  *controlplane.Gateway
	tokens   *token.Keeper
	api      *api.Server
	listener net.Listener
	bots     *hosting.Host // nil: only hosts of other processes
}

const mcpPath = "/mcp"

// firstAdmin is the principal of the token that the first start makes.
const firstAdmin host.Name = "admin"

// openDaemon opens store, gateway, journals and the listener; nothing is answered yet.
func openDaemon(ctx context.Context, p *printer, c *config) (d *daemon, err error) {
	d = &daemon{config: c}
	if d.policy, err = policy.Compile(c.Policy); err != nil {
		return nil, fail(exitUsage, err)
	}
	actors, err := c.actors(p)
	if err != nil {
		return nil, err
	}
	if err := makePrivate(c.Data); err != nil {
		return nil, err
	}
	if d.store, err = store.Open(c.storeFile(), store.Options{}); err != nil {
		return nil, storeFailed(err, c.Data)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
			d = nil
		}
	}()
	if err = d.openGateway(p); err != nil {
		return d, fail(exitFailed, err)
	}
	if d.listener, err = api.Listen(ctx, c.Listen, c.Expose, true); err != nil {
		return d, listenFailed(err)
	}
	if len(actors) == 0 {
		return d, nil
	}
	d.bots, err = hosting.New(hosting.Config{
		Name: c.Host, Daemon: d.gateway.Host(), Actors: actors, Log: p.logger("host"), Now: time.Now, Rand: rand.Reader,
		Unit: randomUnit, CodeOf: daemonCode,
	})
	return d, journalFailed(err)
}

// openGateway makes the gateway and its HTTP face.
func (d *daemon) openGateway(p *printer) (err error) {
	owners, homes := map[host.Name]host.Name{}, map[host.Name]host.Name{}
	for _, b := range d.config.Bots {
		owners[b.ID], homes[b.ID] = b.Owner, d.config.Host
	}
	for _, r := range d.config.Remote {
		owners[r.Actor] = r.Owner
	}
	d.gateway, err = controlplane.New(controlplane.Options{
		Engine: d.store, Policy: d.policy, Owners: owners, Homes: homes, Retain: time.Duration(d.config.Retain), Now: time.Now, Rand: rand.Reader,
		At: crashAt[controlplane.Point](os.Getenv, "daemon"), Log: p.logger("gateway"),
	})
	if err != nil {
		return err
	}
	d.tokens = token.New(d.store, time.Now, rand.Reader)
	d.api, err = api.New(api.Options{Gateway: d.gateway, Hosts: d.gateway.Remote(d.config.Host), Tokens: d.tokens, Version: programVersion(), Log: p.logger("api"),
		Backup: d.store.Backup})
	if err != nil {
		return err
	}
	d.api.Mount(mcpPath, d.mcpHandler())
	return nil
}

// mcpHandler serves MCP to whoever shows a token: the token of a session's first request says whose it is, and every later
// request of it must show the same one.
func (d *daemon) mcpHandler() http.Handler {
	inner := mcp.Handler(func(r *http.Request) mcp.Gateway {
		c, ok := api.CallerOf(r.Context())
		if !ok {
			return nil
		}
		return mcp.For(d.gateway, c.Principal)
	}, programVersion(), time.Now)
	who := func(ctx context.Context, _ string, _ *http.Request) (*sdkauth.TokenInfo, error) {
		c, ok := api.CallerOf(ctx)
		if !ok {
			return nil, sdkauth.ErrInvalidToken
		}
		return &sdkauth.TokenInfo{UserID: c.Token, Expiration: time.Now().Add(time.Hour)}, nil // held to this one request
	}
	bound := sdkauth.RequireBearerToken(who, nil)(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // answers are streams that stay open
		bound.ServeHTTP(w, r)
	})
}

// firstToken makes an admin token when there is no token at all, or when another one is wanted, and returns its file.
func (d *daemon) firstToken(another bool) (string, error) {
	all, err := d.tokens.List()
	if err != nil || len(all) > 0 && !another {
		return "", err
	}
	g := token.Grant{Kind: token.User, Principal: firstAdmin, Actors: []string{"*"}, Scopes: allScopes()}
	if len(all) == 0 {
		g.ID = "admin"
	}
	secret, made, err := d.tokens.Make(g)
	if err != nil {
		return "", err
	}
	path := d.config.adminFile()
	if err := writePrivate(path, []byte(secret+"\n")); err != nil {
		_, revoked := d.tokens.Revoke(string(made.ID))
		return "", errors.Join(err, revoked)
	}
	return path, nil
}

func allScopes() []controlplane.Scope {
	return []controlplane.Scope{controlplane.ScopeRead, controlplane.ScopeControl, controlplane.ScopeExecute,
		controlplane.ScopeConfirm, controlplane.ScopeCancel, controlplane.ScopeAdmin}
}

// run works until ctx ends, or something that the daemon cannot be without has failed.
func (d *daemon) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	var once sync.Once
	part := func(what string, work func() error) func() {
		return func() {
			if err := work(); err != nil && !errors.Is(err, context.Canceled) {
				once.Do(func() { failed = fmt.Errorf("%s: %w", what, err) })
			}
			stop()
		}
	}
	sweeping, swept := context.WithCancel(context.Background()) // waits end by it until the last
	var sweeper, parts sync.WaitGroup
	sweeper.Go(func() { d.gateway.Run(sweeping) })
	parts.Go(part("http", func() error { return d.api.Serve(ctx, d.listener) }))
	if d.bots != nil {
		parts.Go(part("bots", func() error { return d.bots.Run(ctx) }))
	}
	<-ctx.Done()
	parts.Wait()
	swept()
	sweeper.Wait()
	d.bots, d.listener = nil, nil // closed by those that ran them
	return errors.Join(failed, d.close())
}

// close closes what is open, in the order in which it leans on each other.
func (d *daemon) close() error {
	var all error
	if d.bots != nil {
		all = errors.Join(all, d.bots.Close())
	}
	if d.listener != nil {
		all = errors.Join(all, d.listener.Close())
	}
	if d.gateway != nil {
		all = errors.Join(all, d.gateway.Close())
	}
	if d.store != nil {
		all = errors.Join(all, d.store.Close())
	}
	return all
}

// daemonCode is the stable word of a daemon's error, in process or over HTTP; empty for one that may pass by itself.
func daemonCode(err error) string {
	var e *controlplane.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return ""
}

// waitsFor says what has to end before the daemon has.
func (d *daemon) waitsFor() string {
	open := 0
	for _, n := range d.gateway.Stats().Open {
		open += n
	}
	words := "requests under way get their answer"
	if n := len(d.config.Bots); n > 0 {
		words += ", and " + several(n, "bot leaves its server", "bots leave their servers")
	}
	if open > 0 {
		words += fmt.Sprintf(" (%s open: stored, and gone on with or judged at the next start)", several(open, "operation is", "operations are"))
	}
	return words
}
