// Package bot is one bot on one server: Join connects and logs in, Run keeps the session.
//
// One goroutine, the one that runs Run, owns everything of the session: the mirror of the world, the physics state and
// the writer of the connection. A second one reads and decodes frames and hands packets over a bounded channel.
// Everybody else comes in through Do, which runs a function on the loop, or reads a Snapshot.
//
// In: packets of the server, wake-ups of the clock, functions given to Do. Out: liveness packets, passive motion, and
// effects that were opened with the journal's permit (package egress); facts, in order, to the attached listeners.
//
// Invariants:
//   - a fact reaches the mirror first, then the session's own answers, then the listeners, in the order of the wire
//   - what physics predicts is never a fact; the server's corrections always win and are confirmed exactly once
//   - a world epoch that ends (respawn, new configuration, close) ends every walk and every opened effect
//   - while nothing moves and nobody waits for ticks, the loop sleeps until a packet or the slow position reminder
package bot
