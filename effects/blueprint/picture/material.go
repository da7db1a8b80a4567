package picture

import (
	"image/color"
	"math"
	"strings"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// pattern is how a material's surface is drawn.
type pattern uint8

const (
	plain pattern = iota
	planks
	bricks
	bark
	rough
	leafy
	pane
)

// material is how a box looks.
type material struct {
	c       color.RGBA
	alpha   uint8
	pattern pattern
	glow    bool
}

var lawn = material{c: color.RGBA{118, 160, 82, 255}, alpha: 255, pattern: rough}

func rgb(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

// dyes are the sixteen colours as concrete shows them.
var dyes = map[string]uint32{
	"white": 0xe6eaea, "orange": 0xe56f16, "magenta": 0xb140a8, "light_blue": 0x3aa2d0, "yellow": 0xf2b52a, "lime": 0x69b21d,
	"pink": 0xdf7798, "gray": 0x45494d, "light_gray": 0x8b8b85, "cyan": 0x178490, "purple": 0x6d25a2, "blue": 0x313498,
	"brown": 0x6b4325, "green": 0x526b26, "red": 0x9a2624, "black": 0x16171b,
}

var woods = map[string]uint32{
	"pale_oak": 0xe4dad8, "dark_oak": 0x4a3018, "oak": 0xb08d55, "spruce": 0x7a5a34, "birch": 0xd0bd83, "jungle": 0xaa7a55,
	"acacia": 0xb25f36, "cherry": 0xe3b4ae, "mangrove": 0x7a3734, "bamboo": 0xc9b152, "crimson": 0x6d3147, "warped": 0x2f6e6b,
}

var barks = map[string]uint32{
	"pale_oak": 0x5a4f4b, "dark_oak": 0x37291a, "oak": 0x6d5636, "spruce": 0x3b2712, "birch": 0xd9d6cf, "jungle": 0x564419,
	"acacia": 0x68615a, "cherry": 0x371f29, "mangrove": 0x54442a, "bamboo": 0x8a8d3c, "crimson": 0x5c1a1e, "warped": 0x3a3a4e,
}

// named lists materials by a part of the block's name; the first that fits wins.
var named = []struct {
	part string
	c    uint32
	p    pattern
}{
	{"mossy", 0x6b7a56, bricks}, {"end_stone", 0xdce0a4, rough}, {"red_nether_brick", 0x470709, bricks}, {"nether_brick", 0x2d171b, bricks},
	{"deepslate", 0x505053, bricks}, {"blackstone", 0x2b252c, bricks}, {"prismarine", 0x63a096, bricks}, {"purpur", 0xaa7daa, bricks},
	{"quartz", 0xece6df, plain}, {"red_sandstone", 0xba631d, rough}, {"sandstone", 0xd9cd9f, rough}, {"red_sand", 0xbe6721, rough},
	{"soul_sand", 0x513f33, rough}, {"soul_soil", 0x4c3a2f, rough}, {"sand", 0xdbcfa3, rough}, {"gravel", 0x84807f, rough},
	{"mud_brick", 0x896750, bricks}, {"packed_mud", 0x8e6b50, rough}, {"muddy", 0x46393a, rough}, {"mud", 0x3c393d, rough},
	{"granite", 0x956756, rough}, {"diorite", 0xbcbcbd, rough}, {"andesite", 0x888889, rough}, {"tuff", 0x6c6d67, rough},
	{"calcite", 0xdfe0dc, rough}, {"basalt", 0x505157, bark}, {"obsidian", 0x100b19, rough}, {"bedrock", 0x555555, rough},
	{"stone_brick", 0x7b7a7b, bricks}, {"cobblestone", 0x808080, rough}, {"smooth_stone", 0x9f9f9f, plain}, {"redstone_block", 0xaf1805, rough},
	{"redstone", 0xb01505, plain}, {"glowstone", 0xf0c473, rough}, {"stone", 0x7e7e7e, rough}, {"brick", 0x97604f, bricks},
	{"copper_grate", 0xb8674c, pane}, {"oxidized", 0x51a384, plain}, {"weathered", 0x6c9a6e, plain}, {"exposed", 0xa17d67, plain}, {"copper", 0xc06b50, plain},
	{"gold", 0xf6d03d, plain}, {"iron", 0xd8d8d8, plain}, {"diamond", 0x62ede4, plain}, {"emerald", 0x2bcb58, plain}, {"lapis", 0x1f438c, rough},
	{"coal", 0x181818, rough}, {"netherite", 0x423d3f, plain}, {"amethyst", 0x8561bf, rough}, {"netherrack", 0x612626, rough},
	{"warped_nylium", 0x2b7265, rough}, {"crimson_nylium", 0x82201f, rough}, {"wart", 0x7a0907, rough}, {"shroomlight", 0xf19346, rough},
	{"grass_block", 0x7aa353, rough}, {"podzol", 0x5b3f18, rough}, {"mycelium", 0x6f6265, rough}, {"coarse_dirt", 0x77553b, rough},
	{"dirt", 0x866043, rough}, {"farmland", 0x6e4a2c, planks}, {"moss", 0x596d2d, rough}, {"clay", 0xa0a6b3, rough}, {"snow", 0xf6fafa, plain},
	{"ice", 0x8fb3f2, plain}, {"leaves", 0x4c7f2c, leafy}, {"azalea", 0x658030, leafy}, {"vine", 0x44701f, leafy}, {"hay", 0xb79b1f, bark}, {"melon", 0x6e921f, bark},
	{"pumpkin", 0xc57618, bark}, {"jack_o_lantern", 0xd78b2e, bark}, {"cactus", 0x567d2a, bark}, {"bookshelf", 0x8d6b3b, planks}, {"crafting_table", 0x8b6239, planks},
	{"barrel", 0x86633a, planks}, {"chest", 0x9a6f2f, planks}, {"lectern", 0xa98352, planks}, {"composter", 0x704624, planks}, {"loom", 0x9a805a, planks},
	{"cartography", 0x6a4b2c, planks}, {"fletching", 0xc3b188, planks}, {"ladder", 0x8b6a3b, planks}, {"scaffolding", 0xb0904b, planks}, {"note_block", 0x5a3a28, planks},
	{"furnace", 0x6f6f6f, rough}, {"smoker", 0x625b4f, rough}, {"dispenser", 0x747474, rough}, {"dropper", 0x747474, rough}, {"observer", 0x666666, rough},
	{"piston", 0x9a8252, planks}, {"hopper", 0x4b4a4b, plain}, {"anvil", 0x484848, plain}, {"cauldron", 0x4a4a4a, plain}, {"chain", 0x3f4550, plain},
	{"rail", 0x8a7b62, planks}, {"lever", 0x77603b, plain}, {"bell", 0xf2c84a, plain}, {"sea_lantern", 0xc5d8cf, plain}, {"lantern", 0xf0b050, plain},
	{"beacon", 0x76ddd6, plain}, {"sponge", 0xc4c14a, rough}, {"slime", 0x70c05c, plain}, {"honey", 0xe9a32e, plain}, {"target", 0xe2a9a0, plain},
	{"bone", 0xd2cdb2, bark}, {"campfire", 0xe0802a, rough}, {"torch", 0xffcf50, plain}, {"candle", 0xe8cfa0, plain}, {"cake", 0xf0e8e0, plain},
	{"flower_pot", 0x7d4536, plain}, {"decorated_pot", 0x8b4a3a, plain}, {"mushroom_stem", 0xcac3b4, plain}, {"brown_mushroom", 0x95704f, plain}, {"red_mushroom", 0xc62b28, plain},
	{"terracotta", 0x985e43, plain}, {"tnt", 0xc0392b, plain}, {"sculk", 0x0d2028, rough}, {"repeater", 0xa0a0a0, plain}, {"comparator", 0xa0a0a0, plain},
	{"resin", 0xd9611b, bricks}, {"skull", 0xb9b9a8, plain}, {"head", 0x6f8a5a, plain}, {"froglight", 0xf0e6c0, plain}, {"cobweb", 0xe6e9ea, leafy},
}

var flowers = map[string]uint32{
	"poppy": 0xd3251b, "dandelion": 0xf7d82c, "golden_dandelion": 0xf7c414, "blue_orchid": 0x2faef0, "allium": 0xb878ed, "azure_bluet": 0xe7ecd8, "red_tulip": 0xd23a2a,
	"orange_tulip": 0xe08a2c, "white_tulip": 0xe6ebe6, "pink_tulip": 0xe6b4de, "oxeye_daisy": 0xf0efe4, "cornflower": 0x4b6fe0, "lily_of_the_valley": 0xf4f8f0,
	"wither_rose": 0x2a2420, "sunflower": 0xf5c723, "lilac": 0xc793c4, "rose_bush": 0xc2231a, "peony": 0xe2b3e6, "torchflower": 0xf08a2a, "pink_petals": 0xf3b7d4,
	"wildflowers": 0xf3d94f,
}

// materialOf finds the look of a block by its name.
func materialOf(reg *registry.Registry, s registry.StateID) material {
	b := reg.BlockOf(s)
	if b == nil {
		return material{c: rgb(0xff00ff), alpha: 255}
	}
	name := strings.TrimPrefix(b.Name, "minecraft:")
	m := material{c: rgb(0x9a9a9a), alpha: 255, pattern: rough}
	switch {
	case name == "water" || name == "bubble_column":
		return material{c: rgb(0x3a66d4), alpha: 150}
	case name == "lava":
		return material{c: rgb(0xd4651a), alpha: 255, glow: true}
	case strings.Contains(name, "glass"):
		m = material{c: rgb(0xd6eaf0), alpha: 70, pattern: pane}
	}
	if c, ok := dyed(name); ok {
		m.c = c
		if m.pattern != pane {
			m.pattern = plain
		}
		return m
	}
	if m.pattern == pane {
		return m
	}
	if w, ok := wooden(name); ok {
		return w
	}
	for _, n := range named {
		if strings.Contains(name, n.part) {
			m.c, m.pattern = rgb(n.c), n.p
			break
		}
	}
	m.glow = strings.Contains(name, "torch") && !strings.Contains(name, "torchflower") || strings.Contains(name, "lantern") ||
		name == "glowstone" || name == "shroomlight" || strings.Contains(name, "froglight")
	return m
}

// dyed reads a colour in front of a name; terracotta is duller than the rest.
func dyed(name string) (color.RGBA, bool) {
	best := ""
	for d := range dyes {
		if strings.HasPrefix(name, d+"_") && len(d) > len(best) {
			rest := name[len(d)+1:]
			if strings.Contains("wool carpet concrete concrete_powder terracotta glazed_terracotta stained_glass stained_glass_pane bed banner wall_banner candle candle_cake shulker_box", rest) {
				best = d
			}
		}
	}
	if best == "" {
		return color.RGBA{}, false
	}
	c := rgb(dyes[best])
	if strings.HasSuffix(name, "_terracotta") && !strings.Contains(name, "glazed") {
		mix := func(a, b uint8) uint8 { return uint8((int(a)*5 + int(b)*4) / 9) }
		clay := rgb(0xb08068)
		c = color.RGBA{mix(c.R, clay.R), mix(c.G, clay.G), mix(c.B, clay.B), 255}
	}
	return c, true
}

func wooden(name string) (material, bool) {
	stripped := strings.HasPrefix(name, "stripped_")
	base := strings.TrimPrefix(name, "stripped_")
	kind := ""
	for w := range woods {
		if strings.HasPrefix(base, w+"_") && len(w) > len(kind) {
			kind = w
		}
	}
	if kind == "" {
		return material{}, false
	}
	rest := base[len(kind)+1:]
	switch rest {
	case "leaves":
		greens := map[string]uint32{"cherry": 0xe8aecb, "spruce": 0x4a6b45, "birch": 0x6f8f4a, "dark_oak": 0x3d6a22, "pale_oak": 0x7a8378, "mangrove": 0x4f8a2c}
		c := uint32(0x4c7f2c)
		if g, ok := greens[kind]; ok {
			c = g
		}
		return material{c: rgb(c), alpha: 255, pattern: leafy}, true
	case "log", "wood", "stem", "hyphae", "block":
		if stripped {
			return material{c: rgb(woods[kind]), alpha: 255, pattern: bark}, true
		}
		return material{c: rgb(barks[kind]), alpha: 255, pattern: bark}, true
	case "sapling", "propagule", "fungus", "roots", "nylium":
		return material{}, false
	}
	return material{c: rgb(woods[kind]), alpha: 255, pattern: planks}, true
}

// frame tells whether a point lies at the rim of its cell's face: the edge of a glass pane.
func frame(p geom.Vec3, side uint8) bool {
	u, v := onFace(p, side)
	const w = 0.06
	return u < w || u > 1-w || v < w || v > 1-w
}

// onFace returns the place of a point within its cell's face, 0..1.
func onFace(p geom.Vec3, side uint8) (u, v float64) {
	f := func(x float64) float64 { return x - math.Floor(x+1e-9) }
	switch side {
	case 1:
		return f(p[0]), f(p[2])
	case 2:
		return f(p[0]), f(p[1])
	}
	return f(p[2]), f(p[1])
}

// at returns the colour of a point on a face: the pattern's lines and a little grain.
func (m material) at(p geom.Vec3, side uint8) color.RGBA {
	u, v := onFace(p, side)
	k := 1.0
	line := func(x, n float64) bool { return math.Mod(x*n, 1) < 0.06*n/4 }
	switch m.pattern {
	case planks:
		if line(v, 4) {
			k = 0.84
		}
	case bricks:
		shift := 0.0
		if int(v*4)%2 == 1 {
			shift = 0.25
		}
		if line(v, 4) || line(math.Mod(u+shift, 1), 2) {
			k = 0.84
		}
	case bark:
		if line(u, 5) {
			k = 0.86
		}
	}
	k += (hash(p, u, v) - 0.5) * 2 * grains[m.pattern]
	return color.RGBA{scale(m.c.R, k), scale(m.c.G, k), scale(m.c.B, k), 255}
}

// grains is how much the grain of each pattern varies.
var grains = [...]float64{plain: 0.015, planks: 0.04, bricks: 0.05, bark: 0.06, rough: 0.08, leafy: 0.2, pane: 0}

// hash gives every sixteenth of a face its own grain, 0..1.
func hash(p geom.Vec3, u, v float64) float64 {
	h := uint64(int64(math.Floor(p[0]))*73856093) ^ uint64(int64(math.Floor(p[1]))*19349663) ^ uint64(int64(math.Floor(p[2]))*83492791)
	h ^= uint64(u*16)*2654435761 ^ uint64(v*16)*40503*65537
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 29
	return float64(h%1024) / 1023
}
