package wire

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// entityEvent turns packets about entities into facts.
func entityEvent(p Packet) worldstate.Event {
	switch p := p.(type) {
	case *AddEntity:
		return worldstate.EntityAdded{
			ID: p.EntityID, UUID: p.UUID, Type: p.Type, Position: p.Position, Velocity: p.Velocity.Vec,
			Rotation: rotation(p.Yaw, p.Pitch), HeadYaw: p.Head.Degrees(),
		}
	case *MoveEntityPos:
		return worldstate.EntityMoved{ID: p.EntityID, Delta: delta(p.DX, p.DY, p.DZ), Moved: true, OnGround: p.OnGround}
	case *MoveEntityPosRot:
		return worldstate.EntityMoved{
			ID: p.EntityID, Delta: delta(p.DX, p.DY, p.DZ), Moved: true,
			Rotation: rotation(p.Yaw, p.Pitch), Turned: true, OnGround: p.OnGround,
		}
	case *MoveEntityRot:
		return worldstate.EntityMoved{ID: p.EntityID, Rotation: rotation(p.Yaw, p.Pitch), Turned: true, OnGround: p.OnGround}
	case *TeleportEntity:
		return placed(p)
	case *EntityPositionSync:
		return worldstate.EntityPlaced{
			ID: p.EntityID, Position: p.Position, Velocity: speed(p.Velocity), Rotation: p.Rotation, OnGround: p.OnGround,
		}
	case *RotateHead:
		return worldstate.EntityHeadTurned{ID: p.EntityID, HeadYaw: p.Yaw.Degrees()}
	case *SetEntityMotion:
		return worldstate.EntityVelocity{ID: p.EntityID, Velocity: p.Velocity.Vec}
	case *SetEquipment:
		return equipment(p)
	case *RemoveEntities:
		return worldstate.EntitiesRemoved{IDs: p.EntityIDs}
	case *SetPassengers:
		return worldstate.PassengersSet{Vehicle: p.Vehicle, Passengers: p.Passengers}
	}
	return nil
}

func rotation(yaw, pitch Angle) geom.Rotation {
	return geom.Rotation{Yaw: yaw.Degrees(), Pitch: pitch.Degrees()}
}

func placed(p *TeleportEntity) worldstate.Event {
	return worldstate.EntityPlaced{
		ID: p.EntityID, Position: p.Position, Velocity: speed(p.Velocity), Rotation: p.Rotation, Relative: p.Relative, OnGround: p.OnGround,
	}
}

// equipmentSlots is how many slots an entity can show.
const equipmentSlots = 8

// equipment tells what an entity wears. Behind a stack with an unknown component further slots may have changed unseen, so
// all that the packet did not show become unknown.
func equipment(p *SetEquipment) worldstate.Event {
	e := worldstate.EntityEquipment{ID: p.EntityID}
	var seen [256]bool
	whole := true
	for i := range p.Items {
		it := &p.Items[i]
		seen[it.Slot] = true
		whole = whole && it.Item.Form == StackWhole
		e.Items = append(e.Items, worldstate.EquipmentItem{Slot: it.Slot, Content: slot(&it.Item)})
	}
	for s := uint8(0); s < equipmentSlots && !whole; s++ {
		if !seen[s] {
			e.Items = append(e.Items, worldstate.EquipmentItem{Slot: s})
		}
	}
	return e
}
