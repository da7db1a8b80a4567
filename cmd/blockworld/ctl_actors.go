package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/effects/host"
)

func (k *ctl) actors() *cobra.Command {
	return k.asking(&cobra.Command{Use: "actors", Short: "the bots, where they are and who drives them"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			all, err := c.Actors(ctx)
			if err != nil {
				return err
			}
			for _, a := range all {
				p.say("%-20s %s", a.ID, actorLine(&a))
			}
			if len(all) == 0 {
				p.say("no actors that this token sees")
			}
			return p.result(map[string]any{"actors": all})
		})
}

// actorLine is an actor in one line.
func actorLine(a *controlplane.ActorView) string {
	where := "away: its host has no session"
	switch {
	case a.Ready:
		where = "ready in " + plain(a.World)
	case a.Online:
		where = "not on its server just now"
	}
	if a.Stop != nil {
		where = fmt.Sprintf("STOPPED by %s (%s); %s", a.Stop.By, plain(a.Stop.Why), where)
	}
	if a.Lease != nil {
		where += fmt.Sprintf("; %s drives it until %s", a.Lease.Holder, a.Lease.Expires.Time().Local().Format(time.TimeOnly))
	}
	return where
}

// tellActor says what is known of an actor.
func tellActor(p *printer, a *controlplane.ActorView) error {
	p.say("%s: %s", a.ID, actorLine(a))
	p.say("  account      %s, %s, host %s (%s)", a.Account, a.Mode, a.Host, a.Authority)
	p.say("  owner        %s", or(string(a.Owner), "nobody: admins may stop and clear it"))
	if a.Online {
		p.say("  server       %s", plain(a.Server))
		p.say("  observation  epoch %d.%d.%d, sequence %d, game tick %d", a.Epoch.Host, a.Epoch.World, a.Epoch.Timeline, a.Sequence, a.GameTick)
	}
	if len(a.State) > 0 {
		p.say("  state        %s", strings.ReplaceAll(readable(a.State), "\n", "\n  "))
	}
	return p.result(a)
}

func (k *ctl) actor() *cobra.Command {
	return k.asking(&cobra.Command{Use: "actor ACTOR", Short: "what is known of one bot"}, cobra.ExactArgs(1), actorErrand((*client.Client).Actor))
}

func (k *ctl) observe() *cobra.Command {
	return k.asking(&cobra.Command{Use: "observe ACTOR", Short: "the newest observation: what a submit rests on"}, cobra.ExactArgs(1), actorErrand((*client.Client).Observe))
}

// actorErrand asks something about one actor and tells it.
func actorErrand(ask func(*client.Client, context.Context, host.Name) (controlplane.ActorView, error)) errand {
	return func(ctx context.Context, p *printer, c *client.Client, args []string) error {
		n, err := name("actor", args[0])
		if err != nil {
			return err
		}
		a, err := ask(c, ctx, n)
		if err != nil {
			return err
		}
		return tellActor(p, &a)
	}
}

func (k *ctl) capabilities() *cobra.Command {
	return k.asking(&cobra.Command{Use: "capabilities ACTOR", Short: "what a bot can be asked for, with arguments and grades of proof",
		Long: "Lists what a bot can be asked for: each with its risk, the grades of proof that its receipt can have, how it is\n" +
			"cancelled, and its arguments. --json has their schemas."}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			n, err := name("actor", args[0])
			if err != nil {
				return err
			}
			all, err := c.Contracts(ctx, n)
			if err != nil {
				return err
			}
			for i := range all {
				tellCapability(p, &all[i])
			}
			return p.result(map[string]any{"capabilities": all})
		})
}

func (k *ctl) read() *cobra.Command {
	return k.asking(&cobra.Command{Use: "read ACTOR CAPABILITY [JSON]", Short: "ask one of the reads; nothing is stored",
		Long: "Asks a read: world_status, inventory_summary, scan_region, nearby_entities or chat_since. The answer holds text from the\n" +
			"world, which is data. JSON is an object, @FILE, or - for standard input."}, cobra.RangeArgs(2, 3),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			n, err := name("actor", args[0])
			if err != nil {
				return err
			}
			arguments, err := jsonArgument(k.in, args, 2)
			if err != nil {
				return err
			}
			out, err := c.Read(ctx, n, host.Action{Capability: args[1], Arguments: arguments})
			if err != nil {
				return err
			}
			p.say("%s", readable(out))
			return p.result(map[string]json.RawMessage{"untrusted": out})
		})
}

func (k *ctl) stop() *cobra.Command {
	var why string
	cmd := k.asking(&cobra.Command{Use: "stop ACTOR", Short: "emergency stop: at once, and kept; nothing is undone"}, cobra.ExactArgs(1),
		actorErrand(func(c *client.Client, ctx context.Context, n host.Name) (controlplane.ActorView, error) {
			return c.Stop(ctx, n, why)
		}))
	cmd.Flags().StringVar(&why, "why", "stopped by hand", "for the record")
	return cmd
}

