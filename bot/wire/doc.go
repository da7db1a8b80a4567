// Package wire turns the bytes of a Minecraft connection into Go structs and back, for every protocol version the
// program speaks.
//
// In: a net.Conn, a protocol number, the state of the connection. Out: packets (one struct per packet of the game,
// fields named after the game's own), and from packets the facts of package worldstate (Events).
//
// One packet, one file, one Marshal method used for reading and for writing, so that the two cannot drift apart. What
// differs between versions is a named Feature, asked with Has; the packet ids are generated (zz_ids.go, by ./gen).
//
// Invariants:
//   - Nothing foreign is trusted: every length is checked before memory is taken for it, NBT has a depth, frames and
//     inflated data have limits, and no input makes this package panic.
//   - A packet that cannot be decoded costs that packet only: it yields a *DecodeError, and the stream goes on.
//     Packets that are not in the table are skipped and counted.
//   - A packet belongs to whoever read it: nothing in it is reused by the connection.
//   - An item stack whose data has an unknown component keeps its item and count, and what follows it in that packet
//     is unknown, never empty.
package wire
