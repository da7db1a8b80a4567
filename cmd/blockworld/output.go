package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hashicorp/go-hclog"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// printer writes a command's words for people, or its JSON object for machines, some with a line for each change before it.
type printer struct {
	g         *globals
	out, errs io.Writer
	json      bool
	verbose   bool
	watched   bool       // by nobody but its log: a daemon or a host
	line      sync.Mutex // one line at a time
}

func (g *globals) printer(cmd *cobra.Command) *printer {
	return &printer{g: g, out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr(), json: g.json, verbose: g.verbose}
}

// plainLines keeps what could steer a terminal out of a text of several lines, whoever wrote it: a world, a host, a file.
func plainLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// say writes a line for people: on standard output, or on standard error where that holds JSON.
func (p *printer) say(format string, args ...any) {
	w := p.out
	if p.json {
		w = p.errs
	}
	p.line.Lock()
	defer p.line.Unlock()
	if _, err := fmt.Fprintln(w, plainLines(fmt.Sprintf(format, args...))); err != nil && !p.json {
		p.g.lost.CompareAndSwap(nil, &err)
	}
}

// change writes v as a line before the last one, for machines only.
func (p *printer) change(v any) {
	if !p.json {
		return
	}
	data, err := plainJSON(v)
	if err == nil {
		p.line.Lock()
		defer p.line.Unlock()
		_, err = fmt.Fprintf(p.out, "%s\n", data)
	}
	if err != nil {
		p.g.lost.CompareAndSwap(nil, &err)
	}
}

// result writes v as the last line, for machines only.
func (p *printer) result(v any) error {
	if !p.json {
		return nil
	}
	data, err := plainJSON(v)
	if err != nil {
		return err
	}
	p.g.told = true // also when it could not be written: a second try would not help
	_, err = fmt.Fprintf(p.out, "%s\n", data)
	return err
}

// group makes a command that only holds others say so when it is called with a name it does not know.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fail(exitUsage, fmt.Errorf("%s has no command %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath()))
		}
		return cmd.Help()
	}
	return cmd
}

// service is the printer of a command that runs on by itself: its log tells warnings too.
func (g *globals) service(cmd *cobra.Command) *printer {
	p := g.printer(cmd)
	p.watched = true
	return p
}

// logger returns the program's log on standard error: errors, a service's warnings too, everything with --verbose. Lines
// that are among told are left out: the command says these things in its own words.
func (p *printer) logger(name string, told ...string) hclog.Logger {
	level := hclog.Error
	switch {
	case p.verbose:
		level = hclog.Debug
	case p.watched:
		level = hclog.Warn
	}
	var exclude func(hclog.Level, string, ...any) bool
	if len(told) > 0 && !p.verbose {
		exclude = func(_ hclog.Level, line string, _ ...any) bool { return slices.Contains(told, line) }
	}
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: level, Output: p.errs, Exclude: exclude})
}

// progress shows total units of work on a terminal and is silent elsewhere.
func (p *printer) progress(total int, what string) *progressbar.ProgressBar {
	f, ok := p.errs.(*os.File)
	if p.json || p.verbose || !ok || !term.IsTerminal(int(f.Fd())) {
		return progressbar.DefaultSilent(int64(total))
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6))
}
