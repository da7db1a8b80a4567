package journal

import (
	"fmt"
	"sync/atomic"

	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Mark is the sent mark of one action: everything a verdict needs after a restart. It reaches the disk BEFORE the
// action's first packet.
type Mark struct {
	Binding   effects.Binding // with the item, and the changed cells with from- and to-states, in its postcondition
	Scope     string          // account and address; counts play entries
	Admission Admission
	Step      effects.StepKey // place_block only
	Clicked   ClickedCell     // place_block only

	// Outstanding are all placements without a verdict at this moment, this one not counted.
	Outstanding []Outstanding
	// Counters are the whole `used` category and leave_game as of the last reply.
	Counters effects.Counters
	WorldAge int64 // ticks, as of the last time update; 0 is unknown

	// Spend is taken from the mission's budgets by this very mark.
	Spend effects.Budgets

	// Set by the journal, read back with Unresolved and Newest.
	Entry     uint64 // the play entry during which the mark was made
	Sequence  uint64 // marks of this journal, rising
	UnixMilli int64
}

// Admission is Sentinel's yes: which rule, on which facts.
type Admission struct {
	Rule  string
	Facts effects.Digest
}

// ClickedCell is the cell that the use clicks and the state it was in.
type ClickedCell struct {
	Pos   geom.BlockPos
	State registry.StateID
}

// Outstanding is a placement without a verdict; Counted when its bracket has already shown its +1.
type Outstanding struct {
	Action  effects.ActionID
	Counted bool
}

// Admit turns a decision into what a mark carries; ok is false unless the decision admits.
func Admit(d sentinel.Decision, f *sentinel.Facts) (a Admission, ok bool) {
	if !d.Admit {
		return Admission{}, false
	}
	return Admission{Rule: d.Rule.String(), Facts: f.Digest()}, true
}

// Sent is the permit for the packets of one action: its mark is on disk. The journal hands it out once per action id,
// ever. The zero Sent opens nothing.
type Sent struct {
	action effects.ActionID
	fresh  *atomic.Bool
}

// Action returns the action that the permit belongs to.
func (s Sent) Action() effects.ActionID { return s.action }

// Open spends the permit; every further call, on any copy, returns ErrSpent.
func (s Sent) Open() error {
	if s.fresh == nil || !s.fresh.CompareAndSwap(true, false) {
		return ErrSpent
	}
	return nil
}

func newSent(a effects.ActionID) Sent {
	s := Sent{action: a, fresh: new(atomic.Bool)}
	s.fresh.Store(true)
	return s
}

// check says why a mark cannot be stored.
func (m *Mark) check() error {
	if err := m.Binding.Issuable(); err != nil {
		return fmt.Errorf("mark of action %s: %w", m.Binding.Action, err)
	}
	if m.Admission.Rule == "" || m.Admission.Facts == (effects.Digest{}) {
		return fmt.Errorf("mark of action %s: %w: it names no admission", m.Binding.Action, effects.ErrNotIssuable)
	}
	if p, ok := m.Binding.Postcondition.(effects.CellsBecome); ok && m.Step.Pos != p.Cells[0].Pos {
		return fmt.Errorf("mark of action %s: %w: the step's cell is not the target", m.Binding.Action, effects.ErrNotIssuable)
	}
	if s := m.Spend; s.Uses < 0 || s.Quantity < 0 || s.Distance < 0 || s.Characters < 0 {
		return fmt.Errorf("mark of action %s: %w: a budget cannot be given back", m.Binding.Action, effects.ErrNotIssuable)
	}
	return nil
}

// places tells whether the mark is of a placement, which alone has a step.
func (m *Mark) places() bool { return m.Binding.Capability() == effects.PlaceBlock }

func (m *Mark) encode() []byte {
	e := newEncoder()
	e.blob(m.Binding.Canonical())
	e.text(m.Scope)
	e.text(m.Admission.Rule)
	e.raw(m.Admission.Facts[:])
	encodeStep(e, m.Step)
	e.pos(m.Clicked.Pos)
	e.u32(uint32(m.Clicked.State))
	e.u32(uint32(len(m.Outstanding)))
	for _, o := range m.Outstanding {
		e.raw(o.Action[:])
		e.flag(o.Counted)
	}
	e.blob(m.Counters.Canonical())
	e.u64(uint64(m.WorldAge))
	encodeBudgets(e, m.Spend)
	e.u64(m.Entry)
	e.u64(m.Sequence)
	e.u64(uint64(m.UnixMilli))
	return e.b
}

func decodeMark(record []byte) (Mark, error) {
	d := newDecoder(record)
	var m Mark
	binding := d.blob()
	m.Scope = d.text()
	m.Admission.Rule = d.text()
	d.fill(m.Admission.Facts[:])
	m.Step = decodeStep(d)
	m.Clicked = ClickedCell{Pos: d.pos(), State: d.state()}
	for range d.count(17) {
		var o Outstanding
		d.fill(o.Action[:])
		o.Counted = d.flag()
		m.Outstanding = append(m.Outstanding, o)
	}
	counters := d.blob()
	m.WorldAge = int64(d.u64())
	m.Spend = decodeBudgets(d)
	m.Entry, m.Sequence, m.UnixMilli = d.u64(), d.u64(), int64(d.u64())
	if err := d.close(); err != nil {
		return Mark{}, err
	}
	var err error
	if m.Binding, err = whole(effects.ParseBinding(binding)); err != nil {
		return Mark{}, err
	}
	if m.Counters, err = whole(effects.ParseCounters(counters)); err != nil {
		return Mark{}, err
	}
	return m, nil
}

// whole refuses a record with something behind it.
func whole[T any](v T, rest []byte, err error) (T, error) {
	if err == nil && len(rest) != 0 {
		err = errLong
	}
	return v, err
}

func encodeStep(e *encoder, s effects.StepKey) {
	e.text(s.Dimension)
	e.pos(s.Pos)
	e.u32(s.Index)
	e.u32(s.Ordinal)
	e.u32(s.Generation)
}

func decodeStep(d *decoder) effects.StepKey {
	return effects.StepKey{Dimension: d.text(), Pos: d.pos(), Index: d.u32(), Ordinal: d.u32(), Generation: d.u32()}
}

func encodeBudgets(e *encoder, b effects.Budgets) {
	for _, v := range []int32{b.Uses, b.Quantity, b.Distance, b.Characters} {
		e.u32(uint32(v))
	}
}

func decodeBudgets(d *decoder) effects.Budgets {
	return effects.Budgets{Uses: int32(d.u32()), Quantity: int32(d.u32()), Distance: int32(d.u32()), Characters: int32(d.u32())}
}
