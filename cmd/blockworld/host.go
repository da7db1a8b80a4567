package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
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
			"where NAME is `host` of the configuration. That has bots, and under plots the boxes in which they may build and walk,\n" +
			"which this process guards. Policy, owners of plots and of bots, and all that is about serving are the daemon's to say:\n" +
			"it lists a plot of the same id, and the bots under remote. What of it stands here is named and decides nothing.",
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

// daemons lists what a configuration says that only the daemon's can decide.
func (c *config) daemons() (idle []string) {
	for _, part := range []struct {
		name  string
		given bool
	}{
		{"policy", c.Policy.Profile != 0 || len(c.Policy.Rules)+len(c.Policy.Budgets) > 0},
		{"remote", len(c.Remote) > 0},
		{"retain", c.Retain != 0},
		{"expose", c.Expose},
		{"owner of plots", slices.ContainsFunc(c.Plots, func(p plotConfig) bool { return p.Owner != "" })},
		{"owner of bots", slices.ContainsFunc(c.Bots, func(b botConfig) bool { return b.Owner != "" })},
	} {
		if part.given {
			idle = append(idle, part.name)
		}
	}
	return idle
}

func runHost(ctx context.Context, p *printer, c *config, f *face) error {
	if len(c.Bots) == 0 {
		return fail(exitUsage, errors.New("the configuration has no bots: list some under bots"))
	}
	if idle := c.daemons(); len(idle) > 0 {
		p.say("note: %s in a host's configuration decide nothing: the daemon's says it", strings.Join(idle, ", "))
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
