package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blockworld/controlplane/api"
	"blockworld/controlplane/policy"
	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"blockworld/effects/host"
)

// served is what serve tells at its start.
type served struct {
	Address    string      `json:"address"`
	MCP        string      `json:"mcp"`
	Data       string      `json:"data"`
	Profile    string      `json:"policy_profile"`
	Revision   string      `json:"policy_revision"`
	Bots       []host.Name `json:"bots"`
	Plots      []host.Name `json:"plots"`
	AdminToken string      `json:"admin_token_file,omitempty"` // made by this start
	Notes      []string    `json:"notes,omitempty"`            // what looks mistaken in the configuration
}

// tell says what runs, for people, and returns it for machines.
func (d *daemon) tell(p *printer, adminToken string) (served, error) {
	notes, err := d.config.doubts(d.tokens)
	if err != nil {
		return served{}, err
	}
	url := "http://" + d.listener.Addr().String()
	p.say("blockworld serves %s; stop it with Ctrl-C", url)
	s := d.config.tell(p, d.policy, url, notes)
	if s.AdminToken = adminToken; adminToken != "" {
		p.say("admin     a new token with every scope is in %s; only you can read that file", adminToken)
	}
	return s, nil
}

// doubts are notes about what looks mistaken in a configuration, beside the tokens that there are.
func (c *config) doubts(tokens *token.Keeper) ([]string, error) {
	all, err := tokens.List()
	if err != nil {
		return nil, err
	}
	has := map[host.Name]bool{}
	for _, t := range all {
		has[t.Principal] = has[t.Principal] || t.Kind == token.User && t.Revoked.IsZero()
	}
	return slices.Concat(c.notes, c.strangers(func(id host.Name) bool { return has[id] })), nil
}

// tell says what is configured, for people, and returns it for machines.
func (c *config) tell(p *printer, rules *policy.Engine, url string, notes []string) served {
	s := served{Address: url, MCP: url + mcpPath, Data: c.Data, Profile: rules.Profile().String(), Revision: rules.Revision(),
		Bots: []host.Name{}, Plots: []host.Name{}, Notes: notes}
	p.say("data      %s", c.Data)
	p.say("policy    %s, revision %s", s.Profile, s.Revision)
	for i := range c.Plots {
		l := &c.Plots[i]
		whose := "nobody's: effects there are denied"
		switch {
		case l.Owner != "" && l.Ownership.String() != "unknown":
			whose = fmt.Sprintf("owner %s, %s to others", l.Owner, l.Ownership)
		case l.Owner != "":
			whose = "owner " + string(l.Owner)
		case l.Ownership.String() != "unknown":
			whose = l.Ownership.String()
		}
		p.say("plot      %s: %v in %s, %s", l.ID, l.plot().Build, l.Dimension, whose)
		s.Plots = append(s.Plots, l.ID)
	}
	for i := range c.Bots {
		b := &c.Bots[i]
		p.say("bot       %s: %s on %s, plot %s", b.ID, b.Username, b.Address, b.Plot)
		s.Bots = append(s.Bots, b.ID)
	}
	for _, r := range c.Remote {
		p.say("remote    %s: on %s, by another process", r.Actor, r.Address)
	}
	p.say("MCP       %s", s.MCP)
	for _, n := range notes {
		p.say("note      %s", n)
	}
	return s
}

// checked is what serve --check tells.
type checked struct {
	served
	Store string `json:"store"` // new, there, or in use
}

// check says what a daemon with this configuration would do, and what would keep it from starting. It starts nothing, listens
// for a moment to see that it may, and writes nothing.
func (c *config) check(ctx context.Context, p *printer) error {
	rules, err := policy.Compile(c.Policy)
	if err != nil {
		return fail(exitUsage, err)
	}
	if _, err := c.actors(p); err != nil {
		return err
	}
	r := checked{Store: "there"}
	notes := c.notes
	e, err := store.Open(c.storeFile(), store.Options{MustExist: true})
	switch {
	case errors.Is(err, store.ErrNoStore):
		r.Store, err = "new", nil
		notes = slices.Concat(notes, c.strangers(func(id host.Name) bool { return id == firstAdmin }))
	case errors.Is(err, store.ErrLocked):
		r.Store, err = "in use", nil
	case err == nil:
		notes, err = c.doubts(token.New(e, nil, nil))
		err = errors.Join(err, e.Close())
	}
	if err != nil {
		return storeFailed(err, c.Data)
	}
	l, err := api.Listen(ctx, c.Listen, c.Expose, true)
	switch {
	case err == nil:
		err = l.Close()
	case r.Store == "in use": // by a daemon, which listens there
		err = nil
	}
	if err != nil {
		return listenFailed(err)
	}
	p.say("blockworld would serve http://%s", c.Listen)
	r.served = c.tell(p, rules, "http://"+c.Listen, notes)
	switch r.Store {
	case "new":
		p.say("store     none yet: the start makes %s, and an admin token in %s", c.storeFile(), c.adminFile())
	case "in use":
		p.say("store     in use: another blockworld works on %s now; stop it before this one starts", c.Data)
	}
	p.say("nothing is wrong with the configuration; nothing was started")
	return p.result(r)
}
