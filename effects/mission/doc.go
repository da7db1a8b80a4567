// Package mission decides what a bot does next for a plan: walk, equip, place, wait, rejoin, inspect, done.
//
// In: a plan's steps, what became of each action (Sent, Settled), what changed in the world (CellChanged, ChunkLoaded,
// Stirred), who joined and left, and for each question the frozen Facts of the bot that asks. Out: one Decision, taken
// by the first row of one ordered table that matches, negative rows first. Pure: no clock, no I/O, no randomness.
//
// Invariants:
//   - a step with an unresolved action is never offered again; only not_executed, or refused and a changed fact, open it;
//   - a step is offered only when every earlier step on its cells and on the cell it clicks is done;
//   - a claimed step belongs to one bot;
//   - the mission is done only after an inspection on a join that is younger than the last packet sent.
//
// Several bots may work on one Mission, each from its own goroutine. Each sees the world over its own connection, so that one
// may see a cell later than the bot that changed it: what a bot sees counts against another bot's step only if its connection
// has shown that step before, or began after it.
package mission
