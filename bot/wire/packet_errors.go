package wire

import (
	"fmt"

	"blockworld/worldstate/registry"
)

func unknownPacket(p registry.Protocol, s State, d Direction, pk Packet) error {
	if !p.Known() {
		return fmt.Errorf("encode %T: %w %d", pk, ErrUnknownProtocol, int32(p))
	}
	return fmt.Errorf("encode %T for %s, %s %s: %w", pk, p, s, d, ErrUnknownPacket)
}

func unknownID(p registry.Protocol, s State, d Direction, id int32) error {
	if !p.Known() {
		return fmt.Errorf("decode id %#02x: %w %d", id, ErrUnknownProtocol, int32(p))
	}
	return fmt.Errorf("decode id %#02x of %s, %s %s: %w", id, p, s, d, ErrUnknownPacket)
}

func encodeError(p registry.Protocol, s State, d Direction, pk Packet, err error) error {
	return fmt.Errorf("encode %s (%s %s, %s): %w", PacketName(s, d, pk), s, d, p, err)
}
