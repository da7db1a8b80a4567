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

	gate   sync.RWMutex // guards both, and that a view takes them together with its tree
	recent *recent
	sealed *recent // of the file that was full before; the tree is taking it over. nil: it has

	log     *log       // the writer's; nil: nothing was written since the store was opened
	spare   *log       // the other file, which holds sealed
	folding chan error // what came of the fold under way, which runs beside the writer; nil: there is none
	under   *moment    // the writer's, what its functions read; nil: to be made

	mu      sync.Mutex
	queue   []*request
	closing bool
	closed  sync.Once

	wake    chan struct{}         // there is something in the queue, or the end has come
	done    chan struct{}         // the writer has ended
	failed  atomic.Pointer[error] // why nothing can be written any more
	room    []byte                // for transactions of the tree, of which there is one at a time
	grown   int64                 // size of the file at the last one
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
	BeforeFold   Point = "before_fold"   // a file of the log is full, and the tree is about to take it over
	AfterFold    Point = "after_fold"    // the tree has it
	BeforeLog    Point = "before_log"    // the files of the log are made, and the tree does not name them yet
	AfterTurn    Point = "after_turn"    // the file that goes on names its turn, and the tree still the one before
	BeforeRemove Point = "before_remove" // the tree has everything, and a file of the log is about to be removed
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
			if e.folding != nil {
				e.rest() // the tree may have to grow before it can go on, which waits for all that read it
			}
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
	if err := e.failure(); err != nil {
		return 0, fmt.Errorf("%w (%w)", ErrFailed, err)
	}
	if err := e.makeRoom(); err != nil {
		return 0, err
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
func (e *bolt) reading() (*moment, error) {
	if e.under == nil {
		tx, err := e.db.Begin(false)
		if err != nil {
			return nil, err
		}
		e.under = momentOf(&boltReader{tx: tx}, e.sealed, e.recent, newest)
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

// begin makes the logs of a store that was closed, and has the tree name their first turn.
func (e *bolt) begin() error {
	var before turn
	if _, err := io.ReadFull(e.opt.Rand, before.name[:]); err != nil {
		return err
	}
	logs, err := createLogs(e.path, e.opt.logBytes, before, !e.opt.NoSync)
	if err != nil {
		return storage(err)
	}
	e.opt.At(BeforeLog)
	e.rest()
	if err := e.change(func(w *boltReader) error { return w.setTurn(logs[0].turn) }); err != nil {
		return errors.Join(err, closeLogs(logs))
	}
	e.syncs.Add(3) // of both files and their directory
	e.log, e.spare = logs[0], logs[1]
	return nil
}

// makeRoom goes on with the other file if the one that is written to is full, and lets go of what the tree has taken over.
func (e *bolt) makeRoom() error {
	if e.log != nil && e.log.at >= e.opt.logBytes {
		return e.turnOver()
	}
	if e.folding != nil {
		select {
		case err := <-e.folding:
			if err := e.folded(err); errors.Is(err, ErrFailed) {
				return err
			} // for want of room it is tried again when this file is full, too
		default:
		}
	}
	return nil
}

// turnOver has the tree take over what the full file holds, and goes on with the other one. It waits for the fold before.
func (e *bolt) turnOver() error {
	if err := e.settle(); err != nil {
		return err
	}
	if err := e.spare.begin(e.log.turn.next(e.log.number), !e.opt.NoSync); err != nil {
		return e.fail(storage(err))
	}
	e.syncs.Add(1)
	e.opt.At(AfterTurn)
	e.gate.Lock()
	e.sealed, e.recent = e.recent, newRecent()
	e.gate.Unlock()
	e.log, e.spare = e.spare, e.log
	e.fold()
	return nil
}

// settle waits until the tree has taken over what is sealed. A fold that failed for want of room is tried again.
func (e *bolt) settle() error {
	e.rest()
	if e.sealed == nil {
		return nil
	}
	if e.folding == nil {
		e.fold()
	}
	return e.folded(<-e.folding)
}

// fold has the tree take over what is sealed, beside the writer, and name the next turn.
func (e *bolt) fold() {
	done := make(chan error, 1)
	e.folding = done
	sealed, next := e.sealed, e.log.turn
	go func() {
		done <- e.take(sealed, func(w *boltReader) error { return w.setTurn(next) })
	}()
}

// folded hears what came of a fold.
func (e *bolt) folded(err error) error {
	e.folding = nil
	e.rest()
	if err != nil {
		return err
	}
	e.gate.Lock()
	e.sealed = nil
	e.gate.Unlock()
	return nil
}

// take has the tree take over all of a layer, and then does what is to be done with it.
func (e *bolt) take(r *recent, then func(w *boltReader) error) error {
	e.opt.At(BeforeFold)
	err := e.change(func(w *boltReader) error {
		if err := r.each(newest, w.write); err != nil {
			return err
		}
		return then(w)
	})
	if err == nil {
		e.opt.At(AfterFold)
	}
	return err
}

// change is a transaction of the tree. The writer must not read it meanwhile.
func (e *bolt) change(f func(w *boltReader) error) error {
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
	e.failed.Store(&err)
	return fmt.Errorf("%w (%w)", ErrFailed, err)
}

func (e *bolt) failure() error {
	if err := e.failed.Load(); err != nil {
		return *err
	}
	return nil
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
func (e *bolt) snapshot() (*moment, error) {
	e.gate.RLock()
	defer e.gate.RUnlock()
	asOf := e.recent.last.Load()
	tx, err := e.db.Begin(false)
	if errors.Is(err, bbolt.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	if err != nil {
		return nil, err
	}
	return momentOf(&boltReader{tx: tx}, e.sealed, e.recent, asOf), nil
}

// Stats implements Engine.
func (e *bolt) Stats() Stats {
	s := Stats{Updates: e.updates.Load(), Commits: e.commits.Load(), Writes: e.writes.Load(), Syncs: e.syncs.Load()}
	if info, err := os.Stat(e.path); err == nil {
		s.Bytes = info.Size()
	}
	return s
}

// Close implements Engine. Whoever comes second waits for the first and is told of no error.
func (e *bolt) Close() (err error) {
	e.closed.Do(func() {
		e.mu.Lock()
		e.closing = true
		e.mu.Unlock()
		select {
		case e.wake <- struct{}{}:
		default:
		}
		<-e.done
		err = errors.Join(e.end(), e.db.Close(), e.lock.Close())
	})
	return err
}

// end leaves everything in the tree, if it can; otherwise the logs stay, and the next open reads them.
func (e *bolt) end() error {
	defer e.rest()
	if e.log == nil {
		return nil
	}
	if e.failure() != nil {
		if e.folding != nil {
			<-e.folding
		}
		return closeLogs([2]*log{e.log, e.spare})
	}
	err := e.settle()
	if err == nil {
		err = e.take(e.recent, (*boltReader).whole)
	}
	err = errors.Join(err, closeLogs([2]*log{e.log, e.spare}))
	for _, suffix := range logSuffixes {
		if err == nil {
			e.opt.At(BeforeRemove)
			err = os.Remove(e.path + suffix)
		}
	}
	return err
}
