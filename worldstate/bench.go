package worldstate

import "encoding/binary"

// CopyAndPass is the least work that any decoder of data has: one copy to fresh memory and one pass over its big-endian
// words. It returns their sum. `blockworld bench` sets it beside DecodeColumn in the same run.
func CopyAndPass(data []byte) uint64 {
	fresh := make([]byte, len(data))
	copy(fresh, data)
	var sum uint64
	for len(fresh) >= 8 {
		sum += binary.BigEndian.Uint64(fresh)
		fresh = fresh[8:]
	}
	return sum
}

// SectionBits returns, bottom up, the width of each section's fields: 0 for a single state, 4 to 8 with a palette, more
// for direct ids.
func (c *Column) SectionBits() []int {
	out := make([]int, len(c.sections))
	for i, s := range c.sections {
		out[i] = int(s.bits)
	}
	return out
}
