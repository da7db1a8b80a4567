package effects

import (
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Epoch names one stretch of one connection within one world; no bracket reaches across two.
type Epoch struct {
	Host     uint64 // bumped by every connection
	World    uint64 // bumped by login, respawn, start_configuration
	Timeline uint64 // bumped when the server's identity changes
}

// Fact is one server event with the sequence number at which the mirror saw it. Sequences rise within an epoch.
type Fact struct {
	Sequence uint64
	Event    worldstate.Event
}

// FactKind says what part a fact plays in a proof. Persisted: do not reorder.
type FactKind uint8

// The kinds of facts.
const (
	FactOpeningReply FactKind = iota + 1 // award_stats that answers the fence before the use
	FactClosingReply                     // award_stats that answers the fence behind it
	FactOtherCell                        // block_update of the other cell a click can land in: clicked cell, or the cell before its face when stacking
	FactCell                             // block_update of a cell of the step; Pos and State say which
	FactAck                              // block_changed_ack; Value is its sequence
	FactFullReply                        // the first award_stats after a join
	FactCellRead                         // a cell of the step in the mirror after a rejoin
	FactWitness                          // a second connection's sight of the bot
	FactDistance                         // distance statistics; Value is the growth in centimetres
	FactSnapshot                         // the forced inventory snapshot
	FactHeldSlot                         // set_held_slot
	FactEcho                             // our own chat line
	FactServerWord                       // who rules on the server's side said so
)

// String returns the kind's name.
func (k FactKind) String() string {
	return pick(k, "none", "opening_reply", "closing_reply", "other_cell", "cell", "ack", "full_reply", "cell_read",
		"witness", "distance", "snapshot", "held_slot", "echo", "server_word")
}

// MarshalText writes the kind's name.
func (k FactKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// FactRef points at one fact of a proof.
type FactRef struct {
	Kind     FactKind
	Sequence uint64
	Pos      geom.BlockPos    // of clicked, cell and cell_read
	State    registry.StateID // as the server showed it
	Value    int32            // of ack and distance
}

// CounterChange is the own statistic `used` of one item around a use.
type CounterChange struct {
	Item   registry.ItemID
	Before int32
	After  int32
	Known  bool // both values are the server's
}

// Evidence is what an outcome rests on: references into one epoch's facts.
type Evidence struct {
	Epoch       Epoch
	UseSequence int32 // the use_item_on's own sequence number
	Facts       []FactRef
	Counter     CounterChange
}

// Ran tells whether the evidence of a verdict with this reason shows that the server carried the use out, whatever became
// of its cells: it counted it between the two replies, or after a rejoin more ran than there are blocks.
func (e *Evidence) Ran(c Code) bool {
	if c == CodeReconciledGone {
		return true
	}
	_, rejoined := e.find(FactFullReply)
	return (!rejoined || c == CodeReconciledUnknownCells) && e.Counter.Known && e.Counter.After > e.Counter.Before
}

// find returns the first fact of a kind.
func (e *Evidence) find(k FactKind) (FactRef, bool) {
	for _, f := range e.Facts {
		if f.Kind == k {
			return f, true
		}
	}
	return FactRef{}, false
}

func (e *Evidence) encode(w *writer) {
	w.u64(e.Epoch.Host)
	w.u64(e.Epoch.World)
	w.u64(e.Epoch.Timeline)
	w.i32(e.UseSequence)
	w.u32(uint32(len(e.Facts)))
	for _, f := range e.Facts {
		w.u8(uint8(f.Kind))
		w.u64(f.Sequence)
		w.pos(f.Pos)
		w.u32(uint32(f.State))
		w.i32(f.Value)
	}
	w.i32(int32(e.Counter.Item))
	w.i32(e.Counter.Before)
	w.i32(e.Counter.After)
	w.bool(e.Counter.Known)
}

func readEvidence(r *reader) Evidence {
	e := Evidence{Epoch: Epoch{r.u64(), r.u64(), r.u64()}, UseSequence: r.i32()}
	for range r.count(29) {
		e.Facts = append(e.Facts, FactRef{
			Kind: enum(r, FactServerWord), Sequence: r.u64(), Pos: r.pos(), State: state(r), Value: r.i32(),
		})
	}
	e.Counter = CounterChange{registry.ItemID(r.i32()), r.i32(), r.i32(), r.bool()}
	return e
}
