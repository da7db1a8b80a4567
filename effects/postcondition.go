package effects

import (
	"fmt"
	"unicode/utf8"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Postcondition is what must hold right after an effect. The set is closed: one type per effect.
type Postcondition interface {
	// Capability tells which effect this is the postcondition of.
	Capability() Capability
	check() error
	encode(w *writer)
}

// Cell is one cell that a step changes: its state before and right after the step. Properties in Masked may differ,
// because later neighbours or time change them.
type Cell struct {
	Pos    geom.BlockPos
	From   registry.StateID
	To     registry.StateID
	Masked []string // property names
}

// CellsBecome is the postcondition of place_block; the first cell is the target.
type CellsBecome struct {
	Item  registry.ItemID
	Cells []Cell
}

// StandsIn is the postcondition of move_to: feet in the cell.
type StandsIn struct{ Pos geom.BlockPos }

// LooksTowards is the postcondition of look_at.
type LooksTowards struct{ Look geom.Rotation }

// LineHeard is the postcondition of say.
type LineHeard struct {
	Text string
	Salt int64 // of a signed line, 0 for an unsigned one
}

// HoldsItem is the postcondition of equip.
type HoldsItem struct {
	Item registry.ItemID
	Slot uint8 // hotbar slot 0..8
}

// Capability implements Postcondition.
func (CellsBecome) Capability() Capability { return PlaceBlock }

// Capability implements Postcondition.
func (StandsIn) Capability() Capability { return MoveTo }

// Capability implements Postcondition.
func (LooksTowards) Capability() Capability { return LookAt }

// Capability implements Postcondition.
func (LineHeard) Capability() Capability { return Say }

// Capability implements Postcondition.
func (HoldsItem) Capability() Capability { return Equip }

// maxCells bounds the cells of one step; two is the most that one placement makes, shulkers and beds included.
const maxCells = 8

func (p CellsBecome) check() error {
	if len(p.Cells) == 0 || len(p.Cells) > maxCells {
		return fmt.Errorf("%w: a placement changes 1..%d cells, not %d", ErrNotIssuable, maxCells, len(p.Cells))
	}
	for _, c := range p.Cells {
		if c.From == c.To {
			return fmt.Errorf("%w: cell %v is to stay as it is, so nothing could prove it", ErrNotIssuable, c.Pos)
		}
	}
	return nil
}

func (p StandsIn) check() error { return nil }

func (p LooksTowards) check() error {
	if !p.Look.Finite() {
		return fmt.Errorf("%w: the look is not a number", ErrNotIssuable)
	}
	return nil
}

func (p LineHeard) check() error {
	if p.Text == "" || !utf8.ValidString(p.Text) {
		return fmt.Errorf("%w: the line is empty", ErrNotIssuable)
	}
	return nil
}

func (p HoldsItem) check() error {
	if p.Slot > 8 {
		return fmt.Errorf("%w: slot %d is not in the hotbar", ErrNotIssuable, p.Slot)
	}
	return nil
}

func (p CellsBecome) encode(w *writer)  { w.i32(int32(p.Item)); writeCells(w, p.Cells) }
func (p StandsIn) encode(w *writer)     { w.pos(p.Pos) }
func (p LooksTowards) encode(w *writer) { w.f32(p.Look.Yaw); w.f32(p.Look.Pitch) }
func (p LineHeard) encode(w *writer)    { w.str(p.Text); w.i64(p.Salt) }
func (p HoldsItem) encode(w *writer)    { w.i32(int32(p.Item)); w.u8(p.Slot) }

func writePostcondition(w *writer, p Postcondition) {
	if p == nil {
		w.u8(0)
		return
	}
	w.u8(uint8(p.Capability()))
	p.encode(w)
}

func readPostcondition(r *reader) Postcondition {
	switch c := Capability(r.u8()); c {
	case 0:
		return nil
	case PlaceBlock:
		return CellsBecome{Item: registry.ItemID(r.i32()), Cells: readCells(r)}
	case MoveTo:
		return StandsIn{r.pos()}
	case LookAt:
		return LooksTowards{geom.Rotation{Yaw: r.f32(), Pitch: r.f32()}}
	case Say:
		return LineHeard{Text: r.str(), Salt: r.i64()}
	case Equip:
		return HoldsItem{Item: registry.ItemID(r.i32()), Slot: r.u8()}
	default:
		r.fail("a postcondition outside the closed set")
		return nil
	}
}

func writeCells(w *writer, cells []Cell) {
	w.u32(uint32(len(cells)))
	for _, c := range cells {
		w.pos(c.Pos)
		w.u32(uint32(c.From))
		w.u32(uint32(c.To))
		w.u32(uint32(len(c.Masked)))
		for _, m := range c.Masked {
			w.str(m)
		}
	}
}

func readCells(r *reader) []Cell {
	var out []Cell
	for range r.count(24) {
		c := Cell{Pos: r.pos(), From: state(r), To: state(r)}
		for range r.count(4) {
			c.Masked = append(c.Masked, r.str())
		}
		out = append(out, c)
	}
	return out
}

// state reads a block state id, which takes 16 bits in every version.
func state(r *reader) registry.StateID {
	v := r.u32()
	if v > 0xffff {
		r.fail("a block state outside every version")
	}
	return registry.StateID(v)
}
