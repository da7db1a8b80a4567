package placement

import (
	"strings"

	"blockworld/effects"
	"blockworld/worldstate/registry"
)

// seedItems are blocks whose item has another name, beyond the wall forms that wallForms derives.
var seedItems = map[string]string{
	"minecraft:redstone_wire": "redstone", "minecraft:tripwire": "string", "minecraft:wheat": "wheat_seeds",
	"minecraft:carrots": "carrot", "minecraft:potatoes": "potato", "minecraft:beetroots": "beetroot_seeds",
	"minecraft:pumpkin_stem": "pumpkin_seeds", "minecraft:melon_stem": "melon_seeds",
	"minecraft:torchflower_crop": "torchflower_seeds", "minecraft:pitcher_crop": "pitcher_pod",
	"minecraft:sweet_berry_bush": "sweet_berries", "minecraft:cave_vines": "glow_berries",
	"minecraft:cave_vines_plant": "glow_berries", "minecraft:cocoa": "cocoa_beans", "minecraft:bamboo_sapling": "bamboo",
	"minecraft:kelp_plant": "kelp", "minecraft:weeping_vines_plant": "weeping_vines",
	"minecraft:twisting_vines_plant": "twisting_vines",
}

// placedBy is seedItems the other way round, without the second forms of growing plants.
var placedBy = func() map[string]string {
	m := make(map[string]string, len(seedItems))
	for b, it := range seedItems {
		if effects.FirstForm(b) == b {
			m["minecraft:"+it] = b
		}
	}
	return m
}()

// floorForm returns the block whose item also places this wall form, the name itself for everything else.
func floorForm(block string) string {
	switch FamilyOf(block) {
	case Torch, SkullWall, SignWall, BannerWall, Coral, SignWallHanging:
		return strings.Replace(block, "_wall_", "_", 1)
	}
	return block
}

// wallForm returns the wall form that an item of this floor block may place instead, "" if there is none.
func wallForm(reg *registry.Registry, block string) string {
	var name string
	switch FamilyOf(block) {
	case Torch, SignStanding, Banner, Skull, SignHanging, Coral:
		i := strings.LastIndexByte(block, '_')
		switch {
		case FamilyOf(block) == SignHanging:
			name = strings.TrimSuffix(block, "_hanging_sign") + "_wall_hanging_sign"
		case FamilyOf(block) == Coral:
			if !strings.HasSuffix(block, "_coral_fan") {
				return ""
			}
			name = strings.TrimSuffix(block, "_fan") + "_wall_fan"
		case i < 0:
			name = strings.Replace(block, "minecraft:", "minecraft:wall_", 1)
		default:
			name = block[:i] + "_wall" + block[i:]
		}
	default:
		return ""
	}
	if _, ok := reg.Block(name); !ok {
		return ""
	}
	return name
}

// ItemFor returns the item that places a block; false if there is none.
func ItemFor(reg *registry.Registry, block string) (registry.ItemID, bool) {
	name := block
	if it, ok := seedItems[block]; ok {
		name = it
	} else if block == "minecraft:wall_torch" {
		name = "minecraft:torch"
	} else {
		name = floorForm(block)
	}
	it, ok := reg.Item(name)
	if !ok {
		return 0, false
	}
	return it.ID, true
}

// blockOfItem returns the block that an item places in its floor form; false for an item that places none.
func blockOfItem(reg *registry.Registry, item registry.ItemID) (*registry.Block, bool) {
	it := reg.ItemByID(item)
	if it == nil {
		return nil, false
	}
	name := it.Name
	if b, ok := placedBy[name]; ok {
		name = b
	}
	if seedItems[name] != "" && "minecraft:"+seedItems[name] != it.Name {
		return nil, false // wheat and the like: an item that carries a block's name but does not place it
	}
	b, ok := reg.Block(name)
	if !ok {
		return nil, false
	}
	switch FamilyOf(name) {
	case FamilyUnknown, Technical, BucketFluid, FireTool, GrownOnly, ToolSoil, CauldronFilled, Potted, CandleCake, WaterSurface:
		return nil, false
	}
	return b, true
}

// sameForm tells whether two blocks are forms of one growing plant, so that one may turn into the other.
func sameForm(a, b string) bool { return effects.FirstForm(a) == effects.FirstForm(b) }
