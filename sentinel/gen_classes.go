//go:build ignore

// gen_classes writes zz_classes.txt: every item and block name of the supported versions with its class. A name that
// fits no line below stays out of the file and is denied. Run from the repository root:
//
//	go run sentinel/gen_classes.go fixtures/peers/node_modules/minecraft-data/minecraft-data/data
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var versions = []string{"1.20.2", "1.20.3", "1.20.5", "1.21.1", "1.21.3", "1.21.4", "1.21.5", "1.21.6", "1.21.8", "1.21.9", "1.21.11", "26.1"}

type line struct{ class, pattern string }

// First match wins. A block that no line names is ordinary; an item that no line names is ordinary when a block of
// its name exists, and else left out.
var items = []line{
	{"", "air|water|lava|fire|bubble_column"},
	{"explosives", "tnt|tnt_minecart|end_crystal|creeper_spawn_egg|wither_spawn_egg|ghast_spawn_egg|wither_skeleton_skull"},
	{"fire", "flint_and_steel|fire_charge"},
	{"lava", "lava_bucket"},
	{"water", "(water|cod|salmon|pufferfish|tropical_fish|axolotl|tadpole)_bucket"},
	{"destructive", "bucket|powder_snow_bucket|glass_bottle|shears|brush|bone_meal|honeycomb|sponge|wet_sponge|.*_(shovel|pickaxe|axe|hoe)|debug_stick"},
	{"pvp", "bow|crossbow|trident|mace|snowball|wind_charge|.*_(sword|spear)|.*arrow|egg|blue_egg|brown_egg|splash_potion|lingering_potion|fishing_rod|experience_bottle|ender_pearl"},
	{"commands", "(repeating_|chain_)?command_block|command_block_minecart|structure_block|jigsaw|test_block|test_instance_block"},
	{"entities", ".*_spawn_egg|.*boat|.*_raft|.*minecart|item_frame|glow_item_frame|painting|armor_stand|lead|name_tag|ender_eye|firework_rocket|spawner|trial_spawner|vault|frogspawn|creaking_heart|dried_ghast|infested_.*"},
	{"bed", ".*_bed"},
	{"anchor", "respawn_anchor"},
	{"ordinary", "redstone|string|wheat_seeds|pumpkin_seeds|melon_seeds|beetroot_seeds|torchflower_seeds|pitcher_pod|carrot|potato|cocoa_beans|sweet_berries|glow_berries"},
}

var blocks = []line{
	{"", "void_air|nether_portal|end_portal|end_gateway|moving_piston|piston_head|frosted_ice"},
	{"explosives", "tnt|wither_skeleton_(wall_)?skull"},
	{"fire", "fire|soul_fire"},
	{"lava", "lava|lava_cauldron"},
	{"water", "water|bubble_column|water_cauldron"},
	{"destructive", "air|cave_air|sponge|wet_sponge"},
	{"commands", "(repeating_|chain_)?command_block|structure_block|jigsaw|test_block|test_instance_block"},
	{"entities", "spawner|trial_spawner|vault|frogspawn|creaking_heart|dried_ghast|infested_.*"},
	{"bed", ".*_bed"},
	{"anchor", "respawn_anchor"},
}

// clicks are the blocks that can answer a click of a full hand unless the player sneaks.
var clicks = []line{
	{"", "iron_door|iron_trapdoor"},
	{"containers", ".*chest|barrel|.*shulker_box|(blast_)?furnace|smoker|hopper|dispenser|dropper|crafter|brewing_stand|beacon|lectern|chiseled_bookshelf|.*_shelf|decorated_pot|jukebox|crafting_table|enchanting_table|anvil|(chipped|damaged)_anvil|grindstone|loom|stonecutter|cartography_table|smithing_table|composter|vault"},
	{"commands", "(repeating_|chain_)?command_block|structure_block|jigsaw|test_block|test_instance_block"},
	{"interaction", ".*_door|.*trapdoor|.*fence_gate|.*_button|lever|.*sign|bell|cake|.*candle_cake|.*_bed|respawn_anchor|repeater|comparator|daylight_detector|note_block|redstone_wire|.*cauldron|flower_pot|potted_.*|dragon_egg|sweet_berry_bush|cave_vines|cave_vines_plant|.*copper_golem_statue"},
}

func classOf(table []line, name string) (string, bool) {
	for _, l := range table {
		if regexp.MustCompile("^(" + l.pattern + ")$").MatchString(name) {
			return l.class, true
		}
	}
	return "", false
}

func names(data, kind string) map[string]bool {
	var paths struct {
		PC map[string]map[string]string `json:"pc"`
	}
	read(filepath.Join(data, "dataPaths.json"), &paths)
	out := map[string]bool{}
	for _, v := range versions {
		var list []struct{ Name string }
		read(filepath.Join(data, paths.PC[v][kind], kind+".json"), &list)
		for _, e := range list {
			out[e.Name] = true
		}
	}
	return out
}

func read(path string, into any) {
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		log.Fatalf("%s: %v", path, err)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run sentinel/gen_classes.go MINECRAFT_DATA/data")
	}
	itemNames, blockNames := names(os.Args[1], "items"), names(os.Args[1], "blocks")
	groups := map[string][]string{}
	add := func(kind, class, name string) {
		if class != "" {
			groups[kind+" "+class] = append(groups[kind+" "+class], name)
		}
	}
	for n := range itemNames {
		class, ok := classOf(items, n)
		if !ok && blockNames[n] {
			class = "ordinary"
		}
		add("items", class, n)
	}
	for n := range blockNames {
		class, ok := classOf(blocks, n)
		if !ok {
			class = "ordinary"
		}
		add("blocks", class, n)
		if class, ok := classOf(clicks, n); ok {
			add("clicks", class, n)
		}
	}
	var b strings.Builder
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		slices.Sort(groups[k])
		fmt.Fprintln(&b, k, strings.Join(groups[k], " "))
	}
	if err := os.WriteFile("sentinel/zz_classes.txt", []byte(b.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}
