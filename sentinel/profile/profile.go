package profile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate/registry"
)

// Errors of profiles.
var (
	ErrInvalid    = errors.New("server profile is not valid")
	ErrNotWritten = errors.New("server profile could not be written")
	ErrMissing    = errors.New("no server profile")
)

// Version is the layout of the file.
const Version = 1

// DefaultRate is how many uses a second go out where the profile names no rate: servers of the Bukkit line silently
// drop faster ones. MaxRate is the most a profile may name.
const (
	DefaultRate = 8.0
	MaxRate     = 1000.0
)

// Profile is what one server can prove. The zero Profile offers reads only.
type Profile struct {
	Version     int              `yaml:"version"`
	Address     string           `yaml:"address"` // host:port as typed
	Server      Server           `yaml:"server"`
	Account     string           `yaml:"account,omitempty"` // UUID of the account that probed
	Mode        string           `yaml:"mode"`              // attached or managed
	Probed      time.Time        `yaml:"probed,omitempty"`
	Found       Found            `yaml:"found"`
	Offers      map[string]Offer `yaml:"offers"` // by capability: effects only, reads are always offered
	Used        Used             `yaml:"used"`
	Accept      Accept           `yaml:"accept"`
	Attribution Attribution      `yaml:"attribution"`
	Witness     string           `yaml:"witness,omitempty"` // username of a second account that looks on
	Rate        float64          `yaml:"rate,omitempty"`    // uses per second; 0: DefaultRate
	Pace        string           `yaml:"pace,omitempty"`    // why that rate
}

// Server is who the server said it is at play login.
type Server struct {
	Identity   string   `yaml:"identity"` // compared as a whole
	HashedSeed string   `yaml:"hashed_seed,omitempty"`
	Dimensions []string `yaml:"dimensions,omitempty"`
	Protocol   int32    `yaml:"protocol"`
	Brand      string   `yaml:"brand,omitempty"` // untrusted text of the server's
	Secure     bool     `yaml:"secure_chat,omitempty"`
	GameMode   string   `yaml:"game_mode,omitempty"`
}

// Found is what probe saw.
type Found struct {
	Acks      Finding  `yaml:"acks"`
	Fence     Finding  `yaml:"fence"`     // request-stats is answered
	Counters  Finding  `yaml:"counters"`  // statistics grow
	Inventory Finding  `yaml:"inventory"` // the forced snapshot is answered
	HeldSlot  Finding  `yaml:"held_slot"`
	Chat      []string `yaml:"chat,omitempty"` // trust classes seen
	Ticks     int      `yaml:"fence_ticks,omitempty"`
}

// Offer is one offered effect.
type Offer struct {
	Least     Grade  `yaml:"least"`     // below it the verdict is unverified_effect
	Reachable Grade  `yaml:"reachable"` // the best this server can show
	Why       string `yaml:"why,omitempty"`
}

// Capabilities returns what is offered: all reads, and the effects of the file.
func (p *Profile) Capabilities() sentinel.Capabilities {
	s := sentinel.Reads
	for name := range p.Offers {
		if c, err := effects.ParseCapability(name); err == nil {
			s |= sentinel.CapabilitySet(c)
		}
	}
	return s
}

// Offer returns the offer of an effect; ok is false when it is not offered.
func (p *Profile) Offer(c effects.Capability) (o Offer, ok bool) {
	o, ok = p.Offers[c.String()]
	return o, ok && c.Effect()
}

// UsesPerSecond returns the pace.
func (p *Profile) UsesPerSecond() float64 {
	if p.Rate <= 0 {
		return DefaultRate
	}
	return p.Rate
}

