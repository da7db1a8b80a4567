package wire

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
	"blockworld/worldstate/registry"
)

// context returns a context as configuration leaves it: two dimension types, 65 biomes, three chat types.
func context(t testing.TB, p registry.Protocol) *EventContext {
	t.Helper()
	reg, err := registry.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx := NewEventContext(reg)
	limits := nbt.Compound{"min_y": nbt.Int(-32), "height": nbt.Int(128), "natural": nbt.Byte(1)}
	biomes := make([]string, 65)
	for i := range biomes {
		biomes[i] = "minecraft:b" + itoa(int64(i))
	}
	regs := []struct {
		name string
		keys []string
	}{
		{"minecraft:dimension_type", []string{"minecraft:overworld", "my:low"}},
		{"minecraft:worldgen/biome", biomes},
		{"minecraft:chat_type", []string{"minecraft:chat", "minecraft:msg_command_incoming", "minecraft:say_command"}},
	}
	codec := nbt.Compound{}
	for _, r := range regs {
		data := &RegistryData{Registry: r.name}
		var list []nbt.Value
		for i, k := range r.keys {
			e := RegistryEntry{Key: k, HasData: k == "my:low"}
			if e.HasData {
				e.Data = nbt.Append(nil, limits)
			}
			data.Entries = append(data.Entries, e)
			list = append(list, nbt.Compound{"name": nbt.String(k), "id": nbt.Int(i), "element": limits})
		}
		codec[r.name] = nbt.Compound{"type": nbt.String(r.name), "value": nbt.ListOf(list...)}
		if Has(p, RegistryPerPacket) {
			if got := Events(data, ctx); len(got) != 1 {
				t.Fatalf("%s: %d facts", r.name, len(got))
			}
		}
	}
	if !Has(p, RegistryPerPacket) {
		if got := Events(&RegistryData{Codec: nbt.Append(nil, codec)}, ctx); len(got) != 3 {
			t.Fatalf("%d facts", len(got))
		}
	}
	return ctx
}

