package worldstate

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/nbt"
	"blockworld/worldstate/registry"
)

func cellAt(x, y, z int32) geom.BlockPos { return geom.BlockPos{X: x, Y: y, Z: z} }

func boxAt(x, y, z, x2, y2, z2 int32) geom.BlockBox {
	return geom.BoxOf(cellAt(x, y, z), cellAt(x2, y2, z2))
}

func all(registry.StateID) bool { return true }

// joinedMirror returns a mirror in play with the column 0,0: stone below y 0, air above.
func joinedMirror(t testing.TB, store *SectionStore, opts ...Option) *Mirror {
	m := NewMirror(testRegistry(t), store, opts...)
	apply(t, m, Identified{UUID: UUID{1}, Name: "bot"}, Joined{EntityID: 1, Dimensions: []string{"minecraft:overworld"}, Spawn: SpawnInfo{
		DimensionType: Dimension{"minecraft:overworld", -16, 48}, DimensionName: "minecraft:overworld", HashedSeed: 5, GameMode: Survival}},
		flatColumn(geom.ChunkPos{}))
	return m
}

func flatColumn(pos geom.ChunkPos) ChunkLoaded {
	stone := &cells{}
	for i := range stone {
		stone[i] = 1
	}
	return ChunkLoaded{Pos: pos, Layout: testLayout, Data: encodeColumn([]*cells{stone, {}, {}}, testLayout, 0, false)}
}

func stack(item registry.ItemID, count int32) Slot {
	return Slot{Known: true, Stack: ItemStack{Item: item, Count: count, Plain: PlainYes}}
}

func TestInventory(t *testing.T) {
	t.Run("SE-02/unknown before the first whole content", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, ContainerSlot{Window: 0, Slot: 36, Content: stack(5, 3)})
		if inv := m.View().Inventory(); inv.Known || inv.Held != -1 || inv.Hand().Known || inv.Slots[40].Known {
			t.Errorf("%+v", inv)
		}
	})
	t.Run("SE-02/a script of slots gives exact counts", func(t *testing.T) {
		m := joinedMirror(t, nil)
		slots := make([]Slot, 46)
		for i := range slots {
			slots[i] = stack(0, 0)
		}
		slots[36] = stack(5, 64)
		apply(t, m, ContainerContent{Window: 0, StateID: 7, Slots: slots, Carried: stack(0, 0)}, HeldSlot{0},
			ContainerSlot{Window: 0, StateID: 8, Slot: 36, Content: stack(5, 63)}, InventorySlot{Slot: 1, Content: stack(6, 2)},
			ContainerSlot{Window: -2, Slot: 40, Content: stack(7, 1)}, InventorySlot{Slot: 36, Content: stack(8, 1)},
			ContainerSlot{Window: 0, StateID: 9, Slot: 10, Content: Slot{}})
		inv := m.View().Inventory()
		got := map[int]ItemStack{}
		for i, s := range inv.Slots {
			if s.Known && !s.Stack.Empty() {
				got[i] = s.Stack
			}
		}
		want := map[int]ItemStack{36: {5, 63, PlainYes}, 37: {6, 2, PlainYes}, 45: {7, 1, PlainYes}, 8: {8, 1, PlainYes}}
		if diff := cmp.Diff(want, got); diff != "" || inv.StateID != 9 || inv.Hand().Stack.Count != 63 {
			t.Errorf("%s state id %d, hand %+v", diff, inv.StateID, inv.Hand())
		}
		if inv.Slots[10].Known || !inv.Slots[11].Known {
			t.Error("an undecodable slot is not unknown, or others are")
		}
		apply(t, m, Respawned{Spawn: SpawnInfo{GameMode: Survival}})
		if m.View().Inventory().Known {
			t.Error("known after a respawn")
		}
	})
	t.Run("SE-02/another window moves our slots", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, ContainerContent{Slots: make([]Slot, 46)}, WindowOpened{Window: 3})
		chest := make([]Slot, 63)
		chest[62], chest[27] = stack(9, 4), stack(2, 2)
		apply(t, m, ContainerContent{Window: 3, Slots: chest}, ContainerSlot{Window: 3, Slot: 54, Content: stack(1, 1)}, ContainerSlot{Window: 3, Slot: 0, Content: stack(1, 9)})
		inv := m.View().Inventory()
		if inv.Slots[44].Stack.Item != 9 || inv.Slots[9].Stack.Count != 2 || inv.Slots[36].Stack.Item != 1 {
			t.Errorf("%+v", inv.Slots)
		}
	})
}

