package effects

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"blockworld/worldstate/geom"
)

// Canonical bytes are the one form that is hashed and signed. A record is
//
//	kind (1 byte) | version (1 byte) | length of the body (4 bytes, big endian) | body
//
// and the body is its fields in a fixed order: integers big endian at full width, strings and lists with a 4-byte
// length in front, booleans as 0 or 1, floats by their IEEE bits. So equal values have equal bytes, no two values share
// bytes, and records can follow each other without separators.

// kind says what a canonical record is. Persisted: do not reorder.
type kind uint8

const (
	kindBinding kind = iota + 2 // 1 stands for nothing
	kindPostcondition
	kindReceipt
	kindAttempt
	kindCursor
	kindCounters
)

// canonicalVersion is the layout written now. A reader refuses what it does not know.
const canonicalVersion = 1

const headerSize = 6

// maxRecord bounds one record; an outcome with its evidence is a few kilobytes.
const maxRecord = 1 << 20

// Errors of reading canonical bytes.
var (
	ErrMalformedRecord = errors.New("malformed record")
	ErrRecordVersion   = errors.New("record of a newer version: use the program that wrote it")
)

// writer builds a body. The zero value is ready.
type writer struct{ b []byte }

func (w *writer) u8(v uint8)    { w.b = append(w.b, v) }
func (w *writer) u32(v uint32)  { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64)  { w.b = binary.BigEndian.AppendUint64(w.b, v) }
func (w *writer) i32(v int32)   { w.u32(uint32(v)) }
func (w *writer) i64(v int64)   { w.u64(uint64(v)) }
func (w *writer) f32(v float32) { w.u32(math.Float32bits(v)) }
func (w *writer) raw(b []byte)  { w.b = append(w.b, b...) }
func (w *writer) bool(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) str(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) pos(p geom.BlockPos) { w.i32(p.X); w.i32(p.Y); w.i32(p.Z) }

// record puts the header in front of the body.
func (w *writer) record(k kind) []byte {
	out := make([]byte, 0, headerSize+len(w.b))
	out = append(out, byte(k), canonicalVersion)
	out = binary.BigEndian.AppendUint32(out, uint32(len(w.b)))
	return append(out, w.b...)
}

func digestOf(b []byte) Digest { return sha256.Sum256(b) }

// reader takes a body apart. The first error sticks; every later read gives zeros.
type reader struct {
	b   []byte
	err error
}

// openRecord checks the header and returns a reader of the body and what follows the record.
func openRecord(b []byte, want kind) (*reader, []byte, error) {
	if len(b) < headerSize {
		return nil, nil, fmt.Errorf("%w: %d bytes, a header has %d", ErrMalformedRecord, len(b), headerSize)
	}
	if kind(b[0]) != want {
		return nil, nil, fmt.Errorf("%w: kind %d where %d belongs", ErrMalformedRecord, b[0], want)
	}
	if b[1] != canonicalVersion {
		return nil, nil, fmt.Errorf("%w (version %d)", ErrRecordVersion, b[1])
	}
	n := binary.BigEndian.Uint32(b[2:])
	if n > maxRecord || int(n) > len(b)-headerSize {
		return nil, nil, fmt.Errorf("%w: body of %d bytes, %d are there", ErrMalformedRecord, n, len(b)-headerSize)
	}
	end := headerSize + int(n)
	return &reader{b: b[headerSize:end]}, b[end:], nil
}

// close ends a body that must have been read wholly.
func (r *reader) close() error {
	if r.err == nil && len(r.b) != 0 {
		r.err = fmt.Errorf("%w: %d bytes too many", ErrMalformedRecord, len(r.b))
	}
	return r.err
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.b) {
		r.fail("cut off")
		return make([]byte, min(n, 8))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformedRecord, why)
	}
	r.b = nil
}

func (r *reader) u8() uint8       { return r.take(1)[0] }
func (r *reader) u32() uint32     { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64     { return binary.BigEndian.Uint64(r.take(8)) }
func (r *reader) i32() int32      { return int32(r.u32()) }
func (r *reader) i64() int64      { return int64(r.u64()) }
func (r *reader) f32() float32    { return math.Float32frombits(r.u32()) }
func (r *reader) fill(dst []byte) { copy(dst, r.fixed(len(dst))) }
func (r *reader) str() string     { return string(r.fixed(int(r.u32()))) }
func (r *reader) pos() geom.BlockPos {
	return geom.BlockPos{X: r.i32(), Y: r.i32(), Z: r.i32()}
}

// bool refuses everything but 0 and 1, so that no value has two encodings.
func (r *reader) bool() bool {
	v := r.u8()
	if v > 1 {
		r.fail("a yes or no that is neither")
	}
	return v == 1
}

// enum reads one byte of a closed set.
func enum[T ~uint8](r *reader, last T) T {
	v := T(r.u8())
	if v > last {
		r.fail("a value outside its closed set")
	}
	return v
}

// fixed returns the next n bytes, nil when they are not there.
func (r *reader) fixed(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.fail("cut off")
		return nil
	}
	return r.take(n)
}

// count reads the length of a list whose elements take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.u32()
	if r.err == nil && uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.fail("a list longer than the record")
		return 0
	}
	return int(n)
}
