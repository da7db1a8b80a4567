package wire

import "blockworld/worldstate/geom"

// SpawnInfo says in which dimension and mode a player appears; part of LoginPlay and Respawn.
type SpawnInfo struct {
	DimensionType  string // name, without feature DimensionByIndex
	DimensionIndex int32  // index into the dimension_type registry as received, with it
	Dimension      string // name of the dimension
	HashedSeed     int64
	GameMode       uint8
	PreviousMode   int8 // -1 none
	Debug, Flat    bool
	HasDeath       bool
	Death          GlobalPos
	PortalCooldown int32
	SeaLevel       int32 // with feature SeaLevel
}

// GlobalPos is a position in a named dimension.
type GlobalPos struct {
	Dimension string
	Pos       geom.BlockPos
}

func (io *IO) globalPos(g *GlobalPos) {
	io.String(&g.Dimension, maxKey)
	io.BlockPos(&g.Pos)
}

func (io *IO) spawnInfo(s *SpawnInfo) {
	if io.Has(DimensionByIndex) {
		io.VarInt(&s.DimensionIndex)
	} else {
		io.String(&s.DimensionType, maxKey)
	}
	io.String(&s.Dimension, maxKey)
	io.Int64(&s.HashedSeed)
	io.Uint8(&s.GameMode)
	io.Int8(&s.PreviousMode)
	io.Bool(&s.Debug)
	io.Bool(&s.Flat)
	if io.Flag(&s.HasDeath) {
		io.globalPos(&s.Death)
	}
	io.VarInt(&s.PortalCooldown)
	if io.Has(SeaLevel) {
		io.VarInt(&s.SeaLevel)
	}
}
