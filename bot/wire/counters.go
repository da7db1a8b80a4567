package wire

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Counters tell what went over a connection.
type Counters struct {
	FramesIn, BytesIn   uint64
	FramesOut, BytesOut uint64
	DecodeErrors        uint64 // packets of the table that could not be decoded
	Truncated           uint64 // packets with an unknown component, decoded up to it
	Unknown             map[UnknownPacket]uint64
}

// UnknownPacket is a packet that is not in the table.
type UnknownPacket struct {
	State State
	ID    int32
}

// maxUnknown bounds how many different unknown packets are told apart; the rest are counted under id -1.
const maxUnknown = 1024

type counts struct {
	framesIn, bytesIn, framesOut, bytesOut, decodeErrors, truncated atomic.Uint64

	mu      sync.Mutex
	unknown map[UnknownPacket]uint64
}

func (c *counts) unknownPacket(s State, id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unknown == nil {
		c.unknown = map[UnknownPacket]uint64{}
	}
	k := UnknownPacket{s, id}
	if _, ok := c.unknown[k]; !ok && len(c.unknown) >= maxUnknown {
		k.ID = -1
	}
	c.unknown[k]++
}

// Counters returns a copy of the counters. Any goroutine may call it.
func (c *Conn) Counters() Counters {
	c.count.mu.Lock()
	unknown := maps.Clone(c.count.unknown)
	c.count.mu.Unlock()
	return Counters{
		FramesIn: c.count.framesIn.Load(), BytesIn: c.count.bytesIn.Load(),
		FramesOut: c.count.framesOut.Load(), BytesOut: c.count.bytesOut.Load(),
		DecodeErrors: c.count.decodeErrors.Load(), Truncated: c.count.truncated.Load(),
		Unknown: unknown,
	}
}