// Validate says everything that is wrong; errors wrap ErrInvalid.
func (p *Profile) Validate() error {
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if p.Version != Version {
		bad("version: %d, this program reads %d", p.Version, Version)
	}
	if p.Address == "" {
		bad("address: it is empty; write host:port")
	}
	if p.Mode != "attached" && p.Mode != "managed" {
		bad("mode: %q is neither attached nor managed", p.Mode)
	}
	if math.IsNaN(p.Rate) || p.Rate < 0 || p.Rate > MaxRate {
		bad("rate: %v is outside 0..%v", p.Rate, MaxRate)
	}
	if raw, err := hex.DecodeString(p.Account); p.Account != "" && (err != nil || len(raw) != 16) {
		bad("account: %q is not the id of an account, 32 hexadecimal digits", p.Account)
	}
	if p.Witness != "" && !username.MatchString(p.Witness) {
		bad("witness: %q is not a username", p.Witness)
	}
	p.Server.check(bad)
	for _, c := range p.Found.Chat {
		if !slices.Contains(chatWords, c) {
			bad("found.chat: %q is none of %v", c, chatWords)
		}
	}
	if p.Found.Ticks < 0 {
		bad("found.fence_ticks: %d is negative", p.Found.Ticks)
	}
	for name, o := range p.Offers {
		if err := p.checkOffer(name, o); err != nil {
			bad("offers.%s: %w", name, err)
		}
	}
	if len(p.Offers) > 0 && p.Server.Identity == "" {
		bad("server.identity: effects are offered but the server has no identity; run probe")
	}
	if len(p.Offers) > 0 && p.Server.Protocol == 0 {
		bad("server.protocol: effects are offered but no protocol is named; run probe")
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(all...))
}

// check says what is wrong with what the file says of the server.
func (s *Server) check(bad func(format string, args ...any)) {
	if s.Protocol != 0 && !registry.Protocol(s.Protocol).Known() {
		bad("server.protocol: %d is none of the protocols that this program speaks", s.Protocol)
	}
	if _, err := strconv.ParseUint(s.HashedSeed, 16, 64); s.HashedSeed != "" && err != nil {
		bad("server.hashed_seed: %q is not a hexadecimal number", s.HashedSeed)
	}
	if slices.Contains(s.Dimensions, "") {
		bad("server.dimensions: one has no name")
	}
	if s.GameMode != "" && !slices.Contains(modeWords, s.GameMode) {
		bad("server.game_mode: %q is none of %v", s.GameMode, modeWords)
	}
}

// username is what vanilla takes as one.
var username = regexp.MustCompile(`^[A-Za-z0-9_]{1,16}$`)

func (p *Profile) checkOffer(name string, o Offer) error {
	c, err := effects.ParseCapability(name)
	if err != nil {
		return err
	}
	least, reach := effects.Grade(o.Least), effects.Grade(o.Reachable)
	switch {
	case !c.Effect():
		return errors.New("it is a read; reads are always offered, leave it out")
	case least == effects.GradeNone:
		return errors.New("least: none proves nothing")
	case least > reach:
		return fmt.Errorf("least %s is above reachable %s; leave the effect out or ask for less", least, reach)
	case c == effects.PlaceBlock && least < effects.Observed:
		return fmt.Errorf("least: a placement needs at least observed, not %s", least)
	case c == effects.PlaceBlock && p.Used == UsedFrozen && reach > effects.Acknowledged:
		return errors.New("reachable: with used frozen acknowledged is the best")
	case c == effects.PlaceBlock && p.Found.Fence == FindingNo && reach > effects.Observed:
		return errors.New("reachable: without a fence observed is the best")
	case c == effects.PlaceBlock && p.Found.Fence == FindingUnknown && reach > effects.Observed:
		return errors.New("reachable: found.fence is unknown, and without a fence observed is the best; run probe")
	case c == effects.PlaceBlock && p.Found.Counters == FindingNo && reach > effects.Acknowledged:
		return errors.New("reachable: without counters acknowledged is the best")
	case c == effects.PlaceBlock && p.Attribution == AttributionNone && reach > effects.Acknowledged:
		return errors.New("reachable: attributed needs attribution: counter")
	case c == effects.PlaceBlock && p.Accept != AcceptObserved && reach == effects.Observed:
		return errors.New("reachable: observed gives receipts only with accept: observed")
	}
	return nil
}
