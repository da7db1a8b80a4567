package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"blockworld/bot/login"
	"blockworld/controlplane/policy"
	"blockworld/effects/host"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// config is blockworld.yaml: what `serve` and `host` run. Environment goes over the file, flags over both.
type config struct {
	Data   string    `yaml:"data"`   // folder of the store, the journals, receipts and profiles
	Listen string    `yaml:"listen"` // address of HTTP, MCP and the host protocol
	Expose bool      `yaml:"expose"` // allow an address that other machines can reach
	Host   host.Name `yaml:"host"`   // name of the host that runs the bots below

	Policy policy.Config `yaml:"policy"`
	Plots  []plotConfig  `yaml:"plots"`
	Bots   []botConfig   `yaml:"bots"`
}

// plotConfig is one plot: where its bots may build, and whose it is.
type plotConfig struct {
	ID        host.Name        `yaml:"id"`
	Server    string           `yaml:"server"`    // address as typed, of the bots that work there
	Dimension string           `yaml:"dimension"` // full name; minecraft:overworld by default
	Build     boxText          `yaml:"build"`     // cells that may change
	Walk      *boxText         `yaml:"walk"`      // cells a bot may walk in; build and 6 around it by default
	Owner     host.Name        `yaml:"owner"`
	Ownership policy.Ownership `yaml:"ownership"` // what it is to everybody but the owner
}

// botConfig is one bot.
type botConfig struct {
	ID           host.Name     `yaml:"id"`
	Address      string        `yaml:"address"`
	Username     string        `yaml:"username"`
	Auth         string        `yaml:"auth"`    // offline
	Version      string        `yaml:"version"` // game version, or auto
	Profile      string        `yaml:"profile"` // server profile; DATA/profiles/SERVER.yaml by default
	Owner        host.Name     `yaml:"owner"`   // who may stop it and clear the stop, beside admins
	Plot         host.Name     `yaml:"plot"`
	MayReplace   []string      `yaml:"may_replace"` // replaceable blocks that may be built over
	Respawn      bool          `yaml:"respawn"`
	AcceptPacks  bool          `yaml:"accept_resource_packs"`
	ViewDistance int           `yaml:"view_distance"` // chunks, 2 to 32; 10 by default
	Brand        string        `yaml:"brand"`
	Budgets      budgetsConfig `yaml:"budgets"`
}

// budgetsConfig limits what a bot may do in direct actions over the life of its journal; structures have budgets of their own.
type budgetsConfig struct {
	Uses       int32 `yaml:"uses"`       // effects; 100,000 by default
	Distance   int32 `yaml:"distance"`   // blocks walked; 1,000,000 by default
	Characters int32 `yaml:"characters"` // of chat; 100,000 by default
}

// boxText is a box written X1,Y1,Z1:X2,Y2,Z2.
type boxText geom.BlockBox

// UnmarshalText reads a box.
func (b *boxText) UnmarshalText(text []byte) error {
	box, err := parseBox(string(text))
	*b = boxText(box)
	return err
}

// MarshalText writes a box.
func (b boxText) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d,%d,%d:%d,%d,%d", b.Min.X, b.Min.Y, b.Min.Z, b.Max.X, b.Max.Y, b.Max.Z), nil
}

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// loadConfig reads a configuration file, then what the environment says over it, and checks it.
func loadConfig(path string, getenv func(string) string) (*config, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no configuration at %s: write one (README.md shows it), or name yours with -c", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.environment(getenv); err != nil {
		return nil, err
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parseConfig reads one YAML document; an unknown or doubled key and a value outside its set are errors with their place.
func parseConfig(data []byte) (*config, error) {
	if len(data) > maxConfig {
		return nil, fmt.Errorf("the configuration is larger than %d bytes", maxConfig)
	}
	var c config
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		text := strings.ToValidUTF8(strings.TrimSpace(yaml.FormatError(err, false, true)), "?")
		return nil, errors.New(text[:min(len(text), 1000)])
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second YAML document follows: keep one")
	}
	if len(c.Policy.Secrets) > 0 {
		return nil, errors.New("policy.secrets: secrets come from the environment (BLOCKWORLD_SECRETS_FILE, a file of mode 0600 with one on each line), not from this file")
	}
	return &c, nil
}

// environment puts BLOCKWORLD_* over the file.
func (c *config) environment(getenv func(string) string) error {
	for name, to := range map[string]*string{"BLOCKWORLD_DATA": &c.Data, "BLOCKWORLD_LISTEN": &c.Listen} {
		if v := getenv(name); v != "" {
			*to = v
		}
	}
	if v := getenv("BLOCKWORLD_EXPOSE"); v != "" {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("BLOCKWORLD_EXPOSE=%q is neither true nor false", v)
		}
		c.Expose = on
	}
	path := getenv("BLOCKWORLD_SECRETS_FILE")
	if path == "" {
		return nil
	}
	data, err := readSecret(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if s := strings.TrimSpace(line); s != "" {
			c.Policy.Secrets = append(c.Policy.Secrets, s)
		}
	}
	return nil
}

