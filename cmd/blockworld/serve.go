package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"blockworld/controlplane/api"
	"blockworld/controlplane/store"
)

// daemonFlags are the flags of serve; they go over the environment and the file.
type daemonFlags struct {
	config, listen, data string
	expose, newAdmin     bool
	check                bool
}

func newServe(g *globals) *cobra.Command {
	f := &daemonFlags{}
	cmd := &cobra.Command{
		Use: "serve -c blockworld.yaml", Short: "the daemon: bots, policy, durable operations, HTTP and MCP", Args: cobra.NoArgs,
		Long: "Runs the bots of the configuration behind a control plane: every action is an operation that policy has decided on, that\n" +
			"is on disk before a bot may have it, and that ends with proof or says what is not known. People use it with\n" +
			"`blockworld ctl`, programs by HTTP (/openapi.json), agents by MCP (/mcp, or `blockworld mcp` on stdio). Ctrl-C stops it.\n\n" +
			"The first start makes an admin token in DATA/admin.token. Environment: BLOCKWORLD_DATA, BLOCKWORLD_LISTEN,\n" +
			"BLOCKWORLD_EXPOSE, BLOCKWORLD_SECRETS_FILE go over the file, flags over both.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.load(cmd)
			if err != nil {
				return err
			}
			if f.check {
				return c.check(cmd.Context(), g.printer(cmd))
			}
			return runDaemon(cmd.Context(), g.service(cmd), c, f.newAdmin)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.config, "config", "c", "blockworld.yaml", "the configuration")
	fl.StringVar(&f.listen, "listen", "", "address of HTTP, MCP and the host protocol; port 0 takes a free one")
	fl.StringVar(&f.data, "data", "", "folder of the store, the bots' journals and the server profiles")
	fl.BoolVar(&f.expose, "expose", false, "allow a --listen that other machines can reach")
	fl.BoolVar(&f.newAdmin, "new-admin-token", false, "make another admin token, when the first is lost")
	fl.BoolVar(&f.check, "check", false, "read the configuration, say what it would do and what is wrong, and start nothing")
	return cmd
}

// load reads the configuration and puts the flags over it.
func (f *daemonFlags) load(cmd *cobra.Command) (*config, error) {
	c, err := loadConfig(f.config, os.Getenv)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	if f.listen != "" {
		c.Listen = f.listen
	}
	if f.data != "" {
		c.Data = f.data
	}
	if cmd.Flags().Changed("expose") {
		c.Expose = f.expose
	}
	return c, nil
}

// runDaemon opens everything, says what is there, and works until ctx ends.
func runDaemon(ctx context.Context, p *printer, c *config, newAdmin bool) error {
	d, err := openDaemon(ctx, p, c)
	if err != nil {
		return err
	}
	made, err := d.firstToken(newAdmin)
	var s served
	if err == nil {
		s, err = d.tell(p, made)
	}
	if err == nil {
		err = p.result(s)
	}
	if err != nil {
		return errors.Join(err, d.close())
	}
	return untilStopped(ctx, p, stopTime, d.waitsFor, d.run)
}

// storeFile is the control plane's store.
func (c *config) storeFile() string { return c.path(controlFile) }

// adminFile is where the first start leaves the admin token.
func (c *config) adminFile() string { return c.path("admin.token") }

// storeFailed gives a store that cannot be opened its exit code and says what helps.
func storeFailed(err error, data string) error {
	switch {
	case errors.Is(err, store.ErrLocked):
		err = fmt.Errorf("%s is locked: %w", data, err) // it says by whom, and what helps
	case errors.Is(err, store.ErrNoStore):
		return fail(exitUsage, fmt.Errorf("%w: name the data folder of a daemon with --data", err))
	}
	return fail(exitFailed, err)
}

// listenFailed gives an address that cannot be listened on its exit code.
func listenFailed(err error) error {
	if errors.Is(err, api.ErrExposed) {
		return fail(exitUsage, err)
	}
	return startFailed(err)
}
