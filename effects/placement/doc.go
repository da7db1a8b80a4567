// Package placement answers two questions about vanilla's placement rule, in both directions:
//
//	Predict: this item, this click, this look, sneaking or not -> which cells change, from what to what.
//	Solve:   this full block state in this cell -> which clicks would make exactly it.
//
// In flow a registry of one protocol and a world (the mirror, or a plan's hypothetical world); out flow values. Every
// block belongs to exactly one Family (families.txt, closed lists), and every property of a state to one Class: chosen
// by the click, following the neighbours, set by a later use, or not in anybody's hand.
//
// Invariants: Solve never returns a Use that Predict does not turn into the wanted state (under the mask of properties
// that neighbours or time decide). What is not known is never guessed: an unknown cell is neither air nor support, and
// a family whose rule is uncertain is rejected rather than tried. Stand finds where a player can make a click from.
package placement
