package wire

import (
	"fmt"

	"blockworld/worldstate/geom"
)

// UseItemOn uses the held item on a block.
type UseItemOn struct {
	Hand      Hand
	Pos       geom.BlockPos
	Face      geom.Face
	Cursor    [3]float32 // within the block, 0..1
	Inside    bool       // the head is inside the block
	BorderHit bool       // with feature UseItemOnBorderHit
	Sequence  int32
}

// Marshal reads or writes the packet.
func (p *UseItemOn) Marshal(io *IO) {
	io.hand(&p.Hand)
	io.BlockPos(&p.Pos)
	io.face(&p.Face)
	io.Float32(&p.Cursor[0])
	io.Float32(&p.Cursor[1])
	io.Float32(&p.Cursor[2])
	io.Bool(&p.Inside)
	if io.Has(UseItemOnBorderHit) {
		io.Bool(&p.BorderHit)
	}
	io.VarInt(&p.Sequence)
}

// face is a VarInt 0..5.
func (io *IO) face(f *geom.Face) {
	n := int32(*f)
	io.VarInt(&n)
	io.checkFace(n, f)
}

func (io *IO) checkFace(n int32, f *geom.Face) {
	if n < 0 || n > 5 {
		io.Fail(fmt.Errorf("%w: face %d", ErrMalformed, n))
		return
	}
	*f = geom.Face(n)
}

// UseItem uses the held item in the air.
type UseItem struct {
	Hand     Hand
	Sequence int32
	Rotation geom.Rotation // with feature UseItemRotation
}

// Marshal reads or writes the packet.
func (p *UseItem) Marshal(io *IO) {
	io.hand(&p.Hand)
	io.VarInt(&p.Sequence)
	if io.Has(UseItemRotation) {
		io.Rotation(&p.Rotation)
	}
}
