package wire

import "blockworld/worldstate/registry"

// Packet is one packet of the game. Marshal reads or writes its body, without the id, depending on io.Reading.
type Packet interface {
	Marshal(io *IO)
}

// Lookup returns an empty packet for an id; false when the id is not in the table.
func Lookup(p registry.Protocol, s State, d Direction, id int32) (Packet, bool) {
	k := kindOf(p, s, d, id)
	if k == 0 {
		return nil, false
	}
	return newPacket(k), true
}

// ID returns the id of a packet in one protocol, state and direction; false when it does not exist there.
func ID(p registry.Protocol, s State, d Direction, pk Packet) (int32, bool) {
	k := kindByType(pk)
	if k == 0 || !p.Known() || s >= stateCount || d >= directionCount {
		return -1, false
	}
	slot := stateSlots[k][s][d]
	if slot < 0 {
		return -1, false
	}
	id := packetIDs[p-registry.First][slot]
	return int32(id), id >= 0
}

// NameOf returns the official name of an id, such as "block_update"; "unknown" when it is not in the table.
func NameOf(p registry.Protocol, s State, d Direction, id int32) string {
	if k := kindOf(p, s, d, id); k != 0 {
		if slot := stateSlots[k][s][d]; slot >= 0 {
			return slotNames[slot]
		}
	}
	return "unknown"
}

// PacketName returns the official name of a packet in a state and direction, "unknown" if it has none there.
func PacketName(s State, d Direction, pk Packet) string {
	k := kindByType(pk)
	if k == 0 || s >= stateCount || d >= directionCount || stateSlots[k][s][d] < 0 {
		return "unknown"
	}
	return slotNames[stateSlots[k][s][d]]
}

// IDs lists the ids of the table in one protocol, state and direction, ascending.
func IDs(p registry.Protocol, s State, d Direction) []int32 {
	var out []int32
	if !p.Known() || s >= stateCount || d >= directionCount {
		return nil
	}
	for id, k := range packetKinds[p-registry.First][s][d] {
		if k != 0 {
			out = append(out, int32(id))
		}
	}
	return out
}

func kindOf(p registry.Protocol, s State, d Direction, id int32) kind {
	if !p.Known() || s >= stateCount || d >= directionCount {
		return 0
	}
	table := packetKinds[p-registry.First][s][d]
	if id < 0 || int(id) >= len(table) {
		return 0
	}
	return kind(table[id])
}

// DecodePacket decodes one packet: id and body, as they stand in a frame after inflating. The packet may keep parts of
// data. ErrUnknownPacket when the id is not in the table, else a *DecodeError.
func DecodePacket(p registry.Protocol, s State, d Direction, data []byte) (Packet, error) {
	var r IO
	pk, _, err := decode(&r, p, s, d, data, true)
	return pk, err
}

// EncodePacket appends a packet's id and body to dst. ErrUnknownPacket when the packet does not exist there.
func EncodePacket(dst []byte, p registry.Protocol, s State, d Direction, pk Packet) ([]byte, error) {
	var w IO
	return encode(&w, dst, p, s, d, pk)
}

// encode is EncodePacket with an IO that may be used again.
func encode(w *IO, dst []byte, p registry.Protocol, s State, d Direction, pk Packet) ([]byte, error) {
	id, ok := ID(p, s, d, pk)
	if !ok {
		return dst, unknownPacket(p, s, d, pk)
	}
	*w = IO{buf: appendVarInt(dst, id), p: p}
	pk.Marshal(w)
	if w.err != nil && w.err != errTruncated {
		return dst, encodeError(p, s, d, pk, w.err)
	}
	return w.buf, nil
}

// decode decodes a packet. With keep it may keep parts of data; truncated tells that an unknown component hid the rest. r is
// used and may be used again.
func decode(r *IO, p registry.Protocol, s State, d Direction, data []byte, keep bool) (pk Packet, truncated bool, err error) {
	id, n := varint(data)
	if n <= 0 {
		return nil, false, &DecodeError{Protocol: p, Phase: s, Direction: d, Packet: "packet id", ID: -1, Err: ErrShort}
	}
	pk, ok := Lookup(p, s, d, id)
	if !ok {
		return nil, false, unknownID(p, s, d, id)
	}
	*r = IO{buf: data[n:], p: p, reading: true, keep: keep}
	pk.Marshal(r)
	if r.err == nil && r.off < len(r.buf) {
		r.err = ErrTrailing
	}
	if r.err != nil && r.err != errTruncated {
		return nil, false, &DecodeError{Protocol: p, Phase: s, Direction: d, Packet: NameOf(p, s, d, id), ID: id, Offset: r.off, Err: r.err}
	}
	return pk, r.err == errTruncated, nil
}
