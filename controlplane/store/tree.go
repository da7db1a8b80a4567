package store

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"

	"blockworld/controlplane/operation"
)

// boltReader reads sealed records of one transaction.
type boltReader struct {
	tx      *bbolt.Tx
	buckets [bucketCount]*bbolt.Bucket
	keep    func(Problem) // of Check: told of each damaged record, and the reading goes on
	err     error         // first damage that was read
	room    []byte        // what was written, until the transaction has ended
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

// logKey is where the tree names the oldest turn of the log that it has not taken over: its name, and the number of its
// first record. It is there while there is a log that counts.
var logKey = []byte("log")

// reserved tells whether a key of Meta is not for callers to write.
func reserved(key []byte) bool {
	return string(key) == string(versionKey) || string(key) == string(logKey)
}

// turn returns the turn of the log that is named; false: the tree has everything.
func (r *boltReader) turn() (t turn, ok bool, err error) {
	value, _ := r.get(Meta, logKey)
	switch {
	case r.err != nil:
		return t, false, r.err
	case value == nil:
		return t, false, nil
	case len(value) != turnSize+8:
		return t, false, damaged(place(Meta, logKey), "it names no turn of a log")
	}
	return turn{[turnSize]byte(value), binary.BigEndian.Uint64(value[turnSize:])}, true, nil
}

// setTurn names a turn of the log. While a log counts the file says so in its layout, so that a program that knows of no logs
// does not take the tree for the whole.
func (r *boltReader) setTurn(t turn) error {
	value := binary.BigEndian.AppendUint64(bytes.Clone(t.name[:]), t.first)
	return errors.Join(r.setLayout(versionWithLog), r.write(Meta, logKey, write{value: value}))
}

// whole says that the tree has everything.
func (r *boltReader) whole() error {
	return errors.Join(r.setLayout(Version), r.write(Meta, logKey, write{deleted: true}))
}

func (r *boltReader) setLayout(layout uint32) error {
	return r.bucket(Meta).Put(versionKey, binary.BigEndian.AppendUint32(nil, layout))
}

func (r *boltReader) failure() error { return r.err }

func (r *boltReader) get(b Bucket, key []byte) ([]byte, *operation.Operation) {
	raw := r.bucket(b).Get(key)
	if raw == nil {
		return nil, nil
	}
	return r.open(b, key, raw), nil
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
		at := len(r.room)
		r.room = appendSealed(r.room, b, key, w.value)
		return bucket.Put(key, r.room[at:len(r.room):len(r.room)])
	}
}
