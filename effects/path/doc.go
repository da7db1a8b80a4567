// Package path finds walks for a player through a world of cells.
//
// In: a World (a Table of one registry and any Cells: the mirror, or a world that a plan expects), a start cell, one or
// several goal cells, Options with the walk box. Out: a Result whose status says at once what it means:
//
//	Reached  the nodes lead to a goal, at the least cost
//	NoPath   proved: everything reachable inside the walk box was looked at, and all of it was known
//	Partial  everything reachable was looked at, but it borders on unknown cells; the nodes lead as near as possible
//	Budget   the node budget ran out first; the nodes lead as near as was found
//
// Invariants: every node lies inside the walk box; unknown cells are never walked through; the same question gives the
// same answer; nothing is kept between calls but the caller's Scratch. Doors are never opened: a closed one is a wall.
//
// A node is a cell that holds the feet, with the height of the floor in it, from the collision shapes: a slab is floor
// at 0.5, a fence is floor at 1.5 for those who get up there. The player is 0.6 wide and 1.8 high, rises 0.6 by a step
// and at most 1.2 by a jump. Every move is checked with the player's box against the shapes on its way: first up, then
// over, then down.
package path
