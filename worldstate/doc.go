// Package worldstate is the mirror of one server as one connection sees it.
//
// In flow events: facts that the server's packets stated (event.go, a closed sum). Mirror.Apply is the only thing that
// changes a mirror; View reads it. Out flow blocks, entities, inventory, statistics, chat, clocks, each as the server
// last told it, with a rising sequence and the epoch that says which facts may be compared.
//
// Invariants:
//   - Only the server's word goes in. What a bot predicts lives elsewhere and is never read as evidence.
//   - Unknown is unknown: a cell that is not loaded is not air, a slot not understood is not empty, a statistic before
//     the first reply is not zero.
//   - A malformed event gives an error that wraps ErrMalformed and changes nothing; no event can cause a panic.
//   - Columns are kept as the game's own client keeps them, in a square around the centre that the server told, and of at
//     most so many bytes: whatever a server sends, the rest is unknown, counted and no reason to end.
//   - Chunk sections stay packed as they were sent, are immutable once decoded, shared between all mirrors with the same
//     SectionStore, and copied when one mirror's world changes.
//   - Text from the world is of type Untrusted or raw NBT: kept as data, read by nobody here.
//
// A mirror belongs to one goroutine; a SectionStore to all.
package worldstate
