package wire

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// inflater inflates zlib streams of known size one after another with the same memory. The checksum behind the data is
// not compared: TCP has one, and a wrong packet fails by itself.
type inflater struct {
	src bytes.Reader
	z   io.ReadCloser
}

// open starts on a stream.
func (f *inflater) open(b []byte) error {
	// RFC 1950: method 8, window at most 32 KiB, no dictionary, header divisible by 31.
	if len(b) < 2 || b[0]&0x0F != 8 || b[0]>>4 > 7 || b[1]&0x20 != 0 || (int(b[0])<<8|int(b[1]))%31 != 0 {
		return fmt.Errorf("%w: not a zlib stream", ErrMalformed)
	}
	f.src.Reset(b[2:])
	if f.z == nil {
		f.z = flate.NewReader(&f.src)
		return nil
	}
	return f.z.(flate.Resetter).Reset(&f.src, nil)
}

// read fills dst.
func (f *inflater) read(dst []byte) error {
	if _, err := io.ReadFull(f.z, dst); err != nil {
		return fmt.Errorf("%w: inflate: %w", ErrMalformed, err)
	}
	return nil
}

// end checks that the stream holds nothing more.
func (f *inflater) end() error {
	var one [1]byte
	if n, err := f.z.Read(one[:]); n != 0 || err != io.EOF {
		return fmt.Errorf("%w: the compressed data is longer than it says, or broken at its end", ErrMalformed)
	}
	return nil
}
