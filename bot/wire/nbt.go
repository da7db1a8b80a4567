package wire

import (
	"fmt"

	"blockworld/worldstate/nbt"
)

// NBT is network NBT (no name at the root) as received: a tag type, then its payload. It is untrusted and unparsed; its
// structure and depth have been checked. Empty stands for TAG_End, "nothing here".
type NBT []byte

// NBT is one tag; empty is written as TAG_End.
func (io *IO) NBT(v *NBT) {
	if !io.reading {
		io.putNBT(*v)
		return
	}
	b := io.takeNBT()
	if !io.ok() {
		return
	}
	if len(b) == 1 { // TAG_End alone
		*v = nil
		return
	}
	*v = io.own(b)
}

func (io *IO) takeNBT() []byte {
	if io.err != nil {
		return nil
	}
	rest, err := nbt.Skip(io.buf[io.off:])
	if err != nil {
		io.Fail(fmt.Errorf("%w: %w", ErrMalformed, err))
		return nil
	}
	return io.take(io.remaining() - len(rest))
}

func (io *IO) putNBT(b []byte) {
	if len(b) == 0 {
		b = []byte{byte(nbt.TagEnd)}
	}
	io.noteBytes(leafNBT, b)
	io.put(b...)
}
