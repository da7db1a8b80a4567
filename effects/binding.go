package effects

import (
	"errors"
	"fmt"
	"strings"

	"blockworld/worldstate"
)

// ServerMode says where the guard stands. The zero value is invalid.
type ServerMode uint8

// The modes.
const (
	Attached ServerMode = iota + 1 // client side: the guard can only narrow
	Managed                        // at the server's boundary
)

// String returns the mode's name.
func (m ServerMode) String() string { return pick(m, "invalid", "attached", "managed") }

// RollbackMode says what undoing an effect would take. Nothing is ever undone automatically.
type RollbackMode uint8

// The modes of a rollback boundary. The zero value is missing.
const (
	RollbackNone RollbackMode = iota
	RollbackNotReversible
	RollbackCompensating // another action of the same kind restores what was
)

// String returns the mode as records carry it.
func (m RollbackMode) String() string {
	return pick(m, "none", "not_reversible", "compensating_action")
}

// Rollback is the boundary of an effect: what it would take to undo it, always by somebody's decision.
type Rollback struct {
	Mode RollbackMode
	Ref  string // what a person would look up: the mission, the previous position
}

// Automatic is always false: no effect is undone by itself.
func (Rollback) Automatic() bool { return false }

// Cursor is where a mission stands: how many steps count as done, and a commutative hash over (cell, state) of the
// plan's proven cells.
type Cursor struct {
	Count uint32
	Hash  uint64
}

// Deadline is a moment, or the explicit word that there is none. The zero value is missing.
type Deadline struct {
	UnixMilli int64
	None      bool
}

// Budgets are the limits an action was admitted under. The zero value is missing.
type Budgets struct {
	Uses       int32 // use_item_on packets left for the mission
	Quantity   int32 // items left
	Distance   int32 // blocks left to walk
	Characters int32 // characters of chat left
}

// Binding is an effect frozen to exact targets: what is admitted, marked and proven is this value and nothing else.
// Every field must be set; a binding with one missing cannot be issued.
type Binding struct {
	Action          ActionID
	Mission         MissionID
	Bot             worldstate.UUID // from login success, never from configuration
	Mode            ServerMode
	Server          string // server identity: address as typed, hashed seed, dimension names
	PlanRevision    Digest
	AdapterRevision string
	Lease           string
	Precondition    Digest  // over the facts the action rests on
	Cursor          *Cursor // expected; a pointer because the first action of a mission expects the zero cursor
	Deadline        Deadline
	Budgets         Budgets
	Postcondition   Postcondition
	LeastGrade      Grade
	Rollback        Rollback
}

// ErrNotIssuable wraps what a binding lacks.
var ErrNotIssuable = errors.New("not issuable")

// Missing names every field that is not set, in the struct's order.
func (b *Binding) Missing() []string {
	checks := []struct {
		name string
		set  bool
	}{
		{"action", b.Action != ActionID{}},
		{"mission", b.Mission != MissionID{}},
		{"bot", b.Bot != worldstate.UUID{}},
		{"server_mode", b.Mode == Attached || b.Mode == Managed},
		{"server", b.Server != ""},
		{"plan_revision", b.PlanRevision != Digest{}},
		{"adapter_revision", b.AdapterRevision != ""},
		{"lease", b.Lease != ""},
		{"precondition", b.Precondition != Digest{}},
		{"cursor", b.Cursor != nil},
		{"deadline", b.Deadline.None != (b.Deadline.UnixMilli > 0)},
		{"budgets", b.Budgets != Budgets{}},
		{"postcondition", b.Postcondition != nil},
		{"least_grade", b.LeastGrade > GradeNone && b.LeastGrade <= Attributed},
		{"rollback", b.Rollback.Mode != RollbackNone && b.Rollback.Mode <= RollbackCompensating},
	}
	var out []string
	for _, c := range checks {
		if !c.set {
			out = append(out, c.name)
		}
	}
	return out
}

// Issuable returns nil when every field is set and the fields fit each other, else an error wrapping ErrNotIssuable.
func (b *Binding) Issuable() error {
	if m := b.Missing(); len(m) > 0 {
		return fmt.Errorf("%w: the binding lacks %s", ErrNotIssuable, strings.Join(m, ", "))
	}
	c := b.Postcondition.Capability()
	if !c.Effect() {
		return fmt.Errorf("%w: %s is not an effect", ErrNotIssuable, c)
	}
	if want := c.row().mode; b.Rollback.Mode != want {
		return fmt.Errorf("%w: the rollback boundary of %s is %s, not %s", ErrNotIssuable, c, want, b.Rollback.Mode)
	}
	return b.Postcondition.check()
}

// Capability returns the capability the binding's postcondition belongs to; invalid while there is none.
func (b *Binding) Capability() Capability {
	if b.Postcondition == nil {
		return 0
	}
	return b.Postcondition.Capability()
}

// Canonical returns the bytes that Digest hashes: every field, in the struct's order.
func (b *Binding) Canonical() []byte {
	var w writer
	w.raw(b.Action[:])
	w.raw(b.Mission[:])
	w.raw(b.Bot[:])
	w.u8(uint8(b.Mode))
	w.str(b.Server)
	w.raw(b.PlanRevision[:])
	w.str(b.AdapterRevision)
	w.str(b.Lease)
	w.raw(b.Precondition[:])
	w.bool(b.Cursor != nil)
	if b.Cursor != nil {
		w.u32(b.Cursor.Count)
		w.u64(b.Cursor.Hash)
	}
	w.i64(b.Deadline.UnixMilli)
	w.bool(b.Deadline.None)
	w.i32(b.Budgets.Uses)
	w.i32(b.Budgets.Quantity)
	w.i32(b.Budgets.Distance)
	w.i32(b.Budgets.Characters)
	writePostcondition(&w, b.Postcondition)
	w.u8(uint8(b.LeastGrade))
	w.u8(uint8(b.Rollback.Mode))
	w.str(b.Rollback.Ref)
	return w.record(kindBinding)
}

// Digest names the binding; consent, sent mark, receipt and attempt carry it.
func (b *Binding) Digest() Digest { return digestOf(b.Canonical()) }

// ParseBinding reads one canonical binding and returns what follows it. Errors wrap ErrMalformedRecord or
// ErrRecordVersion. A binding read back has the digest it was written with.
func ParseBinding(data []byte) (Binding, []byte, error) {
	r, rest, err := openRecord(data, kindBinding)
	if err != nil {
		return Binding{}, nil, err
	}
	var b Binding
	r.fill(b.Action[:])
	r.fill(b.Mission[:])
	r.fill(b.Bot[:])
	b.Mode = enum(r, Managed)
	b.Server = r.str()
	r.fill(b.PlanRevision[:])
	b.AdapterRevision = r.str()
	b.Lease = r.str()
	r.fill(b.Precondition[:])
	if r.bool() {
		b.Cursor = &Cursor{Count: r.u32(), Hash: r.u64()}
	}
	b.Deadline = Deadline{UnixMilli: r.i64(), None: r.bool()}
	b.Budgets = Budgets{r.i32(), r.i32(), r.i32(), r.i32()}
	b.Postcondition = readPostcondition(r)
	b.LeastGrade = enum(r, Attributed)
	b.Rollback = Rollback{Mode: enum(r, RollbackCompensating), Ref: r.str()}
	if err := r.close(); err != nil {
		return Binding{}, nil, err
	}
	return b, rest, nil
}
