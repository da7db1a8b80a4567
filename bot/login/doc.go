// Package login brings a connection from the first byte to the play phase: handshake, login, configuration, and the
// parts of them that come back in the middle of play.
//
// Machine is a pure step machine. Packets of the server flow in, actions flow out (send this, switch that, this is
// who we are), and the caller carries them out in the order given. It does no I/O, reads no clock and draws no
// randomness: the shared secret is passed in, the session server is asked by the caller, deadlines are the caller's.
//
// Invariants:
//   - an action list is carried out in order; a codec switch stands exactly where the wire needs it
//   - an unknown packet or registry is skipped; an undecodable packet that order depends on ends the session
//   - every error names the phase and the last packet seen
//
// Resolve, Ping and ParseAddress are the small I/O helpers around it: SRV lookup and the status exchange.
package login
