package blueprint

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
)

// Digest returns the SHA-256 of the plan's canonical bytes: protocol, boxes, every step and every final cell. Lists for
// people (notes, rejections) are not part of it.
func (p *Plan) Digest() [32]byte {
	w := canon{b: make([]byte, 0, 64+len(p.Steps)*160+len(p.Final)*24)}
	w.str("blockworld plan 1")
	w.i32(int32(p.Protocol))
	for _, box := range []geom.BlockBox{p.Bounds, p.Build, p.Click, p.Walk} {
		w.pos(box.Min)
		w.pos(box.Max)
	}
	w.bool(p.CanFly)
	w.i32(int32(len(p.Steps)))
	for i := range p.Steps {
		w.step(&p.Steps[i])
	}
	w.i32(int32(len(p.Final)))
	for i := range p.Final {
		f := &p.Final[i]
		w.pos(f.Pos)
		w.i32(int32(f.State))
		w.list(f.Masked)
	}
	return sha256.Sum256(w.b)
}

// canon appends values in one fixed form: big-endian, lengths first.
type canon struct{ b []byte }

func (w *canon) i32(v int32) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }

func (w *canon) f64(v float64) { w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(v)) }

func (w *canon) str(s string) {
	w.i32(int32(len(s)))
	w.b = append(w.b, s...)
}

func (w *canon) list(l []string) {
	w.i32(int32(len(l)))
	for _, s := range l {
		w.str(s)
	}
}

func (w *canon) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *canon) pos(p geom.BlockPos) {
	w.i32(p.X)
	w.i32(p.Y)
	w.i32(p.Z)
}

func (w *canon) step(s *Step) {
	w.i32(int32(s.Index))
	w.i32(int32(s.Ordinal))
	w.use(&s.Use)
	w.str(s.Block)
	w.pos(s.Stand)
	for _, v := range s.Feet {
		w.f64(v)
	}
	w.bool(s.Flying)
	w.bool(s.Hidden)
	w.bool(s.Blocked)
	w.changes(s.Follow)
}

func (w *canon) use(u *placement.Use) {
	w.i32(int32(u.Item))
	w.pos(u.Click.Pos)
	w.i32(int32(u.Click.Face))
	for _, v := range u.Click.Cursor {
		w.f64(float64(v))
	}
	w.bool(u.Click.Inside)
	w.f64(float64(u.Look.Yaw))
	w.f64(float64(u.Look.Pitch))
	w.i32(int32(u.LookMatters))
	w.i32(int32(u.Sneak))
	w.changes(u.Cells)
}

func (w *canon) changes(list []placement.CellChange) {
	w.i32(int32(len(list)))
	for _, c := range list {
		w.pos(c.Pos)
		w.i32(int32(c.From))
		w.i32(int32(c.To))
		w.list(c.Masked)
	}
}
