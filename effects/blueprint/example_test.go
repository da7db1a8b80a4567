package blueprint_test

import (
	"context"
	"fmt"

	"blockworld/effects/blueprint"
	"blockworld/fixtures/blueprints"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func ExampleMakePlan() {
	reg, err := registry.Load(registry.V1_21)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := blueprints.Load("twelve.schem", blueprints.Twelve())
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := blueprint.MakePlan(context.Background(), reg, b.Transform(1, blueprint.MirrorNone), geom.BlockPos{Y: 64}, blueprint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(plan.Steps), "steps on", len(plan.Final), "cells;", plan.Materials[0].Count, plan.Materials[0].Item)
	last := plan.Steps[11]
	fmt.Println("the last one:", last.Block, "in", len(last.Use.Cells), "cells")
	// Output:
	// 12 steps on 12 cells; 2 minecraft:cobblestone
	// the last one: minecraft:oak_door[facing=east,half=lower,hinge=left,open=false,powered=false] in 2 cells
}
