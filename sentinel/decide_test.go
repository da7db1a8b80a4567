package sentinel

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// breakers makes, per refusing rule, its own condition true and no other's. They never touch the capability.
var breakers = map[RuleID]func(*Facts){
	RuleEmergencyStop:     func(f *Facts) { f.Stopped = Yes },
	RuleNotInPolicy:       func(f *Facts) { f.Policy = 0 },
	RuleNotOffered:        func(f *Facts) { f.Offered = 0 },
	RuleGradeOutOfReach:   func(f *Facts) { f.Reachable = effects.Processed },
	RuleClassUnknown:      func(f *Facts) { f.Classes |= ClassUnlisted },
	RuleDestructive:       func(f *Facts) { f.Classes |= ClassDestructive },
	RuleFire:              func(f *Facts) { f.Classes |= ClassFire },
	RuleLava:              func(f *Facts) { f.Classes |= ClassLava },
	RuleWater:             func(f *Facts) { f.Classes |= ClassWater },
	RuleExplosives:        func(f *Facts) { f.Classes |= ClassExplosives },
	RulePvP:               func(f *Facts) { f.Classes |= ClassPvP },
	RuleTrading:           func(f *Facts) { f.Classes |= ClassTrading },
	RulePrivateChat:       func(f *Facts) { f.Classes |= ClassPrivateChat },
	RuleCommands:          func(f *Facts) { f.Classes |= ClassCommands },
	RuleContainers:        func(f *Facts) { f.Classes |= ClassContainers },
	RuleAccount:           func(f *Facts) { f.Classes |= ClassAccount },
	RuleEntities:          func(f *Facts) { f.Classes |= ClassEntities },
	RuleInteraction:       func(f *Facts) { f.Classes |= ClassInteraction },
	RuleExplodesHere:      func(f *Facts) { f.Classes |= ClassBed; f.Dimension = DimensionNether },
	RuleMission:           func(f *Facts) { f.Mission = MissionWaiting },
	RulePrincipal:         func(f *Facts) { f.Now.Principal = PinOf("somebody else") },
	RulePolicyGeneration:  func(f *Facts) { f.Now.Policy = PinOf("newer") },
	RuleLease:             func(f *Facts) { f.LeaseHeld = No },
	RuleServerIdentity:    func(f *Facts) { f.Now.Server = PinOf("other server") },
	RuleBotIdentity:       func(f *Facts) { f.Now.Bot = worldstate.UUID{2} },
	RuleEpoch:             func(f *Facts) { f.Now.Epoch.World++ },
	RuleDeadline:          func(f *Facts) { f.Clock = f.Deadline },
	RuleBindingIncomplete: func(f *Facts) { f.Complete = No },
	RuleConsent:           func(f *Facts) { f.Now.Review = PinOf("other review") },
	RuleNoPlot:            func(f *Facts) { f.PlotKnown = No },
	RuleOtherDimension:    func(f *Facts) { f.InDimension = No },
	RuleOutsideBuildBox:   func(f *Facts) { f.CellCount, f.Cells[1] = 2, geom.BlockPos{X: 3, Y: 63, Z: 3} },
	RuleOutsideClickBox:   func(f *Facts) { f.Plot.Click.Min.Y = 64 },
	RuleLanding:           func(f *Facts) { f.Landings[1] = geom.BlockPos{X: 4, Y: 63, Z: 3} },
	RuleStandOutside:      func(f *Facts) { f.Stand.X = 100 },
	RulePathOutside:       func(f *Facts) { f.PathBounds.Max.X = 100 },
	RuleSelfOutside:       func(f *Facts) { f.Self.X = 100 },
	RuleCursorStale:       func(f *Facts) { f.Now.Cursor = PinOf("moved") },
	RuleStepNotReady:      func(f *Facts) { f.Step = StepUnresolved },
	RulePipelineFull:      func(f *Facts) { f.Outstanding = 1 },
	RuleUnable:            func(f *Facts) { f.Able = No },
	RuleTargetUnloaded:    func(f *Facts) { f.TargetLoaded = No },
	RuleFromState:         func(f *Facts) { f.FromMatches = No },
	RuleReplaces:          func(f *Facts) { f.Replaces = ReplacesOther },
	RuleClickedCell:       func(f *Facts) { f.ClickedUsable = No },
	RuleNoSupport:         func(f *Facts) { f.Support = No },
	RuleSupportUnproven:   func(f *Facts) { f.SupportProven = No },
	RuleEntityInTheWay:    func(f *Facts) { f.SpaceFree = No },
	RuleReach:             func(f *Facts) { f.Reach = 4.6 },
	RulePrecondition:      func(f *Facts) { f.Now.Precondition = PinOf("changed") },
	RuleInventoryUnsynced: func(f *Facts) { f.Synced = No },
	RuleSlot:              func(f *Facts) { f.Slot = 9 },
	RuleItemMissing:       func(f *Facts) { f.HoldsItem = No },
	RuleItemNotPlain:      func(f *Facts) { f.Plain = worldstate.PlainNo },
	RuleItemCount:         func(f *Facts) { f.Have = 0 },
	RuleBudgetCount:       func(f *Facts) { f.Count.Left = 0 },
	RuleBudgetQuantity:    func(f *Facts) { f.Quantity.Left = 0 },
	RuleBudgetDistance:    func(f *Facts) { f.Distance.Left = 4 },
	RuleBudgetCharacters:  func(f *Facts) { f.Characters.Left = 4 },
	RuleTextForm:          func(f *Facts) { f.TextLength = effects.MaxText + 1 },
	RulePace:              func(f *Facts) { f.Paced = No },
}

