package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// bolt is the engine on disk. One goroutine writes; callers that come while it waits for the disk share its next commit,
// and one that comes alone is served at once.
type bolt struct {
	path string
	db   *bbolt.DB
	lock *os.File
	at   func(Point)

	mu      sync.Mutex
	queue   []*request
	closing bool

	wake    chan struct{} // there is something in the queue, or the end has come
	done    chan struct{} // the writer has ended
	failed  error         // the writer's
	grown   int64         // size of the file at the last commit; the writer's
	updates atomic.Uint64
	commits atomic.Uint64
	writes  atomic.Uint64
	syncs   atomic.Uint64
}

// Point is a named moment at which a test may kill the process.
type Point string

// The points of a commit.
const (
	BeforeCommit Point = "before_commit" // functions ran, nothing is on disk
	AfterCommit  Point = "after_commit"  // on disk, nobody was told
)

// request is one caller's function.
type request struct {
	f        func(Tx) error
	err      error
	panicked any
	done     chan struct{}
}

// maxBatch bounds how much one commit may have to do.
const maxBatch = 1024

var requests = sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }}

// Update implements Engine.
func (e *bolt) Update(f func(Tx) error) error {
	r := requests.Get().(*request)
	r.f, r.err, r.panicked = f, nil, nil
	e.mu.Lock()
	if e.closing {
		e.mu.Unlock()
		requests.Put(r)
		return ErrClosed
	}
	e.queue = append(e.queue, r)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	<-r.done
	err, panicked := r.err, r.panicked
	r.f = nil
	requests.Put(r)
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// writer runs until the engine is closed and its queue is empty.
func (e *bolt) writer() {
	defer close(e.done)
	var batch []*request
	tx := &buffer{}
	for {
		e.mu.Lock()
		n := min(len(e.queue), maxBatch)
		batch = append(batch[:0], e.queue[:n]...)
		rest := copy(e.queue, e.queue[n:])
		clear(e.queue[rest:])
		e.queue = e.queue[:rest]
		closing := e.closing
		e.mu.Unlock()
		if n > 0 {
			e.commit(batch, tx)
			for i, r := range batch {
				batch[i] = nil
				r.done <- struct{}{}
			}
			if n > 1 {
				e.gather(n)
			}
			continue
		}
		if closing {
			return
		}
		<-e.wake
	}
}

// gather lets the callers that were just answered come again before the next commit begins: otherwise they would split
// into two halves that wait for each other's commits. It only yields the processor; a caller that is alone never gets
// here.
func (e *bolt) gather(answered int) {
	for last, still := -1, 0; still < 2; {
		runtime.Gosched()
		e.mu.Lock()
		n := len(e.queue)
		e.mu.Unlock()
		if n >= 2*answered || n >= maxBatch {
			return
		}
		if n == last {
			still++
		}
		last = n
	}
}

// commit runs the functions of a batch and stores what they wrote in one transaction. Everybody learns of it afterwards:
// also a refusal may rest on what another function of the batch wrote.
func (e *bolt) commit(batch []*request, tx *buffer) {
	stored, err := e.try(batch, tx)
	if err != nil {
		for _, r := range batch {
			if r.panicked == nil {
				r.err = err
			}
		}
		return
	}
	e.updates.Add(stored)
}

func (e *bolt) try(batch []*request, tx *buffer) (stored uint64, err error) {
	if e.failed != nil {
		return 0, fmt.Errorf("%w (%w)", ErrFailed, e.failed)
	}
	btx, err := e.db.Begin(true)
	if err != nil {
		return 0, storage(err)
	}
	under := &boltReader{tx: btx}
	writes := uint64(0)
	for _, r := range batch {
		under.err = nil
		tx.reset(under)
		if r.err = run(r, tx); r.err != nil || r.panicked != nil || tx.wrote == 0 {
			continue
		}
		if err := tx.flush(under.write); err != nil {
			btx.Rollback()
			return 0, storage(err)
		}
		writes += uint64(tx.wrote)
		stored++
	}
	if stored == 0 {
		return 0, btx.Rollback()
	}
	e.at(BeforeCommit)
	id, size := btx.ID(), btx.Size()
	if err := btx.Commit(); err != nil {
		return 0, e.afterFailure(storage(err), id)
	}
	e.at(AfterCommit)
	e.count(writes, size)
	return stored, nil
}

// run runs one caller's function on its buffer.
func run(r *request, tx *buffer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked = v
		}
	}()
	if err := r.f(tx); err != nil {
		return err
	}
	return tx.failure()
}

// count takes a commit into the figures. bbolt waits for the disk once for the pages and once for the meta page, and
// once more when the file grows.
func (e *bolt) count(writes uint64, size int64) {
	e.commits.Add(1)
	e.writes.Add(writes)
	e.syncs.Add(2)
	if size+growth/2 < e.grown {
		return // far from the end of the file
	}
	if info, err := os.Stat(e.path); err == nil && info.Size() != e.grown {
		e.grown = info.Size()
		e.syncs.Add(1)
	}
}

