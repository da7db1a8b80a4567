package effects

import (
	"crypto/sha256"
	"encoding/binary"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// CellHash is one cell's share of a cursor's hash. Shares are added modulo 2^64, so their order does not matter and a
// cell that changes is one subtraction and one addition.
func CellHash(pos geom.BlockPos, s registry.StateID) uint64 {
	var w writer
	w.pos(pos)
	w.u32(uint32(s))
	sum := sha256.Sum256(w.record(kindCursor))
	return binary.BigEndian.Uint64(sum[:])
}
