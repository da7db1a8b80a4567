package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/effects/host"
)

func (k *ctl) events() *cobra.Command {
	var actor, task string
	cmd := k.asking(&cobra.Command{Use: "events", Short: "follow changes of operations, one line each, until interrupted"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			changes, err := c.Subscribe(ctx, controlplane.Filter{Actor: host.Name(actor), Task: host.Name(task)})
			if err != nil {
				return err
			}
			for change := range changes {
				if change.Lagged {
					p.say("some changes were missed: list the operations anew")
				} else {
					p.say("%s  %-22s %s", change.Op, change.State, change.Actor)
				}
				if err := p.result(change); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return nil
			}
			return errors.New("the daemon has ended the stream")
		})
	cmd.Flags().StringVar(&actor, "actor", "", "only this actor's")
	cmd.Flags().StringVar(&task, "task", "", "only of this task")
	return cmd
}

func (k *ctl) tokens() *cobra.Command {
	cmd := group(&cobra.Command{Use: "token", Short: "tokens: create, list, revoke, whoami"})
	list := k.asking(&cobra.Command{Use: "list", Short: "the tokens, without their secrets"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			all, err := c.Tokens(ctx)
			if err != nil {
				return err
			}
			for _, t := range all {
				p.say("%s", tokenLine(&t))
			}
			return p.result(map[string]any{"tokens": all})
		})
	revoke := k.asking(&cobra.Command{Use: "revoke ID", Short: "end a token at once"}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			t, err := c.RevokeToken(ctx, args[0])
			if err != nil {
				return err
			}
			p.say("%s", tokenLine(&t))
			return p.result(t)
		})
	cmd.AddCommand(k.tokenCreate(), list, revoke, k.whoami())
	return cmd
}

func (k *ctl) whoami() *cobra.Command {
	return k.asking(&cobra.Command{Use: "whoami", Short: "whom your token speaks for, and what it may do"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			me, err := c.Me(ctx)
			if err != nil {
				return err
			}
			t := v1.Token{ID: host.Name(me.Token), Kind: "user", Principal: me.Principal, Scopes: me.Scopes, Actors: me.Actors}
			p.say("%s", tokenLine(&t))
			return p.result(me)
		})
}

func tokenLine(t *v1.Token) string {
	var scopes []string
	for _, s := range t.Scopes {
		scopes = append(scopes, s.String())
	}
	line := fmt.Sprintf("%-16s %-5s %-14s %s", t.ID, t.Kind, t.Principal, strings.Join(scopes, ","))
	if len(t.Actors) > 0 {
		line += " on " + strings.Join(t.Actors, ",")
	}
	switch {
	case t.Revoked != 0:
		line += ", revoked"
	case t.Expires != 0:
		line += ", until " + time.UnixMilli(t.Expires).Local().Format(time.DateTime)
	}
	return line
}

func (k *ctl) tokenCreate() *cobra.Command {
	var id, kind, principal, out string
	var scopes, actors []string
	var expires time.Duration
	timed, scoped := false, false
	cmd := k.asking(&cobra.Command{Use: "create --principal NAME", Short: "make a token; its secret is told once",
		Long: "Makes a token. A user's has scopes: read (see), control (hold a lease), execute (submit), confirm (approve), cancel, admin;\n" +
			"give an agent read,control,execute,cancel and keep confirm for people. A host's token (--kind host) is for the process\n" +
			"that runs bots; its principal is the host's name."}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			g := v1.TokenGrant{ID: host.Name(id), Kind: kind, Principal: host.Name(principal)}
			switch {
			case principal == "":
				return fail(exitUsage, errors.New("whom shall it speak for? give --principal NAME: a person, an agent, a program, or the host with --kind host"))
			case kind == "host" && scoped:
				return fail(exitUsage, errors.New("--scopes and --actors are of a user's token: a host registers its own bots and does nothing else"))
			case kind == "user":
				g.Actors = actors
				for _, word := range scopes {
					s, err := controlplane.ParseScope(word)
					if err != nil {
						return err
					}
					g.Scopes = append(g.Scopes, s)
				}
			}
			if expires < 0 || expires == 0 && timed { // a sum that went wrong must not make a token for ever
				return fail(exitUsage, fmt.Errorf("--expires %v: how long it is good from now on, such as 24h; leave it out for ever", expires))
			}
			if expires > 0 {
				g.Expires = time.Now().Add(expires).UnixMilli()
			}
			if _, err := os.Lstat(out); out != "" && err == nil {
				return fail(exitUsage, fmt.Errorf("%s is there already, maybe with the secret of a token that still holds: name another file, or remove it", out))
			}
			t, err := c.MakeToken(ctx, g)
			if err != nil {
				return err
			}
			p.say("%s", tokenLine(&t.Token))
			if out == "" {
				p.say("secret    %s", t.Secret)
				return p.result(t)
			}
			if err := writePrivate(out, []byte(t.Secret+"\n")); err != nil {
				_, revoked := c.RevokeToken(ctx, string(t.Token.ID))
				return errors.Join(err, revoked)
			}
			p.say("secret    in %s, which only you can read", out)
			return p.result(map[string]any{"token": t.Token, "file": out})
		})
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		timed, scoped = cmd.Flags().Changed("expires"), cmd.Flags().Changed("scopes") || cmd.Flags().Changed("actors")
	}
	fl := cmd.Flags()
	fl.StringVar(&id, "id", "", "names the token; it is given a name by default")
	fl.StringVar(&kind, "kind", "user", "user or host")
	fl.StringVar(&principal, "principal", "", "whom it speaks for: who asks, or the host")
	fl.StringSliceVar(&scopes, "scopes", []string{"read"}, "of a user: read, control, execute, confirm, cancel, admin")
	fl.StringSliceVar(&actors, "actors", []string{"*"}, "of a user: the bots it sees; a trailing * stands for any ending")
	fl.DurationVar(&expires, "expires", 0, "how long it is good; for ever by default")
	fl.StringVarP(&out, "out", "o", "", "file that gets the secret, instead of standard output")
	return cmd
}

