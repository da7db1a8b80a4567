package path_test

import (
	"fmt"

	"blockworld/effects/path"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// ground is a world of stone below 64 with a step of one block at X 2.
type ground struct{ stone registry.StateID }

func (g ground) Block(p geom.BlockPos) (registry.StateID, bool) {
	if p.Y < 64 || p.Y == 64 && p.X >= 2 {
		return g.stone, true
	}
	return 0, true
}

func ExampleFind() {
	table, err := path.Load(registry.Latest)
	if err != nil {
		fmt.Println(err)
		return
	}
	stone, _ := table.Registry().Block("minecraft:stone")
	world := path.World{Table: table, Cells: ground{stone.Default}}
	r := path.Find(world, geom.BlockPos{Y: 64}, geom.BlockPos{X: 3, Y: 65}, path.Options{
		WalkBox: geom.BoxOf(geom.BlockPos{X: -4, Y: 60, Z: -4}, geom.BlockPos{X: 4, Y: 70, Z: 4}),
	}, nil)
	fmt.Println(r.Status)
	for _, n := range r.Nodes {
		fmt.Println(n.Pos, n.Move)
	}
	// Output:
	// reached
	// 0,64,0 start
	// 1,64,0 walk
	// 2,65,0 jump
	// 3,65,0 walk
}
