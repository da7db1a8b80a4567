package actor

import (
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/sentinel/profile"
)

// Terms are what a server's profile says about it. The zero Terms offer reads only.
type Terms struct {
	Grades map[effects.Capability]Grades // the effects that are offered
	Fence  bool                          // it answers request-stats
	Slots  bool                          // it never tells the whole inventory, only slots one by one
	Used   effects.UsedTrust             // what is known of its `used` statistic
	Policy sentinel.Pin                  // generation of profile and policy
}

// Grades are the least grade of proof that an effect needs on a server, and the best one it can reach there.
type Grades struct{ Least, Reachable effects.Grade }

// TermsOf reads a profile.
func TermsOf(p *profile.Profile) (Terms, error) {
	g, err := p.Generation()
	if err != nil {
		return Terms{}, err
	}
	t := Terms{
		Grades: map[effects.Capability]Grades{}, Fence: p.Found.Fence == profile.FindingYes,
		Slots: p.Found.Inventory == profile.FindingNo, Used: p.Used.Trust(), Policy: sentinel.Pin(g),
	}
	for _, c := range effects.Capabilities() {
		if o, ok := p.Offer(c); ok {
			t.Grades[c] = Grades{effects.Grade(o.Least), effects.Grade(o.Reachable)}
		}
	}
	return t, nil
}

// offered is the set of capabilities that the terms allow.
func (t *Terms) offered() sentinel.Capabilities {
	s := sentinel.Reads
	for c := range t.Grades {
		s |= sentinel.CapabilitySet(c)
	}
	return s
}

func (t *Terms) least(c effects.Capability) effects.Grade { return t.Grades[c].Least }

// reachable is the best grade that this session can still prove.
func (a *Actor) reachable(c effects.Capability) effects.Grade {
	best := a.cfg.Terms.Grades[c].Reachable
	switch {
	case c == effects.PlaceBlock && a.evidence != nil && a.evidence.Demoted():
		return min(best, effects.Observed)
	case c == effects.PlaceBlock && a.evidence != nil && a.evidence.Used() == effects.UsedFrozen:
		return min(best, effects.Acknowledged)
	case c == effects.PlaceBlock || c == effects.Say || a.cfg.Witness == nil:
		return best
	case a.cfg.Terms.Fence:
		return max(best, effects.Acknowledged)
	}
	return max(best, effects.Observed)
}
