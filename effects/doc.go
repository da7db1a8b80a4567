// Package effects holds what the bot can do and what counts as done.
//
// In: typed requests for the ten capabilities (request.go, schema.go) and server facts as worldstate.Event with the
// sequence number at which they were seen. Out: bindings with one digest (binding.go), verdicts with the facts behind
// them (placements*.go, reconcile.go, witness.go), receipts and attempt records as canonical bytes (record.go).
//
// Everything here is pure: no clock, no randomness of its own, no I/O, no goroutine. Time comes in as ticks or as
// milliseconds, randomness as an io.Reader. One goroutine owns a Placements value.
//
// Invariants:
//   - the ten capabilities are a closed set; the zero Capability is none of them;
//   - the zero Verdict is UnverifiedEffect and the zero Grade proves nothing;
//   - a Receipt exists only for a proven outcome whose evidence carries the facts of its grade (NewReceipt checks);
//   - a fact counts only after the opening fence reply of its use, on the same connection and world epoch;
//   - not_executed and refused are the only verdicts after which a step may be sent again.
package effects
