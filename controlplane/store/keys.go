package store

import (
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"

	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
)

// Names cannot hold a zero byte, so one behind a name ends it.

func keyKey(principal host.Name, key string) []byte {
	return append(append(append(make([]byte, 0, len(principal)+1+len(key)), principal...), 0), key...)
}

// timeKey sorts by name, then time, then id.
func timeKey(name host.Name, at operation.Instant, id host.OpID) []byte {
	k := append(append(make([]byte, 0, len(name)+1+8+16), name...), 0)
	return append(binary.BigEndian.AppendUint64(k, uint64(at)), id[:]...)
}

func timeKeyOf(key []byte) (at operation.Instant, id host.OpID, ok bool) {
	n := len(key) - 8 - 16
	if n < 2 || key[n-1] != 0 {
		return 0, id, false
	}
	return operation.Instant(binary.BigEndian.Uint64(key[n:])), host.OpID(key[n+8:]), true
}

func parentKey(parent, id host.OpID) []byte {
	return append(append(make([]byte, 0, 32), parent[:]...), id[:]...)
}

func usageKey(budget string, window int64) []byte {
	k := append(append(make([]byte, 0, len(budget)+9), budget...), 0)
	return binary.BigEndian.AppendUint64(k, uint64(window)^1<<63) // so that negative windows sort first
}

func usageKeyOf(key []byte) (budget string, window int64, ok bool) {
	n := len(key) - 9
	if n < 0 || key[n] != 0 {
		return "", 0, false
	}
	return string(key[:n]), int64(binary.BigEndian.Uint64(key[n+1:]) ^ 1<<63), true
}

func nameEnd(name host.Name) []byte { return append([]byte(name), 1) }

// encode writes a record as JSON. The types of this package cannot fail unless a text is no UTF-8.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return b, nil
}

// decode reads a record strictly.
func decode(b Bucket, key, value []byte, into any) error {
	if err := json.Unmarshal(value, into, json.RejectUnknownMembers(true)); err != nil {
		return damaged(place(b, key), "%v", err)
	}
	return nil
}

// Key is what a principal's key stands for.
type Key struct {
	Op      host.OpID
	Payload effects.Digest
	Pruned  bool // the operation is gone; Ops.Pruned tells how it ended
}

func (k Key) encode() []byte {
	b := append(append(make([]byte, 0, 49), k.Op[:]...), k.Payload[:]...)
	if k.Pruned {
		return append(b, 1)
	}
	return append(b, 0)
}

func decodeKey(b []byte) (k Key, ok bool) {
	if len(b) != 49 || b[48] > 1 {
		return k, false
	}
	copy(k.Op[:], b)
	copy(k.Payload[:], b[16:])
	k.Pruned = b[48] == 1
	return k, true
}

// KeysTx reads idempotency keys; Ops.Create and Prune write them.
type KeysTx struct{ tx Tx }

// KeysOf returns the keys of a transaction.
func KeysOf(tx Tx) KeysTx { return KeysTx{tx} }

// Get returns what a key stands for; false: it is free. Errors wrap ErrCorrupt.
func (k KeysTx) Get(principal host.Name, key string) (Key, bool, error) {
	id := keyKey(principal, key)
	v := k.tx.Get(Keys, id)
	if v == nil {
		return Key{}, false, nil
	}
	got, ok := decodeKey(v)
	if !ok {
		return Key{}, false, damaged(place(Keys, id), "%d bytes", len(v))
	}
	return got, true, nil
}