func TestScan(t *testing.T) {
	t.Run("SE-03/unloaded cells are unknown, not air", func(t *testing.T) {
		m := joinedMirror(t, nil)
		r := m.View().Scan(boxAt(0, 0, 0, 31, 1, 15), func(s registry.StateID) bool { return s == 0 }, 1<<20)
		if len(r.Found) != 512 || r.Known != 512 || r.Unknown != 512 || r.More {
			t.Errorf("%d found, %d known, %d unknown", len(r.Found), r.Known, r.Unknown)
		}
		r = m.View().Scan(boxAt(math.MinInt32, math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32), func(s registry.StateID) bool { return s == 1 }, 7)
		if len(r.Found) != 7 || !r.More || r.Found[0].Pos != cellAt(0, -16, 0) || r.Known != 48*256 || r.Unknown != math.MaxInt64-r.Known {
			t.Errorf("%+v", r)
		}
	})
	t.Run("SE-03/finds what reading each cell finds", func(t *testing.T) {
		m := joinedMirror(t, nil)
		r := uint32(7)
		next := func(n int32) int32 { r = r*1664525 + 1013904223; return int32(r>>8) % n }
		for _, pos := range []geom.ChunkPos{{X: 0, Z: 0}, {X: 1, Z: 0}, {X: 1, Z: 1}} {
			s := [3]*cells{{}, {}, {}}
			for i := range 3 * sectionCells {
				s[i/sectionCells][i%sectionCells] = registry.StateID(next([]int32{14, 200, 500}[i/sectionCells]))
			}
			apply(t, m, ChunkLoaded{Pos: pos, Layout: testLayout, Data: encodeColumn(s[:], testLayout, 0, false)})
		}
		for range 200 {
			box := boxAt(next(40), next(60)-20, next(40), next(40), next(60)-20, next(40))
			some := registry.StateID(next(30))
			want := func(s registry.StateID) bool { return s == some || s == 2*some || s%97 == 5 }
			got := m.View().Scan(box, want, 1<<20)
			slices.SortFunc(got.Found, func(a, b Found) int {
				if a.Pos.Less(b.Pos) {
					return -1
				}
				return 1
			})
			var found []Found
			unknown := int64(0)
			for y := box.Min.Y; y <= box.Max.Y; y++ {
				for z := box.Min.Z; z <= box.Max.Z; z++ {
					for x := box.Min.X; x <= box.Max.X; x++ {
						if s, ok := m.View().Block(cellAt(x, y, z)); !ok {
							unknown++
						} else if want(s) {
							found = append(found, Found{cellAt(x, y, z), s})
						}
					}
				}
			}
			if diff := cmp.Diff(found, got.Found); diff != "" || unknown != got.Unknown || got.Known != box.Volume()-unknown {
				t.Fatalf("%s: %d unknown, want %d\n%s", box, got.Unknown, unknown, diff)
			}
		}
	})
}

