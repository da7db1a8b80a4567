package path

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Cells is a world of block states; worldstate's views are such worlds. False says that the cell is not known.
type Cells interface {
	Block(pos geom.BlockPos) (registry.StateID, bool)
}

// World is what a search looks at. Both fields must be set.
type World struct {
	Table *Table
	Cells Cells
}

// Status says what a Result means.
type Status uint8

// The statuses. The zero value is no result at all.
const (
	Unsearched Status = iota
	Reached           // the nodes lead to a goal
	Partial           // no way in what is known; the nodes lead as near as possible
	NoPath            // proved: there is no way inside the walk box
	Budget            // the node budget ran out; the nodes lead as near as was found
)

var statusNames = [...]string{"unsearched", "reached", "partial", "no path", "budget"}

// String names the status in lower case.
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return "invalid"
	}
	return statusNames[s]
}

// Why tells more about a search that did not reach its goal.
type Why uint8

// The reasons. The zero value is none.
const (
	WhyNone       Why = iota
	StartOutside      // the start is outside the walk box
	StartBlocked      // nobody can stand at the start or next to it
	GoalOutside       // every goal is outside the walk box
	GoalBlocked       // nobody can stand at any goal
	GoalUnknown       // no goal is open, and some are not loaded
	WalledOff         // everything reachable was looked at
	UnknownBorder     // everything reachable was looked at; it borders on cells that are not loaded
	OutOfNodes        // the node budget ran out
)

var whyNames = [...]string{
	"", "start outside the walk box", "no footing at the start", "goal outside the walk box", "no footing at the goal",
	"goal not loaded", "walled off", "unknown cells in the way", "node budget used up",
}

// String says the reason in a few words.
func (w Why) String() string {
	if int(w) >= len(whyNames) {
		return "invalid"
	}
	return whyNames[w]
}

// Move is how a node is reached from the one before it.
type Move uint8

// The moves. The zero value is the start.
const (
	Start Move = iota
	Walk       // on the level, or a rise of at most a step
	Jump       // one jump up
	Drop       // over an edge and down
	Climb      // up or down something climbable
	Swim       // into or through water
	Fly        // creative flight
)

var moveNames = [...]string{"start", "walk", "jump", "drop", "climb", "swim", "fly"}

// String names the move.
func (m Move) String() string {
	if int(m) >= len(moveNames) {
		return "invalid"
	}
	return moveNames[m]
}

// Node is one place of a path.
type Node struct {
	Pos  geom.BlockPos // the cell of the feet
	Feet float64       // the height of the feet: Pos.Y plus the floor's height in the cell
	Move Move
}

// Centre returns where the feet stand: the middle of the cell, on its floor.
func (n Node) Centre() geom.Vec3 {
	return geom.Vec3{float64(n.Pos.X) + 0.5, n.Feet, float64(n.Pos.Z) + 0.5}
}

// Options are the terms of a search. The zero value walks nowhere: its walk box is one cell.
type Options struct {
	// WalkBox holds every node.
	WalkBox geom.BlockBox
	// Pass holds, per hazard, the extra cost of a node that touches it; 0 bans such nodes. A block of plain way costs 10.
	Pass [hazardCount]int32
	// Swim lets paths lead through water, at four times the cost of walking.
	Swim bool
	// MaxDrop is the deepest drop in blocks, 0 for DefaultMaxDrop, negative for none. Falling more than 3 hurts.
	MaxDrop int32
	// NodeBudget bounds how many nodes are expanded, 0 for DefaultNodeBudget.
	NodeBudget int
	// CanFly searches through the air, for a player in creative flight.
	CanFly bool
}

// Defaults of Options.
const (
	DefaultMaxDrop    = 3
	DefaultNodeBudget = 50_000
)

func (o *Options) maxDrop() int32 {
	switch {
	case o.MaxDrop == 0:
		return DefaultMaxDrop
	case o.MaxDrop < 0:
		return 0
	}
	return min(o.MaxDrop, 256)
}

func (o *Options) budget() int {
	if o.NodeBudget <= 0 {
		return DefaultNodeBudget
	}
	return o.NodeBudget
}

// Result is the answer of a search.
type Result struct {
	Status  Status
	Why     Why             // set unless Reached
	Nodes   []Node          // from the start on; empty if the search could not begin
	Goal    int             // index of the goal reached, -1 if none
	Cost    int32           // of Nodes; a block of plain way costs 10
	Visited int             // nodes expanded
	Unknown int             // looks at cells that are not loaded
	Shut    []geom.BlockPos // with WalledOff: doors and gates beside what can be reached that somebody could open; a few of them
}
