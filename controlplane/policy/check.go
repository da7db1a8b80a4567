package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"blockworld/effects/host"
)

// maxProblems bounds how many complaints one error lists.
const maxProblems = 20

// problems collects complaints about a config.
type problems struct {
	errs []error
	more int
}

func (p *problems) say(format string, args ...any) {
	if len(p.errs) == maxProblems {
		p.more++
		return
	}
	p.errs = append(p.errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("%w: and %d more", ErrConfig, p.more))...)
	}
	return errors.Join(p.errs...)
}

// check says everything that is wrong with a config.
func (c *Config) check() error {
	var p problems
	if c.Profile >= profileCount {
		p.say("profile: %d is no profile; write one of %s", c.Profile, list(profileWords))
	}
	for _, l := range []struct {
		name      string
		have, max int
	}{{"plots", len(c.Plots), MaxPlots}, {"rules", len(c.Rules), MaxRules}, {"budgets", len(c.Budgets), MaxBudgets}, {"secrets", len(c.Secrets), MaxSecrets}} {
		if l.have > l.max {
			p.say("%s: %d are too many, at most %d are allowed; join some", l.name, l.have, l.max)
			return p.err()
		}
	}
	plots := c.checkPlots(&p)
	c.checkRules(&p, plots)
	c.checkBudgets(&p, plots)
	c.checkSecrets(&p)
	return p.err()
}

func (c *Config) checkPlots(p *problems) map[host.Name]bool {
	seen := map[host.Name]bool{}
	for i, plot := range c.Plots {
		what := p.name("plot", i, plot.ID, seen)
		if plot.Owner != "" && plot.Owner.Check("owner") != nil {
			p.say("%s: owner: %s is no principal; lower case letters, digits and . _ : / - only", what, quote(string(plot.Owner)))
		}
		checkPlace(p, what, "server", plot.Server)
		checkPlace(p, what, "world", plot.World)
		switch plot.Ownership {
		case OwnershipUnknown, OwnershipShared, OwnershipPublic, OwnershipSystem, OwnershipUnowned, OwnershipPlayer:
		default:
			p.say("%s: ownership: it says what the plot is to others than its owner; write shared, public, system, unowned or player, and name the owner under owner", what)
		}
	}
	return seen
}

// name checks an id and that it is the first of its list.
func (p *problems) name(what string, i int, id host.Name, seen map[host.Name]bool) string {
	if id == "" {
		p.say("%s %d (from 0): id is missing; give it one", what, i)
		return fmt.Sprintf("%s %d (from 0)", what, i)
	}
	named := what + " " + quote(string(id))
	if id.Check("id") != nil {
		p.say("%s: id: lower case letters, digits and . _ : / - only, at most %d bytes, a letter or digit first", named, host.MaxName)
	}
	if seen[id] {
		p.say("%s: id: another %s has the same; ids must differ", named, what)
	}
	seen[id] = true
	return named
}

func (c *Config) checkRules(p *problems, plots map[host.Name]bool) {
	seen := map[host.Name]bool{}
	for i := range c.Rules {
		r := &c.Rules[i]
		what := p.name("rule", i, r.ID, seen)
		checkSubject(p, what, r.Layer, r.Subject, true)
		r.Match.check(p, what, plots)
		if r.Result >= resultCount {
			p.say("%s: result: %d is no result; write allow, confirm or deny", what, r.Result)
		}
		if len(r.Why) > host.MaxText || !utf8.ValidString(r.Why) {
			p.say("%s: why: write at most %d bytes of UTF-8", what, host.MaxText)
		}
	}
}

func (c *Config) checkBudgets(p *problems, plots map[host.Name]bool) {
	seen := map[host.Name]bool{}
	for i := range c.Budgets {
		b := &c.Budgets[i]
		what := p.name("budget", i, b.ID, seen)
		checkSubject(p, what, b.Layer, b.Subject, false)
		b.Match.check(p, what, plots)
		if b.MaxCount < 0 || b.MaxQuantity < 0 || b.WindowTicks < 0 {
			p.say("%s: max_count, max_quantity, window_ticks: numbers below 0 mean nothing; write 0 or more", what)
		}
		if b.MaxCount <= 0 && b.MaxQuantity <= 0 {
			p.say("%s: max_count: it limits nothing; give max_count or max_quantity, or write a rule that denies", what)
		}
	}
}

