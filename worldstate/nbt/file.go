package nbt

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
)

// DefaultFileBytes is the most unpacked bytes that ReadFile accepts if its caller names no limit.
const DefaultFileBytes = 256 << 20

// ReadFile reads a file: gzip, zlib or plain, told apart by its first bytes, with a named compound as root. More than
// maxBytes unpacked bytes (0 stands for DefaultFileBytes) give ErrTooLarge before they are kept.
func ReadFile(r io.Reader, maxBytes int64, l Limits) (name string, root Compound, err error) {
	if maxBytes <= 0 {
		maxBytes = DefaultFileBytes
	}
	plain, err := unpack(bufio.NewReader(r))
	if err != nil {
		return "", nil, err
	}
	data, err := io.ReadAll(io.LimitReader(plain, maxBytes+1))
	if int64(len(data)) > maxBytes {
		return "", nil, fmt.Errorf("%w: more than %d bytes unpacked", ErrTooLarge, maxBytes)
	}
	if err != nil {
		return "", nil, unpackError(err)
	}
	name, v, _, err := ParseNamed(data, l)
	if err != nil {
		return "", nil, err
	}
	root, ok := v.(Compound)
	if !ok {
		return "", nil, fmt.Errorf("%w: the file's root is not a compound", ErrInvalid)
	}
	return name, root, nil
}

// unpack looks at the first bytes and puts the right decompressor in front.
func unpack(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, unpackError(err)
	}
	switch {
	case head[0] == 0x1f && head[1] == 0x8b:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, unpackError(err)
		}
		z.Multistream(false)
		return z, nil
	case head[0] == 0x78 && (uint(head[0])<<8|uint(head[1]))%31 == 0:
		z, err := zlib.NewReader(r)
		if err != nil {
			return nil, unpackError(err)
		}
		return z, nil
	}
	return r, nil
}

// unpackError puts a decompressor's complaint into this package's words.
func unpackError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// WriteFile writes a gzip file with a named root.
func WriteFile(w io.Writer, name string, root Compound) error {
	z := gzip.NewWriter(w)
	if _, err := z.Write(AppendNamed(nil, name, root)); err != nil {
		return err
	}
	return z.Close()
}
