package scene

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// TestOthers takes for players what servers tell of them in different ways, and nothing else.
func TestOthers(t *testing.T) {
	reg, err := registry.Load(registry.V1_21_4)
	if err != nil {
		t.Fatal(err)
	}
	cow, ok := reg.EntityType("minecraft:cow")
	if !ok {
		t.Fatal("no cow")
	}
	random := func(n byte) worldstate.UUID { return worldstate.UUID{0: n, 6: 0x40} }
	named := func(n byte) worldstate.UUID { return worldstate.UUID{0: n, 6: 0x30} }
	at := func(x float64) geom.Vec3 { return geom.Vec3{x, 0, 0} }
	m := worldstate.NewMirror(reg, nil)
	for _, ev := range []worldstate.Event{
		worldstate.Identified{UUID: named(1), Name: "Me"},
		worldstate.Joined{EntityID: 7, Spawn: worldstate.SpawnInfo{DimensionType: worldstate.Dimension{MinY: -64, Height: 384}}},
		worldstate.PlayersListed{Players: []worldstate.PlayerEntry{{UUID: random(2), Name: "Lister", HasName: true}}},
		worldstate.EntityAdded{ID: 1, UUID: random(9), Type: reg.PlayerType(), Position: at(1)}, // by its type
		worldstate.EntityAdded{ID: 2, UUID: random(2), Type: cow.ID, Position: at(2)},           // by the player list
		worldstate.EntityAdded{ID: 3, UUID: named(3), Position: at(3)},                          // by an id made from a name
		worldstate.EntityAdded{ID: 4, UUID: random(4), Type: cow.ID, Position: at(4)},           // a cow
		worldstate.EntityAdded{ID: 5, UUID: named(1), Type: reg.PlayerType(), Position: at(5)},  // an own earlier session
		worldstate.EntityAdded{ID: 7, UUID: random(7), Type: reg.PlayerType(), Position: at(6)}, // ourselves
	} {
		if err := m.Apply(ev); err != nil {
			t.Fatalf("%T: %v", ev, err)
		}
	}
	got := map[geom.Vec3]bool{}
	for _, v := range Others(m.View()) {
		got[v] = true
	}
	if diff := cmp.Diff(map[geom.Vec3]bool{at(1): true, at(2): true, at(3): true}, got); diff != "" {
		t.Error(diff)
	}
}
