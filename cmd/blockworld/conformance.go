package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"blockworld/controlplane/api"
	"blockworld/controlplane/conformance"
	"blockworld/effects/host"
)

// conformanceFlags are the flags of conformance host.
type conformanceFlags struct {
	action, actor   string
	patience, quiet time.Duration
	expose          bool
	token           string
}

func newConformance(g *globals) *cobra.Command {
	cmd := group(&cobra.Command{Use: "conformance", Short: "test somebody's program against the protocol: host"})
	f := &conformanceFlags{}
	run := &cobra.Command{
		Use: "host [URL]", Short: "listen as a daemon, and test the host that comes", Args: cobra.MaximumNArgs(1),
		Long: "Listens at URL (http://127.0.0.1:7644 by default) as a daemon would, says how to point a host at it, and tests the host\n" +
			"that comes: registration, publications, binding, deliveries that come again, lost answers, cancellation, stop and more.\n" +
			"The action that is tried is look_at, which moves nothing; --action FILE names another, as the JSON object\n" +
			`{"capability": "...", "arguments": {...}}` + ", which is then carried out several times. Exit code 1 when a check fails.",
		RunE: func(cmd *cobra.Command, args []string) error {
			at := "http://127.0.0.1:7644"
			if len(args) == 1 {
				at = args[0]
			}
			return f.run(cmd.Context(), g.printer(cmd), at)
		},
	}
	fl := run.Flags()
	fl.StringVar(&f.action, "action", "", "file of the action that is tried")
	fl.StringVar(&f.actor, "actor", "", "actor that does it; the first that can by default")
	fl.DurationVar(&f.patience, "patience", 30*time.Second, "how long is waited for each thing that the host must do")
	fl.DurationVar(&f.quiet, "quiet", time.Second, "how long is listened for what must not come")
	fl.BoolVar(&f.expose, "expose", false, "allow an address that other machines can reach")
	fl.StringVar(&f.token, "token-file", "", "file of the token that the host will show; a new token is printed by default")
	cmd.AddCommand(run)
	return cmd
}

func (f *conformanceFlags) run(ctx context.Context, p *printer, at string) error {
	action, err := f.read()
	if err != nil {
		return err
	}
	if f.patience <= 0 || f.quiet <= 0 {
		return fail(exitUsage, errors.New("--patience and --quiet are longer than nothing"))
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.Path != "" && u.Path != "/" {
		return fail(exitUsage, fmt.Errorf("%q is no address to listen at: write http://HOST:PORT", at))
	}
	secret, err := f.secret()
	if err != nil {
		return err
	}
	suite := conformance.New(conformance.Options{Action: action, Actor: host.Name(f.actor), Patience: f.patience, Quiet: f.quiet})
	h, err := suite.Desk.Handler(secret)
	if err != nil {
		return err
	}
	l, err := api.Listen(ctx, u.Host, f.expose, true)
	if err != nil {
		return listenFailed(err)
	}
	stop := serveOn(l, h)
	defer stop()
	f.invite(p, "http://"+l.Addr().String(), secret)
	all := suite.Run(ctx, func(r conformance.Result) {
		p.say("%-8s %-18s %s", r.Status, r.Check, r.About)
		if r.Reason != "" {
			p.say("%-8s %-18s %s", "", "", plain(r.Reason))
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ok := conformance.Conforms(all)
	if err := p.result(map[string]any{"conforms": ok, "checks": all}); err != nil || ok {
		return err
	}
	return fail(exitFailed, errors.New("the host does not conform"))
}

// invite says how to point a host at the desk.
func (f *conformanceFlags) invite(p *printer, base, secret string) {
	p.say("waiting for a host at %s", base)
	if f.token == "" {
		p.say("  its bearer token  %s", secret)
		p.say("  ours, to try:     BLOCKWORLD_TOKEN=%s %s host --daemon %s -c blockworld.yaml", secret, program(), base)
	} else {
		p.say("  ours, to try:     %s host --daemon %s --token-file %s -c blockworld.yaml", program(), base, f.token)
	}
	p.say("  the protocol      %s/openapi.json, the routes of /v1/host", base)
}

// read reads the action of --action.
func (f *conformanceFlags) read() (a host.Action, err error) {
	if f.action == "" {
		return a, nil
	}
	data, err := readInput(f.action, maxInput)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err == nil {
		err = a.Validate()
	}
	if err != nil {
		return a, fail(exitUsage, fmt.Errorf("--action: %w: write {\"capability\": \"...\", \"arguments\": {...}}", err))
	}
	return a, nil
}

// secret is the token that the host shows.
func (f *conformanceFlags) secret() (string, error) {
	if f.token != "" {
		return (&face{tokenFile: f.token}).token(func(string) string { return "" })
	}
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "conformance-" + hex.EncodeToString(b[:]), nil
}

// serveOn answers on a listener until stop is called.
func serveOn(l net.Listener, h http.Handler) (stop func()) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l) // its end is ours
	}()
	return func() {
		srv.Close()
		<-done
	}
}
