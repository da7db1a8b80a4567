package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"blockworld/controlplane/mcp"
)

func newMCP(g *globals) *cobra.Command {
	f := &face{}
	cmd := &cobra.Command{
		Use: "mcp", Short: "MCP on standard input and output, for agents", Args: cobra.NoArgs,
		Long: "Speaks the Model Context Protocol on standard input and output, as a client of a daemon: whoever runs an agent names\n" +
			"this command in the agent's configuration. Everything that it may do is what the token may do. Nothing but the protocol\n" +
			"goes to standard output.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMCP(cmd.Context(), g.printer(cmd), f, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.flags(cmd)
	return cmd
}

func runMCP(ctx context.Context, p *printer, f *face, in io.Reader, out io.Writer) error {
	c, err := f.client(os.Getenv)
	if err != nil {
		return err
	}
	defer c.Close()
	p.g.told = true // no object of our own follows what the protocol says
	err = mcp.Serve(ctx, c, programVersion(), time.Now, in, out)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		return nil // the agent has left
	}
	return fail(exitFailed, err)
}
