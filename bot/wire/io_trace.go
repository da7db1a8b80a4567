package wire

// leaf is one field as it was written. Tests compare the leaves with those of an independent codec, so that equal
// bytes with differently cut fields do not pass.
type leaf struct {
	kind  leafKind
	n     int64  // number, or the bits of a float64
	bytes string // text and bytes
	width int    // bytes of a fixed number, 32 and 64 for VarInt and VarLong, bits for parts of a position
}

type leafKind uint8

const (
	leafInt leafKind = iota
	leafFloat
	leafString
	leafBytes
	leafUUID
	leafCount
	leafNBT
	leafRaw // kept as it is; an independent codec sees fields in it
)

func (io *IO) note(k leafKind, n int64, width int) {
	if io.trace != nil && io.err == nil {
		*io.trace = append(*io.trace, leaf{kind: k, n: n, width: width})
	}
}

func (io *IO) noteCount(n int32) { io.note(leafCount, int64(n), 32) }

func (io *IO) noteBytes(k leafKind, b []byte) {
	if io.trace != nil && io.err == nil {
		*io.trace = append(*io.trace, leaf{kind: k, bytes: string(b)})
	}
}
