package wire

import "blockworld/worldstate/geom"

// Interact uses, hits or touches an entity.
type Interact struct {
	EntityID int32
	Action   InteractAction // without feature AttackIsOwnPacket; with it always InteractAt
	Location PackedVec      // with InteractAt, relative to the entity
	Hand     Hand           // not with InteractAttack
	Sneaking bool
}

// InteractAction is what Interact does.
type InteractAction int32

// The actions.
const (
	InteractUse InteractAction = iota
	InteractAttack
	InteractAt
)

// Marshal reads or writes the packet.
func (p *Interact) Marshal(io *IO) {
	io.VarInt(&p.EntityID)
	if io.Has(AttackIsOwnPacket) {
		io.hand(&p.Hand)
		io.PackedVec(&p.Location)
		io.Bool(&p.Sneaking)
		if io.reading {
			p.Action = InteractAt
		}
		return
	}
	io.VarInt((*int32)(&p.Action))
	if p.Action == InteractAt {
		io.vec3f32(&p.Location.Vec)
	}
	if p.Action != InteractAttack {
		io.hand(&p.Hand)
	}
	io.Bool(&p.Sneaking)
}

// vec3f32 is three Float32.
func (io *IO) vec3f32(v *geom.Vec3) {
	for i := range v {
		f := float32(v[i])
		if io.Float32(&f); io.reading && io.ok() {
			v[i] = float64(f)
		}
	}
}

// Attack hits an entity, with feature AttackIsOwnPacket.
type Attack struct{ EntityID int32 }

// Marshal reads or writes the packet.
func (p *Attack) Marshal(io *IO) { io.VarInt(&p.EntityID) }
