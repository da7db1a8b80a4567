package sentinel

// RuleID is a rule's place in the table, counted from 1: the table is both the order and the index of the rules.
// Records and logs keep the name, never the number.
type RuleID uint8

// The rules, in the order of the table. What stands first names the refusal: who may act at all, what is never done,
// whose action it is, where, on what, with what, how much.
const (
	RuleNone RuleID = iota // no rule decided: the zero Decision
	RuleEmergencyStop
	RuleNotInPolicy
	RuleNotOffered
	RuleGradeOutOfReach
	RuleClassUnknown
	RuleDestructive
	RuleFire
	RuleLava
	RuleWater
	RuleExplosives
	RulePvP
	RuleTrading
	RulePrivateChat
	RuleCommands
	RuleContainers
	RuleAccount
	RuleEntities
	RuleInteraction
	RuleExplodesHere
	RuleMission
	RulePrincipal
	RulePolicyGeneration
	RuleLease
	RuleServerIdentity
	RuleBotIdentity
	RuleEpoch
	RuleDeadline
	RuleBindingIncomplete
	RuleConsent
	RuleNoPlot
	RuleOtherDimension
	RuleOutsideBuildBox
	RuleOutsideClickBox
	RuleLanding
	RuleStandOutside
	RulePathOutside
	RuleSelfOutside
	RuleCursorStale
	RuleStepNotReady
	RulePipelineFull
	RuleUnable
	RuleTargetUnloaded
	RuleFromState
	RuleReplaces
	RuleClickedCell
	RuleNoSupport
	RuleSupportUnproven
	RuleEntityInTheWay
	RuleReach
	RulePrecondition
	RuleInventoryUnsynced
	RuleSlot
	RuleItemMissing
	RuleItemNotPlain
	RuleItemCount
	RuleBudgetCount
	RuleBudgetQuantity
	RuleBudgetDistance
	RuleBudgetCharacters
	RuleTextForm
	RulePace
	RuleAdmit
	RuleNothingAdmits

	ruleCount // at most 64, because RefusalSet has 64 bits; bit 0 stays free
)

// String returns the rule's name as records and refusals write it.
func (id RuleID) String() string {
	if id == RuleNone || id >= ruleCount {
		return "none"
	}
	return table[id].Name
}

// Why returns what the rule found and what to do about it.
func (id RuleID) Why() string {
	if id == RuleNone || id >= ruleCount {
		return "no decision was made; that denies"
	}
	return table[id].Why
}
