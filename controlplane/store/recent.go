package store

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"blockworld/controlplane/operation"
)

// recent is what the log holds and the tree does not have yet: of every key its versions, newest first. One writer adds to
// it, batch by batch; a reader sees it as of the batch that was the last when it began.
type recent struct {
	mu    sync.RWMutex // guards keys; versions never change
	keys  [bucketCount]map[string]*version
	batch []change // of the batch under way
	last  atomic.Uint64
}

// version is one write to a key.
type version struct {
	write
	batch  uint64
	before *version
}

// change is one write of a batch.
type change struct {
	bucket Bucket
	key    string
	write
}

// newest is a moment behind every batch.
const newest = math.MaxUint64

func newRecent() *recent {
	r := &recent{}
	for b := range r.keys {
		r.keys[b] = map[string]*version{}
	}
	return r
}

// take adds a function's writes to the batch under way. Readers do not see them before publish.
func (r *recent) take(t *buffer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range t.touched {
		for k, w := range t.writes[b] {
			if w.op == nil {
				w.value = bytes.Clone(w.value)
			}
			r.add(change{b, k, w})
		}
	}
}

// add puts one write into the batch under way. Under mu.
func (r *recent) add(c change) {
	r.keys[c.bucket][c.key] = &version{write: c.write, batch: r.last.Load() + 1, before: r.keys[c.bucket][c.key]}
	r.batch = append(r.batch, c)
}

// publish makes the batch under way part of what readers see.
func (r *recent) publish() {
	r.last.Add(1)
	r.done()
}

// undo takes the batch under way back.
func (r *recent) undo() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Backward(r.batch) {
		if v := r.keys[c.bucket][c.key].before; v != nil {
			r.keys[c.bucket][c.key] = v
		} else {
			delete(r.keys[c.bucket], c.key)
		}
	}
	r.done()
}

func (r *recent) done() {
	clear(r.batch)
	r.batch = r.batch[:0]
}

// get returns the write to a key as of a batch; nil: there is none.
func (r *recent) get(b Bucket, key []byte, asOf uint64) *version {
	r.mu.RLock()
	v := r.keys[b][string(key)]
	r.mu.RUnlock()
	for v != nil && v.batch > asOf {
		v = v.before
	}
	return v
}

// within lists the writes to a range of keys as of a batch, in no order.
func (r *recent) within(b Bucket, from, to []byte, asOf uint64) (in []pending) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for k, v := range r.keys[b] {
		if k < string(from) || to != nil && k >= string(to) {
			continue
		}
		for v != nil && v.batch > asOf {
			v = v.before
		}
		if v != nil {
			in = append(in, pending{k, v.write})
		}
	}
	return in
}

// each calls f for every key's write as of a batch, bucket by bucket in the order of the keys.
func (r *recent) each(asOf uint64, f func(b Bucket, key []byte, w write) error) error {
	for b := range bucketCount {
		all := r.within(b, nil, nil, asOf)
		slices.SortFunc(all, func(x, y pending) int { return strings.Compare(x.key, y.key) })
		for _, p := range all {
			if err := f(b, []byte(p.key), p.write); err != nil {
				return err
			}
		}
	}
	return nil
}

// layered reads recent over what lies below.
type layered struct {
	recent *recent
	asOf   uint64
	under  reader
}

func (l *layered) failure() error { return l.under.failure() }

func (l *layered) get(b Bucket, key []byte) ([]byte, *operation.Operation) {
	if v := l.recent.get(b, key, l.asOf); v != nil {
		return v.got()
	}
	return l.under.get(b, key)
}

func (l *layered) scan(b Bucket, from, to []byte, back bool, f func(key, value []byte) bool) {
	merged(l.recent.within(b, from, to, l.asOf), l.under, b, from, to, back, f)
}

// moment is the store as of one moment: what its layers hold over a transaction of the tree.
type moment struct {
	reader
	layers []*layered // oldest first
	tree   *boltReader
}

// momentOf lays what is recent, as of a batch, over what the tree has not taken over yet, if there is something, over the tree.
func momentOf(tree *boltReader, sealed, recent *recent, asOf uint64) *moment {
	m := &moment{reader: tree, tree: tree}
	if sealed != nil {
		m.over(sealed, newest)
	}
	m.over(recent, asOf)
	return m
}

func (m *moment) over(r *recent, asOf uint64) {
	l := &layered{recent: r, asOf: asOf, under: m.reader}
	m.reader, m.layers = l, append(m.layers, l)
}

// each calls f for every write of the layers, those of older ones first.
func (m *moment) each(f func(b Bucket, key []byte, w write) error) error {
	for _, l := range m.layers {
		if err := l.recent.each(l.asOf, f); err != nil {
			return err
		}
	}
	return nil
}
