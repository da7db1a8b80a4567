// Package egress is the only code of a bot that writes to its connection.
//
// In: packets of the closed liveness list, which need no admission, and effects, each opened with the journal's Sent
// of its own action. Out: bytes on the wire, and counts of what was written.
//
// Invariants:
//   - a packet that is neither on the liveness list nor part of an opened effect cannot be written; there is no case
//     for attacking, interacting, digging, using items in the air, commands or containers
//   - at most one movement packet goes out between two ticks; then the tick end, where the version has one
//   - an effect's handle dies with its epoch: after a respawn, a new configuration or Close it writes nothing
//   - no position or angle that is not finite is ever written
//
// A Writer belongs to the goroutine that runs the bot's loop.
package egress
