package placement

import (
	"testing"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// The table's rows: what the families' rules say a click makes. The target is always origin unless a row says otherwise.
type row struct {
	family string
	item   string
	around map[geom.Face]string // neighbours of the target
	there  string               // in the target cell, default air
	face   geom.Face            // clicked face; the clicked cell lies behind it
	onto   bool                 // the target cell itself is clicked
	at     [3]float32           // cursor, default the middle of the face
	look   geom.Rotation
	sneak  bool
	want   string // "" for a refusal
	second string // the second cell
}

const (
	south = float32(0)
	west  = float32(90)
	north = float32(180)
	east  = float32(-90)
)

var floor = map[geom.Face]string{geom.Down: "stone"}

func wallOn(f geom.Face) map[geom.Face]string { return map[geom.Face]string{f: "stone"} }

func yaw(y float32) geom.Rotation { return geom.Rotation{Yaw: y, Pitch: 30} }

var rows = []row{
	{family: "stairs", item: "oak_stairs", around: floor, face: geom.Up, look: yaw(east), want: "oak_stairs[facing=east,half=bottom]"},
	{family: "stairs", item: "oak_stairs", around: wallOn(geom.Up), face: geom.Down, look: yaw(north), want: "oak_stairs[facing=north,half=top]"},
	{family: "stairs", item: "oak_stairs", around: wallOn(geom.West), face: geom.East, at: [3]float32{1, 0.75, 0.5}, look: yaw(west), want: "oak_stairs[facing=west,half=top]"},
	{family: "stairs", item: "oak_stairs", around: wallOn(geom.West), face: geom.East, at: [3]float32{1, 0.25, 0.5}, look: yaw(west), want: "oak_stairs[facing=west,half=bottom]"},
	{family: "slab", item: "oak_slab", around: floor, face: geom.Up, want: "oak_slab[type=bottom]"},
	{family: "slab", item: "oak_slab", around: wallOn(geom.Up), face: geom.Down, want: "oak_slab[type=top]"},
	{family: "slab", item: "oak_slab", there: "oak_slab[type=bottom]", face: geom.Up, onto: true, at: [3]float32{0.5, 0.5, 0.5}, want: "oak_slab[type=double]"},
	{family: "slab", item: "oak_slab", there: "oak_slab[type=top]", face: geom.Down, onto: true, at: [3]float32{0.5, 0.5, 0.5}, want: "oak_slab[type=double]"},
	{family: "slab", item: "oak_slab", there: "oak_slab[type=bottom]", around: floor, face: geom.Up, want: "oak_slab[type=double]"},
	{family: "slab", item: "oak_slab", there: "water", around: floor, face: geom.Up, want: "oak_slab[type=bottom,waterlogged=true]"},
	{family: "door", item: "oak_door", around: floor, face: geom.Up, at: [3]float32{0.25, 1, 0.5}, look: yaw(north), want: "oak_door[facing=north,half=lower,hinge=left]", second: "oak_door[facing=north,half=upper,hinge=left]"},
	{family: "door", item: "oak_door", around: floor, face: geom.Up, at: [3]float32{0.75, 1, 0.5}, look: yaw(north), want: "oak_door[facing=north,half=lower,hinge=right]", second: "oak_door[facing=north,half=upper,hinge=right]"},
	{family: "door", item: "oak_door", around: floor, face: geom.Up, at: [3]float32{0.75, 1, 0.5}, look: yaw(south), want: "oak_door[facing=south,hinge=left]", second: "oak_door[facing=south,half=upper,hinge=left]"},
	{family: "door", item: "oak_door", around: map[geom.Face]string{geom.Down: "stone", geom.East: "stone"}, face: geom.Up, at: [3]float32{0.25, 1, 0.5}, look: yaw(north), want: "oak_door[facing=north,hinge=right]", second: "oak_door[facing=north,half=upper,hinge=right]"},
	{family: "door", item: "oak_door", around: map[geom.Face]string{geom.Down: "oak_slab[type=bottom]"}, face: geom.Up, look: yaw(north), want: ""},
	{family: "door", item: "oak_door", around: map[geom.Face]string{geom.Down: "stone", geom.Up: "stone"}, face: geom.Up, look: yaw(north), want: ""},
	{family: "trapdoor", item: "oak_trapdoor", around: floor, face: geom.Up, look: yaw(east), want: "oak_trapdoor[facing=west,half=bottom]"},
	{family: "trapdoor", item: "oak_trapdoor", around: wallOn(geom.Up), face: geom.Down, look: yaw(east), want: "oak_trapdoor[facing=west,half=top]"},
	{family: "trapdoor", item: "oak_trapdoor", around: wallOn(geom.West), face: geom.East, at: [3]float32{1, 0.75, 0.5}, look: yaw(south), want: "oak_trapdoor[facing=east,half=top]"},
	{family: "fence_gate", item: "oak_fence_gate", around: floor, face: geom.Up, look: yaw(south), want: "oak_fence_gate[facing=south]"},
	{family: "bed", item: "red_bed", around: floor, face: geom.Up, look: yaw(east), want: "red_bed[facing=east,part=foot]", second: "red_bed[facing=east,part=head]"},
	{family: "horiz_opposite", item: "furnace", around: floor, face: geom.Up, look: yaw(east), want: "furnace[facing=west]"},
	{family: "diode", item: "repeater", around: floor, face: geom.Up, look: yaw(north), want: "repeater[facing=south]"},
	{family: "horiz_same", item: "campfire", around: floor, face: geom.Up, look: yaw(west), want: "campfire[facing=west,lit=true]"},
	{family: "horiz_same", item: "campfire", around: map[geom.Face]string{geom.Down: "hay_block"}, face: geom.Up, look: yaw(west), want: "campfire[facing=west,signal_fire=true]"},
	{family: "horiz_same", item: "campfire", around: floor, there: "water", face: geom.Up, look: yaw(west), want: "campfire[facing=west,lit=false,waterlogged=true]"},
	{family: "anvil", item: "anvil", around: floor, face: geom.Up, look: yaw(north), want: "anvil[facing=east]"},
	{family: "chest", item: "chest", around: floor, face: geom.Up, look: yaw(north), want: "chest[facing=south,type=single]"},
	{family: "chest", item: "chest", around: map[geom.Face]string{geom.Down: "stone", geom.West: "chest[facing=south]"}, face: geom.Up, look: yaw(north), want: "chest[facing=south,type=left]"},
	{family: "chest", item: "chest", around: map[geom.Face]string{geom.Down: "stone", geom.West: "chest[facing=south]"}, face: geom.Up, look: yaw(north), sneak: true, want: "chest[facing=south,type=single]"},
	{family: "chest", item: "chest", around: wallOnState(geom.East, "chest[facing=south]"), face: geom.West, look: yaw(east), sneak: true, want: "chest[facing=south,type=right]"},
	{family: "sixway_opposite", item: "piston", around: floor, face: geom.Up, look: geom.Rotation{Yaw: east}, want: "piston[facing=west]"},
	{family: "sixway_opposite", item: "piston", around: floor, face: geom.Up, look: geom.Rotation{Pitch: 90}, want: "piston[facing=up]"},
	{family: "observer", item: "observer", around: floor, face: geom.Up, look: geom.Rotation{Yaw: east}, want: "observer[facing=east]"},
	{family: "crafter", item: "crafter", around: floor, face: geom.Up, look: geom.Rotation{Yaw: east}, want: "crafter[orientation=west_up]"},
	{family: "crafter", item: "crafter", around: floor, face: geom.Up, look: geom.Rotation{Yaw: east, Pitch: 90}, want: "crafter[orientation=up_east]"},
	{family: "crafter", item: "crafter", around: floor, face: geom.Up, look: geom.Rotation{Yaw: east, Pitch: -90}, want: "crafter[orientation=down_west]"},
	{family: "pillar", item: "oak_log", around: floor, face: geom.Up, want: "oak_log[axis=y]"},
	{family: "pillar", item: "oak_log", around: wallOn(geom.West), face: geom.East, want: "oak_log[axis=x]"},
	{family: "pillar", item: "oak_log", around: wallOn(geom.South), face: geom.North, want: "oak_log[axis=z]"},
	{family: "chain", item: "chain", around: wallOn(geom.Up), face: geom.Down, want: "chain[axis=y]"},
	{family: "face_sixway", item: "end_rod", around: wallOn(geom.West), face: geom.East, want: "end_rod[facing=east]"},
	{family: "face_sixway", item: "end_rod", around: wallOnState(geom.West, "end_rod[facing=east]"), face: geom.East, want: "end_rod[facing=west]"},
	{family: "amethyst_bud", item: "amethyst_cluster", around: wallOn(geom.Up), face: geom.Down, want: "amethyst_cluster[facing=down]"},
	{family: "hopper", item: "hopper", around: wallOn(geom.West), face: geom.East, want: "hopper[facing=west]"},
	{family: "hopper", item: "hopper", around: floor, face: geom.Up, want: "hopper[facing=down]"},
	{family: "torch", item: "torch", around: floor, face: geom.Up, want: "torch"},
	{family: "torch", item: "torch", around: wallOn(geom.North), face: geom.South, want: "wall_torch[facing=south]"},
	{family: "torch", item: "torch", around: wallOn(geom.Up), face: geom.Down, want: ""},
	{family: "lever_button", item: "lever", around: floor, face: geom.Up, look: yaw(east), want: "lever[face=floor,facing=east]"},
	{family: "lever_button", item: "lever", around: wallOn(geom.Up), face: geom.Down, look: yaw(east), want: "lever[face=ceiling,facing=east]"},
	{family: "lever_button", item: "stone_button", around: wallOn(geom.West), face: geom.East, look: yaw(north), want: "stone_button[face=wall,facing=east]"},
	{family: "grindstone", item: "grindstone", around: wallOn(geom.West), face: geom.East, look: yaw(north), want: "grindstone[face=wall,facing=east]"},
	{family: "bell", item: "bell", around: floor, face: geom.Up, look: yaw(north), want: "bell[attachment=floor,facing=north]"},
	{family: "bell", item: "bell", around: wallOn(geom.West), face: geom.East, want: "bell[attachment=single_wall,facing=west]"},
	{family: "bell", item: "bell", around: map[geom.Face]string{geom.West: "stone", geom.East: "stone"}, face: geom.East, want: "bell[attachment=double_wall,facing=west]"},
	{family: "ladder", item: "ladder", around: wallOn(geom.South), face: geom.North, want: "ladder[facing=north]"},
	{family: "cocoa", item: "cocoa_beans", around: wallOnState(geom.West, "jungle_log"), face: geom.East, want: "cocoa[facing=west]"},
	{family: "cocoa", item: "cocoa_beans", around: wallOnState(geom.West, "oak_log"), face: geom.East, want: ""},
	{family: "tripwire_hook", item: "tripwire_hook", around: wallOn(geom.East), face: geom.West, want: "tripwire_hook[facing=west]"},
	{family: "sign_standing", item: "oak_sign", around: floor, face: geom.Up, look: yaw(north), want: "oak_sign[rotation=0]"},
	{family: "sign_standing", item: "oak_sign", around: floor, face: geom.Up, look: yaw(-67.5), want: "oak_sign[rotation=5]"},
	{family: "sign_wall", item: "oak_sign", around: wallOn(geom.East), face: geom.West, want: "oak_wall_sign[facing=west]"},
	{family: "sign_hanging", item: "oak_hanging_sign", around: wallOn(geom.Up), face: geom.Down, look: yaw(north), want: "oak_hanging_sign[attached=false,rotation=0]"},
	{family: "sign_hanging", item: "oak_hanging_sign", around: wallOn(geom.Up), face: geom.Down, look: yaw(-157.5), sneak: true, want: "oak_hanging_sign[attached=true,rotation=1]"},
	{family: "sign_wall_hanging", item: "oak_hanging_sign", around: wallOn(geom.West), face: geom.East, look: yaw(north), want: "oak_wall_hanging_sign[facing=south]"},
	{family: "banner", item: "red_banner", around: floor, face: geom.Up, look: yaw(south), want: "red_banner[rotation=8]"},
	{family: "banner_wall", item: "red_banner", around: wallOn(geom.East), face: geom.West, want: "red_wall_banner[facing=west]"},
	{family: "skull", item: "creeper_head", around: floor, face: geom.Up, look: yaw(west), want: "creeper_head[rotation=4]"},
	{family: "skull_wall", item: "creeper_head", around: wallOn(geom.East), face: geom.West, want: "creeper_wall_head[facing=west]"},
	{family: "lantern", item: "lantern", around: wallOn(geom.Up), face: geom.Down, look: geom.Rotation{Pitch: -90}, want: "lantern[hanging=true]"},
	{family: "lantern", item: "lantern", around: map[geom.Face]string{geom.Down: "stone", geom.Up: "stone"}, face: geom.Up, look: geom.Rotation{Pitch: 90}, want: "lantern[hanging=false]"},
	{family: "pointed_dripstone", item: "pointed_dripstone", around: floor, face: geom.Up, look: geom.Rotation{Pitch: 90}, want: "pointed_dripstone[vertical_direction=up]"},
	{family: "vine", item: "vine", around: wallOn(geom.West), face: geom.East, want: "vine[west=true]"},
	{family: "multiface", item: "glow_lichen", around: floor, face: geom.Up, want: "glow_lichen[down=true]"},
	{family: "fence", item: "oak_fence", around: map[geom.Face]string{geom.Down: "stone", geom.West: "spruce_fence", geom.East: "nether_brick_fence", geom.North: "oak_leaves"}, face: geom.Up, want: "oak_fence[west=true]"},
	{family: "fence", item: "oak_fence", around: map[geom.Face]string{geom.Down: "stone", geom.West: "oak_fence_gate[facing=south]", geom.East: "oak_fence_gate[facing=east]"}, face: geom.Up, want: "oak_fence[west=true]"},
	{family: "pane_bars", item: "glass_pane", around: map[geom.Face]string{geom.Down: "stone", geom.West: "iron_bars", geom.East: "cobblestone_wall", geom.South: "stone"}, face: geom.Up, want: "glass_pane[west=true,east=true,south=true]"},
	{family: "wall", item: "cobblestone_wall", around: map[geom.Face]string{geom.Down: "stone", geom.West: "stone", geom.East: "brick_wall"}, face: geom.Up, want: "cobblestone_wall[west=low,east=low,up=false]"},
	{family: "wall", item: "cobblestone_wall", around: map[geom.Face]string{geom.Down: "stone", geom.West: "stone", geom.East: "stone", geom.Up: "stone"}, face: geom.Up, want: "cobblestone_wall[west=tall,east=tall,up=false]"},
	{family: "wall", item: "cobblestone_wall", around: map[geom.Face]string{geom.Down: "stone", geom.West: "stone"}, face: geom.Up, want: "cobblestone_wall[west=low,up=true]"},
	{family: "wall", item: "cobblestone_wall", around: map[geom.Face]string{geom.Down: "stone", geom.West: "stone", geom.East: "stone", geom.Up: "torch"}, face: geom.Up, want: "cobblestone_wall[west=low,east=low,up=true]"},
	{family: "redstone_wire", item: "redstone", around: floor, face: geom.Up, want: "redstone_wire[north=side,south=side,west=side,east=side]"},
	{family: "redstone_wire", item: "redstone", around: map[geom.Face]string{geom.Down: "stone", geom.West: "redstone_wire"}, face: geom.Up, want: "redstone_wire[west=side,east=side]"},
	{family: "tripwire", item: "string", around: map[geom.Face]string{geom.Down: "stone", geom.West: "tripwire_hook[facing=east]"}, face: geom.Up, want: "tripwire[west=true]"},
	{family: "rail", item: "rail", around: floor, face: geom.Up, look: yaw(east), want: "rail[shape=east_west]"},
	{family: "rail", item: "rail", around: map[geom.Face]string{geom.Down: "stone", geom.South: "rail[shape=north_south]", geom.East: "rail[shape=east_west]"}, face: geom.Up, look: yaw(east), want: "rail[shape=south_east]"},
	{family: "mushroom_block", item: "red_mushroom_block", around: map[geom.Face]string{geom.Down: "stone", geom.West: "red_mushroom_block"}, face: geom.Up, want: "red_mushroom_block[west=false]"},
	{family: "chorus", item: "chorus_plant", around: wallOnState(geom.Down, "end_stone"), face: geom.Up, want: "chorus_plant[down=true]"},
	{family: "scaffolding", item: "scaffolding", around: floor, face: geom.Up, want: "scaffolding[distance=0,bottom=false]"},
	{family: "snowy_soil", item: "grass_block", around: map[geom.Face]string{geom.Down: "stone", geom.Up: "snow"}, face: geom.Up, want: "grass_block[snowy=true]"},
	{family: "leaves", item: "oak_leaves", around: floor, face: geom.Up, want: "oak_leaves[persistent=true]"},
	{family: "snow_layer", item: "snow", there: "snow[layers=2]", face: geom.Up, onto: true, at: [3]float32{0.5, 0.125, 0.5}, want: "snow[layers=3]"},
	{family: "snow_layer", item: "snow", around: wallOnState(geom.Down, "packed_ice"), face: geom.Up, want: ""},
	{family: "candle", item: "candle", there: "candle[candles=3]", around: floor, face: geom.Up, onto: true, at: [3]float32{0.5, 0.4, 0.5}, want: "candle[candles=4]"},
	{family: "candle", item: "candle", there: "candle[candles=4]", around: floor, face: geom.Up, onto: true, at: [3]float32{0.5, 0.4, 0.5}, want: ""},
	{family: "sea_pickle", item: "sea_pickle", around: floor, there: "water", face: geom.Up, want: "sea_pickle[pickles=1,waterlogged=true]"},
	{family: "turtle_egg", item: "turtle_egg", around: wallOnState(geom.Down, "sand"), face: geom.Up, want: "turtle_egg[eggs=1]"},
	{family: "pink_petals", item: "pink_petals", around: wallOnState(geom.Down, "dirt"), face: geom.Up, look: yaw(east), want: "pink_petals[facing=west,flower_amount=1]"},
	{family: "pressure_plate", item: "stone_pressure_plate", around: wallOnState(geom.Down, "oak_fence"), face: geom.Up, want: "stone_pressure_plate"},
	{family: "carpet", item: "red_carpet", around: wallOnState(geom.Down, "oak_fence"), face: geom.Up, want: "red_carpet"},
	{family: "sapling", item: "oak_sapling", around: wallOnState(geom.Down, "stone"), face: geom.Up, want: ""},
	{family: "small_plant", item: "poppy", around: wallOnState(geom.Down, "grass_block"), face: geom.Up, want: "poppy"},
	{family: "double_plant", item: "lilac", around: wallOnState(geom.Down, "dirt"), face: geom.Up, want: "lilac[half=lower]", second: "lilac[half=upper]"},
	{family: "crop", item: "wheat_seeds", around: wallOnState(geom.Down, "farmland"), face: geom.Up, want: "wheat[age=0]"},
	{family: "crop", item: "wheat", around: wallOnState(geom.Down, "farmland"), face: geom.Up, want: ""},
	{family: "column_plant", item: "bamboo", around: wallOnState(geom.Down, "dirt"), face: geom.Up, want: "bamboo_sapling"},
	{family: "vine_column", item: "weeping_vines", around: wallOn(geom.Up), face: geom.Down, want: "weeping_vines"},
	{family: "dripleaf", item: "big_dripleaf", around: wallOnState(geom.Down, "clay"), face: geom.Up, look: yaw(east), want: "big_dripleaf[facing=west]"},
	{family: "dripleaf", item: "small_dripleaf", around: wallOnState(geom.Down, "clay"), face: geom.Up, look: yaw(east), want: "small_dripleaf[facing=west,half=lower]", second: "small_dripleaf[facing=west,half=upper]"},
	{family: "ceiling_plant", item: "spore_blossom", around: wallOn(geom.Up), face: geom.Down, want: "spore_blossom"},
	{family: "water_plant", item: "kelp", around: floor, there: "water", face: geom.Up, want: "kelp"},
	{family: "water_plant", item: "kelp", around: floor, face: geom.Up, want: ""},
	{family: "coral", item: "tube_coral_fan", around: wallOn(geom.West), face: geom.East, want: "tube_coral_wall_fan[facing=east,waterlogged=false]"},
	{family: "falling", item: "sand", around: wallOn(geom.West), face: geom.East, want: ""},
	{family: "falling", item: "red_concrete_powder", around: map[geom.Face]string{geom.Down: "stone", geom.West: "water"}, face: geom.Up, want: ""},
	{family: "sponge", item: "sponge", around: map[geom.Face]string{geom.Down: "stone", geom.West: "water"}, face: geom.Up, want: ""},
	{family: "cube", item: "stone", around: floor, there: "short_grass", face: geom.Up, want: "stone"},
	{family: "cube", item: "stone", there: "short_grass", around: floor, face: geom.Up, onto: true, at: [3]float32{0.5, 0.5, 0.5}, want: "stone"},
	{family: "click eaten", item: "stone", around: wallOnState(geom.Down, "crafting_table"), face: geom.Up, want: ""},
	{family: "click eaten", item: "stone", around: wallOnState(geom.Down, "crafting_table"), face: geom.Up, sneak: true, want: "stone"},
}

func wallOnState(f geom.Face, s string) map[geom.Face]string { return map[geom.Face]string{f: s} }

func TestFamilyTable(t *testing.T) {
	for _, r := range rows {
		t.Run(r.family+"/"+r.item+"/"+r.face.String(), func(t *testing.T) { r.check(t, newGrid(t, registry.V1_21)) })
	}
}

func (r row) check(t *testing.T, g *grid) {
	for f, s := range r.around {
		g.set(t, origin.Neighbour(f), s)
	}
	if r.there != "" {
		g.set(t, origin, r.there)
	}
	it, ok := g.reg.Item(r.item)
	if !ok {
		t.Fatalf("no item %s", r.item)
	}
	click := Click{Pos: origin.Neighbour(r.face.Opposite()), Face: r.face, Cursor: r.at}
	if r.onto {
		click.Pos = origin
	}
	if r.at == [3]float32{} {
		n := r.face.Normal()
		click.Cursor = [3]float32{0.5 + float32(n.X)/2, 0.5 + float32(n.Y)/2, 0.5 + float32(n.Z)/2}
		if r.face.IsHorizontal() {
			click.Cursor[1] = 0.25
		}
	}
	cells, err := Predict(g.reg, g, it.ID, click, r.look, r.sneak)
	if r.want == "" {
		if err == nil {
			t.Fatalf("makes %s, should be refused", g.reg.FormatState(cells[0].To))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, g.reg, r.want)
	b := g.reg.BlockOf(want)
	got := cells[0].To
	if cells[0].Pos != origin || g.reg.BlockOf(got) != b {
		t.Fatalf("makes %s at %v, want %s", g.reg.FormatState(got), cells[0].Pos, r.want)
	}
	if got != want {
		t.Errorf("makes %s, want %s", g.reg.FormatState(got), g.reg.FormatState(want))
	}
	if (r.second != "") != (len(cells) == 2) {
		t.Fatalf("%d cells", len(cells))
	}
	if r.second != "" && cells[1].To != parse(t, g.reg, r.second) {
		t.Errorf("second cell is %s, want %s", g.reg.FormatState(cells[1].To), r.second)
	}
}

func TestEveryFamilyThatAClickMakesHasARow(t *testing.T) {
	have := map[string]bool{}
	for _, r := range rows {
		have[r.family] = true
	}
	// Without a choice, or proven by the rows of a like family.
	for _, f := range []Family{DecoratedPot, Jigsaw, NoteBlock, Cake, SnifferEgg, FlowerPot, MushroomPlant, NetherPlant, CoralBlock,
		WaterloggablePlain, DefaultStateCube, MossCarpet, Shelf, Statue} {
		have[f.String()] = true
	}
	for f := FamilyUnknown + 1; f < familyCount; f++ {
		if byFamily(f, "") == nil && !have[f.String()] {
			t.Errorf("no row for %v", f)
		}
	}
}
