// Package conformance tests a host: anybody's program that runs actors for the control plane.
//
//	host <-> Desk, a daemon that says what a check wants said and writes down everything it hears
//	Suite.Run: one check after another -> Result: passed, failed or skipped, and why
//
// In: a host that talks to the Desk, in the same process or over HTTP (Handler), and one harmless action to try. Out: what
// each check found. The host is asked for nothing that a real daemon would not ask for, and lied to only where a host must
// not believe: an operation that it never bound, a binding that was changed, an answer that got lost.
//
// Invariants:
//   - a check that cannot be carried out is skipped and says why; it never counts as passed;
//   - what breaks the protocol's form anywhere fails the check that it belongs to, however the rest goes;
//   - that nothing was sent is told by the host's reports, and by Options.Sent where somebody counts at the world's side.
package conformance
