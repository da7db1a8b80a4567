package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/token"
)

// defaultDaemon is where a daemon listens when nothing else is said.
const defaultDaemon = "http://127.0.0.1:7643"

// face holds the flags of every command that talks to a daemon.
type face struct {
	daemon, tokenFile, data string

	base, shown string // which daemon was asked, and where the token came from
}

func (f *face) flags(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&f.daemon, "daemon", "", "address of the daemon; BLOCKWORLD_DAEMON, or "+defaultDaemon)
	fl.StringVar(&f.tokenFile, "token-file", "", "file of the token; BLOCKWORLD_TOKEN_FILE, BLOCKWORLD_TOKEN, or DATA/admin.token")
	fl.StringVar(&f.data, "data", "", "data folder of a daemon on this machine; BLOCKWORLD_DATA, or blockworld-data")
}

// folder is the data folder of a daemon on this machine.
func (f *face) folder(getenv func(string) string) string {
	return or(f.data, getenv("BLOCKWORLD_DATA"), "blockworld-data")
}

func or(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// options say where the daemon is and by which token.
func (f *face) options(getenv func(string) string) (client.Options, error) {
	f.base = or(f.daemon, getenv("BLOCKWORLD_DAEMON"), defaultDaemon)
	var err error
	o := client.Options{Base: f.base}
	o.Token, err = f.token(getenv)
	return o, err
}

// token finds the token: the flag, then the environment, then the file that a daemon on this machine has left.
func (f *face) token(getenv func(string) string) (string, error) {
	path := or(f.tokenFile, getenv("BLOCKWORLD_TOKEN_FILE"))
	if path == "" {
		if secret := strings.TrimSpace(getenv("BLOCKWORLD_TOKEN")); secret != "" {
			f.shown = "BLOCKWORLD_TOKEN"
			return secret, nil
		}
		own := (&config{Data: f.folder(getenv)}).adminFile()
		if _, err := os.Stat(own); err != nil {
			return "", fail(exitUsage, fmt.Errorf("no token: name its file with --token-file or BLOCKWORLD_TOKEN_FILE, or the daemon's folder with --data (there is no %s)", own))
		}
		path = own
	}
	b, err := readSecret(path)
	if err != nil {
		return "", fail(exitUsage, fmt.Errorf("the token: %w", err))
	}
	f.shown = path
	return strings.TrimSpace(string(b)), nil
}

// asked says of a token that a daemon does not take which one it was, and which daemon.
func (f *face) asked(err error) error {
	switch controlplane.CodeOf(err) {
	case token.CodeWrong, token.CodeExpired, token.CodeRevoked, token.CodeKind:
		return fmt.Errorf("%w; the daemon at %s was shown the token of %s: name another with --token-file (`blockworld ctl token create` makes one), or the daemon that it is for with --daemon",
			err, plain(f.base), plain(f.shown))
	}
	return err
}

// client makes the client of a command.
func (f *face) client(getenv func(string) string) (*client.Client, error) {
	o, err := f.options(getenv)
	if err != nil {
		return nil, err
	}
	c, err := client.New(o)
	return c, fail(exitUsage, err)
}

// daemonsWord puts the code and the details of a daemon's refusal beside its text: programs go by these.
func daemonsWord(err error, into map[string]any) {
	var e *controlplane.Error
	if !errors.As(err, &e) {
		return
	}
	into["code"] = e.Code
	if len(e.Detail) > 0 {
		into["detail"] = e.Detail
	}
}

// refused gives an error of a daemon its exit code.
func refused(err error) error {
	var e *controlplane.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrBadBase):
		return fail(exitUsage, err)
	case !errors.As(err, &e):
		return fail(codeOf(err, exitFailed), err)
	}
	code := exitFailed
	switch e.Code {
	case controlplane.CodeInvalid, controlplane.CodeTooLarge, controlplane.CodeNotFound, controlplane.CodeUnknownCapability,
		controlplane.CodeUnauthenticated, token.CodeMissing:
		code = exitUsage
	case controlplane.CodeForbidden, controlplane.CodeDenied, controlplane.CodeBudgetExceeded, controlplane.CodeStopped,
		token.CodeWrong, token.CodeExpired, token.CodeRevoked, token.CodeKind:
		code = exitDenied
	}
	return fail(code, err)
}
