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
// One goroutine owns a Mission; several bots ask it in turn.
package mission
