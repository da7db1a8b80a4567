package store

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const sealSize = 4

// sealOf is the checksum of a record in its place: a sound record under another key, or in another bucket, is found too.
func sealOf(b Bucket, key, value []byte) uint32 {
	sum := crc32.Update(uint32(b), castagnoli, key)
	return crc32.Update(sum, castagnoli, value)
}

// appendSealed appends a value and its checksum.
func appendSealed(out []byte, b Bucket, key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(append(out, value...), sealOf(b, key, value))
}

// unsealed returns the value without its checksum; false if that does not fit.
func unsealed(b Bucket, key, raw []byte) ([]byte, bool) {
	n := len(raw) - sealSize
	if n < 0 || binary.BigEndian.Uint32(raw[n:]) != sealOf(b, key, raw[:n]) {
		return nil, false
	}
	return raw[:n:n], true
}

// Damage says where a store is damaged; it wraps ErrCorrupt.
type Damage struct{ Problem }

// Error names place and kind of the damage.
func (d *Damage) Error() string {
	return fmt.Sprintf("%v at %s; nothing was changed: put a backup in the place of the store and its logs, or start with a new directory", ErrCorrupt, d.Problem)
}

// Unwrap returns ErrCorrupt.
func (d *Damage) Unwrap() error { return ErrCorrupt }

func damaged(where, format string, args ...any) *Damage {
	return &Damage{Problem{where, fmt.Sprintf(format, args...)}}
}

func place(b Bucket, key []byte) string {
	return fmt.Sprintf("bucket %s, key %s", b, hex.EncodeToString(key))
}
