package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// IO carries the fields of one packet between a struct and bytes, in either direction: every method reads into its
// argument or writes it. The first fault sticks; after it reads leave their arguments alone and writes do nothing, so
// that a Marshal method needs no error handling.
type IO struct {
	buf     []byte // reading: the body; writing: what has been written so far
	off     int    // reading: the next byte
	err     error
	p       registry.Protocol
	reading bool
	keep    bool // reading: byte fields may be parts of buf; else they are copied out of it
	depth   int
	trace   *[]leaf // tests only: what was written, field by field
}

// errTruncated is the fault that is none: an item stack with an unknown component hides the rest of its packet.
var errTruncated = errors.New("the rest of the packet is unknown")

// Protocol returns the version being spoken.
func (io *IO) Protocol() registry.Protocol { return io.p }

// Has tells whether the version being spoken has a feature.
func (io *IO) Has(f Feature) bool { return Has(io.p, f) }

// Fail records a fault; the first one stays.
func (io *IO) Fail(err error) {
	if io.err == nil {
		io.err = err
	}
}

// ok tells whether no fault has occurred.
func (io *IO) ok() bool { return io.err == nil }

// truncated tells whether the rest of the packet is unknown.
func (io *IO) truncated() bool { return io.err == errTruncated }

// remaining returns how many bytes are left to read.
func (io *IO) remaining() int { return len(io.buf) - io.off }

// take returns the next n bytes of the body, nil after a fault. The result is part of the body.
func (io *IO) take(n int) []byte {
	if io.err != nil {
		return nil
	}
	if n < 0 || n > len(io.buf)-io.off {
		io.err = ErrShort
		return nil
	}
	b := io.buf[io.off : io.off+n : io.off+n]
	io.off += n
	return b
}

// own returns b for keeping: itself when the body may be kept, else a copy. Empty becomes nil.
func (io *IO) own(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	if io.keep {
		return b
	}
	return slices.Clone(b)
}

// put appends b when nothing has failed.
func (io *IO) put(b ...byte) {
	if io.err == nil {
		io.buf = append(io.buf, b...)
	}
}

// Uint8 is one byte.
func (io *IO) Uint8(v *uint8) {
	if io.reading {
		if b := io.take(1); b != nil {
			*v = b[0]
		}
		return
	}
	io.note(leafInt, int64(*v), 1)
	io.put(*v)
}

// Int8 is one signed byte.
func (io *IO) Int8(v *int8) {
	u := uint8(*v)
	io.Uint8(&u)
	if io.reading {
		*v = int8(u)
	}
}

// Bool is one byte, 0 or 1; any other value reads as true, as vanilla does.
func (io *IO) Bool(v *bool) {
	var u uint8
	if *v {
		u = 1
	}
	io.Uint8(&u)
	if io.reading {
		*v = u != 0
	}
}

// Flag is a Bool in front of something optional; it returns whether that something follows.
func (io *IO) Flag(v *bool) bool {
	io.Bool(v)
	return *v && io.err == nil
}

// Uint16 is big-endian.
func (io *IO) Uint16(v *uint16) {
	if io.reading {
		if b := io.take(2); b != nil {
			*v = binary.BigEndian.Uint16(b)
		}
		return
	}
	io.note(leafInt, int64(*v), 2)
	if io.err == nil {
		io.buf = binary.BigEndian.AppendUint16(io.buf, *v)
	}
}

// Int16 is big-endian.
func (io *IO) Int16(v *int16) {
	u := uint16(*v)
	io.Uint16(&u)
	if io.reading {
		*v = int16(u)
	}
}

// Int32 is big-endian.
func (io *IO) Int32(v *int32) {
	if io.reading {
		if b := io.take(4); b != nil {
			*v = int32(binary.BigEndian.Uint32(b))
		}
		return
	}
	io.note(leafInt, int64(*v), 4)
	if io.err == nil {
		io.buf = binary.BigEndian.AppendUint32(io.buf, uint32(*v))
	}
}

// Uint32 is big-endian.
func (io *IO) Uint32(v *uint32) {
	s := int32(*v)
	io.Int32(&s)
	if io.reading {
		*v = uint32(s)
	}
}

// Int64 is big-endian.
func (io *IO) Int64(v *int64) {
	if io.reading {
		if b := io.take(8); b != nil {
			*v = int64(binary.BigEndian.Uint64(b))
		}
		return
	}
	io.note(leafInt, *v, 8)
	io.putUint64(uint64(*v))
}

func (io *IO) putUint64(v uint64) {
	if io.err == nil {
		io.buf = binary.BigEndian.AppendUint64(io.buf, v)
	}
}

// Float32 is an IEEE 754 single, big-endian. NaN and infinities pass; whoever uses the value checks it.
func (io *IO) Float32(v *float32) {
	if io.reading {
		if b := io.take(4); b != nil {
			*v = math.Float32frombits(binary.BigEndian.Uint32(b))
		}
		return
	}
	io.note(leafFloat, int64(math.Float64bits(float64(*v))), 4)
	if io.err == nil {
		io.buf = binary.BigEndian.AppendUint32(io.buf, math.Float32bits(*v))
	}
}

