package policy

import (
	"slices"

	"blockworld/effects/host"
)

const approvedReason = "the approver of its macro was shown this and said yes"

// approved tells whether an effect, p read as v, lies inside one that the approver of its macro was shown.
func (e *Engine) approved(f *Facts, p *host.Preview, v *effect) bool {
	return slices.ContainsFunc(f.Approved, func(shown host.Preview) bool {
		s := e.freeze(f, &shown)
		return s.refused == 0 && s.spans(v) && holds(&shown, p)
	})
}

// spans tells whether what was shown is of the sort of an effect, and no milder. A build is what its placements are, and
// one that may replace also creates.
func (s *effect) spans(v *effect) bool {
	kind := v.kind == s.kind || v.kind == KindWorldPlace && s.kind == KindWorldBuild
	does := v.operation == s.operation || v.operation == OperationCreate && s.operation == OperationReplace
	return kind && does && v.ownership == s.ownership && v.plot == s.plot && v.risk <= s.risk && (v.reversible || !s.reversible)
}

// holds tells whether an effect keeps to the place, the amount and the things that were shown. Where nothing was shown of a
// block or an item, any is meant.
func holds(shown, p *host.Preview) bool {
	fits := func(shown, is string) bool { return shown == "" || shown == is }
	return p.Quantity <= shown.Quantity && fits(shown.Block, p.Block) && fits(shown.Item, p.Item) && p.Text == shown.Text &&
		inside(shown, p) && !slices.ContainsFunc(p.Tags, func(t host.Name) bool { return !slices.Contains(shown.Tags, t) })
}

// inside tells whether the cells of p lie in the box of what was shown. Without a box, only what names no place fits.
func inside(shown, p *host.Preview) bool {
	if shown.Pos == nil || p.Pos == nil {
		return shown.Pos == p.Pos
	}
	end, its := far(shown), far(p)
	for i := range 3 {
		if p.Pos[i] < shown.Pos[i] || its[i] > end[i] {
			return false
		}
	}
	return true
}

// far is the far corner of an effect's box.
func far(p *host.Preview) *[3]int32 {
	if p.To != nil {
		return p.To
	}
	return p.Pos
}
