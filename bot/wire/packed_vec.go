package wire

import (
	"encoding/binary"
	"math"

	"blockworld/worldstate/geom"
)

// PackedVec is a vector in the game's short form: 15 bits per axis and a common scale, 1 to 11 bytes (1.21.9 and later).
// Set Vec; what was read is written back in the same bytes as long as Vec is not changed.
type PackedVec struct {
	Vec geom.Vec3
	raw lpVec
}

// lpVec is the packed form. The zero value is the zero vector.
type lpVec struct {
	bits  uint64 // 48 bits: 2 of scale, 1 "more scale follows", 3 x 15
	scale int32  // further bits of the scale
}

const (
	lpSteps = 32766.0
	lpMin   = 3.051944088384301e-5 // smaller vectors are zero
	lpMax   = 1.7179869183e10
)

// packVec packs a vector; NaN counts as 0.
func packVec(v geom.Vec3) lpVec {
	max := 0.0
	for i := range v {
		if math.IsNaN(v[i]) {
			v[i] = 0
		}
		v[i] = math.Max(-lpMax, math.Min(v[i], lpMax))
		max = math.Max(max, math.Abs(v[i]))
	}
	if max < lpMin {
		return lpVec{}
	}
	scale := math.Ceil(max)
	n := uint64(scale)
	bits := n
	var more int32
	if n > 3 {
		bits, more = n&3|4, int32(n>>2)
	}
	for i := range v {
		bits |= uint64(math.Floor((v[i]/scale*0.5+0.5)*lpSteps+0.5)) << (3 + 15*i)
	}
	return lpVec{bits: bits, scale: more}
}

func (l lpVec) vec() geom.Vec3 {
	if l.bits&0xFF == 0 {
		return geom.Vec3{}
	}
	scale := float64(l.bits & 3)
	if l.bits&4 != 0 {
		scale += 4 * float64(uint32(l.scale))
	}
	var v geom.Vec3
	for i := range v {
		q := math.Min(float64(l.bits>>(3+15*i)&0x7FFF), lpSteps)
		v[i] = (q*2/lpSteps - 1) * scale
	}
	return v
}

// PackedVec is a vector in the short form.
func (io *IO) PackedVec(v *PackedVec) {
	if !io.reading {
		l := v.raw
		if l.vec() != v.Vec {
			l = packVec(v.Vec)
		}
		io.writePacked(l)
		return
	}
	if l := io.readPacked(); io.ok() {
		*v = PackedVec{Vec: l.vec(), raw: l}
	}
}

func (io *IO) readPacked() (l lpVec) {
	first := io.take(1)
	if first == nil || first[0] == 0 {
		return lpVec{}
	}
	rest := io.take(5)
	if rest == nil {
		return lpVec{}
	}
	l.bits = uint64(first[0]) | uint64(rest[0])<<8 | uint64(binary.BigEndian.Uint32(rest[1:]))<<16
	if l.bits&4 != 0 {
		io.VarInt(&l.scale)
	}
	return l
}

func (io *IO) writePacked(l lpVec) {
	for _, f := range l.vec() {
		io.note(leafFloat, int64(math.Float64bits(f)), 8)
	}
	if l.bits&0xFF == 0 {
		io.put(0)
		return
	}
	io.put(byte(l.bits), byte(l.bits>>8), byte(l.bits>>40), byte(l.bits>>32), byte(l.bits>>24), byte(l.bits>>16))
	if l.bits&4 != 0 {
		io.putVarInt(l.scale)
	}
}

// Velocity is blocks per tick: three 16-bit numbers of 1/8000 up to 1.21.8, a PackedVec later.
func (io *IO) Velocity(v *PackedVec) {
	if io.Has(PackedVelocity) {
		io.PackedVec(v)
		return
	}
	for i := range v.Vec {
		n := int16(math.Round(math.Max(math.MinInt16, math.Min(v.Vec[i]*8000, math.MaxInt16))))
		if io.Int16(&n); io.reading && io.ok() {
			v.Vec[i] = float64(n) / 8000
		}
	}
}
