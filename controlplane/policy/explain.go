package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockworld/effects/host"
)

// Explain is the dry run: everything that Decide asks, whether it matched and why, and last the decision. It stops
// nowhere, so a person reads every refusal at once. It asks rules and budgets one by one, without the index.
func (e *Engine) Explain(f *Facts, u Usage) []Line {
	if e == nil {
		e = &Engine{}
	}
	views := make([]effect, min(len(f.Effects), host.MaxEffects))
	for i := range views {
		views[i] = e.freeze(f, &f.Effects[i])
	}
	lines := e.explainKernel(f, views)
	for i := range views {
		lines = e.explainRules(lines, f, &views[i], i)
	}
	for i := range e.budgets {
		lines = append(lines, e.explainBudget(&e.budgets[i], f, views, u))
	}
	d := e.Decide(f, u)
	return append(lines, Line{Part: PartDecision, ID: string(d.Code), Effect: -1, Matched: true, Result: d.Result, Why: d.Reason})
}

func (e *Engine) explainKernel(f *Facts, views []effect) []Line {
	context := e.context(f)
	lines := make([]Line, 0, int(kernelCount)+len(views)*(len(e.rules)+1)+len(e.budgets)+1)
	for id := range kernelCount {
		l := Line{Part: PartKernel, ID: string(kernel[id].code), Effect: -1, Missed: "facts", Why: kernel[id].fine}
		first := slices.IndexFunc(views, func(v effect) bool { return v.refused.has(id) })
		if first >= 0 || context.has(id) {
			l.Matched, l.Effect, l.Missed, l.Why = true, first, "", kernelReason(id, f, views)
		}
		lines = append(lines, l)
	}
	return lines
}

func (e *Engine) explainRules(lines []Line, f *Facts, v *effect, i int) []Line {
	spoken := false
	for k := range e.rules {
		r := &e.rules[k]
		l := Line{Part: PartRule, ID: string(r.ID), Effect: i, Result: r.Result, Why: r.reason}
		if field, why := e.misses(&matcher{r.Layer, r.Subject, &r.Match}, f, v, f.Effects[i].Tags); field != "" {
			l.Missed, l.Why = field, why
		} else {
			l.Matched, spoken = true, true
		}
		lines = append(lines, l)
	}
	p := Line{Part: PartProfile, ID: e.profile.String(), Effect: i, Missed: "rules", Why: "a rule speaks of this effect"}
	if e.profile < profileCount {
		row := &profiles[e.profile][profileRowOf(e.profile, v)]
		p.Result = row.result
		if !spoken {
			p.Matched, p.Missed, p.Why = true, "", row.why
		}
	}
	return append(lines, p)
}

func (e *Engine) explainBudget(b *Budget, f *Facts, views []effect, u Usage) Line {
	l := Line{Part: PartBudget, ID: string(b.ID), Effect: -1, Missed: "effects", Why: "the action has no effect"}
	r := Reservation{Budget: string(b.ID), Window: b.window(f.GameTick), Count: 1}
	for i := range views {
		field, why := e.misses(&matcher{b.Layer, b.Subject, &b.Match}, f, &views[i], f.Effects[i].Tags)
		if field == "" {
			l.Matched = true
			r.Quantity = add(r.Quantity, max(0, f.Effects[i].Quantity))
		} else if i == 0 {
			l.Missed, l.Why = field, why
		}
	}
	if !l.Matched {
		return l
	}
	l.Missed = ""
	if left, ok := b.left(u, r.Window); ok {
		l.Left = &left
	}
	code, why := b.refuses(f, u, &r)
	if code != "" {
		l.Why = why
		return l
	}
	l.Result = Allow
	l.Why = fmt.Sprintf("it would take %s", b.takes(&r, l.Left))
	return l
}

// takes says what an action takes of the limits that there are.
func (b *Budget) takes(r *Reservation, left *Left) string {
	var parts []string
	if b.MaxCount > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d actions left", r.Count, left.Count))
	}
	if b.MaxQuantity > 0 {
		parts = append(parts, fmt.Sprintf("a quantity of %d of %d left", r.Quantity, left.Quantity))
	}
	return strings.Join(parts, " and ")
}

// misses returns the first field by which a rule or budget does not match an effect, and the difference in words.
func (e *Engine) misses(m *matcher, f *Facts, v *effect, tags []host.Name) (field, why string) {
	if !m.concerns(f) {
		return "subject", fmt.Sprintf("it speaks of %s %s, and this is %s", m.layer, quote(m.subject), quote(m.layer.of(f)))
	}
	c := m.match
	switch {
	case !lists(c.Kinds, v.kind):
		return "kinds", differ(words(c.Kinds), v.kind.String())
	case !lists(c.Operations, v.operation):
		return "operations", differ(words(c.Operations), v.operation.String())
	case !lists(c.Ownerships, v.ownership):
		return "ownerships", differ(words(c.Ownerships), v.ownership.String())
	case len(c.Scopes) > 0 && (v.plot == noPlot || !slices.Contains(c.Scopes, e.plots[v.plot-1].ID)):
		return "scopes", differ(names(c.Scopes), e.plotName(v.plot))
	case len(c.Tags) > 0 && !slices.ContainsFunc(tags, func(t host.Name) bool { return slices.Contains(c.Tags, t) }):
		return "tags", differ(names(c.Tags), names(tags))
	case !lists(c.Risks, v.risk):
		return "risks", differ(words(c.Risks), v.risk.String())
	case c.Reversible != nil && *c.Reversible != v.reversible:
		return "reversible", differ(strconv.FormatBool(*c.Reversible), strconv.FormatBool(v.reversible))
	}
	return "", ""
}

func (e *Engine) plotName(n int32) string {
	if n == noPlot {
		return "no plot"
	}
	return string(e.plots[n-1].ID)
}

// concerns tells whether the action is the matcher's subject.
func (m *matcher) concerns(f *Facts) bool {
	is := m.layer.of(f)
	if m.subject == Every {
		return m.layer != LayerTask || is != ""
	}
	return m.subject == is || m.layer == LayerServer && m.subject == address(is)
}

// of returns the fact that a layer's subject is compared with.
func (l Layer) of(f *Facts) string {
	switch l {
	case LayerServer:
		return f.Server
	case LayerWorld:
		return f.World
	case LayerOwner:
		return string(f.Principal)
	case LayerActor:
		return string(f.Actor)
	case LayerTask:
		return string(f.Task)
	}
	return ""
}

func lists[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

func differ(want, is string) string { return fmt.Sprintf("it wants %s, and this is %s", want, is) }

func words[T fmt.Stringer](values []T) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return strings.Join(out, " or ")
}

func names(values []host.Name) string {
	if len(values) == 0 {
		return "without any"
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return strings.Join(out, " or ")
}