// Float64 is an IEEE 754 double, big-endian. NaN and infinities pass; whoever uses the value checks it.
func (io *IO) Float64(v *float64) {
	if io.reading {
		if b := io.take(8); b != nil {
			*v = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
		return
	}
	io.note(leafFloat, int64(math.Float64bits(*v)), 8)
	io.putUint64(math.Float64bits(*v))
}

// Vec3 is three Float64.
func (io *IO) Vec3(v *geom.Vec3) {
	io.Float64(&v[0])
	io.Float64(&v[1])
	io.Float64(&v[2])
}

// Rotation is yaw, then pitch, each a Float32.
func (io *IO) Rotation(r *geom.Rotation) {
	io.Float32(&r.Yaw)
	io.Float32(&r.Pitch)
}

// UUID is 16 bytes.
func (io *IO) UUID(v *worldstate.UUID) {
	if io.reading {
		if b := io.take(16); b != nil {
			*v = worldstate.UUID(b)
		}
		return
	}
	io.noteBytes(leafUUID, v[:])
	io.put(v[:]...)
}

// BlockPos is 26 bits of x, 26 of z and 12 of y. Writing a position outside of that range fails.
func (io *IO) BlockPos(v *geom.BlockPos) {
	if io.reading {
		if b := io.take(8); b != nil {
			u := int64(binary.BigEndian.Uint64(b))
			*v = geom.BlockPos{X: int32(u >> 38), Y: int32(u << 52 >> 52), Z: int32(u << 26 >> 38)}
		}
		return
	}
	u := int64(v.X)<<38 | int64(v.Z)&0x3FFFFFF<<12 | int64(v.Y)&0xFFF
	if v.X < -1<<25 || v.X >= 1<<25 || v.Z < -1<<25 || v.Z >= 1<<25 || v.Y < -1<<11 || v.Y >= 1<<11 {
		io.Fail(fmt.Errorf("%w: block position %v is outside of what the protocol can say", ErrMalformed, *v))
	}
	io.note(leafInt, int64(v.X), 26)
	io.note(leafInt, int64(v.Z), 26)
	io.note(leafInt, int64(v.Y), 12)
	io.putUint64(uint64(u))
}

// String is a VarInt count of bytes, then UTF-8 of at most max UTF-16 units. Invalid UTF-8 passes unchanged.
func (io *IO) String(v *string, max int) {
	if io.reading {
		if b := io.stringBytes(max); b != nil {
			*v = string(b)
		}
		return
	}
	if utf16Len([]byte(*v), max) > max {
		io.Fail(fmt.Errorf("%w: text longer than %d characters", ErrTooLong, max))
	}
	io.noteBytes(leafString, []byte(*v))
	io.putVarInt(int32(len(*v)))
	if io.err == nil {
		io.buf = append(io.buf, *v...)
	}
}

func (io *IO) stringBytes(max int) []byte {
	n := io.length(3 * max)
	b := io.take(n)
	if len(b) > max && utf16Len(b, max) > max {
		io.Fail(fmt.Errorf("%w: text longer than %d characters", ErrTooLong, max))
		return nil
	}
	return b
}

// utf16Len counts UTF-16 units, giving up beyond max.
func utf16Len(b []byte, max int) int {
	n := 0
	if len(b) <= max {
		return len(b)
	}
	for len(b) > 0 && n <= max {
		r, size := utf8.DecodeRune(b)
		if n++; r > 0xFFFF {
			n++
		}
		b = b[size:]
	}
	return n
}

// Bytes is a VarInt count, then that many bytes, at most max.
func (io *IO) Bytes(v *[]byte, max int) {
	if io.reading {
		n := io.length(max)
		*v = io.own(io.take(n))
		return
	}
	if len(*v) > max {
		io.Fail(fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(*v), max))
	}
	io.noteBytes(leafBytes, *v)
	io.putVarInt(int32(len(*v)))
	io.put(*v...)
}

// Fixed is exactly len(v) bytes.
func (io *IO) Fixed(v []byte) {
	if io.reading {
		copy(v, io.take(len(v)))
		return
	}
	io.noteBytes(leafBytes, v)
	io.put(v...)
}

// Rest is everything up to the end of the packet.
func (io *IO) Rest(v *[]byte) {
	if io.reading {
		*v = io.own(io.take(io.remaining()))
		return
	}
	io.noteBytes(leafBytes, *v)
	io.put(*v...)
}

// length reads a VarInt count that must lie in 0..max and within what is left of the packet.
func (io *IO) length(max int) int {
	var n int32
	io.VarInt(&n)
	switch {
	case io.err != nil:
		return 0
	case n < 0 || int(n) > max:
		io.err = fmt.Errorf("%w: %d, at most %d", ErrTooLong, n, max)
		return 0
	case int(n) > io.remaining():
		io.err = ErrShort
		return 0
	}
	return int(n)
}

// List is a VarInt count, then that many elements, each at least size bytes long. Memory grows with what is really
// there, not with the count.
func List[T any](io *IO, v *[]T, size int, each func(*IO, *T)) {
	if !io.reading {
		if len(*v) > maxList {
			io.Fail(fmt.Errorf("%w: list of %d, at most %d", ErrTooLong, len(*v), maxList))
		}
		n := int32(len(*v))
		io.noteCount(n)
		io.putVarInt(n)
		for i := range *v {
			each(io, &(*v)[i])
		}
		return
	}
	n := io.count(size)
	if n == 0 {
		return
	}
	out := make([]T, 0, min(n, firstAlloc))
	for i := 0; i < n && io.err == nil; i++ {
		var e T
		out = append(out, e)
		each(io, &out[i])
	}
	*v = out
}

// count reads the number of elements of a list whose elements take at least size bytes.
func (io *IO) count(size int) int {
	var n int32
	io.VarInt(&n)
	switch {
	case io.err != nil:
		return 0
	case n < 0 || n > maxList:
		io.err = fmt.Errorf("%w: list of %d, at most %d", ErrTooLong, n, maxList)
		return 0
	case int64(n)*int64(size) > int64(io.remaining()):
		io.err = ErrShort
		return 0
	}
	return int(n)
}
