package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockworld/controlplane/policy"
	"blockworld/effects/host"
)

// remoteConfig is a bot that another process runs for this daemon, listed so that policy may name it and its server.
type remoteConfig struct {
	Actor   host.Name `yaml:"actor"`
	Address string    `yaml:"address"` // of its server, as that process types it
	Owner   host.Name `yaml:"owner"`   // who may stop it and clear the stop, beside admins
}

// mention is a principal that a configuration speaks of.
type mention struct {
	where, what string
	principal   host.Name
}

// vanillaWorlds are in every server.
var vanillaWorlds = []string{"minecraft:overworld", "minecraft:the_nether", "minecraft:the_end"}

// named are the names that the parts of a configuration can mean.
type named struct {
	at      places
	plots   []string
	actors  []string
	servers []string // addresses as typed
	worlds  []string
	sure    bool // every bot is listed, here or as a remote one
	wrong   []error
	notes   []string
	who     []mention
}

// names checks that what the parts of a configuration call each other by is there. A name that must be there and is not is
// an error; what only looks mistaken becomes a note, and the principals are kept until it is known who has a token.
func (c *config) names(at places) error {
	n := &named{at: at, worlds: slices.Clone(vanillaWorlds), sure: len(c.Bots)+len(c.Remote) > 0}
	for i := range c.Bots {
		b, here := &c.Bots[i], fmt.Sprintf("bots[%d]", i)
		n.actors, n.servers = append(n.actors, string(b.ID)), append(n.servers, b.Address)
		n.principal(here+".owner", "bot "+string(b.ID), b.Owner)
	}
	for i := range c.Remote {
		r, here := &c.Remote[i], fmt.Sprintf("remote[%d]", i)
		if err := r.check(n.actors); err != nil {
			n.wrong = append(n.wrong, at.wrong(here, err))
		}
		n.actors, n.servers = append(n.actors, string(r.Actor)), append(n.servers, r.Address)
		n.principal(here+".owner", "remote bot "+string(r.Actor), r.Owner)
	}
	for i := range c.Plots {
		p, here := &c.Plots[i], fmt.Sprintf("plots[%d]", i)
		n.plots, n.worlds = append(n.plots, string(p.ID)), append(n.worlds, p.Dimension)
		n.principal(here+".owner", "plot "+string(p.ID), p.Owner)
		if p.Server != "" {
			n.must(here+".server", "plot "+string(p.ID)+": server", p.Server, "goes to a server", n.servers)
		}
	}
	for i := range c.Policy.Rules {
		r := &c.Policy.Rules[i]
		n.match(fmt.Sprintf("policy.rules[%d]", i), "rule "+string(r.ID), r.Layer, r.Subject, r.Scopes)
	}
	for i := range c.Policy.Budgets {
		b := &c.Policy.Budgets[i]
		n.match(fmt.Sprintf("policy.budgets[%d]", i), "budget "+string(b.ID), b.Layer, b.Subject, b.Scopes)
	}
	c.notes, c.mentions = n.notes, n.who
	return errors.Join(n.wrong...)
}

func (r *remoteConfig) check(before []string) error {
	if err := r.Actor.Check("actor"); err != nil {
		return err
	}
	if slices.Contains(before, string(r.Actor)) {
		return fmt.Errorf("bot %s is listed twice", r.Actor)
	}
	if r.Owner != "" {
		return r.Owner.Check("owner")
	}
	return nil
}

// match checks the names of a rule or a budget.
func (n *named) match(here, what string, layer policy.Layer, subject string, scopes []host.Name) {
	for i, s := range scopes {
		if !slices.Contains(n.plots, string(s)) {
			n.wrong = append(n.wrong, fmt.Errorf("%s%s: scopes: there is no plot %s; %s", n.at.of(fmt.Sprintf("%s.scopes[%d]", here, i)), what, s, known(n.plots)))
		}
	}
	if subject == "" || subject == policy.Every {
		return
	}
	here, what = here+".subject", what+": subject"
	switch layer {
	case policy.LayerActor:
		n.must(here, what, subject, "is called", n.actors)
	case policy.LayerServer:
		address, _, _ := strings.Cut(subject, " (") // of a whole identity
		n.must(here, what, address, "goes to a server", n.servers)
	case policy.LayerOwner:
		n.principal(here, what, host.Name(subject))
	case policy.LayerWorld:
		if !strings.Contains(subject, ":") {
			n.wrong = append(n.wrong, fmt.Errorf("%s%s: worlds have their whole name: write minecraft:%s", n.at.of(here), what, subject))
		} else if !slices.Contains(n.worlds, subject) {
			n.notes = append(n.notes, fmt.Sprintf("%s%s: no plot lies in a world %s", n.at.of(here), what, subject))
		}
	}
}

// must checks a name that some bot has to bring.
func (n *named) must(here, what, name, brings string, have []string) {
	switch {
	case slices.Contains(have, name):
	case n.sure:
		n.wrong = append(n.wrong, fmt.Errorf("%s%s: no bot %s %s; %s; list bots of other processes under remote", n.at.of(here), what, brings, name, known(have)))
	default:
		n.notes = append(n.notes, fmt.Sprintf("%s%s: whether any bot %s %s is not known: this configuration lists none, under bots or remote", n.at.of(here), what, brings, name))
	}
}

func (n *named) principal(here, what string, id host.Name) {
	if id != "" {
		n.who = append(n.who, mention{n.at.of(here), what, id})
	}
}

// known lists the names there are.
func known(names []string) string {
	if len(names) == 0 {
		return "there is none"
	}
	all := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(all) > mostLines {
		all = append(all[:mostLines:mostLines], "...")
	}
	return "there is " + strings.Join(all, ", ")
}

// strangers are notes about the principals that a configuration speaks of and that nobody can be: each once, where it is
// spoken of first.
func (c *config) strangers(has func(host.Name) bool) (notes []string) {
	told := map[host.Name]bool{}
	for _, m := range c.mentions {
		if told[m.principal] || has(m.principal) {
			continue
		}
		told[m.principal] = true
		notes = append(notes, fmt.Sprintf("%s%s: nobody is %s yet: check the name, or make a token, `ctl token create --principal %s`", m.where, m.what, m.principal, m.principal))
	}
	return notes
}
