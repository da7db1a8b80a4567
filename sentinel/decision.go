package sentinel

import (
	"math/bits"
	"strings"

	"blockworld/effects"
)

// Decision is the answer to one Facts. The zero Decision denies.
type Decision struct {
	Rule  RuleID     // the rule that owns the decision; RuleNone in the zero Decision
	Index int        // its place in the table
	Admit bool       // false denies
	Also  RefusalSet // further refusing rules that matched; they never change the decision
}

// RefusalSet is a set of refusing rules, by id.
type RefusalSet uint64

// Has tells whether the rule is in the set.
func (s RefusalSet) Has(id RuleID) bool { return id < 64 && s&(1<<id) != 0 }

// Len returns the number of rules in the set.
func (s RefusalSet) Len() int { return bits.OnesCount64(uint64(s)) }

// Rules returns the rules of the set in ascending id.
func (s RefusalSet) Rules() []RuleID {
	out := make([]RuleID, 0, s.Len())
	for ; s != 0; s &= s - 1 {
		out = append(out, RuleID(bits.TrailingZeros64(uint64(s))))
	}
	return out
}

// asked holds, per capability, the rules that apply to it; index 0 is everything that is none of the ten.
var asked = func() (masks [effects.PlaceBlock + 1]RefusalSet) {
	for c := range masks {
		for _, r := range table[1:] {
			if r.For == everyCapability || r.For.Has(effects.Capability(c)) {
				masks[c] |= 1 << r.ID
			}
		}
	}
	return masks
}()

// refusing leaves out the two rules that refuse nothing by themselves.
const refusing = ^RefusalSet(1<<RuleAdmit | 1<<RuleNothingAdmits)

// Decide runs the table over the facts: the first rule that matches owns the decision. All rules run, so that a person
// reads every refusal at once instead of one per attempt; those behind the first never change the decision.
func Decide(f *Facts) Decision { return decide(f, ^RefusalSet(0)) }

// decide runs only the given rules of the table.
func decide(f *Facts, rules RefusalSet) Decision {
	c := f.Capability
	if c > effects.PlaceBlock {
		c = 0
	}
	matching := conditions(f) & asked[c] & rules
	first := RuleID(bits.TrailingZeros64(uint64(matching)))
	if first >= ruleCount {
		return Decision{}
	}
	also := matching & refusing &^ (1 << first)
	return Decision{Rule: first, Index: int(first) - 1, Admit: first == RuleAdmit, Also: also}
}

// Explain says in plain words what was decided and why, with every further refusal behind it.
func (d Decision) Explain() string {
	if d.Admit {
		return "admitted by rule " + d.Rule.String()
	}
	var b strings.Builder
	b.WriteString("denied by rule " + d.Rule.String() + ": " + d.Rule.Why())
	for i, id := range d.Also.Rules() {
		if i == 0 {
			b.WriteString("; also ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(id.String())
	}
	return b.String()
}
