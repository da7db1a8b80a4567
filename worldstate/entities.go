package worldstate

import (
	"fmt"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// EquipmentSlots is the number of equipment slots that the mirror keeps: main hand, off hand, feet, legs, chest, head,
// body, saddle.
const EquipmentSlots = 8

// Entity is another entity as the server showed it.
type Entity struct {
	ID        int32
	UUID      UUID
	Type      registry.EntityTypeID
	Position  geom.Vec3 // feet
	Velocity  geom.Vec3 // blocks per tick, as last told
	Rotation  geom.Rotation
	HeadYaw   float32
	OnGround  bool
	Pose      Pose
	Equipment [EquipmentSlots]Slot
	Riding    bool
	Vehicle   int32
	Seen      Sequence // last fact about it
}

func (m *Mirror) applyEntity(ev Event) error {
	switch ev := ev.(type) {
	case EntityAdded:
		return m.entityAdded(ev)
	case EntityMoved:
		return m.entityMoved(ev)
	case EntityPlaced:
		return m.entityPlaced(ev)
	case EntityHeadTurned:
		if !finite(float64(ev.HeadYaw)) {
			return fmt.Errorf("%w: head yaw %v", ErrMalformed, ev.HeadYaw)
		}
		m.touch(ev.ID, func(e *Entity) { e.HeadYaw = ev.HeadYaw })
	case EntityVelocity:
		if err := checkPoint(ev.Velocity); err != nil {
			return err
		}
		m.touch(ev.ID, func(e *Entity) { e.Velocity = ev.Velocity })
	case EntityEquipment:
		m.touch(ev.ID, func(e *Entity) {
			for _, it := range ev.Items {
				if it.Slot < EquipmentSlots {
					e.Equipment[it.Slot] = it.Content
				}
			}
		})
	case EntityPosed:
		if m.self.Joined && ev.ID == m.self.EntityID {
			m.self.Pose = ev.Pose
		}
		m.touch(ev.ID, func(e *Entity) { e.Pose = ev.Pose })
	case EntitiesRemoved:
		for _, id := range ev.IDs {
			m.removeEntity(id)
		}
	case PassengersSet:
		m.passengersSet(ev)
	}
	return nil
}

// touch changes an entity if it is known.
func (m *Mirror) touch(id int32, change func(*Entity)) {
	if e, ok := m.entities[id]; ok {
		change(e)
		e.Seen = m.seq + 1
	}
}

func (m *Mirror) entityAdded(ev EntityAdded) error {
	if err := checkPoint(ev.Position, ev.Velocity); err != nil {
		return err
	}
	if err := checkRotation(ev.Rotation); err != nil || !finite(float64(ev.HeadYaw)) {
		return fmt.Errorf("%w: rotation %v, head %v", ErrMalformed, ev.Rotation, ev.HeadYaw)
	}
	if _, ok := m.entities[ev.ID]; !ok && len(m.entities) >= maxEntities {
		return fmt.Errorf("%w: more than %d entities", ErrMalformed, maxEntities)
	}
	m.entities[ev.ID] = &Entity{ID: ev.ID, UUID: ev.UUID, Type: ev.Type, Position: ev.Position, Velocity: ev.Velocity,
		Rotation: ev.Rotation, HeadYaw: ev.HeadYaw, Seen: m.seq + 1}
	return nil
}

func (m *Mirror) entityMoved(ev EntityMoved) error {
	if err := checkPoint(ev.Delta); err != nil {
		return err
	}
	if err := checkRotation(ev.Rotation); err != nil {
		return err
	}
	e, ok := m.entities[ev.ID]
	if !ok {
		return nil
	}
	if ev.Moved {
		to := e.Position.Add(ev.Delta)
		if err := checkPoint(to); err != nil {
			return err
		}
		e.Position = to
	}
	if ev.Turned {
		e.Rotation = ev.Rotation
	}
	e.OnGround, e.Seen = ev.OnGround, m.seq+1
	return nil
}

func (m *Mirror) entityPlaced(ev EntityPlaced) error {
	if err := checkPoint(ev.Position, ev.Velocity); err != nil {
		return err
	}
	if err := checkRotation(ev.Rotation); err != nil {
		return err
	}
	e, ok := m.entities[ev.ID]
	if !ok {
		return nil
	}
	to, rot := ev.Position, ev.Rotation
	for i := range to {
		if ev.Relative&(RelativeX<<i) != 0 {
			to[i] += e.Position[i]
		}
	}
	if ev.Relative&RelativeYaw != 0 {
		rot.Yaw += e.Rotation.Yaw
	}
	if ev.Relative&RelativePitch != 0 {
		rot.Pitch += e.Rotation.Pitch
	}
	if err := checkPoint(to); err != nil {
		return err
	}
	if err := checkRotation(rot); err != nil {
		return err
	}
	e.Position, e.Velocity, e.Rotation, e.OnGround, e.Seen = to, ev.Velocity, rot, ev.OnGround, m.seq+1
	return nil
}

func (m *Mirror) removeEntity(id int32) {
	delete(m.entities, id)
	for _, e := range m.entities {
		if e.Riding && e.Vehicle == id {
			e.Riding, e.Vehicle = false, 0
		}
	}
	if m.self.Riding && m.self.Vehicle == id {
		m.self.Riding, m.self.Vehicle = false, 0
	}
}

// passengersSet replaces the riders of a vehicle.
func (m *Mirror) passengersSet(ev PassengersSet) {
	for _, e := range m.entities {
		if e.Riding && e.Vehicle == ev.Vehicle {
			e.Riding, e.Vehicle = false, 0
		}
	}
	if m.self.Riding && m.self.Vehicle == ev.Vehicle {
		m.self.Riding, m.self.Vehicle = false, 0
	}
	for _, id := range ev.Passengers {
		if m.self.Joined && id == m.self.EntityID {
			m.self.Riding, m.self.Vehicle = true, ev.Vehicle
		}
		m.touch(id, func(e *Entity) { e.Riding, e.Vehicle = true, ev.Vehicle })
	}
}
