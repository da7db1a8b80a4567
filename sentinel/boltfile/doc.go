// Package boltfile is what a memory that lies in one bbolt file needs beside bbolt. It imports nothing of this program,
// so the journal of a bot and the store of the control plane, which otherwise know nothing of each other, both stand on it.
//
// bbolt trusts its file: on a flipped bit it may fall back to its older meta page, lose records silently, panic in a
// goroutine of its own or fault. So before bbolt sees a file, Open, Buckets and Records look at everything that can be
// reached, read only: both meta pages, each page's place, size and layout, the order of all keys. What a record says is
// its owner's to judge.
//
// Lock keeps other processes out for as long as this one lives, WriteWhole puts a small file in place whole or not at all,
// SyncDir makes a rename durable, and Full and Denied know the system's words for a full disk and a missing right, of which
// bbolt sometimes keeps only the text.
//
// Invariants: a bbolt file is never written to; foreign bytes cause problems or errors, never a panic.
package boltfile
