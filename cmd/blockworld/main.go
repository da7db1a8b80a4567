package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes of every subcommand.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitDenied     = 3
	exitUnverified = 4
)

// exitError carries the exit code of a failed command beside its cause.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// fail wraps err with the exit code of its kind; nil stays nil.
func fail(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	g := &globals{}
	cmd := newRoot(g)
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var silent *reportedError
	if !errors.As(err, &silent) {
		fmt.Fprintln(errs, "blockworld:", err)
	}
	code := exitUsage // what cobra itself refuses is a matter of usage
	var coded *exitError
	if errors.As(err, &coded) {
		code = coded.code
	}
	if g.json && !g.told {
		(&printer{g: g, out: out, errs: errs, json: true}).result(map[string]any{"error": err.Error(), "exit_code": code})
	}
	return code
}

// reportedError is a failure the command has already told about on its own output.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }

// globals are the flags that every subcommand takes.
type globals struct {
	json    bool
	verbose bool
	told    bool // the command's JSON object has been written
}

func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:           "blockworld",
		Short:         "Minecraft bots that build, with proof for every block",
		Long:          "Blockworld joins a Minecraft: Java Edition server (1.20.2 to 26.1) as a bot, builds a schematic there block by\nblock, and counts a block as placed only when the server's own packets prove it.\n\nStart with:  blockworld demo",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&g.json, "json", false, "machine-readable output: one JSON object on the last line")
	root.PersistentFlags().BoolVarP(&g.verbose, "verbose", "v", false, "log what the bot does, on standard error")
	root.AddCommand(subcommands(g)...)
	return root
}