func (k *ctl) clear() *cobra.Command {
	return k.asking(&cobra.Command{Use: "clear ACTOR", Short: "lift an emergency stop; a new lease and observation are needed then",
		Long: "Lifts an emergency stop. What was asked for before stays ended, and the lease is over. It waits for the bot's next\n" +
			"observation, for nothing can be asked for on an older one."}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			n, err := name("actor", args[0])
			if err != nil {
				return err
			}
			cleared, err := c.ClearStop(ctx, n)
			if err != nil {
				return err
			}
			a, newer := newerThan(ctx, c, cleared)
			if a.Online && !newer {
				p.say("the bot has not told anything since: what follows is from before; `blockworld ctl observe %s` shows when there is more", n)
			}
			return tellActor(p, &a)
		})
}

// newerThan waits for an observation behind the one given, as long as a host may take for it. Without one it returns what
// there is.
func newerThan(ctx context.Context, c *client.Client, old controlplane.ActorView) (now controlplane.ActorView, newer bool) {
	until := time.Now().Add(newerWithin)
	for old.Online && time.Now().Before(until) {
		a, err := c.Observe(ctx, old.ID)
		if err == nil && (a.Epoch != old.Epoch || a.Sequence > old.Sequence) {
			return a, true
		}
		if nap(ctx, newerEvery) != nil {
			break
		}
	}
	return old, false
}

// leaseTime is how long a lease is taken for when nothing is said.
const leaseTime = 2 * time.Minute

func (k *ctl) lease() *cobra.Command {
	var ttl time.Duration
	var id string
	cmd := group(&cobra.Command{Use: "lease", Short: "the exclusive right to drive a bot: acquire, renew, release, show"})
	one := func(use, short string, work func(ctx context.Context, c *client.Client, actor host.Name) (controlplane.Lease, error)) *cobra.Command {
		return k.asking(&cobra.Command{Use: use + " ACTOR", Short: short}, cobra.ExactArgs(1),
			func(ctx context.Context, p *printer, c *client.Client, args []string) error {
				n, err := name("actor", args[0])
				if err != nil {
					return err
				}
				l, err := work(ctx, c, n)
				if err != nil {
					return err
				}
				switch {
				case use == "release":
					p.say("%s is released; what waited under the lease is stale", n)
				case l.Holder == "":
					p.say("nobody drives %s", n)
				default:
					p.say("%s drives %s until %s%s", l.Holder, n, l.Expires.Time().Local().Format(time.DateTime), idWords(l.ID))
				}
				return p.result(l)
			})
	}
	acquire := one("acquire", "take it; your own is renewed", func(ctx context.Context, c *client.Client, n host.Name) (controlplane.Lease, error) {
		return c.Acquire(ctx, n, ttl)
	})
	renew := one("renew", "keep it for longer", func(ctx context.Context, c *client.Client, n host.Name) (controlplane.Lease, error) {
		held, err := ownLease(ctx, c, n, id)
		if err != nil {
			return held, err
		}
		return c.Renew(ctx, n, held.ID, ttl)
	})
	release := one("release", "give it back", func(ctx context.Context, c *client.Client, n host.Name) (controlplane.Lease, error) {
		held, err := ownLease(ctx, c, n, id)
		if err != nil {
			return held, err
		}
		return controlplane.Lease{Actor: n}, c.Release(ctx, n, held.ID)
	})
	show := one("show", "who has it", (func(ctx context.Context, c *client.Client, n host.Name) (controlplane.Lease, error) {
		return c.LeaseOf(ctx, n)
	}))
	for _, with := range []*cobra.Command{acquire, renew} {
		with.Flags().DurationVar(&ttl, "ttl", leaseTime, "how long, 5s to 5m")
	}
	for _, with := range []*cobra.Command{renew, release} {
		with.Flags().StringVar(&id, "lease", "", "its id; the one that you hold by default")
	}
	cmd.AddCommand(acquire, renew, release, show)
	return cmd
}

func idWords(id string) string {
	if id == "" {
		return ""
	}
	return ", id " + id
}

// ownLease is the lease that a command is about: the one named, or the one that the caller holds.
func ownLease(ctx context.Context, c *client.Client, actor host.Name, id string) (controlplane.Lease, error) {
	if id != "" {
		return controlplane.Lease{ID: id, Actor: actor}, nil
	}
	l, err := c.LeaseOf(ctx, actor)
	if err == nil && l.ID == "" {
		err = controlplane.Errorf(controlplane.CodeLeaseExpired, "you hold no lease of %s: acquire one", actor)
	}
	return l, err
}
