// Package physics moves a player by one tick, as the vanilla client does.
//
// In: a World (collision shapes and block kinds of one protocol, and the cells of a mirror or of any other world), the
// Player of the last tick, the Input of this tick and the server's Attributes. Out: the Player of this tick. Step is
// pure: it keeps nothing, allocates nothing on its usual way and gives the same answer for the same question. Follower
// turns the nodes of a path into inputs and is as pure.
//
// Invariants:
//   - A cell that is not loaded is solid; a tick whose way touches one says so in Player.Unknown.
//   - NaN and infinity never enter a state: inputs are cleaned, speeds and coordinates are bounded.
//   - Nothing here is evidence. Only the server's packets say where a player is.
//
// Numbers are vanilla's (constants.go names each source). Not modelled: the swimming pose (sprinting ends in water),
// elytra, riding, being pushed by entities, pistons, and the supporting block at an edge (the block below the centre
// of the feet decides about friction).
package physics
