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

// bolt is the engine on disk: a tree, a log of what the tree does not have yet, and the same in memory. One goroutine
// writes; callers that come while it waits for the disk share its next commit, and one that comes alone is served at once.
type bolt struct {
	path string
	db   *bbolt.DB
	lock *os.File
	opt  Options

	gate   sync.RWMutex // guards recent, and that a view takes it together with its tree
	recent *recent

	log   *log     // the writer's; nil: nothing was written since the store was opened
	under *layered // the writer's, what its functions read; nil: to be made

	mu      sync.Mutex
	queue   []*request
	closing bool

	wake    chan struct{} // there is something in the queue, or the end has come
	done    chan struct{} // the writer has ended
	failed  error         // the writer's
	room    []byte        // the writer's, for its transactions of the tree
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
	BeforeFold   Point = "before_fold"   // the log is full, and the tree is about to take it over
	AfterFold    Point = "after_fold"    // the tree has it, and the log begins anew
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

// commit runs the functions of a batch and stores what they wrote in one record. Everybody learns of it afterwards: also a
// refusal may rest on what another function of the batch wrote.
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
	if e.log != nil && e.log.at >= e.opt.logBytes {
		if err := e.renew(); err != nil {
			return 0, err
		}
	}
	under, err := e.reading()
	if err != nil {
		return 0, storage(err)
	}
	writes := uint64(0)
	for _, r := range batch {
		under.tree.err = nil
		tx.reset(under)
		if r.err = run(r, tx); r.err != nil || r.panicked != nil || tx.wrote == 0 {
			continue
		}
		e.recent.take(tx)
		writes += uint64(tx.wrote)
		stored++
	}
	if stored == 0 {
		return 0, nil
	}
	if err := e.keep(); err != nil {
		e.recent.undo()
		return 0, err
	}
	e.recent.publish()
	e.commits.Add(1)
	e.writes.Add(writes)
	return stored, nil
}

// reading returns what the functions of a batch read.
func (e *bolt) reading() (*layered, error) {
	if e.under == nil {
		tx, err := e.db.Begin(false)
		if err != nil {
			return nil, err
		}
		e.under = &layered{recent: e.recent, asOf: newest, tree: &boltReader{tx: tx}}
	}
	return e.under, nil
}

// rest ends the writer's reading: the tree cannot grow under it.
func (e *bolt) rest() {
	if e.under != nil {
		e.under.tree.tx.Rollback()
		e.under = nil
	}
}

// keep makes the batch under way durable.
func (e *bolt) keep() error {
	e.opt.At(BeforeCommit)
	if e.log == nil {
		if err := e.begin(); err != nil {
			return err
		}
	}
	if err := e.log.append(e.recent.batch, !e.opt.NoSync); err != nil {
		err = storage(err)
		if errors.Is(err, errUnknown) {
			return e.fail(err)
		}
		return err
	}
	e.syncs.Add(1)
	e.opt.At(AfterCommit)
	return nil
}

// begin makes the log of a store that was closed, and has the tree name its first turn.
func (e *bolt) begin() error {
	l, err := createLog(e.path, e.opt.logBytes, !e.opt.NoSync)
	if err != nil {
		return storage(err)
	}
	turn, err := e.newTurn()
	if err == nil {
		err = e.change(func(w *boltReader) error { return w.setTurn(turn) })
	}
	if err != nil {
		return errors.Join(err, l.f.Close())
	}
	e.syncs.Add(2) // of the file and its directory
	l.start(turn)
	e.log = l
	return nil
}

// renew has the tree take over what the log holds, and begins the log's next turn.
func (e *bolt) renew() error {
	turn, err := e.newTurn()
	if err == nil {
		err = e.fold(turn)
	}
	if err == nil {
		e.log.start(turn)
	}
	return err
}

func (e *bolt) newTurn() ([]byte, error) {
	turn := make([]byte, turnSize)
	_, err := io.ReadFull(e.opt.Rand, turn)
	return turn, err
}

// fold has the tree take over everything in recent, and names the log's next turn; nil: there is no log any more.
func (e *bolt) fold(turn []byte) error {
	e.opt.At(BeforeFold)
	e.gate.Lock() // so that every view that does not see all of recent has its tree by now
	all := e.recent.last.Load()
	e.gate.Unlock()
	err := e.change(func(w *boltReader) error {
		if err := e.recent.each(all, w.write); err != nil {
			return err
		}
		return w.setTurn(turn)
	})
	if err != nil {
		return err
	}
	e.gate.Lock()
	e.recent = newRecent()
	e.gate.Unlock()
	e.opt.At(AfterFold)
	return nil
}

// change is a transaction of the tree.
func (e *bolt) change(f func(w *boltReader) error) error {
	e.rest()
	tx, err := e.db.Begin(true)
	if err != nil {
		return storage(err)
	}
	w := &boltReader{tx: tx, room: e.room[:0]}
	if err := f(w); err != nil {
		return errors.Join(storage(err), tx.Rollback())
	}
	if e.room = w.room; cap(e.room) > 2*logBytes { // it was for something large
		e.room = nil
	}
	id, size := tx.ID(), tx.Size()
	if err := tx.Commit(); err != nil {
		return e.afterFailure(storage(err), id)
	}
	e.count(size)
	return nil
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

// count takes a transaction of the tree into the figures. bbolt waits for the disk once for the pages and once for the meta
// page, and once more when the file grows.
func (e *bolt) count(size int64) {
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
	return e.fail(err)
}

// fail ends the engine's writing.
func (e *bolt) fail(err error) error {
	e.failed = err
	return fmt.Errorf("%w (%w)", ErrFailed, err)
}

// View implements Engine.
func (e *bolt) View(f func(Tx) error) error {
	s, err := e.snapshot()
	if err != nil {
		return err
	}
	defer s.tree.tx.Rollback()
	b := buffer{under: s, view: true}
	if err := f(&b); err != nil {
		return err
	}
	return b.failure()
}

// snapshot is the store as it is now; its tree's transaction is the caller's to end.
func (e *bolt) snapshot() (*layered, error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	s := &layered{recent: e.recent, asOf: e.recent.last.Load()}
	tx, err := e.db.Begin(false)
	if errors.Is(err, bbolt.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	s.tree = &boltReader{tx: tx}
	return s, err
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
	return errors.Join(e.end(), e.db.Close(), e.lock.Close())
}

// end leaves everything in the tree, if it can; otherwise the log stays, and the next open reads it.
func (e *bolt) end() error {
	defer e.rest()
	if e.log == nil || e.failed != nil {
		return nil
	}
	err := e.fold(nil)
	err = errors.Join(err, e.log.f.Close())
	if err == nil {
		err = os.Remove(logPath(e.path))
	}
	return err
}
