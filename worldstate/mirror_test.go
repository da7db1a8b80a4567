package worldstate

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMirror(t *testing.T) {
	t.Run("DC-04/replayed traces equal a plain model", func(t *testing.T) {
		reg := testRegistry(t)
		store := NewSectionStore()
		rapid.Check(t, func(t *rapid.T) {
			mirror, model := NewMirror(reg, store), newModel(reg)
			var trace []Event
			for range rapid.IntRange(1, 60).Draw(t, "facts") {
				f := drawFact(t, reg)
				before := mirror.View().Dump().Digest()
				if err := mirror.Apply(f.ev); f.bad {
					if !errors.Is(err, ErrMalformed) || mirror.View().Dump().Digest() != before {
						t.Fatalf("%+v: %v, or the mirror has changed", f.ev, err)
					}
					continue
				} else if err != nil {
					t.Fatalf("%T: %v", f.ev, err)
				}
				model.apply(f.ev, f.drawn)
				trace = append(trace, f.ev)
			}
			got, want := asJSON(t, mirror.View().Dump()), asJSON(t, model.dump())
			if got != want {
				t.Fatal(cmp.Diff(want, got))
			}
			again := NewMirror(reg, nil)
			for _, ev := range trace {
				if err := again.Apply(ev); err != nil {
					t.Fatal(err)
				}
			}
			if again.View().Dump().Digest() != mirror.View().Dump().Digest() {
				t.Fatal("a replay ends in another state")
			}
		})
	})
	t.Run("DC-04/nothing but Apply changes a mirror", func(t *testing.T) {
		var names []string
		for m := range reflect.TypeFor[*Mirror]().Methods() {
			names = append(names, m.Name)
		}
		if diff := cmp.Diff([]string{"Apply", "View"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// apply applies facts that must be taken.
func apply(t testing.TB, m *Mirror, events ...Event) {
	t.Helper()
	for _, ev := range events {
		if err := m.Apply(ev); err != nil {
			t.Fatalf("%T: %v", ev, err)
		}
	}
}

func TestZeroView(t *testing.T) {
	var v View
	if _, ok := v.Block(cellAt(0, 0, 0)); ok || v.Self().Joined || v.Inventory().Known || v.Inventory().Held != -1 || len(v.Entities()) > 0 {
		t.Error("the zero view knows something")
	}
	if r := v.Scan(boxAt(0, 0, 0, 1, 1, 1), all, 10); r.Unknown != 8 || r.Known != 0 {
		t.Errorf("%+v", r)
	}
}
