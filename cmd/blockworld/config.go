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
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"blockworld/controlplane/policy"
	"blockworld/effects/host"
	"blockworld/worldstate/geom"
)

// config is blockworld.yaml: what `serve` and `host` run. Environment goes over the file, flags over both.
type config struct {
	Data   string    `yaml:"data"`   // folder of the store, the journals, receipts and profiles
	Listen string    `yaml:"listen"` // address of HTTP, MCP and the host protocol
	Expose bool      `yaml:"expose"` // allow an address that other machines can reach
	Host   host.Name `yaml:"host"`   // name of the host that runs the bots below
	Retain duration  `yaml:"retain"` // how long operations are kept that have ended, such as 720h; for ever by default

	Policy policy.Config  `yaml:"policy"`
	Plots  []plotConfig   `yaml:"plots"`
	Bots   []botConfig    `yaml:"bots"`
	Remote []remoteConfig `yaml:"remote"` // bots that other processes run

	notes    []string  // what looks mistaken and may be meant
	mentions []mention // principals that are spoken of
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

// duration is a length of time written 720h.
type duration time.Duration

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(text []byte) error {
	n, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no length of time: write one such as 720h", text)
	}
	*d = duration(n)
	return nil
}

// UnmarshalYAML reads a duration, and says where it stands when it is none.
func (d *duration) UnmarshalYAML(n ast.Node) error { return read(n, d.UnmarshalText) }

// String writes a duration.
func (d duration) String() string { return time.Duration(d).String() }

// boxText is a box written X1,Y1,Z1:X2,Y2,Z2.
type boxText geom.BlockBox

// UnmarshalText reads a box.
func (b *boxText) UnmarshalText(text []byte) error {
	box, err := parseBox(string(text))
	*b = boxText(box)
	return err
}

// UnmarshalYAML reads a box, and says where it stands when it is none.
func (b *boxText) UnmarshalYAML(n ast.Node) error { return read(n, b.UnmarshalText) }

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
	if err := c.complete(placesIn(data)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// maxNested is how deep brackets may stand within each other: the YAML parser takes memory by the square of that.
const maxNested = 64

// nested is how deep brackets stand within each other at most, those in texts and comments with them.
func nested(data []byte) (most int) {
	open := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// parseConfig reads one YAML document; an unknown or doubled key and a value outside its set are errors with their place.
func parseConfig(data []byte) (*config, error) {
	if len(data) > maxConfig {
		return nil, fmt.Errorf("the configuration is larger than %d bytes", maxConfig)
	}
	if n := nested(data); n > maxNested {
		return nil, fmt.Errorf("brackets stand %d deep within each other, at most %d are allowed", n, maxNested)
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

// path resolves a path of the configuration against the data folder.
func (c *config) path(parts ...string) string {
	return filepath.Join(append([]string{c.Data}, parts...)...)
}
