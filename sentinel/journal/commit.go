package journal

import (
	"errors"
	"fmt"

	bolterrors "go.etcd.io/bbolt/errors"
)

// request is one caller's change, waiting to be committed.
type request struct {
	change func(*txn) error
	err    error
	wake   chan bool // true: lead the next commit; false: done
}

// update makes a change durable before it returns. Callers that come while a commit is under way share the next one: one
// of them leads it, so there is no goroutine of our own.
func (j *Journal) update(change func(*txn) error) error {
	if j.copy != "" {
		return ErrLooking
	}
	r := &request{change: change, wake: make(chan bool, 1)}
	j.mu.Lock()
	switch {
	case j.closed:
		j.mu.Unlock()
		return ErrClosed
	case j.failed != nil:
		defer j.mu.Unlock()
		return fmt.Errorf("%w (%w)", ErrFailed, j.failed)
	}
	j.queue = append(j.queue, r)
	if j.leading {
		j.mu.Unlock()
		if !<-r.wake {
			return r.err
		}
		j.mu.Lock()
	}
	j.leading = true
	batch := j.queue
	j.queue = nil
	j.mu.Unlock()

	j.commit(batch)

	j.mu.Lock()
	if len(j.queue) > 0 {
		j.queue[0].wake <- true // stays in the queue: the new leader takes itself along
	} else {
		j.leading = false
	}
	j.mu.Unlock()
	for _, other := range batch {
		if other != r {
			other.wake <- false
		}
	}
	return r.err
}

// commit stores the changes of a batch in one transaction. A change that refuses leaves nothing of itself behind: the
// transaction is rolled back and run again without it.
func (j *Journal) commit(batch []*request) {
	j.writing.Lock()
	defer j.writing.Unlock()
	todo := batch
	for len(todo) > 0 {
		refused, err := j.try(todo)
		if refused < 0 {
			for _, r := range todo {
				r.err = err
			}
			return
		}
		todo[refused].err = err
		rest := make([]*request, 0, len(todo)-1)
		todo = append(append(rest, todo[:refused]...), todo[refused+1:]...)
	}
}

// fail bars every further write and tells who waits for it. The lock is held.
func (j *Journal) fail(err error) {
	j.failed = err
	close(j.failing)
}

// try runs the changes in one transaction. It returns the index of a change that refused, or -1 with the commit's
// result.
func (j *Journal) try(todo []*request) (refused int, err error) {
	j.mu.Lock()
	failed, key := j.failed, j.key
	j.mu.Unlock()
	if failed != nil {
		return -1, fmt.Errorf("%w (%w)", ErrFailed, failed)
	}
	tx, err := j.db.Load().Begin(true)
	if err != nil {
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
			err = ErrClosed
		}
		return -1, storage(err)
	}
	defer tx.Rollback() // after a commit it does nothing
	t := &txn{tx: tx, now: j.opts.Now().UnixMilli(), head: j.head, key: key}
	for i, r := range todo {
		if err := errors.Join(r.change(t), t.err); err != nil {
			return i, storage(err)
		}
	}
	j.mu.Lock()
	j.commits++ // before anybody can see it
	j.mu.Unlock()
	if err := tx.Commit(); err != nil {
		err = storage(err)
		j.mu.Lock()
		j.fail(err) // what reached the disk is not known any more: nothing further is stored on top of it
		j.mu.Unlock()
		return -1, err
	}
	j.mu.Lock()
	j.head, j.key = t.head, t.key
	j.mu.Unlock()
	return -1, nil
}
