package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"blockworld/sentinel/boltfile"
)

// Version is the layout that this program writes. Older ones are upgraded when they are opened. While the file has a log
// beside it that counts, its layout is versionWithLog.
const (
	Version         = 2
	versionWithLog  = 4
	versionHeadless = 3 // beside logs of an earlier program, which had no heads
)

var versionKey = []byte("version")

// Options are how a store is opened. The zero Options are right for a program.
type Options struct {
	MustExist bool        // ErrNoStore instead of starting a new one
	At        func(Point) // called at each point; nil: nothing
	NoSync    bool        // do not wait for the disk: for tests that kill no machine, never for a program
	Rand      io.Reader   // names the turns of the log; nil: the system's

	logBytes int64 // for tests; 0: logBytes
}

// Open opens the store at path, starting one if there is none. The shape of the whole file is checked first; what its
// records say is Check's to read. Errors wrap ErrLocked, ErrForeignVersion, ErrForeign, ErrCorrupt, ErrReadOnly,
// ErrUnsafe, ErrNoStore or ErrDiskFull; the file is then as it was.
func Open(path string, o Options) (Engine, error) {
	if o.At == nil {
		o.At = func(Point) {}
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.logBytes == 0 {
		o.logBytes = logBytes
	}
	e, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, storage(err))
	}
	return e, nil
}

func open(path string, o Options) (Engine, error) {
	there, err := safe(path, !o.MustExist)
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	if there, err = safe(path, !o.MustExist); err != nil { // again: whoever had the lock may have made it meanwhile
		return nil, errors.Join(err, lock.Close())
	}
	e := &bolt{path: path, lock: lock, opt: o, recent: newRecent(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	if e.db, err = prepare(path, there); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	e.db.NoSync = o.NoSync
	if err := e.recall(); err != nil {
		return nil, errors.Join(err, e.db.Close(), lock.Close())
	}
	if info, err := os.Stat(path); err == nil {
		e.grown = info.Size()
	}
	go e.writer()
	return e, nil
}

// recall reads what the logs hold, if the store was not closed, and removes copies that a crash has left.
func (e *bolt) recall() error {
	dir, name := filepath.Split(e.path)
	beside, _ := os.ReadDir(filepath.Dir(e.path)) // what cannot be listed is left
	for _, f := range beside {
		if strings.HasPrefix(f.Name(), name+copySuffix) {
			os.Remove(dir + f.Name())
		}
	}
	return e.db.View(func(tx *bbolt.Tx) error {
		turn, ok, err := (&boltReader{tx: tx}).turn()
		if err != nil || !ok {
			return err
		}
		layers, logs, err := readLogs(e.path, turn, true)
		if err != nil {
			return err
		}
		e.log, e.spare, e.recent = logs[0], logs[1], layers[len(layers)-1]
		if len(layers) > 1 {
			e.sealed = layers[0]
		}
		return nil
	})
}

// prepare makes, checks or upgrades the file, as it needs, and opens it.
func prepare(path string, there bool) (*bbolt.DB, error) {
	if !there {
		if err := createFile(path, nil); err != nil {
			return nil, err
		}
	}
	layout, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if layout < Version {
		if err := upgrade(path, layout); err != nil {
			return nil, fmt.Errorf("upgrade from layout %d: %w", layout, err)
		}
		if _, err := inspect(path); err != nil {
			return nil, err
		}
	}
	return openBolt(path, false)
}

// safe makes the directory if it may, and refuses what others could change under our hands. It tells whether the file
// is there.
func safe(path string, may bool) (there bool, err error) {
	dir := filepath.Dir(path)
	if may {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return false, err
		}
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, ErrNoStore
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return false, fmt.Errorf("%w: %s is a symbolic link: name the directory itself", ErrUnsafe, dir)
	case !info.IsDir():
		return false, fmt.Errorf("%w: %s is not a directory", ErrUnsafe, dir)
	case writableByOthers(info.Mode()):
		return false, fmt.Errorf("%w: other users can write to %s: chmod go-w it", ErrUnsafe, dir)
	}
	log := logLeft(path) // looked for before the tree, which is made before them: this may be beside somebody who starts
	info, err = os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && log != "":
		return false, damaged(log, "the tree %s that it belongs to is missing, and everything but the last changes was in that", path)
	case errors.Is(err, fs.ErrNotExist) && may:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, ErrNoStore
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return true, fmt.Errorf("%w: it is a symbolic link: name the file itself", ErrUnsafe)
	case !info.Mode().IsRegular():
		return true, fmt.Errorf("%w: it is not a file", ErrUnsafe)
	case openToOthers(info.Mode()):
		return true, fmt.Errorf("%w: other users can read or write it: chmod 600 it", ErrUnsafe)
	}
	return true, nil
}

// logLeft returns a file of the log that is there, "" if none is.
func logLeft(path string) string {
	for _, suffix := range logSuffixes {
		if _, err := os.Lstat(path + suffix); err == nil {
			return path + suffix
		}
	}
	return ""
}

// takeLock takes the store's lock.
func takeLock(path string) (*os.File, error) {
	name := path + ".lock"
	f, holder, err := boltfile.Lock(name)
	if errors.Is(err, boltfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s is held by %s: stop it, or name another file", ErrLocked, name, holder)
	}
	return f, err
}

// inspect checks the shape of a file and returns its layout.
func inspect(path string) (layout uint32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s, found, err := walk(f, info.Size(), 0)
	switch {
	case err != nil:
		return 0, err
	case s.layout > versionWithLog:
		return 0, fmt.Errorf("%w: its layout is %d, this program knows %d; it was left as it was: use the program that wrote it",
			ErrForeignVersion, s.layout, versionWithLog)
	case s.layout == versionHeadless:
		return 0, fmt.Errorf("%w: an earlier version wrote it and did not close it; it was left as it was: start and stop that version once, then this one",
			ErrForeign)
	case len(found) > 0:
		return 0, &Damage{found[0]}
	case s.layout == 0:
		return 0, fmt.Errorf("%w: it holds no layout; it was left as it was: move it away", ErrForeign)
	}
	names := bucketNames[:]
	if s.layout == 1 {
		names = layout1Buckets
	}
	for _, name := range names {
		if !s.buckets[name] {
			return 0, damaged("bucket list", "bucket %s is missing", name)
		}
	}
	return min(s.layout, Version), nil
}

// growth is by how much a file grows that is full: a wait for the disk more for every some hundred operations.
const growth = 1 << 20

func openBolt(path string, readOnly bool) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: 100 * time.Millisecond, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		InitialMmapSize: mapAtLeast, ReadOnly: readOnly, NoStatistics: true,
	})
	if errors.Is(err, bbolt.ErrTimeout) {
		err = ErrLocked
	}
	if err == nil {
		db.AllocSize = growth
	}
	return db, err
}

// createFile makes a whole store beside its place and moves it there, so that a store is never half made. fill, if not nil,
// puts the first records in.
func createFile(path string, fill func(*bbolt.DB) error) error {
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := openBolt(draft, false)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range bucketNames {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(bucketNames[Meta])).Put(versionKey, binary.BigEndian.AppendUint32(nil, Version))
	})
	if err == nil && fill != nil {
		err = fill(db)
	}
	if err == nil { // so that bbolt's first draft of a meta page is gone from both places
		err = db.Update(func(*bbolt.Tx) error { return nil })
	}
	if err := errors.Join(err, db.Close()); err != nil {
		os.Remove(draft)
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return boltfile.SyncDir(filepath.Dir(path))
}
