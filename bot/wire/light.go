package wire

// Light is the light of a column, raw: four bit sets of sections (sky, block, empty sky, empty block), then the arrays of
// the first two. Empty stands for none. AppendLight makes it.
type Light []byte

// LightData is light taken apart.
type LightData struct {
	SkyMask, BlockMask           []int64  // bit n: an array follows for section n, counted from one below the world
	EmptySkyMask, EmptyBlockMask []int64  // bit n: section n is dark
	Sky, Block                   [][]byte // 2048 bytes each, half a byte per block
}

// AppendLight appends light in the form of the wire, the same in every version.
func AppendLight(dst Light, l LightData) Light {
	for _, mask := range [][]int64{l.SkyMask, l.BlockMask, l.EmptySkyMask, l.EmptyBlockMask} {
		dst = appendVarInt(dst, int32(len(mask)))
		dst = appendLongs(dst, mask)
	}
	for _, arrays := range [][][]byte{l.Sky, l.Block} {
		dst = appendVarInt(dst, int32(len(arrays)))
		for _, a := range arrays {
			dst = appendVarInt(dst, int32(len(a)))
			dst = append(dst, a...)
		}
	}
	return dst
}

// light passes over it and keeps it as it is.
func (io *IO) light(l *Light) {
	if !io.reading {
		if len(*l) == 0 {
			*l = AppendLight(nil, LightData{})
		}
		io.noteBytes(leafRaw, *l)
		io.put(*l...)
		return
	}
	start := io.off
	for range 4 {
		io.take(8 * io.count(8))
	}
	for range 2 {
		for n := io.count(1); n > 0 && io.ok(); n-- {
			io.take(io.length(MaxInflated))
		}
	}
	if io.ok() {
		*l = io.own(io.buf[start:io.off:io.off])
	}
}