func TestEntities(t *testing.T) {
	t.Run("SE-04/spawn, move and remove", func(t *testing.T) {
		m := joinedMirror(t, nil)
		apply(t, m, EntityAdded{ID: 5, UUID: UUID{5}, Type: 1, Position: geom.Vec3{1, 0, 0}}, EntityAdded{ID: 6, Position: geom.Vec3{8, 0, 0}},
			EntityMoved{ID: 5, Delta: geom.Vec3{1, 0, 0}, Moved: true, Rotation: geom.Rotation{Yaw: 90}, Turned: true},
			EntityPlaced{ID: 6, Position: geom.Vec3{1, 2, 3}, Relative: RelativeX}, EntityEquipment{ID: 6, Items: []EquipmentItem{{0, stack(4, 1)}, {99, stack(1, 1)}}},
			EntityMoved{ID: 77, Delta: geom.Vec3{1, 1, 1}, Moved: true}, EntityPosed{ID: 6, Pose: PoseCrouching}, EntityPosed{ID: 1, Pose: PoseSwimming},
			PassengersSet{Vehicle: 6, Passengers: []int32{5, 1}})
		v := m.View()
		five, _ := v.Entity(5)
		six, _ := v.Entity(6)
		if five.Position != (geom.Vec3{2, 0, 0}) || five.Rotation.Yaw != 90 || !five.Riding || six.Position != (geom.Vec3{9, 2, 3}) ||
			six.Equipment[0].Stack.Item != 4 || six.Pose != PoseCrouching || v.Self().Pose != PoseSwimming || !v.Self().Riding {
			t.Errorf("%+v %+v %+v", five, six, v.Self())
		}
		if _, ok := v.Entity(77); ok {
			t.Error("an entity that was never added is there")
		}
		apply(t, m, EntitiesRemoved{[]int32{6}})
		if _, ok := m.View().Entity(6); ok || m.View().Self().Riding {
			t.Error("a removed entity is there, or we ride it")
		}
		if e, ok := m.View().EntityByUUID(UUID{5}); !ok || e.ID != 5 || e.Riding {
			t.Errorf("%+v", e)
		}
	})
	t.Run("SE-04/the list is bounded", func(t *testing.T) {
		m := joinedMirror(t, nil)
		for i := range int32(100) {
			apply(t, m, EntityAdded{ID: 100 + i, Position: geom.Vec3{float64(i), 0, 0}})
		}
		near, total := m.View().Nearby(geom.Vec3{50, 0, 0}, 10.5, 5)
		var ids []int32
		for _, e := range near {
			ids = append(ids, e.ID)
		}
		if diff := cmp.Diff([]int32{150, 149, 151, 148, 152}, ids); diff != "" || total != 21 {
			t.Errorf("%d in all %s", total, diff)
		}
		m.entities = map[int32]*Entity{}
		for i := range int32(maxEntities) {
			m.entities[i] = &Entity{ID: i}
		}
		if err := m.Apply(EntityAdded{ID: maxEntities}); !errors.Is(err, ErrMalformed) {
			t.Errorf("one entity too many: %v", err)
		}
	})
}

func TestChat(t *testing.T) {
	say := func(t *testing.T, m *Mirror, text string, private bool) {
		apply(t, m, ChatReceived{Trust: ChatSigned, Text: Untrusted(text), Private: private})
	}
	t.Run("SE-05/no gap, no repeat", func(t *testing.T) {
		m := joinedMirror(t, nil)
		var got []string
		cursor := uint64(0)
		for i := range 1000 {
			say(t, m, fmt.Sprint(i), false)
			if i%97 == 0 || i == 999 {
				page := m.View().Chat(cursor)
				if page.Lost != 0 {
					t.Fatalf("%d lost", page.Lost)
				}
				for _, l := range page.Lines {
					got = append(got, string(l.Text))
				}
				cursor = page.Next
			}
		}
		for i, s := range got {
			if s != fmt.Sprint(i) || len(got) != 1000 {
				t.Fatalf("line %d of %d is %q", i, len(got), s)
			}
		}
		if page := m.View().Chat(cursor); len(page.Lines) != 0 || page.Next != cursor {
			t.Errorf("%+v", page)
		}
		if page := m.View().Chat(1 << 60); len(page.Lines) != 0 || page.Next != 1000 {
			t.Errorf("a cursor from the future: %+v", page)
		}
		if page := m.View().Chat(0); page.Lost != 1000-chatLines || len(page.Lines) != chatLines || page.Lines[0].Cursor != page.Lost+1 {
			t.Errorf("%d lost, %d lines", page.Lost, len(page.Lines))
		}
	})
	t.Run("SE-05/whispers are excluded", func(t *testing.T) {
		m := joinedMirror(t, nil)
		say(t, m, "loud", false)
		say(t, m, "secret", true)
		apply(t, m, ChatReceived{Text: "above the hotbar", Overlay: true})
		say(t, m, "loud again", false)
		page := m.View().Chat(0)
		if len(page.Lines) != 2 || page.Lines[1].Text != "loud again" || page.Lines[1].Cursor != 2 || page.Lines[0].Trust != ChatSigned {
			t.Errorf("%+v", page)
		}
	})
}

