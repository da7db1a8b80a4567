package placement

import (
	"slices"
	"strings"

	"blockworld/effects"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Soils by the game's tags; names that a version does not have do no harm.
var (
	dirtFamily = []string{"minecraft:dirt", "minecraft:grass_block", "minecraft:podzol", "minecraft:coarse_dirt", "minecraft:mycelium",
		"minecraft:rooted_dirt", "minecraft:moss_block", "minecraft:pale_moss_block", "minecraft:mud", "minecraft:muddy_mangrove_roots"}
	sandFamily = []string{"minecraft:sand", "minecraft:red_sand", "minecraft:suspicious_sand"}
	nylium     = []string{"minecraft:crimson_nylium", "minecraft:warped_nylium"}
	bambooSoil = append(append([]string{"minecraft:bamboo", "minecraft:bamboo_sapling", "minecraft:gravel", "minecraft:suspicious_gravel"},
		sandFamily...), dirtFamily...)
)

// survivesPlant is survives for everything that grows; an empty need means that it is not a plant.
func (c ctx) survivesPlant(p geom.BlockPos, s registry.StateID, b string, f Family) (string, bool) {
	below, known := c.side(p, geom.Down)
	soil := ""
	if known {
		soil = c.block(below)
	}
	in := func(lists ...[]string) bool {
		for _, l := range lists {
			if slices.Contains(l, soil) {
				return true
			}
		}
		return false
	}
	earth := in(dirtFamily) || soil == "minecraft:farmland"
	switch f {
	case Sapling:
		return "dirt or farmland below", earth || soil == "minecraft:clay" && (strings.HasSuffix(b, "azalea") || strings.HasSuffix(b, "propagule"))
	case SmallPlant:
		return c.smallPlant(p, b, soil, earth, in(sandFamily))
	case PinkPetals:
		if b == "minecraft:leaf_litter" {
			return "a full top face below", c.sturdy(p, geom.Down)
		}
		return "dirt or farmland below", earth
	case DoublePlant:
		if c.is(s, "half", "upper") {
			return "its lower half below", known && c.block(below) == b
		}
		return "dirt or farmland below", earth
	case MushroomPlant:
		return "mycelium, podzol or nylium below (elsewhere it needs darkness, which nobody here can see)",
			in(nylium) || soil == "minecraft:mycelium" || soil == "minecraft:podzol"
	case NetherPlant:
		return "nylium, soul soil or dirt below", in(nylium) || soil == "minecraft:soul_soil" || earth
	case Crop:
		if b == "minecraft:nether_wart" {
			return "soul sand below", soil == "minecraft:soul_sand"
		}
		return "farmland below", soil == "minecraft:farmland"
	case ColumnPlant:
		return c.columnPlant(p, b, soil, in(bambooSoil), in(dirtFamily, sandFamily), in(sandFamily))
	case VineColumn:
		if strings.Contains(b, "twisting") {
			return "a full top face or twisting vines below", c.sturdy(p, geom.Down) || effects.FirstForm(soil) == effects.FirstForm(b)
		}
		above, ok := c.side(p, geom.Up)
		return "a full bottom face or the same vine above", c.sturdy(p, geom.Up) || ok && effects.FirstForm(c.block(above)) == effects.FirstForm(b)
	case Dripleaf:
		return c.dripleaf(p, s, b, soil, earth)
	case CeilingPlant:
		above, ok := c.side(p, geom.Up)
		if b == "minecraft:pale_hanging_moss" && ok && c.block(above) == b {
			return "a full bottom face or the same moss above", true
		}
		return "a full bottom face above", c.sturdy(p, geom.Up)
	case WaterPlant:
		there, _ := c.at(p)
		holds := c.sturdy(p, geom.Down) && soil != "minecraft:magma_block" || strings.HasPrefix(b, "minecraft:kelp") && strings.HasPrefix(soil, "minecraft:kelp")
		return "source water in the cell and a full top face below", (c.water(there) || c.family(there) == WaterPlant) && holds
	}
	return "", true
}

func (c ctx) smallPlant(p geom.BlockPos, b, soil string, earth, sand bool) (string, bool) {
	switch b {
	case "minecraft:dead_bush", "minecraft:short_dry_grass", "minecraft:tall_dry_grass":
		dry := sand || earth && soil != "minecraft:farmland" || strings.HasSuffix(soil, "terracotta") && !strings.Contains(soil, "glazed")
		return "sand, terracotta or dirt below", dry
	case "minecraft:wither_rose":
		return "dirt, netherrack, soul sand or soul soil below",
			earth || soil == "minecraft:netherrack" || soil == "minecraft:soul_sand" || soil == "minecraft:soul_soil"
	case "minecraft:cactus_flower":
		return "a cactus or a block below with a solid middle", soil == "minecraft:cactus" || c.centre(p, geom.Down)
	}
	return "dirt or farmland below", earth
}

func (c ctx) columnPlant(p geom.BlockPos, b, soil string, bamboo, cane, sand bool) (string, bool) {
	switch b {
	case "minecraft:sugar_cane":
		shore := false
		for _, f := range geom.HorizontalFaces {
			s, ok := c.side(p.Neighbour(geom.Down), f)
			shore = shore || ok && (c.water(s) || c.block(s) == "minecraft:water" || c.block(s) == "minecraft:frosted_ice")
		}
		return "sugar cane, or dirt or sand beside water, below", soil == b || cane && shore
	case "minecraft:cactus":
		free := soil == b || sand
		for _, f := range geom.HorizontalFaces {
			s, ok := c.side(p, f)
			free = free && ok && !c.solid(p, f) && c.block(s) != "minecraft:lava"
		}
		above, ok := c.side(p, geom.Up)
		return "sand or cactus below and four free sides", free && ok && !c.reg.IsFluid(above)
	}
	return "soil for bamboo below", bamboo
}

func (c ctx) dripleaf(p geom.BlockPos, s registry.StateID, b, soil string, earth bool) (string, bool) {
	clay := soil == "minecraft:clay" || soil == "minecraft:moss_block" || soil == "minecraft:pale_moss_block"
	if b == "minecraft:small_dripleaf" {
		if c.is(s, "half", "upper") {
			return "its lower half below", soil == b
		}
		there, _ := c.at(p)
		return "clay or moss below, or dirt under water", clay || earth && (c.water(there) || c.is(s, "waterlogged", "true"))
	}
	return "clay, moss, dirt, farmland or dripleaf below", clay || earth || effects.FirstForm(soil) == "minecraft:big_dripleaf"
}
