// Package rejoin judges after a fresh join what a cut left open: placements that are marked as sent and have no verdict.
//
// In: a journal, the first full reply to request-stats of the new session, a view of its world. Out: one verdict for each
// open placement of the account on this server, all judged together (effects.Reconcile), durable when Store returns.
//
// Invariants:
//   - it is done before the next mark of the account: the newest mark's counters are what the reply is compared with;
//   - nothing is sent, and nothing is ever sent again for a cleaner answer;
//   - walks, slot changes, looks and lines that a cut interrupted are closed as unverified: nothing rests on them.
package rejoin