func TestUntrusted(t *testing.T) {
	t.Run("SE-15/prose from the world changes no fact", func(t *testing.T) {
		quiet, loud := joinedMirror(t, nil), joinedMirror(t, nil)
		prose := "op 7 done, plot=*, cursor=99, receipt=ok"
		at := cellAt(1, 1, 1)
		sign := nbt.Append(nil, nbt.Compound{"front_text": nbt.Compound{"messages": nbt.ListOf(nbt.String(prose))}})
		book := Slot{Known: true, Stack: ItemStack{Item: 3, Count: 1, Plain: PlainNo}}
		for m, said := range map[*Mirror]bool{quiet: false, loud: true} {
			text, title, data := Untrusted(""), Untrusted(""), []byte{0}
			if said {
				text, title, data = Untrusted(prose), Untrusted(prose), sign
			}
			apply(t, m, BlockEntityChanged{BlockEntity{Pos: at, Type: 7, NBT: data}}, ContainerContent{Slots: []Slot{book}},
				WindowOpened{Window: 2, Title: title}, ChatReceived{Trust: ChatSystem, Name: text, Text: text}, WindowClosed{2})
		}
		a, b := quiet.View().Dump(), loud.View().Dump()
		for _, d := range []*Dump{&a, &b} { // the prose itself is kept as data
			d.Columns[0].BlockEntities[0].NBT = nil
			d.Chat.Lines[0].Text, d.Chat.Lines[0].Name = "", ""
		}
		if a.Digest() != b.Digest() {
			t.Error(cmp.Diff(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)))
		}
		if e, ok := loud.View().BlockEntity(at); !ok || !strings.Contains(string(e.NBT), prose) {
			t.Error("the sign's text is not kept as data")
		}
	})
}

func TestUnknown(t *testing.T) {
	t.Run("DC-05/an unloaded column is unknown", func(t *testing.T) {
		m := joinedMirror(t, nil)
		at := cellAt(3, -1, 4)
		if s, ok := m.View().Block(at); s != 1 || !ok {
			t.Fatalf("%d, %v", s, ok)
		}
		apply(t, m, ChunkUnloaded{geom.ChunkPos{}})
		if s, ok := m.View().Block(at); ok || s != 0 || m.View().Loaded(geom.ChunkPos{}) {
			t.Errorf("%d, %v", s, ok)
		}
		apply(t, m, BlockChanged{at, 1}, SectionChanged{[]BlockChanged{{at, 1}}})
		if _, ok := m.View().Block(at); ok {
			t.Error("a change of a cell that is not loaded makes it known")
		}
	})
	t.Run("DC-05/outside the world, another world, another server", func(t *testing.T) {
		m := joinedMirror(t, nil)
		for _, y := range []int32{-17, 32, 1 << 30, -1 << 31} {
			if _, ok := m.View().Block(cellAt(0, y, 0)); ok {
				t.Errorf("y %d is known", y)
			}
		}
		for _, ev := range []Event{Respawned{}, ReconfigurationStarted{}, Joined{}} {
			m := joinedMirror(t, nil)
			apply(t, m, HealthChanged{Health: 20}, EntityAdded{ID: 4}, StatsAwarded{}, Teleported{})
			epoch := m.View().Epoch()
			apply(t, m, ev)
			v := m.View()
			if _, ok := v.Block(cellAt(0, 0, 0)); ok || v.Self().HealthKnown || v.Self().Placed || v.Self().GameMode != GameModeUnknown || len(v.Entities()) > 0 || v.Epoch().World != epoch.World+1 {
				t.Errorf("%T: %+v, %+v", ev, v.Self(), v.Epoch())
			}
			_, known := v.Stat(2, 1)
			if _, respawn := ev.(Respawned); known != respawn {
				t.Errorf("%T: statistics known: %v", ev, known)
			}
		}
	})
	t.Run("DC-05/statistics before and after the first reply", func(t *testing.T) {
		m := joinedMirror(t, nil)
		if _, ok := m.View().Stat(registry.StatCategoryUsed, 5); ok {
			t.Error("known before a reply")
		}
		apply(t, m, StatsAwarded{[]Stat{{2, 5, 10}, {8, 0, 2}}}, StatsAwarded{[]Stat{{2, 5, 11}}})
		s := m.View().Stats()
		five, ok := s.Used(5)
		six, ok6 := s.Used(6)
		leave, _ := s.Get(registry.StatCategoryCustom, registry.StatLeaveGame)
		if five != 11 || !ok || six != 0 || !ok6 || leave != 2 || s.Replies != 2 || !cmp.Equal(s.LastReply(), []Stat{{2, 5, 11}}) || !cmp.Equal(s.Category(2), map[int32]int32{5: 11}) {
			t.Errorf("%+v", s)
		}
	})
}

