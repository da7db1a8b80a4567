package wire

import "blockworld/worldstate/registry"

// Metadata is an entity's metadata, raw: index, type, value, and so on until metadataEnd.
type Metadata []byte

// metadataEnd is the index that ends it.
const metadataEnd = 0xFF

// Each calls f for every entry until f returns false; types are numbered by the version, value is part of m. It returns
// false when the end was not reached because a type is unknown or the bytes are malformed; what came before is right.
func (m Metadata) Each(p registry.Protocol, f func(index uint8, kind int32, value []byte) bool) bool {
	s := schemaOf(p)
	io := IO{buf: m, p: p, reading: true, keep: true}
	for s != nil {
		var index uint8
		io.Uint8(&index)
		if !io.ok() || index == metadataEnd {
			return io.ok()
		}
		kind := io.skipVarInt()
		if kind < 0 || int(kind) >= len(s.metadata) {
			return false
		}
		start := io.off
		io.skipNode(s, s.metadata[kind])
		if !io.ok() {
			return false
		}
		if !f(index, kind, m[start:io.off]) {
			return true
		}
	}
	return false
}
