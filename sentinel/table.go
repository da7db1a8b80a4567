package sentinel

import "blockworld/effects"

// Rule is one row of the table. Its condition is the line of the same name in conditions.go.
type Rule struct {
	ID     RuleID
	Name   string
	Admits bool
	For    Capabilities // asked only for these; everyCapability asks always
	Why    string       // what is so, and what a person can do about it
}

// Test tells whether the rule matches the facts; it does not look at For.
func (r Rule) Test(f *Facts) bool { return conditions(f).Has(r.ID) }

const (
	everyCapability = ^Capabilities(0) // also those that do not exist

	onMove   = Capabilities(1 << effects.MoveTo)
	onSay    = Capabilities(1 << effects.Say)
	onEquip  = Capabilities(1 << effects.Equip)
	onPlace  = Capabilities(1 << effects.PlaceBlock)
	onBody   = Effects &^ onSay // what the bot's body does
	onOwnPos = Effects &^ onMove &^ onPlace
	onItem   = onEquip | onPlace
)

// table is the whole policy of the guard, in order; nothing writes to it. Row 0 stands for the zero RuleID.
var table = [ruleCount]Rule{
	RuleEmergencyStop: {RuleEmergencyStop, "emergency_stop", false, Effects,
		"the emergency stop is pressed (or nobody knows whether it is); release it before anything is sent"},
	RuleNotInPolicy: {RuleNotInPolicy, "not_in_policy", false, Reads | Effects,
		"the local policy does not allow this capability; allow it in the configuration"},
	RuleNotOffered: {RuleNotOffered, "not_offered", false, Effects,
		"the server profile does not offer this effect; run `probe` or use a profile that does"},
	RuleGradeOutOfReach: {RuleGradeOutOfReach, "grade_out_of_reach", false, Effects,
		"this session cannot prove the effect as well as the binding asks; run `probe` again or ask for a lower grade"},
	RuleClassUnknown: {RuleClassUnknown, "class_unknown", false, Effects,
		"an item or block of this action is on no list of known ones; unknown things are never used"},
	RuleDestructive: {RuleDestructive, "destructive", false, Effects,
		"it would take away or change something that stands; that is never done"},
	RuleFire: {RuleFire, "fire", false, Effects,
		"it would make fire; that is never done"},
	RuleLava: {RuleLava, "lava", false, Effects,
		"it would place lava; that is never done"},
	RuleWater: {RuleWater, "water", false, Effects,
		"it would place or take water; that is never done"},
	RuleExplosives: {RuleExplosives, "explosives", false, Effects,
		"it may explode; that is never placed or held"},
	RulePvP: {RulePvP, "pvp", false, Effects,
		"it is a weapon; weapons are never held or used"},
	RuleTrading: {RuleTrading, "trading", false, Effects,
		"it would trade; that is never done"},
	RulePrivateChat: {RulePrivateChat, "private_chat", false, Effects,
		"it is a private message; only public chat is sent"},
	RuleCommands: {RuleCommands, "commands", false, Effects,
		"it is a command; commands are never sent, write the line without the slash"},
	RuleContainers: {RuleContainers, "containers", false, Effects,
		"the click would open a container; click another cell or sneak"},
	RuleAccount: {RuleAccount, "account", false, Effects,
		"it touches accounts, plug-ins or the server itself; that is never done"},
	RuleEntities: {RuleEntities, "entities", false, Effects,
		"it would make an entity; only blocks are placed"},
	RuleInteraction: {RuleInteraction, "interaction", false, Effects,
		"the clicked block would take the click for itself; click another cell or sneak"},
	RuleExplodesHere: {RuleExplodesHere, "explodes_here", false, Effects,
		"beds and respawn anchors may explode in this dimension; leave them out of the plan"},
	RuleMission: {RuleMission, "mission_not_live", false, Effects,
		"the mission is not live: waiting, stopped, complete or unknown"},
	RulePrincipal: {RulePrincipal, "principal", false, Effects,
		"the principal changed or may not execute effects with this bot"},
	RulePolicyGeneration: {RulePolicyGeneration, "policy_generation", false, Effects,
		"policy or server profile changed since the action was bound; bind it again"},
	RuleLease: {RuleLease, "lease", false, Effects,
		"the controller lease is not held any more; acquire it again"},
	RuleServerIdentity: {RuleServerIdentity, "server_identity", false, Effects,
		"this is not the server the action was bound to; check address and world"},
	RuleBotIdentity: {RuleBotIdentity, "bot_identity", false, Effects,
		"the bot's UUID at login is not the one the action was bound to; check the account"},
	RuleEpoch: {RuleEpoch, "epoch", false, Effects,
		"the bot has reconnected, respawned or changed dimension since the action was bound; bind it again"},
	RuleDeadline: {RuleDeadline, "deadline", false, Effects,
		"the deadline has passed or is not known; set a later one"},
	RuleBindingIncomplete: {RuleBindingIncomplete, "binding_incomplete", false, Effects,
		"the binding lacks a field it must name; bind the action again"},
	RuleConsent: {RuleConsent, "consent", false, Effects,
		"no consent to exactly this action; ask its owner to review it"},
	RuleNoPlot: {RuleNoPlot, "no_plot", false, Effects,
		"no plot is set for this mission; give one"},
	RuleOtherDimension: {RuleOtherDimension, "other_dimension", false, Effects,
		"the bot is not in the plot's dimension; bring it back there"},
	RuleOutsideBuildBox: {RuleOutsideBuildBox, "outside_build_box", false, onPlace,
		"a cell that would change lies outside the build box; widen the plot or move the plan"},
	RuleOutsideClickBox: {RuleOutsideClickBox, "outside_click_box", false, onPlace,
		"the clicked cell lies outside the click box; widen it or plan another click"},
	RuleLanding: {RuleLanding, "landing_not_named", false, onPlace,
		"the click could land in a cell that the action does not name"},
	RuleStandOutside: {RuleStandOutside, "stand_outside_walk_box", false, onPlace,
		"the place to stand lies outside the walk box; widen it or plan another stand"},
	RulePathOutside: {RulePathOutside, "path_outside_walk_box", false, onMove,
		"the path leaves the walk box (or there is none); widen the box or clear the way"},
	RuleSelfOutside: {RuleSelfOutside, "self_outside_walk_box", false, onOwnPos,
		"the bot itself is outside the walk box (or its position unknown); bring it back"},
	RuleCursorStale: {RuleCursorStale, "cursor_stale", false, Effects,
		"the built part is not what the action was bound to: somebody changed it, or steps were proven since; inspect and bind again"},
	RuleStepNotReady: {RuleStepNotReady, "step_not_ready", false, onPlace,
		"the step is done, disturbed, another bot's, or its last action has no verdict yet; it is never sent again for a cleaner answer"},
	RulePipelineFull: {RulePipelineFull, "pipeline_full", false, onPlace,
		"as many placements as the mission allows are waiting for proof; wait for them"},
	RuleUnable: {RuleUnable, "bot_unable", false, onBody,
		"the bot is dead, riding, or in a game mode that cannot do this"},
	RuleTargetUnloaded: {RuleTargetUnloaded, "target_unloaded", false, onPlace,
		"target, clicked cell or a neighbour is not loaded; move closer and wait for the chunk"},
	RuleFromState: {RuleFromState, "from_state", false, onPlace,
		"a cell is not in the state the step starts from; inspect it"},
	RuleReplaces: {RuleReplaces, "may_not_replace", false, onPlace,
		"something stands in the target that the placement would destroy; clear it, or name it in may_replace"},
	RuleClickedCell: {RuleClickedCell, "clicked_cell", false, onPlace,
		"the clicked cell does not offer that face, or the click would replace it"},
	RuleNoSupport: {RuleNoSupport, "no_support", false, onPlace,
		"what the block must rest on is missing"},
	RuleSupportUnproven: {RuleSupportUnproven, "support_unproven", false, onPlace,
		"the clicked cell or the support is itself waiting for proof; wait for it"},
	RuleEntityInTheWay: {RuleEntityInTheWay, "entity_in_the_way", false, onPlace,
		"a player, mob or the bot itself stands where the block would be; wait or step aside"},
	RuleReach: {RuleReach, "out_of_reach", false, onPlace,
		"the cursor point is out of reach; move closer"},
	RulePrecondition: {RulePrecondition, "precondition_changed", false, Effects,
		"a fact the binding rests on has changed; bind it again"},
	RuleInventoryUnsynced: {RuleInventoryUnsynced, "inventory_unsynced", false, Effects | 1<<effects.InventorySummary,
		"the server has not told the inventory yet; wait for it"},
	RuleSlot: {RuleSlot, "slot", false, onItem,
		"the slot is not one of the hotbar's nine"},
	RuleItemMissing: {RuleItemMissing, "item_missing", false, onItem,
		"the item is not in that slot; hand it to the bot if it has none, else take it in hand before placing"},
	RuleItemNotPlain: {RuleItemNotPlain, "item_not_plain", false, onItem,
		"the stack carries data and could place something else; use a plain stack"},
	RuleItemCount: {RuleItemCount, "item_count", false, onItem,
		"too few items in the slot; hand the bot more"},
	RuleBudgetCount: {RuleBudgetCount, "budget_count", false, Effects,
		"the budget of actions is spent; raise it"},
	RuleBudgetQuantity: {RuleBudgetQuantity, "budget_quantity", false, onPlace,
		"the budget of items is spent; raise it"},
	RuleBudgetDistance: {RuleBudgetDistance, "budget_distance", false, onMove,
		"the budget of distance is spent; raise it"},
	RuleBudgetCharacters: {RuleBudgetCharacters, "budget_characters", false, onSay,
		"the budget of characters in this window is spent; wait or raise it"},
	RuleTextForm: {RuleTextForm, "text_form", false, onSay,
		"the text is empty, longer than 256 characters, or has characters that the server refuses; shorten or clean it"},
	RulePace: {RulePace, "pace", false, Effects,
		"too soon after the last one; wait, or raise the rate if the server takes it"},
	RuleAdmit: {RuleAdmit, "admitted", true, Reads | Effects,
		"every rule above let it pass"},
	RuleNothingAdmits: {RuleNothingAdmits, "nothing_admits", false, everyCapability,
		"there is no such capability; the ten are world_status, inventory_summary, scan_region, nearby_entities, chat_since, move_to, look_at, say, equip, place_block"},
}

// Rules returns a copy of the table in its order.
func Rules() []Rule { return append([]Rule(nil), table[1:]...) }
