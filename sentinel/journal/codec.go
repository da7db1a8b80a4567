package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Records are flat: one version byte, then fields in a fixed order, integers big endian, strings and lists with a
// 4-byte length in front. In the file a seal follows: the first 8 bytes of SHA-256 over bucket, key and record, so that
// a flipped bit is found and a record cannot stand under another's key.

const (
	recordVersion = 1
	sealSize      = 8
	maxField      = 1 << 22 // bytes of one string or blob; a plan's options are the largest
)

var (
	errShort   = errors.New("record is cut off")
	errLong    = errors.New("record has bytes too many")
	errVersion = errors.New("record has an unknown version")
	errSeal    = errors.New("checksum does not match")
	errValue   = errors.New("a value lies outside its range")
)

func seal(bucket, key, record []byte) [sealSize]byte {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(bucket)))
	binary.BigEndian.PutUint32(n[4:], uint32(len(key)))
	h.Write(n[:])
	h.Write(bucket)
	h.Write(key)
	h.Write(record)
	return [sealSize]byte(h.Sum(nil))
}

func sealed(bucket, key, record []byte) []byte {
	s := seal(bucket, key, record)
	return append(record[:len(record):len(record)], s[:]...)
}

func unsealed(bucket, key, value []byte) ([]byte, error) {
	if len(value) < sealSize {
		return nil, errShort
	}
	record, got := value[:len(value)-sealSize], value[len(value)-sealSize:]
	if want := seal(bucket, key, record); string(want[:]) != string(got) {
		return nil, errSeal
	}
	return record, nil
}

type encoder struct{ b []byte }

func newEncoder() *encoder { return &encoder{b: []byte{recordVersion}} }

func (e *encoder) u8(v uint8)   { e.b = append(e.b, v) }
func (e *encoder) u32(v uint32) { e.b = binary.BigEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64) { e.b = binary.BigEndian.AppendUint64(e.b, v) }
func (e *encoder) raw(v []byte) { e.b = append(e.b, v...) }
func (e *encoder) flag(v bool) {
	if v {
		e.u8(1)
	} else {
		e.u8(0)
	}
}
func (e *encoder) blob(v []byte)       { e.u32(uint32(len(v))); e.raw(v) }
func (e *encoder) text(v string)       { e.u32(uint32(len(v))); e.b = append(e.b, v...) }
func (e *encoder) pos(p geom.BlockPos) { e.u32(uint32(p.X)); e.u32(uint32(p.Y)); e.u32(uint32(p.Z)) }
func (e *encoder) box(b geom.BlockBox) { e.pos(b.Min); e.pos(b.Max) }

// decoder takes a record apart; the first error sticks and everything after it is zero.
type decoder struct {
	b   []byte
	err error
}

func newDecoder(record []byte) *decoder {
	d := &decoder{b: record}
	if v := d.u8(); d.err == nil && v != recordVersion {
		d.err = errVersion
	}
	return d
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && (n < 0 || n > len(d.b)) {
		d.err = errShort
	}
	if d.err != nil {
		return make([]byte, min(max(n, 0), 64))
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) u8() uint8       { return d.take(1)[0] }
func (d *decoder) u32() uint32     { return binary.BigEndian.Uint32(d.take(4)) }
func (d *decoder) u64() uint64     { return binary.BigEndian.Uint64(d.take(8)) }
func (d *decoder) fill(dst []byte) { copy(dst, d.take(len(dst))) }
func (d *decoder) flag() bool {
	v := d.u8()
	if v > 1 && d.err == nil {
		d.err = errValue
	}
	return v == 1
}

// enum reads one byte of a closed set that ends at last.
func (d *decoder) enum(last uint8) uint8 {
	v := d.u8()
	if v > last && d.err == nil {
		d.err = errValue
	}
	return v
}

func (d *decoder) blob() []byte {
	n := d.u32()
	if n > maxField && d.err == nil {
		d.err = errValue
	}
	if d.err != nil || int(n) > len(d.b) {
		d.take(-1)
		return nil
	}
	return append([]byte(nil), d.take(int(n))...)
}

func (d *decoder) text() string { return string(d.blob()) }

// count reads a list's length; each element takes at least size bytes, so a lie costs no memory.
func (d *decoder) count(size int) int {
	n := d.u32()
	if d.err == nil && uint64(n)*uint64(size) > uint64(len(d.b)) {
		d.err = errShort
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) pos() geom.BlockPos {
	return geom.BlockPos{X: int32(d.u32()), Y: int32(d.u32()), Z: int32(d.u32())}
}

func (d *decoder) box() geom.BlockBox { return geom.BlockBox{Min: d.pos(), Max: d.pos()} }

func (d *decoder) close() error {
	if d.err == nil && len(d.b) != 0 {
		d.err = errLong
	}
	return d.err
}

// state reads a block state id, which takes 16 bits in every version.
func (d *decoder) state() registry.StateID {
	v := d.u32()
	if v > 0xffff && d.err == nil {
		d.err = errValue
	}
	return registry.StateID(v)
}
