package sentinel

import (
	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// good returns facts that admit the capability.
func good(c effects.Capability) Facts {
	pins := Standing{
		Principal: PinOf("local"), Policy: PinOf("policy"), Lease: PinOf("lease"), Server: PinOf("server"),
		Bot: worldstate.UUID{1}, Epoch: Epoch{Host: 1, World: 1, Timeline: 1}, Cursor: PinOf("cursor"), Precondition: PinOf("pre"),
		Review: PinOf("review"),
	}
	target, below := geom.BlockPos{X: 3, Y: 64, Z: 3}, geom.BlockPos{X: 3, Y: 63, Z: 3}
	stand := geom.BlockPos{X: 4, Y: 64, Z: 3}
	return Facts{
		Capability: c, Stopped: No, Policy: Reads | Effects, Offered: Effects,
		Reachable: effects.Attributed, Least: effects.Acknowledged, Classes: ClassOrdinary,
		Mission: MissionLive, Executes: Yes, Bound: pins, Now: pins, LeaseHeld: Yes, Complete: Yes, Consent: ConsentGiven,
		HasDeadline: Yes, Deadline: 2000, Clock: 1000,
		PlotKnown: Yes, Plot: PlotOf(geom.BoxOf(geom.BlockPos{X: 0, Y: 64, Z: 0}, geom.BlockPos{X: 9, Y: 70, Z: 9})),
		InDimension: Yes, Dimension: DimensionOverworld, SelfKnown: Yes, Self: stand,
		CellCount: 1, Cells: [2]geom.BlockPos{target}, Clicked: below, Landings: [2]geom.BlockPos{below, target}, Stand: stand,
		PathNodes: 2, PathBounds: geom.BoxOf(stand, target),
		Step: StepReady, Outstanding: 0, Pipeline: 1,
		Able: Yes, TargetLoaded: Yes, FromMatches: Yes, Replaces: ReplacesAir, ClickedUsable: Yes, Support: Yes,
		SupportProven: Yes, SpaceFree: Yes, Reach: 3, ReachLimit: 4.5,
		Synced: Yes, Slot: 0, HoldsItem: Yes, Plain: worldstate.PlainYes, Have: 64, Need: 1,
		Count: Budget{10, 1}, Quantity: Budget{10, 1}, Distance: Budget{100, 5}, Characters: Budget{100, 5}, Paced: Yes,
		TextLength: 5, TextLegal: Yes,
	}
}
