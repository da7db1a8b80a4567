package journal

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// txn is one transaction over sealed records.
type txn struct {
	tx   *bbolt.Tx
	now  int64 // milliseconds since the Unix epoch
	head chainHead
	key  ed25519.PrivateKey
	err  error // of next
}

// entry is one record to store.
type entry struct {
	bucket, key, record []byte
}

func (t *txn) get(bucket, key []byte) ([]byte, error) {
	value := t.tx.Bucket(bucket).Get(key)
	if value == nil {
		return nil, nil
	}
	record, err := unsealed(bucket, key, value)
	if err != nil {
		return nil, damaged(place(bucket, key), "%v", err)
	}
	return record, nil
}

func (t *txn) put(bucket, key, record []byte) error {
	return t.tx.Bucket(bucket).Put(bytes.Clone(key), sealed(bucket, key, record))
}

func (t *txn) putAll(entries ...entry) error {
	for _, e := range entries {
		if err := t.put(e.bucket, e.key, e.record); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) delete(bucket, key []byte) error { return t.tx.Bucket(bucket).Delete(key) }

// any tells whether the bucket holds a key with the prefix.
func (t *txn) any(bucket, prefix []byte) bool {
	k, _ := t.tx.Bucket(bucket).Cursor().Seek(prefix)
	return k != nil && bytes.HasPrefix(k, prefix)
}

// each calls f for every record whose key has the prefix, in key order.
func (t *txn) each(bucket, prefix []byte, f func(key, record []byte) error) error {
	c := t.tx.Bucket(bucket).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		record, err := unsealed(bucket, k, v)
		if err == nil {
			err = f(k, record)
		}
		if err != nil {
			return damaged(place(bucket, k), "%v", err)
		}
	}
	return nil
}

// last returns the last record whose key has the prefix and 8 bytes behind it; a nil key when there is none.
func (t *txn) last(bucket, prefix []byte) (key, record []byte, err error) {
	c := t.tx.Bucket(bucket).Cursor()
	end := append(bytes.Clone(prefix), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	k, v := c.Seek(end)
	if k == nil {
		k, v = c.Last()
	} else if !bytes.Equal(k, end) {
		k, v = c.Prev()
	}
	if k == nil || !bytes.HasPrefix(k, prefix) {
		return nil, nil, nil
	}
	if record, err = unsealed(bucket, k, v); err != nil {
		err = damaged(place(bucket, k), "%v", err)
	}
	return k, record, err
}

// next gives out the next number of a series, from 1. Its error comes out at the end of the transaction.
func (t *txn) next(bucket, scope []byte) uint64 {
	key := slices.Concat(bucket, []byte{0}, scope)
	record, err := t.get(counterBucket, key)
	var n uint64
	if err == nil && record != nil {
		d := newDecoder(record)
		n = d.u64()
		err = d.close()
	}
	if err == nil {
		e := newEncoder()
		e.u64(n + 1)
		err = t.put(counterBucket, key, e.b)
	}
	t.err = errors.Join(t.err, err)
	return n + 1
}

// collect decodes every record under a prefix.
func collect[T any](t *txn, bucket, prefix []byte, decode func([]byte) (T, error)) ([]T, error) {
	var out []T
	err := t.each(bucket, prefix, func(_, record []byte) error {
		v, err := decode(record)
		if err == nil {
			out = append(out, v)
		}
		return err
	})
	return out, err
}

// read runs f over a consistent view.
func read[T any](j *Journal, f func(*txn) (T, error)) (T, error) {
	var out T
	err := j.db.Load().View(func(tx *bbolt.Tx) (err error) {
		out, err = f(&txn{tx: tx})
		return err
	})
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		err = ErrClosed
	}
	return out, err
}

func place(bucket, key []byte) string { return fmt.Sprintf("bucket %s, key %x", bucket, key) }

func sortBy[T any, K cmp.Ordered](s []T, key func(T) K) {
	slices.SortFunc(s, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

func isUnknownMission(err error) bool { return errors.Is(err, ErrUnknownMission) }

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key) }
