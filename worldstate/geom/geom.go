package geom

import (
	"fmt"
	"math"

	"github.com/go-gl/mathgl/mgl64"
)

// Vec3 is a point or a displacement in blocks. X grows to the east, Y upwards, Z to the south.
type Vec3 = mgl64.Vec3

// BlockPos is the position of one block cell: its minimum corner, in blocks.
type BlockPos struct{ X, Y, Z int32 }

// Add returns p moved by d.
func (p BlockPos) Add(d BlockPos) BlockPos { return BlockPos{p.X + d.X, p.Y + d.Y, p.Z + d.Z} }

// Sub returns the displacement from q to p.
func (p BlockPos) Sub(q BlockPos) BlockPos { return BlockPos{p.X - q.X, p.Y - q.Y, p.Z - q.Z} }

// Neighbour returns the cell that touches p at face f.
func (p BlockPos) Neighbour(f Face) BlockPos { return p.Add(f.Normal()) }

// Corner returns the minimum corner of the cell.
func (p BlockPos) Corner() Vec3 { return Vec3{float64(p.X), float64(p.Y), float64(p.Z)} }

// Centre returns the middle of the cell.
func (p BlockPos) Centre() Vec3 {
	return Vec3{float64(p.X) + 0.5, float64(p.Y) + 0.5, float64(p.Z) + 0.5}
}

// Chunk returns the chunk column that holds p.
func (p BlockPos) Chunk() ChunkPos { return ChunkPos{p.X >> 4, p.Z >> 4} }

// Less orders positions by Y, then Z, then X: the order in which a building grows.
func (p BlockPos) Less(q BlockPos) bool {
	if p.Y != q.Y {
		return p.Y < q.Y
	}
	if p.Z != q.Z {
		return p.Z < q.Z
	}
	return p.X < q.X
}

// String writes the position as players type it: "X,Y,Z".
func (p BlockPos) String() string { return fmt.Sprintf("%d,%d,%d", p.X, p.Y, p.Z) }

// ChunkPos is the position of a chunk column in units of 16 blocks.
type ChunkPos struct{ X, Z int32 }

// String writes the column as "X,Z".
func (c ChunkPos) String() string { return fmt.Sprintf("%d,%d", c.X, c.Z) }

// BlockAt returns the cell that contains v. The caller makes sure that v is finite and within int32.
func BlockAt(v Vec3) BlockPos {
	return BlockPos{int32(math.Floor(v[0])), int32(math.Floor(v[1])), int32(math.Floor(v[2]))}
}

// Finite tells whether no coordinate of v is NaN or infinite.
func Finite(v Vec3) bool {
	for _, c := range v {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return false
		}
	}
	return true
}

// Rotation is a look direction in degrees. Yaw 0 looks south (+Z), 90 west; pitch 90 looks straight down.
type Rotation struct{ Yaw, Pitch float32 }

// Vector returns the unit vector of the look.
func (r Rotation) Vector() Vec3 {
	yaw, pitch := float64(r.Yaw)*math.Pi/180, float64(r.Pitch)*math.Pi/180
	return Vec3{-math.Sin(yaw) * math.Cos(pitch), -math.Sin(pitch), math.Cos(yaw) * math.Cos(pitch)}
}

// Horizontal returns the horizontal face the look points at: floor(yaw/90+0.5)&3 counts south, west, north, east.
func (r Rotation) Horizontal() Face {
	return [4]Face{South, West, North, East}[int(math.Floor(float64(r.Yaw)/90+0.5))&3]
}

// Finite tells whether neither angle is NaN or infinite.
func (r Rotation) Finite() bool { return Finite(Vec3{float64(r.Yaw), float64(r.Pitch), 0}) }

// RotationTo returns the look from eye towards target. Yaw lies in -180..180.
func RotationTo(eye, target Vec3) Rotation {
	d := target.Sub(eye)
	flat := math.Hypot(d[0], d[2])
	if flat < 1e-9 && math.Abs(d[1]) < 1e-9 {
		return Rotation{}
	}
	yaw := 0.0
	if flat >= 1e-9 {
		yaw = math.Atan2(-d[0], d[2]) * 180 / math.Pi
	}
	return Rotation{Yaw: float32(yaw), Pitch: float32(-math.Atan2(d[1], flat) * 180 / math.Pi)}
}

// Eye heights of a player above its feet, in blocks.
const (
	EyeStanding = 1.62
	EyeSneaking = 1.27
)

// Size of a player's collision box, in blocks.
const (
	PlayerWidth          = 0.6
	PlayerHeight         = 1.8
	PlayerHeightSneaking = 1.5
)

// PlayerBox returns the collision box of a player whose feet are at feet.
func PlayerBox(feet Vec3, height float64) Box {
	h := PlayerWidth / 2
	return Box{Vec3{feet[0] - h, feet[1], feet[2] - h}, Vec3{feet[0] + h, feet[1] + height, feet[2] + h}}
}
