package wire

import (
	"errors"
	"io"
	"math"
	"sync/atomic"

	"blockworld/worldstate/registry"
)

// Conn speaks packets over a stream. One goroutine may read while another writes; each side's settings take effect from
// its next frame on. Nothing that it returns is used by it again.
type Conn struct {
	stream io.ReadWriter
	reads  Direction

	// Settings. Set by whoever drives the connection, read by both sides.
	protocol   atomic.Int32
	readState  atomic.Uint32
	writeState atomic.Uint32
	follow     atomic.Bool
	secret     atomic.Pointer[secret]
	threshold  atomic.Int64 // of packets read; negative for no compression

	in    inbound  // the reader's
	out   outbound // the writer's
	count counts
}

// noCompression is the threshold before login_compression.
const noCompression = -1

// NewConn makes a connection that reads packets of one direction and writes those of the other, in state Handshake,
// speaking the latest protocol until SetProtocol. Closing the stream is the caller's.
func NewConn(stream io.ReadWriter, reads Direction) *Conn {
	c := &Conn{stream: stream, reads: reads}
	c.protocol.Store(int32(registry.Latest))
	c.threshold.Store(noCompression)
	c.out.threshold = noCompression
	return c
}

// SetProtocol sets the version being spoken.
func (c *Conn) SetProtocol(p registry.Protocol) { c.protocol.Store(int32(p)) }

// Protocol returns the version being spoken.
func (c *Conn) Protocol() registry.Protocol { return registry.Protocol(c.protocol.Load()) }

// SetReadState sets the state in which the next frame is read.
func (c *Conn) SetReadState(s State) { c.readState.Store(uint32(s)) }

// ReadState returns the state in which the next frame is read.
func (c *Conn) ReadState() State { return State(c.readState.Load()) }

// SetWriteState sets the state in which the next packet is written.
func (c *Conn) SetWriteState(s State) { c.writeState.Store(uint32(s)) }

// WriteState returns the state in which the next packet is written.
func (c *Conn) WriteState() State { return State(c.writeState.Load()) }

// SetState sets the state of both sides.
func (c *Conn) SetState(s State) {
	c.SetReadState(s)
	c.SetWriteState(s)
}

// FollowReads makes ReadPacket switch the reading state and compression by itself, as the packets it reads tell. A
// goroutine that reads ahead of the one that decides needs this; writing is never switched by it.
func (c *Conn) FollowReads(on bool) { c.follow.Store(on) }

// SetCompression compresses packets of at least threshold bytes from here on, both ways; a negative threshold stops it.
// Call it before the first packet that is to be compressed is read or written, from the goroutine that writes.
func (c *Conn) SetCompression(threshold int) {
	c.SetReadCompression(threshold)
	c.SetWriteCompression(threshold)
}

// SetWriteCompression is SetCompression for what is written only.
func (c *Conn) SetWriteCompression(threshold int) { c.out.threshold = max(threshold, noCompression) }

// SetReadCompression is SetCompression for what is read only.
func (c *Conn) SetReadCompression(threshold int) {
	c.threshold.Store(int64(min(max(threshold, noCompression), math.MaxInt32)))
}

// ReadPacket returns the next packet of the table; frames with other ids are skipped and counted. A *DecodeError costs
// that packet alone; any other error ends the stream (io.EOF between frames, ErrFrame for bytes that are no frame).
func (c *Conn) ReadPacket() (Packet, error) {
	for {
		pk, err := c.readPacket()
		if pk != nil || err != nil {
			return pk, err
		}
	}
}

