package wire

import (
	"encoding/binary"

	"blockworld/worldstate/nbt"
)

// Heightmaps is the heightmaps of a column, raw: a list of arrays with feature HeightmapList, else NBT. Empty stands for
// none. AppendHeightmaps makes them.
type Heightmaps []byte

// Heightmap is one of them: 256 heights above the dimension's floor, 9 bits each in worlds of 384 blocks, packed into longs.
type Heightmap struct {
	Kind HeightmapKind
	Data []int64
}

// HeightmapKind says what counts as ground.
type HeightmapKind int32

// The kinds that servers send.
const (
	WorldSurface           HeightmapKind = 1
	MotionBlocking         HeightmapKind = 4
	MotionBlockingNoLeaves HeightmapKind = 5
)

func (k HeightmapKind) nbtName() string {
	switch k {
	case WorldSurface:
		return "WORLD_SURFACE"
	case MotionBlocking:
		return "MOTION_BLOCKING"
	}
	return "MOTION_BLOCKING_NO_LEAVES"
}

// AppendHeightmaps appends heightmaps in the form that has feature HeightmapList or has not.
func AppendHeightmaps(dst Heightmaps, list bool, maps ...Heightmap) Heightmaps {
	if list {
		dst = appendVarInt(dst, int32(len(maps)))
		for _, m := range maps {
			dst = appendVarInt(dst, int32(m.Kind))
			dst = appendVarInt(dst, int32(len(m.Data)))
			dst = appendLongs(dst, m.Data)
		}
		return dst
	}
	dst = append(dst, byte(nbt.TagCompound))
	for _, m := range maps {
		name := m.Kind.nbtName()
		dst = append(dst, byte(nbt.TagLongArray), 0, byte(len(name)))
		dst = append(dst, name...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(m.Data)))
		dst = appendLongs(dst, m.Data)
	}
	return append(dst, byte(nbt.TagEnd))
}

func appendLongs(dst []byte, longs []int64) []byte {
	for _, l := range longs {
		dst = binary.BigEndian.AppendUint64(dst, uint64(l))
	}
	return dst
}

// heightmaps passes over them and keeps them as they are.
func (io *IO) heightmaps(h *Heightmaps) {
	if !io.reading {
		if len(*h) == 0 {
			*h = AppendHeightmaps(nil, io.Has(HeightmapList))
		}
		io.noteBytes(leafRaw, *h)
		io.put(*h...)
		return
	}
	start := io.off
	if io.Has(HeightmapList) {
		for n := io.count(2); n > 0 && io.ok(); n-- {
			var kind int32
			io.VarInt(&kind)
			io.take(8 * io.count(8))
		}
	} else {
		io.takeNBT()
	}
	if io.ok() {
		*h = io.own(io.buf[start:io.off:io.off])
	}
}