// TestJoined resolves the dimension type of a login by index or by name, and packs columns by it.
func TestJoined(t *testing.T) {
	for _, p := range registry.Protocols() {
		ctx := context(t, p)
		login := &LoginPlay{EntityID: 7, Spawn: SpawnInfo{DimensionType: "my:low", DimensionIndex: 1, Dimension: "my:world", GameMode: 1, PreviousMode: -1}}
		got := Events(login, ctx)
		want := []worldstate.Event{worldstate.Joined{EntityID: 7, Spawn: worldstate.SpawnInfo{
			DimensionType: worldstate.Dimension{Name: "my:low", MinY: -32, Height: 128}, DimensionName: "my:world",
			GameMode: worldstate.Creative, PreviousMode: -1,
		}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", p, d)
		}
		l := ctx.Layout()
		if l.MinY != -32 || l.Height != 128 || l.BlockBits != 15 || l.BiomeBits != 7 || l.States < 24000 ||
			l.NoLongCounts != (p >= registry.V1_21_5) || l.FluidCount != (p >= registry.V26_1) {
			t.Errorf("%s: %+v", p, l)
		}
		Events(&Respawn{Spawn: SpawnInfo{DimensionType: "no:such", DimensionIndex: 9}}, ctx)
		if l := ctx.Layout(); l.Height != 0 {
			t.Errorf("%s: an unknown dimension type gives %+v", p, l)
		}
	}
}

// TestOneBiome takes columns of a server whose biome registry has one entry, or none that was told.
func TestOneBiome(t *testing.T) {
	reg, err := registry.Load(registry.V1_21_7)
	if err != nil {
		t.Fatal(err)
	}
	column := bytes.Repeat([]byte{0, 0, 0, 0, 0, 0}, 8) // per section: count, one state, one biome
	for _, biomes := range []int{0, 1} {
		ctx := context(t, registry.V1_21_7)
		ctx.Biomes = biomes
		m := worldstate.NewMirror(reg, nil)
		for _, pk := range []Packet{
			&LoginPlay{EntityID: 7, Spawn: SpawnInfo{DimensionType: "my:low", DimensionIndex: 1, Dimension: "my:world", GameMode: 1, PreviousMode: -1}},
			&LevelChunkWithLight{Data: column},
		} {
			for _, ev := range Events(pk, ctx) {
				if err := m.Apply(ev); err != nil {
					t.Fatalf("%d biomes: %v", biomes, err)
				}
			}
		}
		if !m.View().Loaded(geom.ChunkPos{}) {
			t.Errorf("%d biomes: the column is not loaded", biomes)
		}
	}
}

// TestVanillaDimension falls back on the game's own limits where the server sends a name alone.
func TestVanillaDimension(t *testing.T) {
	ctx := context(t, registry.V1_21_7)
	if d := ctx.DimensionTypes[0]; d != (worldstate.Dimension{Name: "minecraft:overworld", MinY: -64, Height: 384}) {
		t.Errorf("%+v", d)
	}
	for _, bad := range []nbt.Value{nbt.Compound{}, nbt.Compound{"min_y": nbt.Int(-32), "height": nbt.Int(1 << 30)}, nbt.Compound{"min_y": nbt.Int(-5), "height": nbt.Int(16)}, nbt.Int(4)} {
		if d := dimensionType(worldstate.RegistryEntry{Key: "a", NBT: nbt.Append(nil, bad)}); d.Height != 0 {
			t.Errorf("%v gives %+v", bad, d)
		}
	}
}

// TestEvents turns packets into facts.
func TestEvents(t *testing.T) {
	plain := worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: 4, Count: 2, Plain: worldstate.PlainYes}}
	named := worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: 4, Count: 2, Plain: worldstate.PlainNo}}
	head := worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: 4, Count: 2}}
	empty := worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Plain: worldstate.PlainYes}}
	nan := geom.Vec3{math.NaN(), 0, math.Inf(1)}
	section := &SectionBlocksUpdate{SectionX: -1, SectionY: -4, SectionZ: 2, Changes: []SectionChange{Change(9, 15, 0, 3), -1}}
	for _, c := range []struct {
		name string
		p    registry.Protocol
		pk   Packet
		want worldstate.Event
	}{
		{"block", registry.V26_1, &BlockUpdate{State: 70000}, worldstate.BlockChanged{State: 0xFFFF}},
		{"section", registry.V26_1, section, worldstate.SectionChanged{Changes: []worldstate.BlockChanged{
			{Pos: geom.BlockPos{X: -1, Y: -64, Z: 35}, State: 9}, {Pos: geom.BlockPos{X: -1, Y: -49, Z: 47}, State: 0xFFFF},
		}}},
		{"slots", registry.V26_1, &ContainerSetContent{StateID: 3, Items: []ItemStack{
			{}, {Count: 2, Item: 4}, {Count: 2, Item: 4, Components: []byte{0, 1, 5}}, {Count: 2, Item: 4, Form: StackHead, Components: []byte{1}}, {Form: StackLost},
		}, Carried: ItemStack{Form: StackLost}}, worldstate.ContainerContent{StateID: 3, Slots: []worldstate.Slot{empty, plain, named, head, {}}}},
		{"slots with NBT", registry.V1_20_2, &ContainerSetSlot{Window: -1, Item: ItemStack{Count: 2, Item: 4, NBT: NBT{10, 0}}}, worldstate.ContainerSlot{Window: -1, Content: named}},
		{"equipment", registry.V26_1, &SetEquipment{EntityID: 5, Items: []Equipment{{Slot: 0, Item: ItemStack{Count: 2, Item: 4}}}},
			worldstate.EntityEquipment{ID: 5, Items: []worldstate.EquipmentItem{{Slot: 0, Content: plain}}}},
		{"equipment with an unknown component", registry.V26_1, &SetEquipment{Items: []Equipment{{Slot: 4, Item: ItemStack{Count: 2, Item: 4, Form: StackHead}}}},
			worldstate.EntityEquipment{Items: []worldstate.EquipmentItem{{Slot: 4, Content: head}, {Slot: 0}, {Slot: 1}, {Slot: 2}, {Slot: 3}, {Slot: 5}, {Slot: 6}, {Slot: 7}}}},
		{"position", registry.V1_20_2, &PlayerPosition{ID: 1, Relative: worldstate.RelativeX | worldstate.RelativeYaw}, worldstate.Teleported{ID: 1, Relative: worldstate.RelativeX | worldstate.RelativeYaw | worldstate.RelativeVelocityX}},
		{"position with velocity", registry.V26_1, &PlayerPosition{ID: 1, Relative: worldstate.RelativeX}, worldstate.Teleported{ID: 1, Relative: worldstate.RelativeX}},
		{"position without a velocity", registry.V1_21_4, &PlayerPosition{ID: 1, Position: geom.Vec3{1, 2, 3}, Velocity: nan},
			worldstate.Teleported{ID: 1, Position: geom.Vec3{1, 2, 3}}},
		{"health without a saturation", registry.V1_21_4, &SetHealth{Health: 20, Food: 19, Saturation: float32(math.NaN())}, worldstate.HealthChanged{Health: 20, Food: 19}},
		{"entity without a velocity", registry.V1_21_4, &TeleportEntity{EntityID: 1, Velocity: nan}, worldstate.EntityPlaced{ID: 1}},
		{"entity in step without a velocity", registry.V1_21_4, &EntityPositionSync{EntityID: 1, Velocity: nan}, worldstate.EntityPlaced{ID: 1}},
		{"move", registry.V26_1, &MoveEntityPosRot{EntityID: 1, DX: 4096, DY: -2048, Yaw: 64, OnGround: true},
			worldstate.EntityMoved{ID: 1, Delta: geom.Vec3{1, -0.5, 0}, Moved: true, Rotation: geom.Rotation{Yaw: 90}, Turned: true, OnGround: true}},
		{"game mode", registry.V26_1, &GameEvent{Event: 3, Value: 2}, worldstate.GameModeChanged{Mode: worldstate.Adventure}},
		{"strange game mode", registry.V26_1, &GameEvent{Event: 3, Value: 200}, worldstate.GameModeChanged{}},
		{"abilities", registry.V26_1, &PlayerAbilitiesClientbound{Flags: AbilityMayFly | AbilityInstantBuild}, worldstate.AbilitiesChanged{MayFly: true, InstantBuild: true}},
		{"time", registry.V1_20_2, &SetTime{Age: 5, TimeOfDay: 6}, worldstate.TimeUpdated{Age: 5, TimeOfDay: 6}},
		{"clocks", registry.V26_1, &SetTime{Age: 5, Clocks: []WorldClock{{Ticks: 6}}}, worldstate.TimeUpdated{Age: 5, TimeOfDay: 6}},
		{"whisper", registry.V26_1, &PlayerChat{Message: "psst", Name: Literal("Eve"), Salt: 9, Type: ChatType{Index: 1}},
			worldstate.ChatReceived{Trust: worldstate.ChatUnsigned, Text: "psst", Name: "Eve", Salt: 9, Private: true}},
		{"signed", registry.V26_1, &PlayerChat{Message: "hi", Signed: true, Type: ChatType{Index: 0}},
			worldstate.ChatReceived{Trust: worldstate.ChatSigned, Text: "hi", Signature: make([]byte, 256)}},
		{"unknown chat type", registry.V26_1, &DisguisedChat{Message: Literal("x"), Type: ChatType{Index: 77}},
			worldstate.ChatReceived{Trust: worldstate.ChatDisguised, Text: "x", Private: true}},
		{"system", registry.V1_20_2, &SystemChat{Content: Text{Form: TextJSON, Data: `{"text":"a","extra":["b"]}`}, Overlay: true},
			worldstate.ChatReceived{Text: "ab", Overlay: true}},
		{"border", registry.V26_1, &SetBorderLerpSize{OldDiameter: 100, NewDiameter: 50}, worldstate.BorderSet{Diameter: 50}},
		{"players", registry.V26_1, &PlayerInfoUpdate{Actions: InfoAddPlayer | InfoGameMode, Entries: []PlayerInfo{{Profile: GameProfile{Name: "A"}, GameMode: 1}}},
			worldstate.PlayersListed{Players: []worldstate.PlayerEntry{{Name: "A", HasName: true, GameMode: worldstate.Creative, HasGameMode: true}}}},
		{"stats", registry.V26_1, &AwardStats{Stats: []worldstate.Stat{{Category: 2, ID: 3, Value: 4}}}, worldstate.StatsAwarded{Entries: []worldstate.Stat{{Category: 2, ID: 3, Value: 4}}}},
		{"tags", registry.V26_1, &UpdateTags{Registries: []TagRegistry{{Registry: "a", Tags: []Tag{{Name: "b", IDs: []int32{1}}}}}},
			worldstate.TagsReceived{Registry: "a", Tags: map[string][]int32{"b": {1}}}},
		{"nothing", registry.V26_1, &KeepAlive{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Events(c.pk, context(t, c.p))
			want := []worldstate.Event{c.want}
			if c.want == nil {
				want = nil
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestColumnPositions places block entities.
func TestColumnPositions(t *testing.T) {
	ctx := context(t, registry.V1_21_7)
	got := Events(&LevelChunkWithLight{Pos: geom.ChunkPos{X: -2, Z: 3}, BlockEntities: []ChunkBlockEntity{{XZ: 0xF1, Y: -7, Type: 2}}}, ctx)
	b := got[0].(worldstate.ChunkLoaded).BlockEntities[0]
	if b.Pos != (geom.BlockPos{X: -17, Y: -7, Z: 49}) || b.Type != 2 {
		t.Errorf("%+v", b)
	}
}

// TestCodecRegistries survives codecs of strange shapes.
func TestCodecRegistries(t *testing.T) {
	item := func(id int) nbt.Value { return nbt.Compound{"name": nbt.String("x"), "id": nbt.Int(id)} }
	for _, v := range []nbt.Value{
		nbt.Int(1), nbt.Compound{"a": nbt.Int(1)}, nbt.Compound{"a": nbt.Compound{"value": nbt.Int(1)}},
		nbt.Compound{"a": nbt.Compound{"value": nbt.ListOf(item(-1), item(1<<30), item(1))}},
	} {
		for _, r := range registries(&RegistryData{Codec: nbt.Append(nil, v)}) {
			if len(r.Entries) > 3 {
				t.Errorf("%d entries", len(r.Entries))
			}
		}
	}
}

// FuzzEvents lets facts be made of any packets.
func FuzzEvents(f *testing.F) {
	for _, pl := range places() {
		if pl.d == Clientbound && pl.p == registry.V26_1 {
			data, err := EncodePacket(nil, pl.p, pl.s, pl.d, pl.random(1))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(pl.p-registry.First), pl.s == Play, data)
		}
	}
	f.Fuzz(func(t *testing.T, version uint8, play bool, data []byte) {
		p := registry.First + registry.Protocol(version%12)
		s := Configuration
		if play {
			s = Play
		}
		pk, err := DecodePacket(p, s, Clientbound, data)
		if err != nil {
			return
		}
		ctx := &EventContext{Protocol: p, States: 30000}
		for _, ev := range Events(pk, ctx) {
			if ev == nil {
				t.Error("a nil fact")
			}
		}
	})
}
