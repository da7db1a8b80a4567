package placement_test

import (
	"fmt"

	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// plain is a world of solid ground below y 64.
type plain struct{ stone registry.StateID }

func (p plain) Block(pos geom.BlockPos) (registry.StateID, bool) {
	if pos.Y < 64 {
		return p.stone, true
	}
	return 0, true
}

func ExampleSolve() {
	reg, err := registry.Load(registry.V1_21)
	if err != nil {
		fmt.Println(err)
		return
	}
	stone, _ := reg.ParseState("stone")
	for _, wish := range []string{"oak_stairs[facing=east,half=bottom]", "oak_stairs[half=top]", "repeater[delay=4]"} {
		want, _ := reg.ParseState(wish)
		uses, no := placement.Solve(reg, plain{stone}, geom.BlockPos{X: 1, Y: 64, Z: 1}, want)
		if no != nil {
			fmt.Println(no.Code)
			continue
		}
		u := uses[0]
		fmt.Println("click the", u.Click.Face, "face of", u.Click.Pos, "looking", u.Look.Horizontal(), "->", reg.FormatState(u.Cells[0].To))
	}
	// Output:
	// click the up face of 1,63,1 looking east -> minecraft:oak_stairs[facing=east,half=bottom,shape=straight,waterlogged=false]
	// no_click
	// needs_interaction
}
