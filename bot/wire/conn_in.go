package wire

import (
	"crypto/cipher"
	"fmt"
	"io"
	"slices"
)

// Sizes of the reader's memory.
const (
	readSize     = 16 << 10  // bytes read at once
	keepSize     = 256 << 10 // a larger buffer is given back when it is empty
	maxIdleReads = 100       // reads in a row that bring nothing
	smallPacket  = 4 << 10   // packets up to here are inflated into one buffer and copied out of it by field
)

// inbound is the reading side: raw bytes in a buffer, frames cut out of it.
type inbound struct {
	buf     []byte // buf[r:w] is read and decrypted
	r, w    int
	cipher  cipher.Stream
	inflate inflater
	small   []byte // small packets, inflated
	io      IO     // used for one packet after another
	lastID  int32  // id of the last packet, for counting unknown ones
}

// nextFrame returns the next frame's content. It is part of the buffer, good until the next call.
func (c *Conn) nextFrame() ([]byte, error) {
	n, head, err := c.frameLength()
	if err != nil {
		return nil, err
	}
	if err := c.need(head + n); err != nil {
		return nil, midFrame(err)
	}
	frame := c.in.buf[c.in.r+head : c.in.r+head+n : c.in.r+head+n]
	c.in.r += head + n
	c.count.framesIn.Add(1)
	c.count.bytesIn.Add(uint64(head + n))
	return frame, nil
}

// frameLength returns a frame's length and how many bytes say it. io.EOF means that the stream ended between frames.
func (c *Conn) frameLength() (n, head int, err error) {
	for head = 1; head <= 3; head++ {
		if err := c.need(head); err != nil {
			if head > 1 {
				err = midFrame(err)
			}
			return 0, 0, err
		}
		b := c.in.buf[c.in.r+head-1]
		n |= int(b&0x7F) << (7 * (head - 1))
		if b < 0x80 {
			return n, head, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: frame length of more than 3 bytes", ErrFrame)
}

func midFrame(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// need makes at least n bytes available, reading as often as that takes.
func (c *Conn) need(n int) error {
	in := &c.in
	if s := c.secret.Load(); s != nil && in.cipher == nil {
		in.cipher = s.decrypter()
		in.cipher.XORKeyStream(in.buf[in.r:in.w], in.buf[in.r:in.w])
	}
	for idle := 0; in.w-in.r < n; {
		in.room(n)
		got, err := c.stream.Read(in.buf[in.w:])
		if idle++; got > 0 {
			idle = 0
		} else if err == nil && idle > maxIdleReads {
			return io.ErrNoProgress
		}
		fresh := in.buf[in.w : in.w+got]
		if s := c.secret.Load(); s != nil && in.cipher == nil { // set while we waited: all that is unread came after it
			in.cipher = s.decrypter()
			fresh = in.buf[in.r : in.w+got]
		}
		if in.cipher != nil {
			in.cipher.XORKeyStream(fresh, fresh)
		}
		in.w += got
		if err != nil && in.w-in.r < n {
			return err
		}
	}
	return nil
}

// room makes space for n unread bytes and a read behind what is there.
func (in *inbound) room(n int) {
	if in.r == in.w {
		in.r, in.w = 0, 0
		if len(in.buf) > keepSize && n <= readSize {
			in.buf = nil
		}
	}
	switch {
	case in.w < len(in.buf) && (in.r == 0 || in.r+n <= len(in.buf)):
	case in.r > 0 && (n <= len(in.buf) || in.w < len(in.buf)):
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	default: // the word of a length alone gets no memory: the buffer grows with what has come
		grown := make([]byte, max(readSize, min(n+n/4, 2*len(in.buf))))
		in.w = copy(grown, in.buf[in.r:in.w])
		in.buf, in.r = grown, 0
	}
}

// unpack undoes compression. owned tells whether the result is free of the buffers of this side. With want, a packet whose
// id it refuses gives nil, without being inflated.
func (in *inbound) unpack(frame []byte, threshold int64, want func(id int32) bool) (data []byte, owned bool, err error) {
	if threshold < 0 {
		data, owned = in.plain(frame, want)
		return data, owned, nil
	}
	size, n := varint(frame)
	if n <= 0 {
		return nil, false, fmt.Errorf("inflated size: %w", ErrShort)
	}
	frame = frame[n:]
	if size == 0 {
		data, owned = in.plain(frame, want)
		return data, owned, nil
	}
	if size < 0 || size > MaxInflated || int64(size) > maxRatio*int64(len(frame)) {
		return nil, false, fmt.Errorf("%w: inflates to %d bytes from %d, at most %d", ErrTooLong, size, len(frame), MaxInflated)
	}
	return in.inflated(frame, int(size), want)
}

// maxRatio is the most that zlib can inflate one byte to.
const maxRatio = 1032

// plain handles a frame that is not compressed. Large ones are copied once, so that packets may keep parts of them.
func (in *inbound) plain(frame []byte, want func(int32) bool) ([]byte, bool) {
	id, _ := varint(frame)
	in.lastID = id
	switch {
	case want != nil && len(frame) > 0 && !want(id):
		return nil, false
	case len(frame) <= smallPacket:
		return frame, false
	}
	return slices.Clone(frame), true
}

func (in *inbound) inflated(frame []byte, size int, want func(int32) bool) ([]byte, bool, error) {
	if in.small == nil {
		in.small = make([]byte, smallPacket)
	}
	if err := in.inflate.open(frame); err != nil {
		return nil, false, err
	}
	head := in.small[:min(size, smallPacket)]
	if size > smallPacket && want != nil {
		head = head[:5] // an id
	}
	if err := in.inflate.read(head); err != nil {
		return nil, false, err
	}
	in.lastID, _ = varint(head)
	switch {
	case want != nil && !want(in.lastID):
		return nil, false, nil
	case size <= smallPacket:
		return head, false, in.inflate.end()
	}
	data := make([]byte, size)
	copy(data, head)
	if err := in.inflate.read(data[len(head):]); err != nil {
		return nil, false, err
	}
	return data, true, in.inflate.end()
}