// checkSubject: a rule that names no subject would speak of everybody by accident, so it must say so. A budget counts for one.
func checkSubject(p *problems, what string, l Layer, subject string, rule bool) {
	switch {
	case l == 0 || l >= layerCount:
		p.say("%s: layer: it is missing or unknown; write one of %s", what, list(layerWords))
	case l == LayerServer && (subject == "" || subject == Every):
	case subject == "" && rule:
		p.say("%s: subject: layer %s needs the name of one, or %q for every one", what, l, Every)
	case subject == "" || subject == Every && !rule:
		p.say("%s: subject: a budget of layer %s counts for one subject; name it", what, l)
	case subject == Every:
	case l == LayerServer || l == LayerWorld:
		checkPlace(p, what, "subject", subject)
	case host.Name(subject).Check("subject") != nil:
		p.say("%s: subject: %s is no name; lower case letters, digits and . _ : / - only", what, quote(subject))
	}
}

// checkPlace checks a server's or a world's name.
func checkPlace(p *problems, what, field, s string) {
	if len(s) > 4*host.MaxText || !utf8.ValidString(s) || strings.TrimSpace(s) != s {
		p.say("%s: %s: it is too long, or has spaces around it; write it as it is published", what, field)
	}
}

func (m *Match) check(p *problems, what string, plots map[host.Name]bool) {
	checkList(p, what, "kinds", m.Kinds, kindWords)
	checkList(p, what, "operations", m.Operations, operationWords)
	checkList(p, what, "ownerships", m.Ownerships, ownershipWords)
	checkList(p, what, "risks", m.Risks, riskWords)
	checkLength(p, what, "scopes", m.Scopes)
	checkLength(p, what, "tags", m.Tags)
	for _, s := range m.Scopes {
		if !plots[s] {
			p.say("%s: scopes: %s is no plot; register it under plots, or correct the name", what, quote(string(s)))
		}
	}
	for _, t := range m.Tags {
		switch {
		case t.Check("tag") != nil:
			p.say("%s: tags: %s is no tag; lower case letters, digits and . _ : / - only", what, quote(string(t)))
		case classOf(string(t)) != 0:
			p.say("%s: tags: %s is denied always (%s) and never comes to a rule; leave it out", what, quote(string(t)), kernel[classOf(string(t)).first()].code)
		}
	}
	if !m.possible() {
		p.say("%s: operations: no effect of these kinds is one of these operations; correct one of the two lists", what)
	}
}

// possible tells whether some kind of the list can be some operation of the other.
func (m *Match) possible() bool {
	if len(m.Kinds) == 0 || len(m.Operations) == 0 {
		return true
	}
	return slices.ContainsFunc(m.Kinds, func(k Kind) bool {
		return k >= kindCount || kindOperations[k]&of(m.Operations...) != 0
	})
}

func checkList[T ~uint8](p *problems, what, field string, values []T, words []string) {
	if !checkLength(p, what, field, values) {
		return
	}
	for _, v := range values {
		if v == 0 || int(v) >= len(words) {
			p.say("%s: %s: %q never comes to a rule; write some of %s, or leave the list out", what, field, word(v, words), list(words[1:]))
		}
	}
}

// checkLength: a list that is there and empty could mean nothing or everything.
func checkLength[T any](p *problems, what, field string, values []T) bool {
	switch {
	case values != nil && len(values) == 0:
		p.say("%s: %s: the list is empty; name some, or leave the list out to match everything", what, field)
	case len(values) > MaxList:
		p.say("%s: %s: at most %d entries", what, field, MaxList)
	default:
		return true
	}
	return false
}

func (c *Config) checkSecrets(p *problems) {
	for i, s := range c.Secrets { // told by its place: a secret is never printed
		_, hashed, ok := hashedSecret(s)
		folded, says := fold(nil, s)
		switch {
		case hashed && !ok:
			p.say("secret %d (from 0): after sha256: there must be 64 hex digits", i)
		case hashed:
		case says&textBad != 0 || utf8.RuneCount(folded) < LeastSecret || strings.TrimSpace(s) != s || len(s) > 4*host.MaxText:
			p.say("secret %d (from 0): it needs at least %d visible characters of UTF-8 and no space around them; shorter ones would forbid ordinary lines", i, LeastSecret)
		}
	}
}
