package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot/hosting"
	"blockworld/controlplane/api/client"
)

func newHost(g *globals) *cobra.Command {
	d, f := &daemonFlags{}, &face{}
	cmd := &cobra.Command{
		Use: "host --daemon URL -c blockworld.yaml", Short: "the bots of a configuration in a process of their own", Args: cobra.NoArgs,
		Long: "Runs the bots of a configuration for a daemon elsewhere: it registers, waits for work, and reports. Either side may end\n" +
			"or be killed at any time. The token is one of kind host: `blockworld ctl token create --kind host --principal NAME`,\n" +
			"where NAME is `host` of the configuration. Plots and policy are the daemon's.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.data = f.data
			c, err := d.load(cmd)
			if err != nil {
				return err
			}
			return runHost(cmd.Context(), g.service(cmd), c, f)
		},
	}
	cmd.Flags().StringVarP(&d.config, "config", "c", "blockworld.yaml", "the configuration")
	f.flags(cmd)
	return cmd
}

func runHost(ctx context.Context, p *printer, c *config, f *face) error {
	if len(c.Bots) == 0 {
		return fail(exitUsage, errors.New("the configuration has no bots: list some under bots"))
	}
	o, err := f.options(os.Getenv)
	if err != nil {
		return err
	}
	reach, err := client.NewHost(o)
	if err != nil {
		return fail(exitUsage, err)
	}
	defer reach.Close()
	actors, err := c.actors(p)
	if err != nil {
		return err
	}
	if err := makePrivate(c.Data); err != nil {
		return err
	}
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	h, err := hosting.New(hosting.Config{
		Name: c.Host, Daemon: &distant{Daemon: reach, base: o.Base, say: p.say, end: end}, Actors: actors,
		Log: p.logger("host", "the daemon is away"), Now: time.Now, Rand: rand.Reader, Unit: randomUnit, CodeOf: daemonCode,
	})
	if err != nil {
		return journalFailed(err)
	}
	p.say("host %s runs %d bots for %s; stop it with Ctrl-C", c.Host, len(actors), o.Base)
	if err := p.result(map[string]any{"host": c.Host, "daemon": o.Base, "bots": len(actors)}); err != nil {
		return errors.Join(err, h.Close())
	}
	waits := func() string { return several(len(actors), "bot leaves its server", "bots leave their servers") }
	return untilStopped(ctx, p, stopTime, waits, func(context.Context) error {
		err := h.Run(work)
		if refused := context.Cause(work); errors.As(refused, new(*exitError)) {
			return f.asked(refused)
		}
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return fail(exitFailed, err)
	})
}
