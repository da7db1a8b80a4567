package wire

import (
	"math/bits"
	"strings"

	"blockworld/worldstate"
	"blockworld/worldstate/nbt"
	"blockworld/worldstate/registry"
)

// EventContext is what turning packets into facts needs to know of earlier packets. It belongs to one connection.
type EventContext struct {
	Protocol       registry.Protocol
	States         int                    // block states of the version; larger ids are malformed
	DimensionTypes []worldstate.Dimension // in the order received
	Biomes         int                    // number of biomes
	ChatTypes      []ReceivedChatType     // in the order received

	dimension worldstate.Dimension // of the last login or respawn
	border    worldstate.BorderSet
}

// ReceivedChatType is an entry of the server's chat_type registry.
type ReceivedChatType struct {
	Name    string
	Private bool // whispers and team messages, by the game's own names
}

// NewEventContext makes a context for one connection that speaks the registry's version.
func NewEventContext(reg *registry.Registry) *EventContext {
	return &EventContext{Protocol: reg.Protocol(), States: reg.StateCount()}
}

// Layout returns how columns of the current dimension are packed. Its Height is 0 before login.
func (c *EventContext) Layout() worldstate.ColumnLayout {
	return worldstate.ColumnLayout{
		MinY: c.dimension.MinY, Height: c.dimension.Height,
		FluidCount:   Has(c.Protocol, FluidCounts),
		NoLongCounts: Has(c.Protocol, NoLongCounts),
		BlockBits:    bitsFor(c.States),
		BiomeBits:    bitsFor(c.Biomes),
		States:       c.States,
	}
}

// bitsFor returns how many bits number n things.
func bitsFor(n int) uint8 {
	if n <= 1 {
		return 0
	}
	return uint8(bits.Len(uint(n - 1)))
}

// spawn resolves the dimension type of a login or respawn; an unknown one has height 0, in which no column decodes.
func (c *EventContext) spawn(s SpawnInfo) worldstate.SpawnInfo {
	d := worldstate.Dimension{Name: s.DimensionType}
	if Has(c.Protocol, DimensionByIndex) {
		if i := int(s.DimensionIndex); i >= 0 && i < len(c.DimensionTypes) {
			d = c.DimensionTypes[i]
		}
	} else {
		for _, t := range c.DimensionTypes {
			if t.Name == s.DimensionType {
				d = t
			}
		}
	}
	c.dimension = d
	return worldstate.SpawnInfo{
		DimensionType: d,
		DimensionName: s.Dimension,
		HashedSeed:    s.HashedSeed,
		GameMode:      gameMode(int32(s.GameMode)),
		PreviousMode:  s.PreviousMode,
		Flat:          s.Flat,
		Debug:         s.Debug,
	}
}

// received keeps what this context needs of a registry.
func (c *EventContext) received(r worldstate.RegistryReceived) {
	switch strings.TrimPrefix(r.Name, "minecraft:") {
	case "dimension_type":
		c.DimensionTypes = nil
		for _, e := range r.Entries {
			c.DimensionTypes = append(c.DimensionTypes, dimensionType(e))
		}
	case "worldgen/biome":
		c.Biomes = len(r.Entries)
	case "chat_type":
		c.ChatTypes = nil
		for _, e := range r.Entries {
			name := strings.TrimPrefix(e.Key, "minecraft:")
			private := strings.HasPrefix(name, "msg_command_") || strings.HasPrefix(name, "team_msg_command_")
			c.ChatTypes = append(c.ChatTypes, ReceivedChatType{Name: e.Key, Private: private})
		}
	}
}

// private tells whether lines of a chat type are not for everybody. Types written out or unknown count as private.
func (c *EventContext) private(t ChatType) bool {
	if t.Inline != nil || t.Index < 0 || int(t.Index) >= len(c.ChatTypes) {
		return true
	}
	return c.ChatTypes[t.Index].Private
}

// vanillaDimensions are the limits of the game's own dimension types, for servers that send an entry without data.
// Source: minecraft-data loginPacket.json, 1.20.2 to 26.1.
var vanillaDimensions = map[string][2]int32{
	"minecraft:overworld": {-64, 384}, "minecraft:overworld_caves": {-64, 384},
	"minecraft:the_nether": {0, 256}, "minecraft:the_end": {0, 256},
}

// dimensionType reads the limits of a dimension type; height 0 when they are not there or no multiples of 16.
func dimensionType(e worldstate.RegistryEntry) worldstate.Dimension {
	d := worldstate.Dimension{Name: e.Key}
	if len(e.NBT) == 0 {
		if v, ok := vanillaDimensions[e.Key]; ok {
			d.MinY, d.Height = v[0], v[1]
		}
		return d
	}
	v, _, err := nbt.Parse(e.NBT, nbt.Limits{})
	root, ok := v.(nbt.Compound)
	if err != nil || !ok {
		return d
	}
	minY, ok1 := root.Int("min_y")
	height, ok2 := root.Int("height")
	if ok1 && ok2 && minY%16 == 0 && height%16 == 0 && height > 0 && height <= maxHeight && minY >= -maxHeight && minY+height <= maxHeight {
		d.MinY, d.Height = int32(minY), int32(height)
	}
	return d
}

// maxHeight is the game's bound on dimensions, in blocks from 0 up and down.
const maxHeight = 4064

func gameMode(n int32) worldstate.GameMode {
	if n < 0 || n > 3 {
		return worldstate.GameModeUnknown
	}
	return worldstate.GameMode(n) + worldstate.Survival
}
