package sentinel

import (
	"crypto/sha256"
	"encoding/binary"

	"blockworld/effects"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// Facts is everything a decision rests on: one proposed action and the world as it was when the facts were frozen.
// It is a plain value of fixed size without pointers; the zero Facts denies everything.
//
// Each field says which capabilities it matters for; the others ignore it.
type Facts struct {
	Capability effects.Capability // what is asked; a number outside the ten is admitted by no rule

	// Standing orders. Effects unless noted.
	Stopped   Tri           // emergency stop pressed?
	Policy    Capabilities  // what the local policy allows; reads too
	Offered   Capabilities  // what the server profile offers; an empty one offers reads only
	Reachable effects.Grade // the best grade of proof this session can still reach for this effect
	Least     effects.Grade // the least grade the binding asks for; GradeNone is unknown
	Classes   Class         // classes of everything the action touches (see Classify); 0 is unknown

	// Authority. Effects.
	Mission   MissionState
	Executes  Tri      // the principal may execute effects with this actor
	Bound     Standing // as the binding fixed it
	Now       Standing // as it is now
	LeaseHeld Tri      // the controller lease is live
	Complete  Tri      // the binding has every field it needs
	Consent   Consent

	// Time in milliseconds since the Unix epoch; Clock 0 is unknown. Effects.
	HasDeadline Tri
	Deadline    int64
	Clock       int64

	// Room. Effects; what belongs to one effect says so.
	PlotKnown   Tri
	Plot        Plot
	InDimension Tri              // the bot is in the plot's dimension
	Dimension   DimensionKind    // where the bot is; beds and anchors ask
	SelfKnown   Tri              // Self is the server's word, not a prediction of ours that nothing confirmed
	Self        geom.BlockPos    // cell of the bot's feet
	CellCount   uint8            // place_block: cells that change, 1 or 2
	Cells       [2]geom.BlockPos // place_block: those cells, primary first
	Clicked     geom.BlockPos    // place_block
	Landings    [2]geom.BlockPos // place_block: the clicked cell and the cell before its clicked face, where a click could land
	Stand       geom.BlockPos    // place_block: cell of the feet while clicking
	PathNodes   uint32           // move_to: number of nodes
	PathBounds  geom.BlockBox    // move_to: smallest box around every node; it lies in a box exactly when each node does

	// The step. place_block.
	Step        StepState
	Outstanding uint16 // placements sent and not yet closed, this one not counted
	Pipeline    uint16 // most placements that may be outstanding; 0 is unknown

	// Preconditions. place_block.
	Able          Tri         // alive, not riding, in a game mode that may build; every effect but say
	TargetLoaded  Tri         // every changed cell, the clicked cell and their neighbours are loaded
	FromMatches   Tri         // every changed cell is in its from-state
	Replaces      Replacement // what stands in the primary cell now
	ClickedUsable Tri         // the clicked cell offers the face and is not itself replaced by the click, unless the step stacks into it
	Support       Tri         // what the block needs below, behind or above it is there
	SupportProven Tri         // clicked cell and support are not themselves waiting for proof
	SpaceFree     Tri         // no entity, our own body included, stands where the block will be
	Reach         float32     // blocks from eye to cursor point
	ReachLimit    float32     // blocks

	// Inventory. Synced matters for every effect; the rest for equip and place_block.
	Synced    Tri  // the inventory is the server's word
	Slot      int8 // hotbar slot 0..8 that is or will be held
	HoldsItem Tri  // the slot (place_block) or the source slot (equip) holds the item
	Plain     worldstate.Plainness
	Have      int32 // items in that slot
	Need      int32 // items the action uses, at least 1

	// Budgets and pace.
	Count      Budget // actions; every effect
	Quantity   Budget // items; place_block
	Distance   Budget // cells walked; move_to
	Characters Budget // of chat in the current window; say
	Paced      Tri    // the pace lets this one go now; every effect

	// say.
	TextLength uint16 // characters as the server counts them
	TextLegal  Tri    // no control or section characters
}

// Budget is what is left and what the action wants of it. The zero Budget denies: an action that wants nothing was
// not counted.
type Budget struct{ Left, Want int64 }

func (b Budget) refuses() bool { return b.Want <= 0 || b.Want > b.Left }

// Pin is a digest that two moments are compared by. The zero Pin is unknown and never equal to anything.
type Pin = effects.Digest

// PinOf returns the pin of some parts; their borders count, so ("ab","c") and ("a","bc") differ.
func PinOf(parts ...string) Pin {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return Pin(h.Sum(nil))
}

// Epoch counts the generations of host, world and timeline. The zero Epoch is unknown.
type Epoch = effects.Epoch

// Standing is what a binding fixes and what must still hold when its first packet goes out.
type Standing struct {
	Principal    Pin             // who asked
	Policy       Pin             // policy generation; with `build` alone the hash of the server profile
	Lease        Pin             // controller lease; with `build` alone the mission's
	Server       Pin             // server identity
	Bot          worldstate.UUID // from login success, never from a config file
	Epoch        Epoch
	Cursor       Pin // steps done and hash of the proven cells
	Precondition Pin // from-states, item and slot that the binding saw
	Review       Pin // the placement review that consent was given to; only with Consent
}

// Digest returns a hash of all facts, for the record of what a decision rested on.
func (f *Facts) Digest() [32]byte {
	b, err := binary.Append(make([]byte, 0, 1024), binary.BigEndian, f)
	if err != nil { // only a field without a fixed size can do that; a test keeps them out
		return [32]byte{}
	}
	return sha256.Sum256(b)
}

// Capabilities is a set of capabilities. The zero set is empty.
type Capabilities uint32

// CapabilitySet returns the set of the given capabilities; numbers outside the ten are left out.
func CapabilitySet(caps ...effects.Capability) Capabilities {
	var s Capabilities
	for _, c := range caps {
		s |= bit(c)
	}
	return s
}

// Reads are the capabilities that change nothing; Effects are the ones that may.
const (
	Reads Capabilities = 1<<effects.WorldStatus | 1<<effects.InventorySummary | 1<<effects.ScanRegion |
		1<<effects.NearbyEntities | 1<<effects.ChatSince
	Effects Capabilities = 1<<effects.MoveTo | 1<<effects.LookAt | 1<<effects.Say | 1<<effects.Equip |
		1<<effects.PlaceBlock
)

// Has tells whether the set holds c.
func (s Capabilities) Has(c effects.Capability) bool { return s&bit(c) != 0 }

func bit(c effects.Capability) Capabilities {
	if c >= 32 {
		return 0
	}
	return 1 << c & (Reads | Effects)
}

// MissionState is how far a mission may act. Only Live admits effects.
type MissionState uint8

// The states, as far as the guard cares.
const (
	MissionUnknown MissionState = iota
	MissionLive
	MissionWaiting // for items, for its owner, for the server
	MissionStopped
	MissionComplete
)

// Consent says whether a person had to agree and did.
type Consent uint8

// The answers. Given counts only while the review it was given to is still the review of this action.
const (
	ConsentUnknown Consent = iota
	ConsentNotNeeded
	ConsentGiven
	ConsentPending
	ConsentDenied
)

// StepState is what the journal and the mission know of a step. Only StepReady admits.
type StepState uint8

// The states, as far as the guard cares.
const (
	StepUnknown    StepState = iota
	StepReady                // never sent, or its last action is closed as not_executed or refused
	StepUnresolved           // an action of it was sent and has no verdict: never send again for a cleaner answer
	StepDone                 // proven, present or accepted
	StepDisturbed            // proven once, different now: its owner decides
	StepClaimed              // another bot's
)

// Replacement is what a placement would take the place of.
type Replacement uint8

// The kinds. Stacking onto a block's own kind (second slab, further candle) replaces nothing.
const (
	ReplacesUnknown Replacement = iota
	ReplacesAir
	ReplacesOwnKind
	ReplacesNamed // something replaceable that the mission's may_replace names
	ReplacesOther // anything else: that would be destruction
)

// DimensionKind is the kind of a dimension as far as beds and anchors care.
type DimensionKind uint8

// The kinds.
const (
	DimensionUnknown DimensionKind = iota
	DimensionOverworld
	DimensionNether
	DimensionEnd
)

// DimensionOf returns the kind of a dimension type by its full name; custom ones are unknown.
func DimensionOf(name string) DimensionKind {
	switch name {
	case "minecraft:overworld", "minecraft:overworld_caves":
		return DimensionOverworld
	case "minecraft:the_nether":
		return DimensionNether
	case "minecraft:the_end":
		return DimensionEnd
	}
	return DimensionUnknown
}