// askedBy returns the capabilities a rule applies to; for the catch-all one that does not exist.
func askedBy(r Rule) []effects.Capability {
	if r.For == everyCapability {
		return []effects.Capability{effects.PlaceBlock + 1, 0, 255}
	}
	var out []effects.Capability
	for _, c := range effects.Capabilities() {
		if r.For.Has(c) {
			out = append(out, c)
		}
	}
	return out
}

// listed returns facts for which rule i alone speaks.
func listed(r Rule, c effects.Capability) Facts {
	f := good(c)
	if b := breakers[r.ID]; b != nil {
		b(&f)
	}
	return f
}

func TestFirstMatch(t *testing.T) {
	rules := Rules()
	if len(rules) < 25 {
		t.Fatal("too few rules:", len(rules))
	}
	for i, r := range rules {
		t.Run("RU-16/"+r.Name, func(t *testing.T) {
			covered := false
			for _, c := range askedBy(r) {
				f := listed(r, c)
				for _, lower := range rules[i+1:] { // everything of less weight is true as well
					if b := breakers[lower.ID]; b != nil && r.ID != RuleAdmit && r.ID != RuleNothingAdmits {
						b(&f)
					}
				}
				d := Decide(&f)
				if d.Rule != r.ID || d.Index != i || d.Admit != r.Admits {
					t.Errorf("%s: %+v, want rule %s at %d", c, d, r.ID, i)
				}
				for _, lower := range rules[i+1:] {
					applies := !lower.Admits && lower.ID != RuleNothingAdmits && lower.For.Has(c) && !r.Admits
					if d.Also.Has(lower.ID) != applies {
						t.Errorf("%s: also %s: %v, want %v", c, lower.ID, d.Also.Has(lower.ID), applies)
					}
				}
				covered = true
			}
			if !covered {
				t.Error("no capability reaches this rule")
			}
		})
	}
}

// TestEachRuleAlone: a rule's own condition makes that rule decide and no other one speak.
func TestEachRuleAlone(t *testing.T) {
	for _, r := range Rules() {
		for _, c := range askedBy(r) {
			f := listed(r, c)
			if d := Decide(&f); d.Rule != r.ID || d.Also != 0 {
				t.Errorf("%s for %s: %s", r.Name, c, d.Explain())
			}
		}
	}
}

// TestEveryRuleIsNeeded drops each rule from the table: the listed case must come out otherwise.
func TestEveryRuleIsNeeded(t *testing.T) {
	for i, r := range Rules() {
		for _, c := range askedBy(r) {
			f := listed(r, c)
			with, without := Decide(&f), decide(&f, ^RefusalSet(1<<r.ID))
			if with == without {
				t.Errorf("rule %d (%s) can be dropped for %s: %+v", i, r.Name, c, with)
			}
			if !r.Admits && r.ID != RuleNothingAdmits && !without.Admit {
				t.Errorf("the case of %s for %s is refused by %s too: it does not show that the rule is needed", r.Name, c, without.Rule)
			}
			if r.ID == RuleNothingAdmits && (without != Decision{}) {
				t.Errorf("without the catch-all the zero decision must come out, not %+v", without)
			}
		}
	}
}

func TestCatchAll(t *testing.T) {
	t.Run("RU-17/nothing known", func(t *testing.T) {
		var f Facts
		if d := Decide(&f); d.Admit || d.Rule != RuleNothingAdmits {
			t.Error(d.Explain())
		}
		for _, c := range effects.Capabilities() {
			f.Capability = c
			if d := Decide(&f); d.Admit || d.Rule == RuleNone {
				t.Error(c, d.Explain())
			}
		}
	})
	t.Run("RU-14/rule, index, reason", func(t *testing.T) {
		for i, r := range Rules() {
			if int(r.ID) != i+1 || r.Name == "" || r.Why == "" || r.ID.String() != r.Name {
				t.Errorf("row %d: %+v", i, r)
			}
		}
	})
	t.Run("RU-13/digest names the frozen facts", func(t *testing.T) {
		f := good(effects.PlaceBlock)
		before := f.Digest()
		g := f
		g.Now.Epoch.World++
		if before != f.Digest() || before == g.Digest() || before == ([32]byte{}) {
			t.Error("digest")
		}
	})
	var zero Decision
	if zero.Admit || !strings.Contains(zero.Explain(), "no decision") {
		t.Error(zero.Explain())
	}
}

