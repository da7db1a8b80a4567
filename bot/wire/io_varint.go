package wire

import "fmt"

// VarInt is 7 bits per byte, least significant first, at most 5 bytes.
func (io *IO) VarInt(v *int32) {
	if !io.reading {
		io.note(leafInt, int64(*v), 32)
		io.putVarInt(*v)
		return
	}
	if io.err != nil {
		return
	}
	if io.off < len(io.buf) && io.buf[io.off] < 0x80 { // nearly all of them
		*v = int32(io.buf[io.off])
		io.off++
		return
	}
	n, size := varint(io.buf[io.off:])
	switch {
	case size > 0:
		*v = n
		io.off += size
	case size == 0:
		io.err = ErrShort
	default:
		io.err = fmt.Errorf("%w: VarInt longer than 5 bytes", ErrMalformed)
	}
}

// VarLong is like VarInt, at most 10 bytes.
func (io *IO) VarLong(v *int64) {
	if !io.reading {
		io.note(leafInt, *v, 64)
		u := uint64(*v)
		for u >= 0x80 {
			io.put(byte(u) | 0x80)
			u >>= 7
		}
		io.put(byte(u))
		return
	}
	var u uint64
	for shift := 0; shift < 70; shift += 7 {
		b := io.take(1)
		if b == nil {
			return
		}
		u |= uint64(b[0]&0x7F) << shift
		if b[0] < 0x80 {
			*v = int64(u)
			return
		}
	}
	io.Fail(fmt.Errorf("%w: VarLong longer than 10 bytes", ErrMalformed))
}

func (io *IO) putVarInt(v int32) {
	if io.err == nil {
		io.buf = appendVarInt(io.buf, v)
	}
}

func appendVarInt(dst []byte, v int32) []byte {
	u := uint32(v)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// varint returns a VarInt and its size; size 0 when b ends too early, -1 when it is longer than 5 bytes.
func varint(b []byte) (int32, int) {
	var u uint32
	for i := 0; i < 5; i++ {
		if i == len(b) {
			return 0, 0
		}
		u |= uint32(b[i]&0x7F) << (7 * i)
		if b[i] < 0x80 {
			return int32(u), i + 1
		}
	}
	return 0, -1
}

// varintSize returns how many bytes a VarInt takes.
func varintSize(v int32) int {
	n := 1
	for u := uint32(v); u >= 0x80; u >>= 7 {
		n++
	}
	return n
}