func (k *ctl) stats() *cobra.Command {
	return k.asking(&cobra.Command{Use: "stats", Short: "counts of the daemon"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			s, err := c.Stats(ctx)
			if err != nil {
				return err
			}
			p.say("hosts %d, actors %d, questions to hosts %d, waiting callers %d", s.Hosts, s.Actors, s.Gateways, s.Waiters)
			tellCounts(p, "unfinished now", s.Open)
			tellCounts(p, "came to", s.Entered)
			tellCounts(p, "receipts", s.Receipts)
			tellCounts(p, "refusals", s.Refusals)
			tellCounts(p, "denied by rule", s.RulesDenied)
			p.say("unverified %d; decisions %d; store: %d commits, %d writes", s.Unverified, s.Decisions, s.Commits, s.Writes)
			return p.result(s)
		})
}

func tellCounts[N int | uint64](p *printer, what string, counts map[string]N) {
	var words []string
	for word, n := range counts {
		words = append(words, fmt.Sprintf("%s %d", plain(word), n))
	}
	slices.Sort(words)
	if len(words) > 0 {
		p.say("%-15s %s", what, strings.Join(words, ", "))
	}
}

func (k *ctl) backup() *cobra.Command {
	return k.asking(&cobra.Command{Use: "backup FILE", Short: "a copy of the daemon's store, while it works; needs the scope admin",
		Long: "Writes a copy of the store as it is at one moment into a new file, and checks it. It can take the place of DATA/control.db\n" +
			"while no daemon runs. The bots' journals, with the receipts, are files of their own in DATA/bots."}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			n, err := fetchBackup(ctx, c, args[0])
			if err != nil {
				return err
			}
			p.say("%s: %d bytes, checked", args[0], n)
			return p.result(map[string]any{"file": args[0], "bytes": n})
		})
}

// fetchBackup brings a daemon's store into a new file and checks it there.
func fetchBackup(ctx context.Context, c *client.Client, path string) (int64, error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fail(exitUsage, fmt.Errorf("%s exists: name a new file", path))
	}
	draft := path + ".new"
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, notWritten(draft, err)
	}
	defer os.Remove(draft) // gone already when all went well
	n, err := c.Backup(ctx, f)
	if err != nil {
		if own := (*fs.PathError)(nil); errors.As(err, &own) { // of the file, not of the way to the daemon
			err = notWritten(draft, err)
		}
		return n, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return n, notWritten(draft, err)
	}
	if err := checkStore(draft); err != nil {
		return n, err
	}
	return n, os.Rename(draft, path)
}

// checkStore refuses a store file in which something is wrong.
func checkStore(path string) error {
	found, err := store.CheckFile(path)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%s: %s, the first: %s", path, several(len(found), "thing is wrong", "things are wrong"), found[0])
	}
	return err
}

func (k *ctl) fsck() *cobra.Command {
	cmd := &cobra.Command{Use: "fsck [FILE]", Short: "check a store file while no daemon runs; nothing is changed", Args: cobra.MaximumNArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := k.g.printer(cmd)
		path := (&config{Data: k.face.folder(os.Getenv)}).storeFile()
		if len(args) == 1 {
			path = args[0]
		}
		found, err := store.CheckFile(path)
		if err != nil {
			return storeFailed(err, path)
		}
		for _, one := range found {
			p.say("%s", one)
		}
		if found == nil {
			found = []store.Problem{}
		}
		if err := p.result(map[string]any{"file": path, "problems": found}); err != nil {
			return err
		}
		if len(found) > 0 {
			return fail(exitFailed, fmt.Errorf("%s: %s: restore a backup, and keep this file", path, several(len(found), "thing is wrong", "things are wrong")))
		}
		p.say("%s: nothing is wrong", path)
		return nil
	}
	return cmd
}

func (k *ctl) policy() *cobra.Command {
	cmd := group(&cobra.Command{Use: "policy", Short: "the policy of a configuration: check"})
	cmd.AddCommand(&cobra.Command{Use: "check FILE", Short: "read a blockworld.yaml as serve would, and say what is wrong with it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := k.g.printer(cmd)
			c, err := loadConfig(args[0], os.Getenv)
			if err != nil {
				return fail(exitUsage, err)
			}
			e, err := policy.Compile(c.Policy)
			if err != nil {
				return fail(exitUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			p.say("%s: profile %s, %s, %s, %s, revision %s", args[0], e.Profile(), several(len(c.Policy.Rules), "rule", "rules"),
				several(len(c.Policy.Budgets), "budget", "budgets"), several(len(c.Policy.Plots), "plot", "plots"), e.Revision())
			return p.result(map[string]any{"profile": e.Profile(), "revision": e.Revision(), "rules": len(c.Policy.Rules), "budgets": len(c.Policy.Budgets), "plots": len(c.Policy.Plots)})
		}})
	return cmd
}
