package host

import (
	"reflect"
	"testing"

	"blockworld/effects"
)

// TestEffectDigest: two bound actions that differ in anything that an approver is shown have other digests.
func TestEffectDigest(t *testing.T) {
	full := func() Bound {
		return Bound{Digest: effects.Digest{1}, Precondition: effects.Digest{2}, Effects: []Preview{{Kind: "world.place", Operation: "create",
			Ownership: "own", Scope: "plot", Tags: []Name{"a", "b"}, Risk: "low", Reversible: true, Quantity: 3, Pos: &[3]int32{1, 2, 3},
			To: &[3]int32{4, 5, 6}, Block: "stone", Item: "dirt", Text: "hi"}}}
	}
	whole := full()
	seen := map[effects.Digest]string{whole.EffectDigest(): "nothing changed"}
	differs := func(what string, b Bound) {
		t.Helper()
		d := b.EffectDigest()
		if other, there := seen[d]; there {
			t.Errorf("%s is like: %s", what, other)
		}
		seen[d] = what
	}
	for i := range reflect.TypeFor[Preview]().NumField() {
		b := full()
		reflect.ValueOf(&b.Effects[0]).Elem().Field(i).SetZero()
		differs("without "+reflect.TypeFor[Preview]().Field(i).Name, b)
	}
	for what, change := range map[string]func(*Bound){
		"another binding":      func(b *Bound) { b.Digest[0]++ },
		"another precondition": func(b *Bound) { b.Precondition[0]++ },
		"another place":        func(b *Bound) { b.Effects[0].Pos[2] = -3 },
		"another amount":       func(b *Bound) { b.Effects[0].Quantity = -3 },
		"a tag more":           func(b *Bound) { b.Effects[0].Tags = append(b.Effects[0].Tags, "") },
		"two texts for one":    func(b *Bound) { b.Effects[0].Block, b.Effects[0].Item = "stonedirt", "" },
		"no effect":            func(b *Bound) { b.Effects = nil },
		"one more effect":      func(b *Bound) { b.Effects = append(b.Effects, Preview{}) },
	} {
		b := full()
		change(&b)
		differs(what, b)
	}
	again := full()
	if again.EffectDigest() != whole.EffectDigest() {
		t.Error("the same is not alike")
	}
}
