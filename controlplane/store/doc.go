// Package store is the control plane's durable memory: one writer, many readers, one file and, while it is open, its log.
//
// What flows in: changes, as functions that run one after another on the writer (Engine.Update); whatever such a function
// checks is atomic with what it writes. Changes of several callers share one commit. What flows out: snapshots
// (Engine.View), a copy made while writes go on (Backup), a list of everything that does not fit together (Check).
//
//	Update -> record at the end of the log, on disk (log.go) -> in memory (recent.go) -> answered
//	a file of the log is full -> the other one goes on; the tree takes over the full one, beside the writer, in one transaction
//	Close -> the tree takes over all there is, and the log is removed
//	View -> what is recent, over what the tree is taking over, over the tree, as of one moment
//
// The tree, layout 2:
//
//	meta        "version" -> layout, 4 bytes big endian, raw, 3 while a log counts; "log" -> its oldest turn
//	operations  id -> operation that has ended (JSON)
//	open        id -> operation that has not
//	keys        principal 0 key -> operation and digest of its request, for ever
//	by_task     task 0 created id -> nothing
//	by_actor    actor 0 created id -> nothing
//	by_parent   parent id -> nothing
//	pruned      id -> what is kept of an operation that was pruned: state, digest of its end, receipt
//	leases      actor -> Lease
//	stops       actor -> Stop
//	usage       budget 0 window -> Usage
//	tokens      hash -> Token
//	blueprints  digest -> bytes
//	names       blueprint name -> digest
//
// Every value but the version has a checksum over bucket, key and value behind it in the file. A store that was closed is the
// tree alone, and so is a backup; one that was killed needs both files of the log beside it.
//
// Invariants:
//   - an Update that returned nil is on disk; one that returned an error has stored nothing of itself;
//   - the cost of a change does not grow with the number of operations;
//   - a file that is damaged, cut short, of a newer version or something else is refused and not touched;
//   - an older layout is upgraded once, and the old file is kept beside the new one.
package store