// TestUnknownDenies sets every field of admitted facts to its zero value, one at a time: some capability that was
// admitted must be refused. The exceptions are fields whose zero is a fact like any other.
func TestUnknownDenies(t *testing.T) {
	harmless := map[string]string{
		"Outstanding": "nothing is out", "Slot": "the first slot", "Self": "a cell", "Stand": "a cell", "Reach": "at the eye",
		"HasDeadline": "", // below
		"PathBounds":  "a box", "Dimension": "only beds and anchors ask", "Cells": "a cell", "Landings": "cells", "Clicked": "a cell",
	}
	typ := reflect.TypeFor[Facts]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if _, ok := harmless[name]; ok {
			continue
		}
		refused := false
		for _, c := range effects.Capabilities() {
			f := good(c)
			reflect.ValueOf(&f).Elem().Field(i).SetZero()
			refused = refused || !Decide(&f).Admit
		}
		if !refused {
			t.Errorf("nothing refuses when %s is unknown", name)
		}
	}
	for _, break1 := range []func(*Facts){
		func(f *Facts) { f.HasDeadline = Unknown }, func(f *Facts) { f.Reach = float32(math.NaN()) },
		func(f *Facts) { f.ReachLimit = float32(math.Inf(1)) }, func(f *Facts) { f.Classes |= ClassAnchor },
		func(f *Facts) { f.Classes |= ClassBed; f.Dimension = DimensionUnknown }, func(f *Facts) { f.CellCount = 3 },
		func(f *Facts) { f.Bound.Bot, f.Now.Bot = worldstate.UUID{}, worldstate.UUID{} },
		func(f *Facts) { f.Bound.Epoch, f.Now.Epoch = Epoch{}, Epoch{} },
		func(f *Facts) { f.Bound.Server, f.Now.Server = Pin{}, Pin{} },
		func(f *Facts) { f.Count = Budget{10, -1} }, func(f *Facts) { f.Quantity = Budget{math.MinInt64, 1} },
		func(f *Facts) { f.Landings[1] = geom.BlockPos{X: math.MinInt32} },
		func(f *Facts) { f.Consent = ConsentPending },
	} {
		f := good(effects.PlaceBlock)
		break1(&f)
		if d := Decide(&f); d.Admit {
			t.Errorf("admitted: %+v", f)
		}
	}
	f := good(effects.PlaceBlock)
	f.HasDeadline, f.Deadline, f.Consent, f.Bound.Review, f.Now.Review = No, 0, ConsentNotNeeded, Pin{}, Pin{}
	if d := Decide(&f); !d.Admit {
		t.Error("no deadline and no consent needed: ", d.Explain())
	}
}

// TestTableIsTheLoop compares the decision with the plain loop over the table that the straight code stands for.
func TestTableIsTheLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := good(effects.Capability(rapid.Uint8Range(0, 12).Draw(t, "capability")))
		for _, r := range Rules() {
			if b := breakers[r.ID]; b != nil && rapid.IntRange(0, 9).Draw(t, r.Name) == 0 {
				b(&f)
			}
		}
		var want Decision
		for i, r := range Rules() {
			if r.For != everyCapability && !r.For.Has(f.Capability) || !r.Test(&f) {
				continue
			}
			if want.Rule == RuleNone {
				want.Rule, want.Index, want.Admit = r.ID, i, r.Admits
			} else if !r.Admits && r.ID != RuleNothingAdmits {
				want.Also |= 1 << r.ID
			}
		}
		before := f
		if got := Decide(&f); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if f != before {
			t.Error("the decision changed the facts")
		}
	})
}

func TestNoAllocation(t *testing.T) {
	for _, c := range effects.Capabilities() {
		f, bad := good(c), Facts{Capability: c}
		if n := testing.AllocsPerRun(100, func() { sink = Decide(&f); sink = Decide(&bad) }); n != 0 {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}

func TestExplain(t *testing.T) {
	f := good(effects.PlaceBlock)
	breakers[RuleOutsideBuildBox](&f)
	breakers[RulePace](&f)
	breakers[RuleSlot](&f)
	got := Decide(&f).Explain()
	want := "denied by rule outside_build_box: a cell that would change lies outside the build box; widen the plot or move the plan; also slot, pace"
	if got != want {
		t.Errorf("%q", got)
	}
	g := good(effects.Say)
	if got := Decide(&g).Explain(); got != "admitted by rule admitted" {
		t.Errorf("%q", got)
	}
}

// TestClassOrder: the class bits are moved onto the rule bits as one span, so both lists must stay in one order.
func TestClassOrder(t *testing.T) {
	for rule, class := RuleDestructive, ClassDestructive; rule <= RuleInteraction; rule, class = rule+1, class<<1 {
		f := good(effects.PlaceBlock)
		f.Classes |= class
		if d := Decide(&f); d.Rule != rule || d.Also != 0 {
			t.Errorf("class bit %b: %s", class, d.Explain())
		}
	}
}
