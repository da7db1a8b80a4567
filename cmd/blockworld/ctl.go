package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"blockworld/controlplane/api/client"
	"blockworld/effects/host"
)

// ctl is the command that people ask a daemon with.
type ctl struct {
	in   io.Reader // of the subcommand that runs
	g    *globals
	face face
}

// errand is what one subcommand does, with a client that is ready.
type errand func(ctx context.Context, p *printer, c *client.Client, args []string) error

func newCtl(g *globals) *cobra.Command {
	k := &ctl{g: g}
	cmd := group(&cobra.Command{
		Use: "ctl", Short: "ask a daemon: actors, operations, confirmations, stops, tokens",
		Long: "Asks a running daemon (`blockworld serve`). What it does goes through the same door as every other request, is decided on\n" +
			"by the same policy and refused with the same codes. Exit codes: 0 done, 1 failed or not now, 2 bad usage or input,\n" +
			"3 denied by policy, guard or for want of a right, 4 the outcome is not known.",
	})
	k.face.flags(cmd)
	cmd.AddCommand(k.actors(), k.actor(), k.observe(), k.capabilities(), k.read(), k.lease(), k.submit(), k.explain(), k.ops(), k.wait(),
		k.confirm(), k.cancel(), k.accept(), k.stop(), k.clear(), k.blueprint(), k.build(), k.events(), k.tokens(), k.stats(), k.backup(), k.fsck(), k.policy())
	return cmd
}

// asking makes a subcommand of an errand.
func (k *ctl) asking(cmd *cobra.Command, args cobra.PositionalArgs, work errand) *cobra.Command {
	cmd.Args = args
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := k.face.client(os.Getenv)
		if err != nil {
			return err
		}
		defer c.Close()
		k.in = cmd.InOrStdin()
		return k.face.asked(refused(work(cmd.Context(), k.g.printer(cmd), c, args)))
	}
	return cmd
}

// plain keeps a text from a daemon or a world to one line that cannot steer a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// name reads an id from the command line.
func name(what, s string) (host.Name, error) {
	n := host.Name(s)
	return n, fail(exitUsage, n.Check(what))
}

// opID reads the id of an operation from the command line.
func opID(s string) (id host.OpID, err error) {
	if err := id.UnmarshalText([]byte(s)); err != nil {
		return id, fail(exitUsage, fmt.Errorf("%q is no id of an operation: 32 hex digits, from `blockworld ctl ops list`", plain(s)))
	}
	return id, nil
}

// maxInput bounds arguments from a file or standard input, in bytes.
const maxInput = host.MaxArguments

// jsonArgument reads a JSON object from the command line: the text itself, @FILE, or - for standard input; none is {}.
func jsonArgument(in io.Reader, args []string, at int) (json.RawMessage, error) {
	text := "{}"
	if len(args) > at {
		text = args[at]
	}
	data := []byte(text)
	var err error
	switch {
	case text == "-":
		data, err = io.ReadAll(io.LimitReader(in, maxInput+1))
	case strings.HasPrefix(text, "@"):
		data, err = readInput(text[1:], maxInput)
	}
	switch {
	case err != nil:
		return nil, fail(exitUsage, fmt.Errorf("the arguments: %w", err))
	case len(data) > maxInput:
		return nil, fail(exitUsage, fmt.Errorf("the arguments are longer than %d bytes", maxInput))
	case !json.Valid(data):
		return nil, fail(exitUsage, errors.New(`the arguments are no JSON: write an object such as {"pos":[4,-60,4],"state":"minecraft:stone"}`))
	}
	return data, nil
}

// readInput reads a regular file of at most so many bytes.
func readInput(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file", path))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return data, err
}
