// Package operation is the durable life of one action: its states, the events that move it, and the one table that says
// which event moves which state where. Pure: no clock, no I/O, no randomness.
//
// What flows in: an Operation, an Event, the time. What flows out of Step: the operation afterwards and Effects, which are
// data that the caller carries out in the same transaction (budget reservations) or right after it (words to a host).
//
//	           Created
//	confirm |      | allow      | deny
//	        v      v            v
//	 awaiting -> queued      rejected
//	        |      | Polled
//	        v      v
//	     stale  delivered -> accepted -> running
//	 cancelled             \     |      /
//	                        v    v     v
//	     succeeded, failed, cancelled, interrupted, outcome_unknown -> (succeeded, failed, cancelled, interrupted)
//
// Invariants:
//   - only Step writes a state, and only by the table; a state never comes back once it was left;
//   - a terminal operation refuses every later event with ErrConflict; the exact repeat of one that was taken is a no-op;
//   - stale with no delivery attempt proves that no host ever had it;
//   - reservations are committed when the host takes the operation, released when it ends before, and never given back after;
//   - what is stored is read back strictly: an unknown state, event word or member is an error, never a guess.
package operation
