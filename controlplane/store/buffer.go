package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"blockworld/controlplane/operation"
)

// reader is a transaction to read from: what a buffer lies over.
type reader interface {
	get(b Bucket, key []byte) ([]byte, *operation.Operation)
	scan(b Bucket, from, to []byte, back bool, f func(key, value []byte) bool)
	failure() error // what was wrong with something that was read
}

// Limits of one record.
const (
	maxKey   = 1 << 10
	maxValue = 64 << 20
)

// write is one key put or deleted.
type write struct {
	value   []byte
	deleted bool
	op      *operation.Operation // what the value is the record of, so that it need not be read back; nil: look at the value
}

// buffer is a Tx whose writes wait until its function has succeeded, so that one that fails leaves nothing behind while
// others share its commit. It reads its own writes.
type buffer struct {
	under   reader
	writes  [bucketCount]map[string]write
	touched []Bucket
	wrote   int  // calls of Put and Delete
	view    bool // writing is a mistake
	err     error
}

func (t *buffer) reset(under reader) {
	for _, b := range t.touched {
		clear(t.writes[b])
	}
	t.under, t.touched, t.wrote, t.err = under, t.touched[:0], 0, nil
}

// failure is why the function must not count although it returned no error.
func (t *buffer) failure() error {
	if t.err != nil {
		return t.err
	}
	return t.under.failure()
}

// Get implements Tx.
func (t *buffer) Get(b Bucket, key []byte) []byte {
	value, _ := t.getOp(b, key)
	return value
}

// getOp is Get with what the value is the record of; nil: that is to be read from it. Nobody may change the operation.
func (t *buffer) getOp(b Bucket, key []byte) ([]byte, *operation.Operation) {
	if w, ok := t.writes[b][string(key)]; ok {
		return w.got()
	}
	return t.under.get(b, key)
}

func (w *write) got() ([]byte, *operation.Operation) {
	if w.deleted {
		return nil, nil
	}
	return w.value, w.op
}

// Put implements Tx.
func (t *buffer) Put(b Bucket, key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	t.write(b, key, write{value: value})
}

// putOp is Put for the record of an operation. Nobody may change either afterwards.
func (t *buffer) putOp(b Bucket, key, value []byte, op *operation.Operation) {
	t.write(b, key, write{value: value, op: op})
}

// Delete implements Tx.
func (t *buffer) Delete(b Bucket, key []byte) { t.write(b, key, write{deleted: true}) }

func (t *buffer) write(b Bucket, key []byte, w write) {
	switch {
	case t.view:
		t.err = ErrInView
		return
	case len(key) == 0 || len(key) > maxKey || len(w.value) > maxValue || b == Meta && reserved(key):
		t.err = fmt.Errorf("%w: bucket %s, a key of %d and a value of %d bytes", ErrTooLarge, b, len(key), len(w.value))
		return
	}
	if len(t.writes[b]) == 0 {
		if t.writes[b] == nil {
			t.writes[b] = map[string]write{}
		}
		t.touched = append(t.touched, b)
	}
	t.writes[b][string(key)] = w
	t.wrote++
}

// Scan implements Tx.
func (t *buffer) Scan(b Bucket, from, to []byte, f func(key, value []byte) bool) {
	t.merged(b, from, to, false, f)
}

// ScanBack implements Tx.
func (t *buffer) ScanBack(b Bucket, from, to []byte, f func(key, value []byte) bool) {
	t.merged(b, from, to, true, f)
}

func (t *buffer) merged(b Bucket, from, to []byte, back bool, f func(key, value []byte) bool) {
	merged(t.within(b, from, to), t.under, b, from, to, back, f)
}

// merged scans what lies below together with writes over it, as both are when the scan begins.
func merged(mine []pending, under reader, b Bucket, from, to []byte, back bool, f func(key, value []byte) bool) {
	if len(mine) == 0 {
		under.scan(b, from, to, back, f)
		return
	}
	order := func(x, y string) int {
		if back {
			x, y = y, x
		}
		return strings.Compare(x, y)
	}
	slices.SortFunc(mine, func(x, y pending) int { return order(x.key, y.key) })
	more := true
	next := func() {
		if w := mine[0]; !w.deleted {
			more = f([]byte(w.key), w.value)
		}
		mine = mine[1:]
	}
	under.scan(b, from, to, back, func(key, value []byte) bool {
		k := string(key)
		for more && len(mine) > 0 && order(mine[0].key, k) < 0 {
			next()
		}
		if more && len(mine) > 0 && mine[0].key == k {
			next()
		} else if more {
			more = f(key, value)
		}
		return more
	})
	for more && len(mine) > 0 {
		next()
	}
}

type pending struct {
	key string
	write
}

func (t *buffer) within(b Bucket, from, to []byte) []pending {
	if len(t.writes[b]) == 0 {
		return nil
	}
	in := make([]pending, 0, len(t.writes[b]))
	for k, w := range t.writes[b] {
		if k >= string(from) && (to == nil || k < string(to)) {
			in = append(in, pending{k, w})
		}
	}
	return in
}

// flush calls f for every waiting write, bucket by bucket in the order of the keys.
func (t *buffer) flush(f func(b Bucket, key []byte, w write) error) error {
	for _, b := range t.touched {
		if len(t.writes[b]) == 1 { // nearly always
			for k, w := range t.writes[b] {
				if err := f(b, []byte(k), w); err != nil {
					return err
				}
			}
			continue
		}
		keys := t.within(b, nil, nil)
		slices.SortFunc(keys, func(x, y pending) int { return strings.Compare(x.key, y.key) })
		for _, k := range keys {
			if err := f(b, []byte(k.key), k.write); err != nil {
				return err
			}
		}
	}
	return nil
}

// past returns the first key behind every key with the prefix; nil if there is none.
func past(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
