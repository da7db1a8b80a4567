// Package sentinel is the guard: frozen facts go in, a decision comes out, nothing else happens.
//
// What flows in: Facts, one flat value per proposed action, filled by the loop that owns the mirror. It holds no pointers,
// so nothing can change it between the reading of a fact and the decision. Everything that can be unknown says so, and its
// zero value is "unknown".
//
// What flows out: Decision, naming the first rule of one ordered table that matched, its place in the table, and, as a
// bit set, every further rule that would also have refused. Explain puts that into words, only when somebody reads it.
//
// Invariants:
//   - Refusals stand before admissions; the last rule matches always and denies. The zero Decision denies too.
//   - Unknown facts deny.
//   - A decision can only narrow: the table returns yes or no to exactly the action in Facts, it never rewrites one.
//   - The same table runs when an action is bound, and again right before its first packet.
//   - No clock, no randomness, no I/O, no allocation.
//
// The words that decide whether an item, a block or a line of chat belongs to an excluded class are in class.go; the
// three boxes a mission may touch are in plot.go.
package sentinel
