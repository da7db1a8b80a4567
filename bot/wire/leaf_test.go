package wire

import (
	"encoding/hex"
	"fmt"

	"blockworld/worldstate/registry"
)

// String writes a leaf as the independent codec does: kind, then value; numbers without sign.
func (l leaf) String() string {
	switch l.kind {
	case leafFloat:
		return fmt.Sprintf("f%016x", uint64(l.n))
	case leafString:
		return "s" + l.bytes
	case leafBytes:
		return "b" + hex.EncodeToString([]byte(l.bytes))
	case leafUUID:
		return "u" + hex.EncodeToString([]byte(l.bytes))
	case leafCount:
		return fmt.Sprint("n", l.n)
	case leafNBT:
		return "t" + hex.EncodeToString([]byte(l.bytes))
	case leafRaw:
		return "r"
	}
	bits := l.width
	if bits <= 8 {
		bits *= 8
	}
	u := uint64(l.n)
	if bits < 64 {
		u &= 1<<bits - 1
	}
	return fmt.Sprint("i", u)
}

// encodeTraced encodes a packet and returns its leaves too.
func encodeTraced(p registry.Protocol, s State, d Direction, pk Packet) ([]byte, []string, error) {
	id, ok := ID(p, s, d, pk)
	if !ok {
		return nil, nil, unknownPacket(p, s, d, pk)
	}
	var trace []leaf
	w := IO{buf: appendVarInt(nil, id), p: p, trace: &trace}
	pk.Marshal(&w)
	leaves := make([]string, len(trace))
	for i, l := range trace {
		leaves[i] = l.String()
	}
	return w.buf, leaves, w.err
}
