package effects

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

func fullBinding() Binding {
	return Binding{
		Action: ActionID{1}, Mission: MissionID{2}, Bot: worldstate.UUID{3}, Mode: Attached, Server: "play.example:25565|seed|overworld",
		PlanRevision: Digest{4}, AdapterRevision: "blockworld/1", Lease: "mission", Precondition: Digest{5}, Cursor: &Cursor{},
		Deadline: Deadline{None: true}, Budgets: Budgets{Uses: 1},
		Postcondition: CellsBecome{Item: 7, Cells: []Cell{{Pos: geom.BlockPos{X: 1, Y: 64}, From: 0, To: 9, Masked: []string{"waterlogged"}}}},
		LeastGrade:    Attributed, Rollback: PlaceBlock.Rollback("mission"),
	}
}

// TestBindingFields drops each field alone: none of these bindings can be issued, and each has its own digest.
func TestBindingFields(t *testing.T) {
	drops := []struct {
		row, field string
		drop       func(*Binding)
	}{
		{"SE-16", "action", func(b *Binding) { b.Action = ActionID{} }},
		{"SE-16", "mission", func(b *Binding) { b.Mission = MissionID{} }},
		{"SE-17", "bot", func(b *Binding) { b.Bot = worldstate.UUID{} }},
		{"SE-17", "server_mode", func(b *Binding) { b.Mode = 0 }},
		{"SE-17", "server", func(b *Binding) { b.Server = "" }},
		{"SE-18", "plan_revision", func(b *Binding) { b.PlanRevision = Digest{} }},
		{"SE-18", "adapter_revision", func(b *Binding) { b.AdapterRevision = "" }},
		{"SE-19", "lease", func(b *Binding) { b.Lease = "" }},
		{"SE-19", "precondition", func(b *Binding) { b.Precondition = Digest{} }},
		{"SE-19", "cursor", func(b *Binding) { b.Cursor = nil }},
		{"SE-20", "deadline", func(b *Binding) { b.Deadline = Deadline{} }},
		{"SE-20", "budgets", func(b *Binding) { b.Budgets = Budgets{} }},
		{"SE-20", "postcondition", func(b *Binding) { b.Postcondition = nil }},
		{"SE-20", "least_grade", func(b *Binding) { b.LeastGrade = GradeNone }},
		{"SE-20", "rollback", func(b *Binding) { b.Rollback = Rollback{} }},
	}
	whole := fullBinding()
	if err := whole.Issuable(); err != nil {
		t.Fatal(err)
	}
	digests := map[Digest]string{whole.Digest(): "whole"}
	for _, d := range drops {
		t.Run(d.row+"/drop "+d.field, func(t *testing.T) {
			b := fullBinding()
			d.drop(&b)
			err := b.Issuable()
			if !errors.Is(err, ErrNotIssuable) || !strings.Contains(err.Error(), d.field) {
				t.Errorf("got %v", err)
			}
			if got := b.Missing(); len(got) != 1 || got[0] != d.field {
				t.Errorf("missing %v", got)
			}
			if other, ok := digests[b.Digest()]; ok {
				t.Errorf("shares its digest with %s", other)
			}
			digests[b.Digest()] = d.field
		})
	}
}

func TestBindingCanonical(t *testing.T) {
	for _, p := range []Postcondition{
		fullBinding().Postcondition, StandsIn{geom.BlockPos{Y: 3}}, LooksTowards{geom.Rotation{Yaw: 90}},
		LineHeard{Text: "hi", Salt: 4}, HoldsItem{Item: 3, Slot: 8},
	} {
		b := fullBinding()
		b.Postcondition, b.Rollback = p, p.Capability().Rollback("x")
		if err := b.Issuable(); err != nil {
			t.Errorf("%s: %v", p.Capability(), err)
		}
		data := append(b.Canonical(), "rest"...)
		back, rest, err := ParseBinding(data)
		if err != nil || string(rest) != "rest" {
			t.Fatalf("%v, rest %q", err, rest)
		}
		if diff := cmp.Diff(b, back); diff != "" {
			t.Error(diff)
		}
		if back.Digest() != b.Digest() {
			t.Error("the digest changed on the way")
		}
	}
}

func TestBindingMisfits(t *testing.T) {
	for name, change := range map[string]func(*Binding){
		"rollback of another effect": func(b *Binding) { b.Rollback = MoveTo.Rollback("x") },
		"both deadlines":             func(b *Binding) { b.Deadline.UnixMilli = 5 },
		"cell that stays":            func(b *Binding) { b.Postcondition = CellsBecome{7, []Cell{{From: 3, To: 3}}} },
		"no cells":                   func(b *Binding) { b.Postcondition = CellsBecome{Item: 7} },
		"unknown mode":               func(b *Binding) { b.Mode = 9 },
	} {
		b := fullBinding()
		change(&b)
		if err := b.Issuable(); !errors.Is(err, ErrNotIssuable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
