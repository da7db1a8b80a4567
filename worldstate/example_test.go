package worldstate_test

import (
	"fmt"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// A mirror is fed with what the server said, and answers with what is known.
func Example() {
	reg, err := registry.Load(registry.V1_21_7)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := worldstate.NewMirror(reg, worldstate.NewSectionStore())
	stone, _ := reg.ParseState("stone")
	for _, ev := range []worldstate.Event{
		worldstate.Joined{EntityID: 7, Spawn: worldstate.SpawnInfo{
			DimensionType: worldstate.Dimension{Name: "minecraft:overworld", MinY: 0, Height: 16}, GameMode: worldstate.Creative}},
		worldstate.ChunkLoaded{
			Layout: worldstate.ColumnLayout{Height: 16, BlockBits: 15, BiomeBits: 6, NoLongCounts: true},
			Data:   []byte{0, 0, 0, 0 /* one state: air */, 0, 0 /* one biome */},
		},
		worldstate.BlockChanged{Pos: geom.BlockPos{X: 1, Y: 2, Z: 3}, State: stone},
	} {
		if err := m.Apply(ev); err != nil {
			fmt.Println(err)
		}
	}
	v := m.View()
	s, known := v.Block(geom.BlockPos{X: 1, Y: 2, Z: 3})
	fmt.Println(reg.FormatState(s), known)
	_, known = v.Block(geom.BlockPos{X: 100, Y: 2, Z: 3})
	fmt.Println("a cell that is not loaded is known:", known)
	fmt.Println("inventory known:", v.Inventory().Known)
	// Output:
	// minecraft:stone true
	// a cell that is not loaded is known: false
	// inventory known: false
}