// readPacket reads one frame; no packet and no error for an id that is not in the table.
func (c *Conn) readPacket() (Packet, error) {
	frame, err := c.nextFrame()
	if err != nil {
		return nil, err
	}
	p, s := c.Protocol(), c.ReadState()
	data, owned, err := c.in.unpack(frame, c.threshold.Load(), func(id int32) bool { return kindOf(p, s, c.reads, id) != 0 })
	if err != nil {
		return nil, c.undecodable(p, s, err)
	}
	if data == nil {
		c.count.unknownPacket(s, c.in.lastID)
		return nil, nil
	}
	pk, truncated, err := decode(&c.in.io, p, s, c.reads, data, owned)
	c.in.io.buf = nil
	switch {
	case errors.Is(err, ErrUnknownPacket):
		c.count.unknownPacket(s, c.in.lastID)
		return nil, nil
	case err != nil:
		c.count.decodeErrors.Add(1)
		return nil, err
	case truncated:
		c.count.truncated.Add(1)
	}
	if c.follow.Load() {
		c.followRead(pk)
	}
	return pk, nil
}

func (c *Conn) undecodable(p registry.Protocol, s State, err error) error {
	c.count.decodeErrors.Add(1)
	return &DecodeError{Protocol: p, Phase: s, Direction: c.reads, Packet: "compressed frame", ID: -1, Err: err}
}

// followRead switches the reading side after a packet that changes it.
func (c *Conn) followRead(pk Packet) {
	switch pk := pk.(type) {
	case *Intention:
		if pk.Intent == IntentStatus {
			c.SetReadState(Status)
		} else {
			c.SetReadState(Login)
		}
	case *LoginCompression:
		c.SetReadCompression(int(pk.Threshold))
	case *LoginFinished, *LoginAcknowledged, *StartConfiguration, *ConfigurationAcknowledged:
		c.SetReadState(Configuration)
	case *FinishConfiguration:
		c.SetReadState(Play)
	}
}

// ReadFrame returns the next frame of any id, inflated: id and body, as Decode and DecodePacket take it. It belongs to
// the caller. It follows no state changes.
func (c *Conn) ReadFrame() ([]byte, error) {
	frame, err := c.nextFrame()
	if err != nil {
		return nil, err
	}
	data, owned, err := c.in.unpack(frame, c.threshold.Load(), nil)
	if err != nil {
		return nil, c.undecodable(c.Protocol(), c.ReadState(), err)
	}
	if !owned {
		data = append([]byte(nil), data...)
	}
	return data, nil
}

// Decode decodes what ReadFrame returned, in the reading state and version. The packet may keep parts of data.
func (c *Conn) Decode(data []byte) (Packet, error) {
	var r IO
	pk, truncated, err := decode(&r, c.Protocol(), c.ReadState(), c.reads, data, true)
	if truncated {
		c.count.truncated.Add(1)
	}
	if err != nil {
		if id, n := varint(data); n > 0 && errors.Is(err, ErrUnknownPacket) {
			c.count.unknownPacket(c.ReadState(), id)
		} else {
			c.count.decodeErrors.Add(1)
		}
	}
	if err == nil && c.follow.Load() {
		c.followRead(pk)
	}
	return pk, err
}

// WritePacket encodes a packet in the writing state and version into the buffer that Flush sends. ErrUnknownPacket when
// it does not exist there; nothing is written then.
func (c *Conn) WritePacket(pk Packet) error {
	data, err := encode(&c.out.io, c.out.packet[:0], c.Protocol(), c.WriteState(), c.reads.Opposite(), pk)
	c.out.io.buf = nil
	if err != nil {
		return err
	}
	c.out.packet = keepSmall(data)
	return c.WriteFrame(data)
}

// WriteFrame puts id and body, as they are, into the buffer that Flush sends.
func (c *Conn) WriteFrame(data []byte) error {
	c.out.useSecret(c.secret.Load())
	n, err := c.out.frame(data)
	if err != nil {
		return err
	}
	c.count.framesOut.Add(1)
	c.count.bytesOut.Add(uint64(n))
	if len(c.out.buf) >= flushAt {
		return c.Flush()
	}
	return nil
}

// Flush sends what has been written.
func (c *Conn) Flush() error {
	if len(c.out.buf) == 0 {
		return nil
	}
	_, err := c.stream.Write(c.out.buf)
	c.out.buf = keepSmall(c.out.buf)[:0]
	return err
}
