package policy

import "blockworld/effects/host"

// Engine is a compiled config. It is immutable and safe for concurrent use. The zero Engine denies everything.
type Engine struct {
	compiled bool
	revision string
	profile  Profile

	plots      []Plot // by number less one
	plotNumber map[host.Name]int32
	secrets    secrets

	needsServer, needsWorld bool // some subject names one, so not knowing it must not slip past

	// Invariant: rules stand in the order in which they choose the reason (strictest first), so the first that matches
	// decides. The number of a rule in it is its rank.
	rules     []ranked
	ruleIndex *index

	budgets     []Budget // by id
	budgetIndex *index
}

// ranked is a rule with its reason put into words ahead.
type ranked struct {
	Rule
	reason string
}

// Revision stands for the whole config: equal configs have equal revisions, whatever the order of their lists.
func (e *Engine) Revision() string { return e.revision }

// Profile returns the profile in force.
func (e *Engine) Profile() Profile { return e.profile }

// Decide answers for one action. It stores nothing; an Allow must be stored together with its Reservations, in one step
// with the reading of u, or two actions take the same room. u may be nil when no budget can match.
func (e *Engine) Decide(f *Facts, u Usage) Decision { return e.decide(f, u, wholeKernel) }

// decide asks only the given rows of the kernel.
func (e *Engine) decide(f *Facts, u Usage, asked kernelSet) Decision {
	if e == nil {
		e = &Engine{}
	}
	var views [host.MaxEffects]effect
	n := min(len(f.Effects), host.MaxEffects)
	refused := e.context(f)
	for i := range n {
		views[i] = e.freeze(f, &f.Effects[i])
		refused |= views[i].refused
	}
	if id := (refused & asked).first(); id < kernelCount {
		return Decision{Code: kernel[id].code, Reason: kernelReason(id, f, views[:n]), Revision: e.revision}
	}
	d := e.judge(f, views[:n])
	if d.Result == Confirm && f.Confirmed {
		d.Result, d.Code = Allow, CodeConfirmed
	}
	if d.Result != Deny && len(e.budgets) > 0 {
		e.reserve(f, views[:n], u, &d)
	}
	return d
}

// A verdict orders the answers for the effects of one action: the stricter result first, a rule before the profile, then by
// rank or row. The smallest is the action's.
type verdict int

const (
	byProfile verdict = 1 << 15
	nothing   verdict = 1 << 20
)

func (v verdict) result() Result { return Result(v >> 16) }

func ruleVerdict(r Result, rank int) verdict   { return verdict(r)<<16 | verdict(rank) }
func profileVerdict(r Result, row int) verdict { return verdict(r)<<16 | byProfile | verdict(row) }

// judge asks rules and profile about every effect; the strictest answer wins.
func (e *Engine) judge(f *Facts, views []effect) Decision {
	var whoWords, oneWords, allWords [MaxRules / 64]uint64
	words := (len(e.rules) + 63) / 64
	who, one, all := bitset(whoWords[:words]), bitset(oneWords[:words]), bitset(allWords[:words])
	if words > 0 {
		e.ruleIndex.who(f, who)
	}
	least, covered := nothing, false
	for i := range views {
		rank := -1
		if words > 0 {
			e.ruleIndex.what(who, &views[i], f.Effects[i].Tags, one)
			all.or(one)
			rank = one.first()
		}
		var said verdict
		if rank >= 0 {
			said = ruleVerdict(e.rules[rank].Result, rank)
		} else {
			row := profileRowOf(e.profile, &views[i])
			said = profileVerdict(profiles[e.profile][row].result, row)
		}
		if said.result() == Confirm && e.approved(f, &f.Effects[i], &views[i]) {
			covered = true
			continue
		}
		least = min(least, said)
	}
	d := Decision{Code: CodeInvalidEffect, Revision: e.revision}
	switch {
	case covered && (least == nothing || least.result() == Allow):
		d.Result, d.Code, d.Reason = Allow, CodeApproved, approvedReason
	case least != nothing:
		d.Result, d.Code, d.Reason = e.told(least)
	}
	d.Rules, d.Matched = e.ids(all)
	return d
}

// codes by result, of the profile and of rules.
var codes = [resultCount][2]Code{
	Deny:    {CodeProfileDenied, CodeRuleDenied},
	Confirm: {CodeProfileConfirms, CodeRuleConfirms},
	Allow:   {CodeProfileAllowed, CodeRuleAllowed},
}

func (e *Engine) told(v verdict) (Result, Code, string) {
	r, n := v.result(), int(v&(byProfile-1))
	if v&byProfile != 0 {
		return r, codes[r][0], profiles[e.profile][n].why
	}
	return r, codes[r][1], e.rules[n].reason
}

// ids returns the ids of the rules in b by rank, at most MaxRulesTold, and how many there are.
func (e *Engine) ids(b bitset) ([]string, int) {
	n := b.count()
	if n == 0 {
		return nil, 0
	}
	out := make([]string, 0, min(n, MaxRulesTold))
	for rank := b.next(0); rank >= 0 && len(out) < MaxRulesTold; rank = b.next(rank + 1) {
		out = append(out, string(e.rules[rank].ID))
	}
	return out, n
}
