package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"blockworld/worldstate/registry"
)

// A capture is the packets of one connection in a file, without its secrets (see redact.go):
//
//	"BWCAP1\n", uvarint protocol, uvarint length and text of the program's version, then records:
//	byte direction<<7 | state, uvarint milliseconds since the record before, uvarint length, id and body.
//
// Records are whole packets after inflating and decrypting. A file cut off in the middle of a record ends there with
// io.ErrUnexpectedEOF.

// captureMagic starts every capture.
const captureMagic = "BWCAP1\n"

// ErrCapture says that a file is no capture, or one of another version of the format.
var ErrCapture = errors.New("not a capture that this program can read")

// CaptureHeader says what a capture is of.
type CaptureHeader struct {
	Protocol registry.Protocol
	Program  string // version of the program that wrote it
}

// CaptureRecord is one packet of a capture.
type CaptureRecord struct {
	Direction Direction
	State     State
	At        time.Duration // since the capture began, in steps of a millisecond
	Data      []byte        // id and body, as DecodePacket takes it
}

// CaptureWriter writes a capture. Its first error sticks.
type CaptureWriter struct {
	w      *bufio.Writer
	header CaptureHeader
	last   time.Duration
	err    error
}

// NewCaptureWriter starts a capture.
func NewCaptureWriter(w io.Writer, h CaptureHeader) (*CaptureWriter, error) {
	c := &CaptureWriter{w: bufio.NewWriter(w), header: h}
	b := binary.AppendUvarint([]byte(captureMagic), uint64(uint32(h.Protocol)))
	b = binary.AppendUvarint(b, uint64(len(h.Program)))
	_, c.err = c.w.Write(append(b, h.Program...))
	return c, c.err
}

// Write appends a packet without its secrets. Times that run backwards count as no time.
func (c *CaptureWriter) Write(r CaptureRecord) error {
	if c.err != nil {
		return c.err
	}
	data := Redact(c.header.Protocol, r.State, r.Direction, r.Data)
	step := max(0, r.At.Milliseconds()-c.last.Milliseconds())
	c.last = max(c.last, r.At)
	b := []byte{byte(r.Direction)<<7 | byte(r.State)}
	b = binary.AppendUvarint(b, uint64(step))
	b = binary.AppendUvarint(b, uint64(len(data)))
	if _, c.err = c.w.Write(b); c.err == nil {
		_, c.err = c.w.Write(data)
	}
	return c.err
}

// Flush hands on what has been written.
func (c *CaptureWriter) Flush() error {
	if c.err == nil {
		c.err = c.w.Flush()
	}
	return c.err
}

// CaptureReader reads a capture.
type CaptureReader struct {
	Header CaptureHeader
	r      *bufio.Reader
	at     time.Duration
}

// NewCaptureReader reads the head of a capture. ErrCapture for a file that is none.
func NewCaptureReader(r io.Reader) (*CaptureReader, error) {
	c := &CaptureReader{r: bufio.NewReader(r)}
	magic := make([]byte, len(captureMagic))
	if _, err := io.ReadFull(c.r, magic); err != nil || string(magic) != captureMagic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrCapture, captureMagic)
	}
	p, err := c.uvarint(1 << 31)
	if err != nil {
		return nil, fmt.Errorf("%w: protocol: %w", ErrCapture, err)
	}
	n, err := c.uvarint(256)
	if err != nil {
		return nil, fmt.Errorf("%w: program: %w", ErrCapture, err)
	}
	program := make([]byte, n)
	if _, err := io.ReadFull(c.r, program); err != nil {
		return nil, fmt.Errorf("%w: program: %w", ErrCapture, midFrame(err))
	}
	c.Header = CaptureHeader{Protocol: registry.Protocol(p), Program: string(program)}
	return c, nil
}

// Next returns the next packet; io.EOF behind the last one, io.ErrUnexpectedEOF when the file was cut off.
func (c *CaptureReader) Next() (CaptureRecord, error) {
	head, err := c.r.ReadByte()
	if err != nil {
		return CaptureRecord{}, err
	}
	r := CaptureRecord{Direction: Direction(head >> 7), State: State(head & 0x7F)}
	if r.State >= stateCount {
		return r, fmt.Errorf("%w: a record of state %d", ErrCapture, r.State)
	}
	step, err := c.uvarint(1 << 40)
	if err != nil {
		return r, err
	}
	n, err := c.uvarint(MaxInflated)
	if err != nil {
		return r, err
	}
	c.at += time.Duration(step) * time.Millisecond
	r.At = c.at
	r.Data, err = readGrowing(c.r, int(n))
	return r, err
}

func (c *CaptureReader) uvarint(most uint64) (uint64, error) {
	n, err := binary.ReadUvarint(c.r)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return 0, io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCapture, err)
	}
	if n > most {
		return 0, fmt.Errorf("%w: a length of %d, at most %d", ErrCapture, n, most)
	}
	return n, nil
}

// readGrowing reads n bytes, taking memory as they come.
func readGrowing(r io.Reader, n int) ([]byte, error) {
	const step = 64 << 10
	var out []byte
	for len(out) < n {
		k := min(step, n-len(out))
		out = append(out, make([]byte, k)...)
		if _, err := io.ReadFull(r, out[len(out)-k:]); err != nil {
			return nil, midFrame(err)
		}
	}
	return out, nil
}
