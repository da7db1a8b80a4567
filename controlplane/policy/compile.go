package policy

import (
	"cmp"
	"fmt"
	"slices"

	"blockworld/effects/host"
)

// Compile checks a config and builds its engine. Errors wrap ErrConfig; they name rule, budget or plot and the field, say
// what to do, and list up to maxProblems things at once.
func Compile(c Config) (*Engine, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.normal()
	e := &Engine{compiled: true, revision: c.revision(), profile: c.Profile, plots: c.Plots, budgets: c.Budgets,
		plotNumber: make(map[host.Name]int32, len(c.Plots))}
	for i, p := range c.Plots {
		e.plotNumber[p.ID] = int32(i + 1)
	}
	for _, s := range c.Secrets {
		e.secrets.add(s)
	}
	var ms []matcher
	for _, r := range c.Rules {
		e.rules = append(e.rules, ranked{r, r.reason()})
	}
	slices.SortFunc(e.rules, func(a, b ranked) int { return order(&a.Rule, &b.Rule) })
	for i := range e.rules {
		r := &e.rules[i]
		ms = append(ms, matcher{r.Layer, r.Subject, &r.Match})
	}
	e.ruleIndex = newIndex(ms, e.plotNumber)
	e.need(ms)
	ms = nil
	for i := range e.budgets {
		b := &e.budgets[i]
		ms = append(ms, matcher{b.Layer, b.Subject, &b.Match})
	}
	e.budgetIndex = newIndex(ms, e.plotNumber)
	e.need(ms)
	return e, nil
}

// need notes which places must be known before anything is decided.
func (e *Engine) need(ms []matcher) {
	for _, m := range ms {
		e.needsServer = e.needsServer || m.layer == LayerServer && m.subject != Every
		e.needsWorld = e.needsWorld || m.layer == LayerWorld && m.subject != Every
	}
}

// order says which of two rules decides when both match: the stricter; then the higher priority; then the narrower layer;
// then the id that sorts first.
func order(a, b *Rule) int {
	return cmp.Or(
		cmp.Compare(a.Result, b.Result),
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(b.Layer, a.Layer),
		cmp.Compare(a.ID, b.ID),
	)
}

// normal returns the same config in the one order that revision and engine are made from. It shares no list with c.
func (c Config) normal() Config {
	c.Plots, c.Rules, c.Budgets, c.Secrets = slices.Clone(c.Plots), slices.Clone(c.Rules), slices.Clone(c.Budgets), slices.Clone(c.Secrets)
	slices.SortFunc(c.Plots, func(a, b Plot) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Rules, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Budgets, func(a, b Budget) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(c.Secrets)
	for i := range c.Rules {
		r := &c.Rules[i]
		r.Match, r.Subject = r.Match.normal(), subjectOf(r.Layer, r.Subject)
	}
	for i := range c.Budgets {
		b := &c.Budgets[i]
		b.Match, b.Subject = b.Match.normal(), subjectOf(b.Layer, b.Subject)
	}
	return c
}

func subjectOf(l Layer, subject string) string {
	if l == LayerServer && subject == "" {
		return Every
	}
	return subject
}

func (m Match) normal() Match {
	m.Kinds, m.Operations, m.Ownerships, m.Risks = sorted(m.Kinds), sorted(m.Operations), sorted(m.Ownerships), sorted(m.Risks)
	m.Scopes, m.Tags = sorted(m.Scopes), sorted(m.Tags)
	if m.Reversible != nil {
		is := *m.Reversible
		m.Reversible = &is
	}
	return m
}

func sorted[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func (r *Rule) reason() string {
	s := fmt.Sprintf("rule %s (layer %s", r.ID, r.Layer)
	if r.Subject != Every {
		s += ", " + quote(r.Subject)
	}
	switch r.Result {
	case Allow:
		s += ") allows it"
	case Confirm:
		s += ") wants it confirmed"
	default:
		s += ") denies it"
	}
	if r.Why != "" {
		return s + ": " + r.Why
	}
	switch r.Result {
	case Confirm:
		s += "; confirm it, or change the rule"
	case Deny:
		s += "; leave it, or change the rule"
	}
	return s
}
