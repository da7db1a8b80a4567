package effects

import (
	"math"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Witness collects what a second connection sees of the bot: where it stands, where it looks, what it holds. Sequences
// are those of the witness' own mirror. The zero value has seen nothing.
type Witness struct {
	bot    worldstate.UUID
	id     int32
	seen   bool
	pos    geom.Vec3
	look   geom.Rotation
	head   float32
	hand   worldstate.Slot
	posAt  uint64
	lookAt uint64
	handAt uint64
}

// NewWitness returns a collector for the player with this id.
func NewWitness(bot worldstate.UUID) *Witness { return &Witness{bot: bot} }

// Observe takes one fact of the witness' connection.
func (w *Witness) Observe(f Fact) {
	switch e := f.Event.(type) {
	case worldstate.EntityAdded:
		if e.UUID == w.bot {
			*w = Witness{bot: w.bot, id: e.ID, seen: true, pos: e.Position, look: e.Rotation, head: e.HeadYaw,
				posAt: f.Sequence, lookAt: f.Sequence}
		}
	case worldstate.EntitiesRemoved:
		for _, id := range e.IDs {
			if w.is(id) {
				*w = Witness{bot: w.bot}
			}
		}
	case worldstate.Joined, worldstate.Respawned, worldstate.ReconfigurationStarted:
		*w = Witness{bot: w.bot}
	case worldstate.EntityMoved:
		if !w.is(e.ID) {
			return
		}
		if e.Moved {
			w.pos, w.posAt = w.pos.Add(e.Delta), f.Sequence
		}
		if e.Turned {
			w.look, w.lookAt = e.Rotation, f.Sequence
		}
	case worldstate.EntityPlaced:
		if w.is(e.ID) && e.Relative == 0 {
			w.pos, w.look, w.posAt, w.lookAt = e.Position, e.Rotation, f.Sequence, f.Sequence
		}
	case worldstate.EntityHeadTurned:
		if w.is(e.ID) {
			w.head, w.lookAt = e.HeadYaw, f.Sequence
		}
	case worldstate.EntityEquipment:
		for _, i := range e.Items {
			if w.is(e.ID) && i.Slot == 0 {
				w.hand, w.handAt = i.Content, f.Sequence
			}
		}
	}
}

func (w *Witness) is(id int32) bool { return w.seen && w.id == id }

// StandsIn returns the fact that the bot's feet were last seen in the cell, if that was seen after since.
func (w *Witness) StandsIn(cell geom.BlockPos, since uint64) (FactRef, bool) {
	if !w.seen || w.posAt <= since || !geom.Finite(w.pos) || !inCell(w.pos, cell) {
		return FactRef{}, false
	}
	return FactRef{Kind: FactWitness, Sequence: w.posAt, Pos: cell}, true
}

// inCell allows for the 1/4096 block in which movements are told.
func inCell(v geom.Vec3, cell geom.BlockPos) bool {
	const slack = 1.0 / 1024
	box := geom.Box{Min: cell.Corner(), Max: cell.Corner().Add(geom.Vec3{1, 1, 1})}
	return box.Grow(slack).Contains(v)
}

// LookTolerance is how far, in degrees, a seen look may differ: looks are told in 1/256 turns.
const LookTolerance = 1.5

// LooksTowards returns the fact that the bot was last seen looking so, if that was seen after since.
func (w *Witness) LooksTowards(look geom.Rotation, since uint64) (FactRef, bool) {
	if !w.seen || w.lookAt <= since || angle(w.head, look.Yaw) > LookTolerance || angle(w.look.Pitch, look.Pitch) > LookTolerance {
		return FactRef{}, false
	}
	return FactRef{Kind: FactWitness, Sequence: w.lookAt}, true
}

// angle returns the difference of two angles in degrees, 0..180; NaN counts as far apart.
func angle(a, b float32) float64 {
	d := math.Abs(math.Mod(float64(a)-float64(b), 360))
	if math.IsNaN(d) {
		return 360
	}
	return math.Min(d, 360-d)
}

// Holds returns the fact that the bot was last seen with the item in its main hand, if that was seen after since.
func (w *Witness) Holds(item registry.ItemID, since uint64) (FactRef, bool) {
	if !w.seen || w.handAt <= since || !w.hand.Known || w.hand.Stack.Empty() || w.hand.Stack.Item != item {
		return FactRef{}, false
	}
	return FactRef{Kind: FactWitness, Sequence: w.handAt}, true
}

// distances are the custom statistics, in centimetres, that walking on ground feeds.
var distances = [...]int32{
	registry.StatWalk, registry.StatCrouch, registry.StatSprint, registry.StatWalkOnWater, registry.StatClimb, registry.StatWalkUnderWater,
}

// Distance returns the sum of the distance statistics in a set of custom statistics, in centimetres. Airborne parts of a
// jump count nowhere, so it is a lower bound of what was moved, never an equality.
func Distance(custom map[int32]int32) int64 {
	sum := int64(0)
	for _, id := range distances {
		sum += int64(custom[id])
	}
	return sum
}
