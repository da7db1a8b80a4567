package wire

import (
	"errors"
	"fmt"
	"strconv"

	"blockworld/worldstate/registry"
)

// What can be wrong with the bytes of a packet. A *DecodeError wraps one of these.
var (
	ErrShort     = errors.New("the packet ends too early")
	ErrTrailing  = errors.New("the packet has bytes left over; the other side speaks another version or a modified protocol")
	ErrTooLong   = errors.New("a length is beyond its limit")
	ErrMalformed = errors.New("a value is not allowed here")
)

// What can be wrong with the stream itself; after one of these no further packet can be read.
var (
	ErrFrame = errors.New("the stream is not a Minecraft stream, or out of step")
)

// What can be wrong with a call.
var (
	ErrUnknownPacket   = errors.New("no such packet in this protocol version, state and direction")
	ErrUnknownProtocol = errors.New("unknown protocol version")
)

// DecodeError says which packet could not be decoded and where. The connection it came from is still usable: the
// packet's frame has been consumed.
type DecodeError struct {
	Protocol  registry.Protocol
	Phase     State
	Direction Direction
	Packet    string // official name, as in "block_update"
	ID        int32  // -1 if not even the id could be read
	Offset    int    // bytes into the packet's body
	Err       error
}

// Error names packet, phase, version and place.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s (%s %s, id %#02x, %s) at byte %d: %v", e.Packet, e.Phase, e.Direction, e.ID, e.Protocol, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *DecodeError) Unwrap() error { return e.Err }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
