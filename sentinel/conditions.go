package sentinel

import (
	"encoding/binary"

	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// conditions asks every rule of the table and returns the ones that match, whatever the capability.
//
// It is written out as straight code because 60 calls through function values cost four times the whole budget of a
// decision. Each line belongs to the row of the same name.
func conditions(f *Facts) RefusalSet {
	return authority(f) | classes(f) | standing(f) | room(f) | target(f) | supplies(f) |
		1<<RuleAdmit | 1<<RuleNothingAdmits // what nothing refuses is admitted, if it is one of the ten
}

// when returns the rule's bit if the condition holds.
func when(condition bool, id RuleID) RefusalSet {
	var b RefusalSet
	if condition {
		b = 1
	}
	return b << id
}

// authority: may anybody do this here at all?
func authority(f *Facts) RefusalSet {
	return when(f.Stopped != No, RuleEmergencyStop) |
		when(!f.Policy.Has(f.Capability), RuleNotInPolicy) |
		when(!f.Offered.Has(f.Capability), RuleNotOffered) |
		when(f.Least == effects.GradeNone || f.Least > f.Reachable, RuleGradeOutOfReach)
}

// classes: is it one of the things that are never done?
func classes(f *Facts) RefusalSet {
	return when(f.Classes == 0 || f.Classes&ClassUnlisted != 0, RuleClassUnknown) |
		excluded(f.Classes) |
		when(explodesHere(f), RuleExplodesHere)
}

// standing: is it still the action, the people and the world that were bound?
func standing(f *Facts) RefusalSet {
	return when(f.Mission != MissionLive, RuleMission) |
		when(f.Executes != Yes || differ(&f.Bound.Principal, &f.Now.Principal), RulePrincipal) |
		when(differ(&f.Bound.Policy, &f.Now.Policy), RulePolicyGeneration) |
		when(f.LeaseHeld != Yes || differ(&f.Bound.Lease, &f.Now.Lease), RuleLease) |
		when(differ(&f.Bound.Server, &f.Now.Server), RuleServerIdentity) |
		when(f.Bound.Bot != f.Now.Bot || f.Now.Bot == worldstate.UUID{}, RuleBotIdentity) |
		when(f.Bound.Epoch != f.Now.Epoch || f.Now.Epoch == Epoch{}, RuleEpoch) |
		when(f.Clock == 0 || f.HasDeadline != No && (f.HasDeadline != Yes || f.Clock >= f.Deadline), RuleDeadline) |
		when(f.Complete != Yes, RuleBindingIncomplete) |
		when(f.Consent != ConsentNotNeeded && (f.Consent != ConsentGiven || differ(&f.Bound.Review, &f.Now.Review)), RuleConsent)
}

// room: does it stay in the plot?
func room(f *Facts) RefusalSet {
	return when(f.PlotKnown != Yes, RuleNoPlot) |
		when(f.InDimension != Yes, RuleOtherDimension) |
		when(outsideBuildBox(f), RuleOutsideBuildBox) |
		when(!f.Plot.Click.Contains(f.Clicked), RuleOutsideClickBox) |
		when(landingNotNamed(f), RuleLanding) |
		when(!f.Plot.Walk.Contains(f.Stand), RuleStandOutside) |
		when(f.PathNodes == 0 || !f.Plot.Walk.ContainsBox(f.PathBounds), RulePathOutside) |
		when(f.SelfKnown != Yes || !f.Plot.Walk.Contains(f.Self), RuleSelfOutside)
}

// target: is the world ready for it?
func target(f *Facts) RefusalSet {
	return when(differ(&f.Bound.Cursor, &f.Now.Cursor), RuleCursorStale) |
		when(f.Step != StepReady, RuleStepNotReady) |
		when(f.Outstanding >= f.Pipeline, RulePipelineFull) |
		when(f.Able != Yes, RuleUnable) |
		when(f.TargetLoaded != Yes, RuleTargetUnloaded) |
		when(f.FromMatches != Yes, RuleFromState) |
		when(f.Replaces != ReplacesAir && f.Replaces != ReplacesOwnKind && f.Replaces != ReplacesNamed, RuleReplaces) |
		when(f.ClickedUsable != Yes, RuleClickedCell) |
		when(f.Support != Yes, RuleNoSupport) |
		when(f.SupportProven != Yes, RuleSupportUnproven) |
		when(f.SpaceFree != Yes, RuleEntityInTheWay) |
		when(!inReach(f.Reach, f.ReachLimit), RuleReach) |
		when(differ(&f.Bound.Precondition, &f.Now.Precondition), RulePrecondition)
}

// supplies: is there enough of everything, and is it time?
func supplies(f *Facts) RefusalSet {
	return when(f.Synced != Yes, RuleInventoryUnsynced) |
		when(f.Slot < 0 || f.Slot > 8, RuleSlot) |
		when(f.HoldsItem != Yes, RuleItemMissing) |
		when(f.Plain != worldstate.PlainYes, RuleItemNotPlain) |
		when(f.Need <= 0 || f.Have < f.Need, RuleItemCount) |
		when(f.Count.refuses(), RuleBudgetCount) |
		when(f.Quantity.refuses(), RuleBudgetQuantity) |
		when(f.Distance.refuses(), RuleBudgetDistance) |
		when(f.Characters.refuses(), RuleBudgetCharacters) |
		when(f.TextLength == 0 || f.TextLength > effects.MaxText || f.TextLegal != Yes, RuleTextForm) |
		when(f.Paced != Yes, RulePace)
}

// excluded turns class bits into rule bits: both lists run from destructive to interaction in the same order.
func excluded(c Class) RefusalSet {
	const span = ClassInteraction<<1 - ClassDestructive
	return RefusalSet(c&span/ClassDestructive) << RuleDestructive
}

// inReach is false for every NaN and for an infinite limit.
func inReach(reach, limit float32) bool { return reach >= 0 && reach <= limit && limit < 64 }

// differ refuses what is unknown now and what is not what it was.
func differ(bound, now *Pin) bool {
	// By words: the compiler's array comparison is a call.
	a, b, c, d := word(now, 0), word(now, 8), word(now, 16), word(now, 24)
	unequal := a ^ word(bound, 0) | b ^ word(bound, 8) | c ^ word(bound, 16) | d ^ word(bound, 24)
	set := a | b | c | d
	return unequal != 0 || set == 0
}

func word(p *Pin, at int) uint64 { return binary.LittleEndian.Uint64(p[at:]) }

func explodesHere(f *Facts) bool {
	return f.Classes&ClassBed != 0 && f.Dimension != DimensionOverworld ||
		f.Classes&ClassAnchor != 0 && f.Dimension != DimensionNether
}

func outsideBuildBox(f *Facts) bool {
	switch f.CellCount {
	case 1:
		return !f.Plot.Build.Contains(f.Cells[0])
	case 2:
		return !f.Plot.Build.Contains(f.Cells[0]) || !f.Plot.Build.Contains(f.Cells[1])
	}
	return true
}

// landingNotNamed refuses unless the clicked cell and the cell before its face are the two landings, side by side, both
// within the click box, and the primary cell is one of them.
func landingNotNamed(f *Facts) bool {
	a, b := f.Landings[0], f.Landings[1]
	return f.Clicked != a || f.Cells[0] != a && f.Cells[0] != b || !adjacent(a, b) || !f.Plot.Click.Contains(b)
}

func adjacent(a, b geom.BlockPos) bool {
	x, y, z := int64(a.X)-int64(b.X), int64(a.Y)-int64(b.Y), int64(a.Z)-int64(b.Z)
	return x*x+y*y+z*z == 1
}
