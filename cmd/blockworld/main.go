package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot/login"
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

// garbagePercent is how much a heap may grow before it is collected. What a bot or a daemon keeps is small, a view of the
// world or the open operations, and most of what is read is thrown away at once: at Go's usual 100 the collector takes a
// fifth of the time in which chunks are decoded, at 400 a twentieth, for three MiB more in a bot. GOGC says otherwise.
const garbagePercent = 400

// oneSignal is how long a second signal counts as the same one: who stops a program and all that belongs to it sends two.
const oneSignal = 300 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		time.Sleep(oneSignal)
		stop() // the next signal ends the program at once
	})
	if _, told := os.LookupEnv("GOGC"); !told {
		debug.SetGCPercent(garbagePercent)
	}
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
	if lost := g.lost.Load(); err == nil && lost != nil {
		err = fail(exitFailed, fmt.Errorf("what there is to tell could not be written: %w", *lost))
	}
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(errs, "blockworld:", plainLines(err.Error()))
	code := codeOf(err, exitUsage) // what cobra itself refuses is a matter of usage
	if g.json && !g.told {
		r := map[string]any{"error": err.Error(), "exit_code": code}
		if reason := kickReason(err); reason != "" {
			r["kick_reason_untrusted"] = reason // in full: the error shows its beginning
		}
		daemonsWord(err, r)
		(&printer{g: g, out: out, errs: errs, json: true}).result(r)
	}
	return code
}

// codeOf finds an error's exit code; otherwise is the code of one that carries none.
func codeOf(err error, otherwise int) int {
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return otherwise
}

// interrupted is how a command ends that was told to stop before it was done.
type interrupted struct{ then string } // what to do next, empty if there is nothing to say

func (e *interrupted) Error() string {
	if e.then == "" {
		return "interrupted"
	}
	return "interrupted; " + e.then
}

func (e *interrupted) Unwrap() error { return context.Canceled }

// wasInterrupted tells an error that only says that somebody stopped the program.
func wasInterrupted(ctx context.Context, err error) bool {
	var killed *exec.ExitError // of a program that ctx took down
	return err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.As(err, &killed))
}

// settle gives every error of a command's own work an exit code and plain words.
func settle(ctx context.Context, err error) error {
	var worded *interrupted
	switch {
	case err == nil:
		return nil
	case wasInterrupted(ctx, err) && !errors.As(err, &worded):
		return fail(exitFailed, &interrupted{})
	}
	return fail(codeOf(err, exitFailed), err)
}

// settled makes all commands below cmd settle their errors, so that what is left without a code is cobra's.
func settled(cmd *cobra.Command) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return settle(cmd.Context(), work(cmd, args)) }
	}
	for _, c := range cmd.Commands() {
		settled(c)
	}
}

// kickReason is the server's own text in an error that is a kick, empty if there is none.
func kickReason(err error) string {
	var k *login.Kicked
	if errors.As(err, &k) {
		return k.Reason
	}
	return ""
}

// globals are the flags that every subcommand takes.
type globals struct {
	json    bool
	verbose bool
	told    bool                  // the command's JSON object has been written
	lost    atomic.Pointer[error] // why lines for people could not be written
}

func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:           "blockworld",
		Short:         "Minecraft bots that build, with proof for every block",
		Long:          "Blockworld joins a Minecraft: Java Edition server (1.20.2 to 26.1) as a bot, builds a schematic there block by\nblock, and counts a block as placed only when the server's own packets prove it.\n\nStart with:  blockworld demo",
		Version:       programVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&g.json, "json", false, "machine-readable output: one JSON value on the last line")
	root.PersistentFlags().BoolVarP(&g.verbose, "verbose", "v", false, "log what the bot does, on standard error")
	root.AddCommand(subcommands(g)...)
	settled(root)
	return root
}
