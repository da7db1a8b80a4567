package placement

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"blockworld/worldstate/registry"
)

// Family is a set of blocks that share one placement rule. The zero value means that nobody has told us the rule.
type Family uint8

// The families, in the order of familyNames.
const (
	FamilyUnknown Family = iota
	Technical
	BucketFluid
	FireTool
	GrownOnly
	ToolSoil
	CauldronFilled
	Potted
	CandleCake
	Stairs
	Door
	Trapdoor
	FenceGate
	Bed
	HorizOpposite
	Diode
	HorizSame
	DecoratedPot
	Anvil
	Chest
	SixwayOpposite
	Observer
	Crafter
	Jigsaw
	Pillar
	Chain
	Slab
	FaceSixway
	AmethystBud
	Hopper
	Torch
	LeverButton
	Grindstone
	Bell
	Ladder
	Cocoa
	TripwireHook
	SignStanding
	SignWall
	SignHanging
	SignWallHanging
	Banner
	BannerWall
	Skull
	SkullWall
	Lantern
	PointedDripstone
	Vine
	Multiface
	Fence
	PaneBars
	Wall
	RedstoneWire
	Tripwire
	Rail
	MushroomBlock
	Chorus
	Scaffolding
	SnowySoil
	NoteBlock
	Leaves
	SnowLayer
	Candle
	SeaPickle
	TurtleEgg
	PinkPetals
	PressurePlate
	Carpet
	Cake
	SnifferEgg
	FlowerPot
	Sapling
	SmallPlant
	MushroomPlant
	NetherPlant
	DoublePlant
	Crop
	ColumnPlant
	VineColumn
	Dripleaf
	CeilingPlant
	WaterPlant
	WaterSurface
	Coral
	CoralBlock
	Falling
	Sponge
	WaterloggablePlain
	DefaultStateCube
	Cube
	MossCarpet
	DriedGhast
	Shelf
	Statue
	familyCount
)

var familyNames = [familyCount]string{
	"unknown", "technical", "bucket_fluid", "fire_tool", "grown_only", "tool_soil", "cauldron_filled", "potted",
	"candle_cake", "stairs", "door", "trapdoor", "fence_gate", "bed", "horiz_opposite", "diode", "horiz_same",
	"decorated_pot", "anvil", "chest", "sixway_opposite", "observer", "crafter", "jigsaw", "pillar", "chain", "slab",
	"face_sixway", "amethyst_bud", "hopper", "torch", "lever_button", "grindstone", "bell", "ladder", "cocoa",
	"tripwire_hook", "sign_standing", "sign_wall", "sign_hanging", "sign_wall_hanging", "banner", "banner_wall", "skull",
	"skull_wall", "lantern", "pointed_dripstone", "vine", "multiface", "fence", "pane_bars", "wall", "redstone_wire",
	"tripwire", "rail", "mushroom_block", "chorus", "scaffolding", "snowy_soil", "note_block", "leaves", "snow_layer",
	"candle", "sea_pickle", "turtle_egg", "pink_petals", "pressure_plate", "carpet", "cake", "sniffer_egg", "flower_pot",
	"sapling", "small_plant", "mushroom_plant", "nether_plant", "double_plant", "crop", "column_plant", "vine_column",
	"dripleaf", "ceiling_plant", "water_plant", "water_surface", "coral", "coral_block", "falling", "sponge",
	"waterloggable_plain", "default_state_cube", "cube", "moss_carpet", "dried_ghast", "shelf", "statue",
}

// String returns the family's name as families.txt writes it.
func (f Family) String() string {
	if f >= familyCount {
		return fmt.Sprintf("family(%d)", uint8(f))
	}
	return familyNames[f]
}

//go:embed families.txt
var familiesText string

// families maps a full block name to its family; parsed once, never changed.
var families = sync.OnceValue(func() map[string]Family {
	m, err := parseFamilies(familiesText)
	if err != nil {
		// The file is part of the program and a test parses it; without it every block is simply unknown.
		return map[string]Family{}
	}
	return m
})

func parseFamilies(text string) (map[string]Family, error) {
	byName := make(map[string]Family, familyCount)
	for f, n := range familyNames {
		byName[n] = Family(f)
	}
	out := make(map[string]Family, 1200)
	current := FamilyUnknown
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			f, ok := byName[strings.Trim(line, "[]")]
			if !ok || f == FamilyUnknown {
				return nil, fmt.Errorf("families.txt line %d: no family is called %s", i+1, line)
			}
			current = f
		default:
			for _, n := range strings.Fields(line) {
				if was, dup := out["minecraft:"+n]; dup {
					return nil, fmt.Errorf("families.txt line %d: %s is already in %v", i+1, n, was)
				}
				out["minecraft:"+n] = current
			}
		}
	}
	return out, nil
}

// FamilyOf returns the family of a block by its full name, FamilyUnknown for a block that no list names.
func FamilyOf(block string) Family { return families()[block] }

// family returns the family of a state's block.
func (c ctx) family(s registry.StateID) Family {
	b := c.reg.BlockOf(s)
	if b == nil {
		return FamilyUnknown
	}
	return families()[b.Name]
}
