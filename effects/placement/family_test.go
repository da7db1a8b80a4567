package placement

import (
	"testing"

	"blockworld/worldstate/registry"
)

func TestEveryBlockHasOneFamily(t *testing.T) {
	all, err := parseFamilies(familiesText)
	if err != nil {
		t.Fatal(err) // names a block that stands twice
	}
	used := map[string]bool{}
	for _, p := range registry.Protocols() {
		reg, err := registry.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range reg.Blocks() {
			used[b.Name] = true
			if all[b.Name] == FamilyUnknown {
				t.Errorf("%s in %v has no family", b.Name, p)
			}
			if all[b.Name] == Cube && len(b.Props) > 0 {
				t.Errorf("%s in %v has states but is called a plain cube", b.Name, p)
			}
		}
	}
	for n := range all {
		if !used[n] {
			t.Errorf("families.txt names %s, which no version has", n)
		}
	}
}

func TestUnknownBlocksAreNotSwallowed(t *testing.T) {
	for _, n := range []string{"minecraft:glitter_stairs", "minecraft:glitter", "mod:stone", "stone", ""} {
		if f := FamilyOf(n); f != FamilyUnknown {
			t.Errorf("%q is taken for %v", n, f)
		}
	}
}

func TestEveryFamilyHasMembersAndAName(t *testing.T) {
	seen := map[Family]int{}
	for _, f := range families() {
		seen[f]++
	}
	for f := FamilyUnknown + 1; f < familyCount; f++ {
		if seen[f] == 0 {
			t.Errorf("%v has no members", f)
		}
		if f.String() == "" {
			t.Errorf("family %d has no name", f)
		}
	}
}

// TestEveryPlaceableBlockHasAnItem keeps the item table complete: a block that a click can make has an item in every
// version that has the block.
func TestEveryPlaceableBlockHasAnItem(t *testing.T) {
	for _, p := range registry.Protocols() {
		reg, err := registry.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range reg.Blocks() {
			if byFamily(FamilyOf(b.Name), b.Name) != nil || b.Name == "minecraft:big_dripleaf_stem" || b.Name == "minecraft:tall_seagrass" {
				continue
			}
			item, ok := ItemFor(reg, b.Name)
			if !ok {
				t.Errorf("%v: %s has no item", p, b.Name)
				continue
			}
			back, ok := blockOfItem(reg, item)
			if !ok {
				t.Errorf("%v: the item of %s places nothing", p, b.Name)
				continue
			}
			if back.Name != b.Name && wallForm(reg, back.Name) != b.Name && !sameForm(back.Name, b.Name) {
				t.Errorf("%v: the item of %s places %s", p, b.Name, back.Name)
			}
		}
	}
}
