package wire

import (
	"bytes"
	"crypto/cipher"
	"fmt"

	"github.com/klauspost/compress/zlib"
)

// Sizes of the writer's memory.
const (
	flushAt   = 128 << 10 // bytes written before they are sent without being asked
	keepWrite = 64 << 10  // a larger buffer is not kept
)

// outbound is the writing side: frames, compressed and encrypted, in a buffer.
type outbound struct {
	buf       []byte
	packet    []byte // the packet being encoded
	io        IO     // used for one packet after another
	threshold int
	cipher    cipher.Stream
	deflated  bytes.Buffer
	z         *zlib.Writer
}

// frame appends a frame and returns its length on the wire.
func (o *outbound) frame(data []byte) (int, error) {
	start := len(o.buf)
	switch {
	case o.threshold < 0:
		o.buf = appendVarInt(o.buf, int32(len(data)))
		o.buf = append(o.buf, data...)
	case len(data) < o.threshold:
		o.buf = appendVarInt(o.buf, int32(len(data)+1))
		o.buf = append(o.buf, 0)
		o.buf = append(o.buf, data...)
	default:
		if err := o.deflate(data); err != nil {
			return 0, err
		}
	}
	n := len(o.buf) - start
	if n > MaxFrame || len(data) > MaxInflated {
		o.buf = o.buf[:start]
		return 0, fmt.Errorf("%w: packet of %d bytes, %d on the wire", ErrTooLong, len(data), n)
	}
	if o.cipher != nil {
		o.cipher.XORKeyStream(o.buf[start:], o.buf[start:])
	}
	return n, nil
}

func (o *outbound) deflate(data []byte) error {
	o.deflated.Reset()
	if o.z == nil {
		z, err := zlib.NewWriterLevel(&o.deflated, zlib.BestSpeed)
		if err != nil {
			return err
		}
		o.z = z
	} else {
		o.z.Reset(&o.deflated)
	}
	if _, err := o.z.Write(data); err != nil {
		return err
	}
	if err := o.z.Close(); err != nil {
		return err
	}
	size := int32(len(data))
	o.buf = appendVarInt(o.buf, int32(o.deflated.Len()+varintSize(size)))
	o.buf = appendVarInt(o.buf, size)
	o.buf = append(o.buf, o.deflated.Bytes()...)
	return nil
}

// keepSmall returns b emptied for reuse, or nothing when it has grown large.
func keepSmall(b []byte) []byte {
	if cap(b) > keepWrite {
		return nil
	}
	return b[:0]
}
