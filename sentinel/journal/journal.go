package journal

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"blockworld/sentinel/boltfile"
)

// The bucket tree. Every value but meta/version is a record with its seal behind it (codec.go).
//
//	meta        version -> schema version, 4 bytes big endian, raw
//	counters    name -> last number given out
//	missions    mission -> Mission
//	budgets     mission -> Budgets spent by its marks
//	cursors     mission -> Cursor
//	demotions   mission | number -> Demotion
//	actions     action -> Action, for ever
//	marks       action -> Mark, while unresolved or newest of its scope
//	newest      scope -> action of the newest mark of a placement
//	open        cell (28 bytes, zero for none) | action -> action, while unresolved
//	steps       mission | index | ordinal | generation -> Step
//	done        mission -> number of steps that are done
//	entries     scope | number -> confirmed
//	attempts    action | number -> Attempt, canonical
//	receipts    action -> number in the chain
//	chain       number -> chain entry and signature
//	trust       server | bot -> whether that server's `used` statistic counts our uses
//	outbox      number -> Message
var (
	metaBucket      = []byte("meta")
	counterBucket   = []byte("counters")
	missionsBucket  = []byte("missions")
	budgetsBucket   = []byte("budgets")
	cursorsBucket   = []byte("cursors")
	demotionsBucket = []byte("demotions")
	actionsBucket   = []byte("actions")
	marksBucket     = []byte("marks")
	newestBucket    = []byte("newest")
	openBucket      = []byte("open")
	stepsBucket     = []byte("steps")
	doneBucket      = []byte("done")
	entriesBucket   = []byte("entries")
	attemptsBucket  = []byte("attempts")
	receiptsBucket  = []byte("receipts")
	chainBucket     = []byte("chain")
	trustBucket     = []byte("trust")
	outboxBucket    = []byte("outbox")

	versionKey = []byte("version")
)

// buckets lists the tree's buckets, all of which exist in every journal.
func buckets() [][]byte {
	return [][]byte{metaBucket, counterBucket, missionsBucket, budgetsBucket, cursorsBucket, demotionsBucket,
		actionsBucket, marksBucket, newestBucket, openBucket, stepsBucket, doneBucket, entriesBucket, attemptsBucket, receiptsBucket,
		chainBucket, trustBucket, outboxBucket}
}

// SchemaVersion is the layout this program writes and reads.
const SchemaVersion = 1

// Names of the files in a data directory.
const (
	FileName     = "journal.db"
	KeyFileName  = "receipt.key"
	lockFileName = "journal.lock"
)

// Point is a named moment at which a test may kill the process.
type Point string

// The journal's points. After_packet and after_evidence are the executor's, dimension_change the bot's.
const (
	BeforeMark   Point = "before_mark"   // admitted, nothing stored
	AfterMark    Point = "after_mark"    // mark durable, nothing sent
	AfterReceipt Point = "after_receipt" // receipt or attempt durable, outcome not reported
	AfterCursor  Point = "after_cursor"  // cursor durable
)

// Options are how a journal is opened. The zero Options are right for a program; tests pass time and randomness.
type Options struct {
	Now       func() time.Time // nil: time.Now
	Rand      io.Reader        // for the receipt key; nil: crypto/rand
	At        func(Point)      // called at each point; nil: nothing
	MustExist bool             // ErrNoJournal instead of starting a new one
	Outbox    bool             // also store every outcome as a message for a control plane

	noSync bool // tests that kill no process: do not wait for the disk
}

// Journal is an open journal. Its methods may be called from any goroutine.
type Journal struct {
	dir  string
	copy string // folder of the copy that Look made, else empty
	db   atomic.Pointer[bbolt.DB]
	lock *os.File // nil after Look
	opts Options
	key  ed25519.PrivateKey // under mu

	writing sync.Mutex // held while the file is written, reopened or given up; taken before mu

	mu      sync.Mutex
	queue   []*request
	leading bool
	failed  error
	failing chan struct{} // closed when failed is set
	closed  bool
	head    chainHead // as of the last commit; the leader's while leading
	commits uint64    // transactions stored; the leader's while leading
}