// afterFailure decides whether a commit that failed has left a state that is known. bbolt writes the meta page last: if
// the newest one in the file is still that of an earlier transaction, and what failed was room on the disk, nothing has
// happened and the next change may be tried. Everything else ends the engine's writing.
func (e *bolt) afterFailure(err error, id int) error {
	if errors.Is(err, ErrDiskFull) {
		if tx, e2 := e.db.Begin(false); e2 == nil {
			defer tx.Rollback()
			if tx.ID() < id {
				return err
			}
		}
	}
	e.failed = err
	return fmt.Errorf("%w (%w)", ErrFailed, err)
}

// View implements Engine.
func (e *bolt) View(f func(Tx) error) error {
	tx, err := e.begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	b := buffer{under: &boltReader{tx: tx}, view: true}
	if err := f(&b); err != nil {
		return err
	}
	return b.failure()
}

func (e *bolt) begin() (*bbolt.Tx, error) {
	tx, err := e.db.Begin(false)
	if errors.Is(err, bbolt.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	return tx, err
}

// Backup implements Engine.
func (e *bolt) Backup(w io.Writer) error {
	tx, err := e.begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.WriteTo(w); err != nil {
		return fmt.Errorf("backup of %s: %w", e.path, storage(err))
	}
	return nil
}

// Stats implements Engine.
func (e *bolt) Stats() Stats {
	s := Stats{Updates: e.updates.Load(), Commits: e.commits.Load(), Writes: e.writes.Load(), Syncs: e.syncs.Load()}
	if info, err := os.Stat(e.path); err == nil {
		s.Bytes = info.Size()
	}
	return s
}

// Close implements Engine.
func (e *bolt) Close() error {
	e.mu.Lock()
	already := e.closing
	e.closing = true
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	<-e.done
	if already {
		return nil
	}
	return errors.Join(e.db.Close(), e.lock.Close())
}

// boltReader reads sealed records of one transaction.
type boltReader struct {
	tx      *bbolt.Tx
	buckets [bucketCount]*bbolt.Bucket
	keep    func(Problem) // of Check: told of each damaged record, and the reading goes on
	err     error         // first damage that was read
}

func (r *boltReader) bucket(b Bucket) *bbolt.Bucket {
	if r.buckets[b] == nil {
		r.buckets[b] = r.tx.Bucket([]byte(bucketNames[b]))
		if appends(b) {
			r.buckets[b].FillPercent = 0.9
		}
	}
	return r.buckets[b]
}

// appends tells whether a bucket's keys mostly rise, so that full pages are not filled up later.
func appends(b Bucket) bool { return b == Operations || b == Unfinished || b == ByParent }

func (r *boltReader) failure() error { return r.err }

func (r *boltReader) get(b Bucket, key []byte) []byte {
	raw := r.bucket(b).Get(key)
	if raw == nil {
		return nil
	}
	return r.open(b, key, raw)
}

func (r *boltReader) open(b Bucket, key, raw []byte) []byte {
	if b == Meta && string(key) == string(versionKey) {
		return raw
	}
	value, ok := unsealed(b, key, raw)
	if !ok {
		d := damaged(place(b, key), "its checksum is wrong")
		if r.keep != nil {
			r.keep(d.Problem)
		} else if r.err == nil {
			r.err = d
		}
		return nil
	}
	return value
}

func (r *boltReader) scan(b Bucket, from, to []byte, back bool, f func(key, value []byte) bool) {
	c := r.bucket(b).Cursor()
	if back {
		for k, v := before(c, to); k != nil && string(k) >= string(from); k, v = c.Prev() {
			if !r.visit(b, k, v, f) {
				return
			}
		}
		return
	}
	for k, v := c.Seek(from); k != nil && (to == nil || string(k) < string(to)); k, v = c.Next() {
		if !r.visit(b, k, v, f) {
			return
		}
	}
}

func (r *boltReader) visit(b Bucket, key, raw []byte, f func(key, value []byte) bool) bool {
	value := r.open(b, key, raw)
	if value == nil {
		return r.keep != nil // Check goes on behind a damaged record; others stop and fail
	}
	return f(key, value)
}

// before moves to the last key below to; nil: to the last of all.
func before(c *bbolt.Cursor, to []byte) (key, value []byte) {
	if to == nil {
		return c.Last()
	}
	if k, _ := c.Seek(to); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func (r *boltReader) write(b Bucket, key []byte, w write) error {
	switch bucket := r.bucket(b); {
	case w.deleted:
		return bucket.Delete(key)
	case b == Meta && string(key) == string(versionKey):
		return errors.New("the layout's version is not for callers to write")
	default:
		return bucket.Put(key, sealed(b, key, w.value, w.owned))
	}
}
