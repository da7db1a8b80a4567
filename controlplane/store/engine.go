package store

import "io"

// Bucket is one of the store's sorted maps. The set is closed; doc.go draws it.
type Bucket uint8

// The buckets.
const (
	Meta Bucket = iota
	Operations
	Unfinished
	Keys
	ByTask
	ByActor
	ByParent
	Pruned
	Leases
	Stops
	UsageOf
	Tokens
	Blueprints
	Names
	bucketCount
)

var bucketNames = [bucketCount]string{"meta", "operations", "open", "keys", "by_task", "by_actor", "by_parent", "pruned",
	"leases", "stops", "usage", "tokens", "blueprints", "names"}

// String returns the bucket's name in the file.
func (b Bucket) String() string {
	if b >= bucketCount {
		return "invalid"
	}
	return bucketNames[b]
}

// Tx is one transaction. Slices that it hands out are valid until the transaction ends and must not be changed; slices
// that are put must not be changed before it ends.
type Tx interface {
	// Get returns the value of a key, nil if there is none; an empty value is not nil.
	Get(b Bucket, key []byte) []byte
	// Put stores a value. In a View it does nothing but make the View fail.
	Put(b Bucket, key, value []byte)
	// Delete removes a key; one that is not there is no error.
	Delete(b Bucket, key []byte)
	// Scan calls f for the keys from (inclusive) to (exclusive; nil: the end) in order until f returns false. f may change
	// the bucket; the scan goes on over it as it was.
	Scan(b Bucket, from, to []byte, f func(key, value []byte) bool)
	// ScanBack is Scan from the last key to the first.
	ScanBack(b Bucket, from, to []byte, f func(key, value []byte) bool)
}

// Engine keeps the buckets. Its methods may be called from any goroutine.
type Engine interface {
	// Update makes the writes of f durable, all or none, before it returns. Functions of several callers run one after
	// another on the writer and share a commit. If f returns an error, or a value that it read was damaged, nothing of it is
	// stored and that error is returned. f must not call the engine.
	Update(f func(Tx) error) error
	// View runs f over a snapshot, while writes go on. f must not call Update.
	View(f func(Tx) error) error
	// Backup writes a whole store, as it is at one moment, while writes go on. What it writes can be opened.
	Backup(w io.Writer) error
	// Check reads everything and returns what does not fit together.
	Check() []Problem
	// Stats returns what was done since the engine was opened.
	Stats() Stats
	// Close ends the engine. Updates under way finish first; later calls return ErrClosed.
	Close() error
}

// Problem is one thing that is wrong with a store.
type Problem struct {
	Where string `json:"where"` // page, or bucket and key
	What  string `json:"what"`
}

// String returns place and kind.
func (p Problem) String() string { return p.Where + ": " + p.What }

// Stats counts.
type Stats struct {
	Updates uint64 `json:"updates"` // functions that were stored
	Commits uint64 `json:"commits"` // transactions that they shared
	Writes  uint64 `json:"writes"`  // keys put or deleted
	Syncs   uint64 `json:"syncs"`   // waits for the disk
	Bytes   int64  `json:"bytes"`   // size of the file
}