// maxSecret bounds a file of secrets, in bytes.
const maxSecret = 1 << 16

// readSecret reads a file that nobody but its owner can read.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || othersCanRead(info) {
		return nil, fmt.Errorf("%s holds secrets and others can read it: chmod 600 it first", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(data) > maxSecret {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSecret)
	}
	return data, err
}

// othersCanRead tells whether more than the owner may read a file, where files have such rights.
func othersCanRead(info os.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// complete fills in defaults and checks what the file's parts say about each other.
func (c *config) complete() error {
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
		return err
	}
	plots := map[host.Name]*plotConfig{}
	for i := range c.Plots {
		p := &c.Plots[i]
		def(&p.Dimension, "minecraft:overworld")
		if err := p.check(); err != nil {
			return err
		}
		if plots[p.ID] != nil {
			return fmt.Errorf("plot %s is listed twice", p.ID)
		}
		plots[p.ID] = p
	}
	seen, accounts := map[host.Name]bool{}, map[string]host.Name{}
	for i := range c.Bots {
		b := &c.Bots[i]
		def(&b.Auth, "offline")
		def(&b.Version, "auto")
		if err := b.check(plots); err != nil {
			return err
		}
		account := strings.ToLower(b.Username) + "@" + strings.ToLower(b.Address)
		switch other, taken := accounts[account]; {
		case seen[b.ID]:
			return fmt.Errorf("bot %s is listed twice", b.ID)
		case taken:
			return fmt.Errorf("bots %s and %s are one account on one server: a server lets an account in once", other, b.ID)
		}
		seen[b.ID], accounts[account] = true, b.ID
	}
	if len(c.Policy.Plots) > 0 {
		return errors.New("policy.plots: plots are listed under plots, with their boxes")
	}
	for _, p := range c.Plots {
		c.Policy.Plots = append(c.Policy.Plots, policy.Plot{ID: p.ID, World: p.Dimension, Owner: p.Owner, Ownership: p.Ownership})
	}
	return nil
}

func (p *plotConfig) check() error {
	if err := p.ID.Check("plot"); err != nil {
		return err
	}
	if p.Build == (boxText{}) {
		return fmt.Errorf("plot %s: build is missing: the box X1,Y1,Z1:X2,Y2,Z2 of cells that may change", p.ID)
	}
	if p.Owner != "" {
		if err := p.Owner.Check("owner"); err != nil {
			return fmt.Errorf("plot %s: %w", p.ID, err)
		}
	}
	if err := p.plot().Validate(); err != nil {
		return fmt.Errorf("plot %s: %w", p.ID, err)
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

func (b *botConfig) check(plots map[host.Name]*plotConfig) error {
	if err := b.ID.Check("bot"); err != nil {
		return err
	}
	complain := func(format string, args ...any) error {
		return fmt.Errorf("bot %s: "+format, append([]any{b.ID}, args...)...)
	}
	switch _, version := registry.ByVersionName(b.Version); {
	case b.Address == "":
		return complain("address is missing: HOST or HOST:PORT of its server")
	case b.Auth != "offline":
		return complain("auth %q: offline is the only one there is", b.Auth)
	case b.Version != "auto" && !version:
		return complain("version %q is none of auto, %s", b.Version, versionNames())
	case b.ViewDistance != 0 && (b.ViewDistance < 2 || b.ViewDistance > 32):
		return complain("view_distance %d is not within 2..32 chunks", b.ViewDistance)
	case b.Budgets.Uses < 0 || b.Budgets.Distance < 0 || b.Budgets.Characters < 0:
		return complain("budgets cannot be negative")
	case b.Plot == "":
		return complain("plot is missing: which of the plots it works on")
	case plots[b.Plot] == nil:
		return complain("there is no plot %s", b.Plot)
	}
	if _, _, err := login.ParseAddress(b.Address); err != nil {
		return complain("address: %w", err)
	}
	if err := login.CheckUsername(b.Username); err != nil {
		return complain("%w", err)
	}
	if p := plots[b.Plot]; p.Server != "" && !strings.EqualFold(p.Server, b.Address) {
		return complain("its plot %s lies on %s, not on %s", b.Plot, p.Server, b.Address)
	}
	if b.Owner != "" {
		if err := b.Owner.Check("owner"); err != nil {
			return complain("%w", err)
		}
	}
	return nil
}

// path resolves a path of the configuration against the data folder.
func (c *config) path(parts ...string) string {
	return filepath.Join(append([]string{c.Data}, parts...)...)
}