// Open opens the journal of a data directory, starting one if there is none, and checks every page and record of it
// first. Errors wrap ErrLocked, ErrForeignVersion, ErrCorrupt, ErrNoJournal, ErrNoKey, ErrWrongKey or ErrDiskFull; the
// file is then as it was.
func Open(dir string, opts Options) (*Journal, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	path := filepath.Join(dir, FileName)
	if opts.MustExist {
		if err := exists(path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, storage(err)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, lock: lock, opts: opts}
	if err := j.open(path); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := j.create(path); err != nil {
			return fmt.Errorf("start journal %s: %w", path, storage(err))
		}
	}
	if err := j.load(path); err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	return nil
}

// load checks a file and opens it.
func (j *Journal) load(path string) error {
	if err := checkFile(path, nil); err != nil {
		return err
	}
	db, err := openBolt(path)
	if err != nil {
		return err
	}
	db.NoSync = j.opts.noSync
	j.db.Store(db)
	if j.head, err = read(j, (*txn).loadHead); err != nil {
		return err
	}
	if err := j.loadKey(); err != nil {
		return err
	}
	j.failed, j.failing = nil, make(chan struct{})
	return nil
}

func openBolt(path string) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: 100 * time.Millisecond, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = ErrLocked
	}
	return db, storage(err)
}

// create makes a whole journal beside its place and moves it there, so that a journal file is never half made.
func (j *Journal) create(path string) error {
	key, err := j.newOrKeptKey()
	if err != nil {
		return err
	}
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := openBolt(draft)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets() {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		raw := binary.BigEndian.AppendUint32(nil, SchemaVersion)
		if err := tx.Bucket(metaBucket).Put(versionKey, raw); err != nil {
			return err
		}
		t := &txn{tx: tx, now: j.opts.Now().UnixMilli()}
		return t.addKey(nil, key)
	})
	if err == nil { // so that bbolt's first draft of a meta page is gone from both places
		err = db.Update(func(*bbolt.Tx) error { return nil })
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return boltfile.SyncDir(j.dir)
}

// Close gives the journal up. Calls under way finish first.
func (j *Journal) Close() error {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.mu.Unlock()
	if already {
		return nil
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	var err error
	if db := j.db.Load(); db != nil {
		err = db.Close()
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	if j.copy != "" {
		err = errors.Join(err, os.RemoveAll(j.copy))
	}
	return err
}

// Failed is closed when a write has failed: nothing is stored any more until Reopen. Err says why.
func (j *Journal) Failed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failing
}

// Err is the write that failed, nil if none has since the journal was opened.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// Reopen goes on after a failed write with what reached the disk: it closes the file, then checks and opens it as Open does.
// What was under way belongs to a session that must end, as after a restart: a mark whose write failed may be stored. Reads
// meanwhile get ErrClosed. Without a failed write it does nothing; after an error it can be tried again.
func (j *Journal) Reopen() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	failed, closed := j.failed, j.closed
	j.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case failed == nil:
		return nil
	}
	j.db.Load().Close() // it has failed already, and what it could say of that is not news; it waits for reads under way
	path := filepath.Join(j.dir, FileName)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.load(path); err != nil {
		return fmt.Errorf("journal %s: %w", path, storage(err))
	}
	return nil
}

func exists(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: %s", ErrNoJournal, path)
	}
	return err
}

// Commits returns how many transactions, and so waits for the disk, there were since the journal was opened.
func (j *Journal) Commits() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.commits
}

// Dir returns the data directory.
func (j *Journal) Dir() string { return j.dir }

func (j *Journal) at(p Point) {
	if j.opts.At != nil {
		j.opts.At(p)
	}
}

// takeLock takes the directory's lock.
func takeLock(dir string) (*os.File, error) {
	f, holder, err := boltfile.Lock(filepath.Join(dir, lockFileName))
	if errors.Is(err, boltfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %s is locked (%s); wait until it has ended or stop it, or use another data directory", ErrLocked, dir, holder)
	}
	return f, storage(err)
}
