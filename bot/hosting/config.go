package hosting

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/go-hclog"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
)

// Config says which bots run, on which servers, for which daemon.
type Config struct {
	Name   host.Name
	Daemon Daemon
	Actors []ActorConfig
	Log    hclog.Logger       // nil: silent
	Now    func() time.Time   // nil: time.Now
	Rand   io.Reader          // nil: crypto/rand
	Unit   func() float64     // random in [0,1) for spacing reconnects; nil: always 0
	CodeOf func(error) string // the stable word of a daemon's error; nil: its ErrorCode method

	Rejoin     bot.Backoff   // spaces joins of a server; Tries is ignored: a host never gives up
	Reregister bot.Backoff   // spaces registrations
	PollWait   time.Duration // longest wait of one poll; 0: 20 s
	Publish    time.Duration // least time between two publications of an actor; 0: 250 ms
	Repeat     time.Duration // a publication that changes nothing comes after; 0: 5 s
	Patience   time.Duration // how long a build waits that nothing goes on with by itself: all refused, somebody in the way, another actor away; 0: 10 s
	Children   int           // most children of one operation; 0: as many as the protocol allows, host.MaxChildren
}

// ActorConfig is one bot.
type ActorConfig struct {
	ID      host.Name
	Options bot.Options // where it goes and as whom; Entering and Entered are the host's
	// Dir is the actor's data folder, which no other actor shares: its journal with its receipts.
	Dir        string
	Prepared   *Prepared             // a build of its caller's, instead of Dir: the actor does that and nothing else
	Profile    profile.Profile       // what its server can prove
	Plots      []Plot                // where it may build; the first is that of single actions
	Policy     sentinel.Capabilities // what may be asked for at all; zero: all ten
	MayReplace []string              // full names of replaceable blocks that may be built over
	Budgets    effects.Budgets       // of its single actions, for ever; zero: no limit worth a name
	At         func(journal.Point)   // called at crash points; may be nil
}

// Plot is where an actor may build.
type Plot struct {
	ID        host.Name
	Dimension string        // empty: minecraft:overworld
	Boxes     sentinel.Plot // see sentinel.PlotOf
	Ownership string        // own, public, shared, player, system, unowned; empty: unknown, which policy denies
}

// The points of this package, beside those of the journal (before_mark, after_mark, after_receipt), of the actor and of
// the builder (after_packet, after_evidence).
const (
	AfterDelivery journal.Point = "after_delivery" // a delivery has come, not acknowledged
	AfterAck      journal.Point = "after_ack"      // acknowledged, no mark
	AfterOutcome  journal.Point = "after_outcome"  // the daemon has the outcome, the outbox still holds it
)

// ErrConfig wraps what is wrong with a Config.
var ErrConfig = errors.New("host configuration")

const unlimited = 1 << 30

func (c *Config) defaults() error {
	if err := c.Name.Check("host name"); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Daemon == nil || len(c.Actors) == 0 {
		return fmt.Errorf("%w: a host needs a daemon and at least one actor", ErrConfig)
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Unit == nil {
		c.Unit = func() float64 { return 0 }
	}
	if c.Children <= 0 || c.Children > host.MaxChildren {
		c.Children = host.MaxChildren
	}
	orElse(&c.PollWait, 20*time.Second)
	orElse(&c.Publish, 250*time.Millisecond)
	orElse(&c.Repeat, 5*time.Second)
	orElse(&c.Patience, 10*time.Second)
	orElse(&c.Reregister.Min, time.Second)
	orElse(&c.Reregister.Max, 30*time.Second)
	c.Rejoin.Tries, c.Reregister.Tries = 0, 0
	seen := map[string]bool{}
	for i := range c.Actors {
		a := &c.Actors[i]
		if err := a.defaults(); err != nil {
			return err
		}
		for _, what := range []string{"actor " + string(a.ID), "folder " + a.Dir} {
			if a.Prepared != nil && what == "folder " {
				continue
			}
			if seen[what] {
				return fmt.Errorf("%w: %s is named twice", ErrConfig, what)
			}
			seen[what] = true
		}
	}
	return nil
}

func (a *ActorConfig) defaults() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: actor %s: "+format, append([]any{ErrConfig, a.ID}, args...)...)
	}
	switch {
	case a.ID.Check("actor") != nil:
		return fmt.Errorf("%w: %w", ErrConfig, a.ID.Check("actor"))
	case a.Prepared != nil && (a.Prepared.Site == nil || a.Prepared.Plan == nil || a.Prepared.Submit == nil):
		return wrong("its build needs a site, a plan and somebody who submits")
	case a.Dir == "" && a.Prepared == nil:
		return wrong("it has no data folder")
	case len(a.Plots) == 0:
		return wrong("it has no plot: name one, so that it is known where the bot may stand and build")
	case a.Profile.Server.Identity == "":
		return wrong("its server profile names no server: run `blockworld probe` first")
	}
	for i := range a.Plots {
		p := &a.Plots[i]
		if p.Dimension == "" {
			p.Dimension = "minecraft:overworld"
		}
		if err := p.ID.Check("plot"); err != nil {
			return wrong("%w", err)
		}
		if a.Prepared != nil { // the mission's own boxes hold
			continue
		}
		if err := p.Boxes.Validate(); err != nil {
			return wrong("plot %s: %w", p.ID, err)
		}
	}
	if a.Budgets == (effects.Budgets{}) {
		a.Budgets = effects.Budgets{Uses: unlimited, Quantity: unlimited, Distance: unlimited, Characters: unlimited}
	}
	return nil
}

func orElse(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}