func TestEpochs(t *testing.T) {
	m := joinedMirror(t, nil)
	same := joinedMirror(t, nil, Following(m.View()))
	if got, want := same.View().Epoch(), (Epoch{Host: 1, World: 2}); got != want {
		t.Errorf("the same server again: %+v", got)
	}
	apply(t, same, Joined{Dimensions: []string{"minecraft:overworld"}, Spawn: SpawnInfo{HashedSeed: 6}})
	if got, want := same.View().Epoch(), (Epoch{Host: 1, World: 3, Timeline: 1}); got != want || same.View().Sequence() != 4 {
		t.Errorf("another server: %+v", got)
	}
}

// TestSharedStore lets many mirrors take and change the same columns at once; with -race it proves that they may.
func TestSharedStore(t *testing.T) {
	store := NewSectionStore()
	some := &cells{}
	for i := range some {
		some[i] = registry.StateID(i % 30)
	}
	data := encodeColumn([]*cells{some, {}, some}, testLayout, 0, false)
	reg := testRegistry(t)
	var wg sync.WaitGroup
	for bot := range 8 {
		wg.Go(func() {
			m := NewMirror(reg, store)
			for i := range int32(60) {
				pos := geom.ChunkPos{X: i % 7}
				at := geom.BlockPos{X: pos.X << 4, Y: -16 + i%3, Z: i % 16}
				state := registry.StateID(100 + bot)
				for _, ev := range []Event{ChunkLoaded{Pos: pos, Layout: testLayout, Data: data}, BlockChanged{at, state}} {
					if err := m.Apply(ev); err != nil {
						t.Error(err)
					}
				}
				if s, ok := m.View().Block(at); s != state || !ok {
					t.Errorf("bot %d sees %d", bot, s)
				}
			}
		})
	}
	wg.Wait()
}

// TestSharing proves that bots of one process share what they see alike, before and after changes, and that what nobody
// shows any more is let go.
func TestSharing(t *testing.T) {
	store := NewSectionStore()
	some := &cells{}
	for i := range some {
		some[i] = registry.StateID(i % 30)
	}
	load := func(last registry.StateID) ChunkLoaded {
		other := *some
		other[7] = last
		return ChunkLoaded{Layout: testLayout, Data: encodeColumn([]*cells{some, {}, &other}, testLayout, 0, false)}
	}
	a, b := joinedMirror(t, store), joinedMirror(t, store)
	apply(t, a, load(40))
	apply(t, b, load(40))
	sections := func(m *Mirror) []*section { return m.world.columns[geom.ChunkPos{}].sections }
	for i, s := range sections(a) {
		if sections(b)[i] != s {
			t.Errorf("section %d is not shared", i)
		}
	}
	apply(t, b, load(41))
	if sections(a)[0] != sections(b)[0] || sections(a)[2] == sections(b)[2] {
		t.Error("a column that differs in one section shares the wrong ones")
	}
	apply(t, b, BlockChanged{cellAt(0, -16, 0), 9})
	if s, _ := a.View().Block(cellAt(0, -16, 0)); s != 0 {
		t.Error("a change of one bot's world shows in the other's")
	}
	if s, _ := b.View().Block(cellAt(0, -16, 0)); s != 9 {
		t.Error("a change does not show")
	}
	runtime.KeepAlive(b)
	apply(t, a, ChunkUnloaded{})
	apply(t, b, ChunkUnloaded{})
	for range 10 {
		runtime.GC()
		if store.Len() == 0 {
			return
		}
	}
	t.Errorf("%d sections are kept though nobody shows them", store.Len())
}
