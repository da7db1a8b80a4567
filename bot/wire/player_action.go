package wire

import "blockworld/worldstate/geom"

// PlayerAction digs, drops or releases.
type PlayerAction struct {
	Action   DigAction
	Pos      geom.BlockPos
	Face     geom.Face
	Sequence int32
}

// DigAction is what PlayerAction does.
type DigAction int32

// The actions.
const (
	StartDigging DigAction = iota
	AbortDigging
	FinishDigging
	DropStack
	DropItem
	ReleaseUse
	SwapHands
	Stab // 1.21.11 and later
)

// Marshal reads or writes the packet.
func (p *PlayerAction) Marshal(io *IO) {
	io.VarInt((*int32)(&p.Action))
	io.BlockPos(&p.Pos)
	face := uint8(p.Face)
	io.Uint8(&face)
	io.checkFace(int32(face), &p.Face)
	io.VarInt(&p.Sequence)
}
