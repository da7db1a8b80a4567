package wire

import "math"

// Angle is a turn in 1/256 of a circle.
type Angle uint8

// AngleOf rounds degrees to an Angle.
func AngleOf(degrees float32) Angle {
	return Angle(int32(math.Floor(float64(degrees) * 256 / 360)))
}

// Degrees returns the angle in -180..180.
func (a Angle) Degrees() float32 { return float32(int8(a)) * 360 / 256 }

// Angle is one byte.
func (io *IO) Angle(a *Angle) { io.Uint8((*uint8)(a)) }
