package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"blockworld/bot"
	"blockworld/bot/hosting"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Budgets of a bot's single actions where the configuration names none.
const (
	defaultUses       = 100_000
	defaultDistance   = 1_000_000
	defaultCharacters = 100_000
)

// folderName writes an id as the name of a folder. That two ids share none is checked when the host is made.
var folderName = strings.NewReplacer("/", "_", ":", "_")

// actors are the configuration's bots as a host runs them. Bots on one server share what they see of it.
func (c *config) actors(p *printer) ([]hosting.ActorConfig, error) {
	plots := map[host.Name]*plotConfig{}
	for i := range c.Plots {
		plots[c.Plots[i].ID] = &c.Plots[i]
	}
	shared := map[string]*worldstate.SectionStore{}
	var out []hosting.ActorConfig
	for i := range c.Bots {
		b := &c.Bots[i]
		prof, err := c.profileOf(b)
		if err != nil {
			return nil, err
		}
		server := strings.ToLower(b.Address)
		if shared[server] == nil {
			shared[server] = worldstate.NewSectionStore()
		}
		o := b.options(p)
		o.Sections = shared[server]
		out = append(out, hosting.ActorConfig{
			ID: b.ID, Options: o, Dir: c.path(botsFolder, folderName.Replace(string(b.ID))), Profile: prof,
			Plots: []hosting.Plot{plots[b.Plot].hosted()}, MayReplace: plan2names(b.MayReplace), Budgets: b.Budgets.effects(),
			At: crashAt[journal.Point](os.Getenv, "host"),
		})
	}
	return out, nil
}

// hosted is a plot in the host's words. Whose it is to whom is the daemon's registry's word; the host says only that it is
// known.
func (p *plotConfig) hosted() hosting.Plot {
	h := hosting.Plot{ID: p.ID, Dimension: p.Dimension, Boxes: p.plot()}
	switch {
	case p.Ownership != 0:
		h.Ownership = p.Ownership.String()
	case p.Owner != "":
		h.Ownership = "player"
	}
	return h
}

// options are a bot's options for all of its sessions.
func (b *botConfig) options(p *printer) bot.Options {
	o := bot.Options{Address: b.Address, Username: b.Username, Respawn: b.Respawn, Brand: b.Brand, ViewDistance: b.ViewDistance,
		Log: p.logger("bot " + string(b.ID))}
	if v, ok := registry.ByVersionName(b.Version); ok {
		o.Protocol = v
	}
	if b.AcceptPacks {
		o.ResourcePacks = login.Accept
	}
	return o
}

func (b *budgetsConfig) effects() effects.Budgets {
	or := func(n, def int32) int32 {
		if n == 0 {
			return def
		}
		return n
	}
	uses := or(b.Uses, defaultUses)
	return effects.Budgets{Uses: uses, Quantity: uses, Distance: or(b.Distance, defaultDistance), Characters: or(b.Characters, defaultCharacters)}
}

// profileOf reads the profile of a bot's server; without one nothing is offered, so the daemon does not start.
func (c *config) profileOf(b *botConfig) (profile.Profile, error) {
	path := b.Profile
	if path == "" {
		path = profile.Path(c.Data, b.Address)
	}
	prof, err := profile.Load(path)
	again := fmt.Sprintf("run `blockworld probe %s --username %s --data %s` first", b.Address, b.Username, c.Data)
	switch {
	case errors.Is(err, profile.ErrMissing):
		return prof, fail(exitDenied, fmt.Errorf("bot %s: %w: %s", b.ID, err, again))
	case err != nil:
		return prof, fail(exitUsage, fmt.Errorf("bot %s: %w", b.ID, err))
	case prof.Mode != effects.Attached.String():
		return prof, fail(exitDenied, fmt.Errorf("bot %s: the profile %s is for the mode %s; bots join servers as %s: %s", b.ID, path, prof.Mode, effects.Attached, again))
	case !strings.EqualFold(prof.Address, b.Address):
		return prof, fail(exitDenied, fmt.Errorf("bot %s: the profile %s is of the address %s, the bot goes to %s: %s", b.ID, path, prof.Address, b.Address, again))
	}
	account := login.OfflineUUID(b.Username)
	if prof.Account != "" && !strings.EqualFold(prof.Account, hex.EncodeToString(account[:])) && prof.Used == profile.UsedCounted {
		prof.Used = profile.UsedExpected // counted for another account; this one's first use will tell
	}
	return prof, nil
}

// journalFailed gives journals that cannot be opened their exit code.
func journalFailed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, journal.ErrLocked):
		err = fmt.Errorf("%w: another blockworld runs this bot; stop it first", err)
	case errors.Is(err, hosting.ErrConfig):
		return fail(exitUsage, err)
	}
	return fail(exitFailed, err)
}
