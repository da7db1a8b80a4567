// Package journal is the bot's durable memory: what was admitted and sent, what came of it, and the signed chain of
// receipts. One bbolt file and one key file in a data directory, one process at a time.
//
// What flows in: missions, sent marks (Mark), play entries (BeginEntry, ConfirmEntry), outcomes (Settle), owners'
// decisions (Decide), cursors (MoveCursor), demotions. What flows out: a Sent per action, once and for all; after a
// restart the unresolved actions with everything a verdict needs (Unresolved, Newest, EntriesSince); receipts, alone or
// as a signed export that anybody can verify (Export, Verify); for a control plane an outbox of outcomes, each kept until
// it was taken. Look reads all of it beside the process that writes.
//
// Order, each step durable before the next begins:
//
//	mark -> first packet -> evidence -> Settle (receipt or attempt) -> outcome reported -> MoveCursor
//
// Invariants:
//   - a Sent exists at most once per action id, also across restarts, and opens once;
//   - all marks of one call are stored in one transaction, or none;
//   - a cell with an unresolved action takes no further mark; a done step takes none ever;
//   - at most one receipt per action; receipts form one hash chain, each entry signed;
//   - nothing volatile is stored: no socket, path, animation or unacknowledged buffer;
//   - a file that is damaged, cut short or of a newer version is refused and not touched.
package journal
