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
//	meta        "version" -> layout, 4 bytes big endian, raw, 4 while a log counts; "log" -> its oldest turn
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
// What a crash can leave. Each file of the log has a head that names its turn and its length (log.go); the order of what reaches
// the disk is the order of this table, and what it does not list is damage and refused:
//
//	crash                            tree names    heads of the two files
//	making the tree                  (no tree)     no files: the tree is renamed into its place before there are any
//	making the logs                  no turn       anything, also short or missing: they count for nothing, and are made anew
//	logs made, tree not changed      no turn       t, and p before it, which never had a record
//	at work                          t             t, and the turn before t, whose records the tree has
//	other file begun, or the fold    t             t, and the turn behind t, which says with which number t ended
//	fold done                        t'            t', and t before it
//	closed, logs not removed yet     no turn       anything, also missing
//
// So while the tree names a turn, both files are there and as long as their heads say, one of them is of that turn, and the
// other of the turn before or of the one behind. Of the newest turn the last record may be torn, as nobody was told of it; of
// the one before none may be missing. A log without a tree is never left by a crash.
//
// Invariants:
//   - an Update that returned nil is on disk; one that returned an error has stored nothing of itself;
//   - the cost of a change does not grow with the number of operations;
//   - a file that is damaged, cut short, of a newer version or something else is refused and not touched;
//   - an older layout is upgraded once, and the old file is kept beside the new one.
package store
