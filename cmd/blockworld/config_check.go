package main

import (
	"errors"
	"fmt"
	"strings"

	"blockworld/bot/login"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// complete fills in defaults and checks each part of the file, then what the parts say about each other.
func (c *config) complete(at places) error {
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&c.Data, "blockworld-data")
	def(&c.Listen, "127.0.0.1:7643")
	if c.Host == "" {
		c.Host = "local"
	}
	if err := c.Host.Check("host"); err != nil {
		return at.wrong("host", err)
	}
	if c.Retain < 0 {
		return at.wrong("retain", fmt.Errorf("retain: %s is no time to keep something for; 0 keeps it for ever", c.Retain))
	}
	plots := map[host.Name]*plotConfig{}
	for i := range c.Plots {
		p, here := &c.Plots[i], fmt.Sprintf("plots[%d]", i)
		def(&p.Dimension, "minecraft:overworld")
		if err := p.check(at, here); err != nil {
			return err
		}
		if plots[p.ID] != nil {
			return at.wrong(here+".id", fmt.Errorf("plot %s is listed twice", p.ID))
		}
		plots[p.ID] = p
	}
	if err := c.completeBots(at, plots); err != nil {
		return err
	}
	if len(c.Policy.Plots) > 0 {
		return at.wrong("policy.plots", errors.New("policy.plots: plots are listed under plots, with their boxes"))
	}
	if err := c.names(at); err != nil {
		return err
	}
	for _, p := range c.Plots {
		c.Policy.Plots = append(c.Policy.Plots, policy.Plot{ID: p.ID, Server: p.Server, World: p.Dimension, Owner: p.Owner, Ownership: p.Ownership})
	}
	return nil
}

func (c *config) completeBots(at places, plots map[host.Name]*plotConfig) error {
	seen, accounts := map[host.Name]bool{}, map[string]host.Name{}
	for i := range c.Bots {
		b, here := &c.Bots[i], fmt.Sprintf("bots[%d]", i)
		if b.Auth == "" {
			b.Auth = "offline"
		}
		if b.Version == "" {
			b.Version = "auto"
		}
		if err := b.check(at, here, plots); err != nil {
			return err
		}
		account := strings.ToLower(b.Username) + "@" + strings.ToLower(b.Address)
		switch other, taken := accounts[account]; {
		case seen[b.ID]:
			return at.wrong(here+".id", fmt.Errorf("bot %s is listed twice", b.ID))
		case taken:
			return at.wrong(here+".username", fmt.Errorf("bots %s and %s are one account on one server: a server lets an account in once", other, b.ID))
		}
		seen[b.ID], accounts[account] = true, b.ID
	}
	return nil
}

func (p *plotConfig) check(at places, here string) error {
	if err := p.ID.Check("plot"); err != nil {
		return at.wrong(here+".id", err)
	}
	complain := func(field string, err error) error {
		return at.wrong(here+"."+field, fmt.Errorf("plot %s: %w", p.ID, err))
	}
	if p.Build == (boxText{}) {
		return complain("build", errors.New("build is missing: the box X1,Y1,Z1:X2,Y2,Z2 of cells that may change"))
	}
	if p.Owner != "" {
		if err := p.Owner.Check("owner"); err != nil {
			return complain("owner", err)
		}
	}
	if err := p.plot().Validate(); err != nil {
		return complain("build", err)
	}
	return nil
}

// plot are the boxes that the guard checks.
func (p *plotConfig) plot() sentinel.Plot {
	plot := sentinel.PlotOf(geom.BlockBox(p.Build))
	if p.Walk != nil {
		plot.Walk = geom.BlockBox(*p.Walk)
	}
	return plot
}

func (b *botConfig) check(at places, here string, plots map[host.Name]*plotConfig) error {
	if err := b.ID.Check("bot"); err != nil {
		return at.wrong(here+".id", err)
	}
	complain := func(field, format string, args ...any) error {
		return at.wrong(here+"."+field, fmt.Errorf("bot %s: "+format, append([]any{b.ID}, args...)...))
	}
	switch _, version := registry.ByVersionName(b.Version); {
	case b.Address == "":
		return complain("address", "address is missing: HOST or HOST:PORT of its server")
	case b.Auth != "offline":
		return complain("auth", "auth %q: offline is the only one there is", b.Auth)
	case b.Version != "auto" && !version:
		return complain("version", "version %q is none of auto, %s", b.Version, versionNames())
	case b.ViewDistance != 0 && (b.ViewDistance < 2 || b.ViewDistance > 32):
		return complain("view_distance", "view_distance %d is not within 2..32 chunks", b.ViewDistance)
	case b.Budgets.Uses < 0 || b.Budgets.Distance < 0 || b.Budgets.Characters < 0:
		return complain("budgets", "budgets cannot be negative")
	case b.Plot == "":
		return complain("plot", "plot is missing: which of the plots it works on")
	case plots[b.Plot] == nil:
		return complain("plot", "there is no plot %s: list it under plots, or correct the name", b.Plot)
	}
	if _, _, err := login.ParseAddress(b.Address); err != nil {
		return complain("address", "address: %w", err)
	}
	if err := login.CheckUsername(b.Username); err != nil {
		return complain("username", "%w", err)
	}
	if p := plots[b.Plot]; p.Server != "" && p.Server != b.Address {
		return complain("plot", "its plot %s lies on %s, not on %s", b.Plot, p.Server, b.Address)
	}
	if b.Owner != "" {
		if err := b.Owner.Check("owner"); err != nil {
			return complain("owner", "%w", err)
		}
	}
	return nil
}
