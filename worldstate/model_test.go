package worldstate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// model is a mirror as simple as it can be: plain arrays and maps, everything copied, nothing shared. It believes what
// the test drew, not what the packets say.
type model struct {
	reg  *registry.Registry
	d    Dump
	cols map[geom.ChunkPos]*modelColumn
	ents map[int32]Entity
	ppl  map[UUID]PlayerInfo
	stat map[StatKey]int32
	reg2 map[string]bool
	chat []ChatLine
	size int
}

type modelColumn struct {
	minY     int32
	cells    []registry.StateID
	entities map[geom.BlockPos]BlockEntity
}

func newModel(reg *registry.Registry) *model {
	m := &model{reg: reg, ppl: map[UUID]PlayerInfo{}, stat: map[StatKey]int32{}, reg2: map[string]bool{}}
	m.forget()
	return m
}

func (m *model) forget() {
	m.cols, m.ents = map[geom.ChunkPos]*modelColumn{}, map[int32]Entity{}
	s := m.d.Self
	m.d.Self = Self{Identified: s.Identified, UUID: s.UUID, Name: s.Name, Joined: s.Joined, EntityID: s.EntityID}
	m.d.Inventory = Inventory{Held: -1}
	m.d.Window, m.size = OpenWindow{}, 0
	m.d.Ack, m.d.Time, m.d.Border = Ack{}, Time{}, Border{}
	m.d.Dimension, m.d.DimensionName = Dimension{}, ""
}

func (m *model) index(c *modelColumn, p geom.BlockPos) (int, bool) {
	if c == nil || p.Y < c.minY || int(p.Y-c.minY)*256 >= len(c.cells) {
		return 0, false
	}
	return int(p.Y-c.minY)*256 + int(p.Z&15)*16 + int(p.X&15), true
}

func (m *model) set(b BlockChanged) {
	c := m.cols[b.Pos.Chunk()]
	i, ok := m.index(c, b.Pos)
	if !ok {
		return
	}
	if m.reg.BlockOf(c.cells[i]) != m.reg.BlockOf(b.State) {
		delete(c.entities, b.Pos)
	}
	c.cells[i] = b.State
}

func (m *model) slot(i int, s Slot) {
	m.d.Inventory.Slots[i], m.d.Inventory.Seen[i] = s, m.d.Sequence
}

// apply takes a fact that is known to be well formed.
func (m *model) apply(ev Event, drawn *modelColumn) {
	m.d.Sequence++
	switch ev := ev.(type) {
	case Identified:
		m.d.Self.Identified, m.d.Self.UUID, m.d.Self.Name = true, ev.UUID, ev.Name
	case Joined:
		id := Identity{Known: true, HashedSeed: ev.Spawn.HashedSeed, Dimensions: ev.Dimensions}
		if old := m.d.Identity; old.Known && (old.HashedSeed != id.HashedSeed || !slices.Equal(old.Dimensions, id.Dimensions)) {
			m.d.Epoch.Timeline++
		}
		m.d.Identity = id
		m.d.Epoch.World++
		m.forget()
		m.ppl, m.stat, m.d.StatReplies = map[UUID]PlayerInfo{}, map[StatKey]int32{}, 0
		m.d.Self.Joined, m.d.Self.EntityID, m.d.Self.GameMode = true, ev.EntityID, ev.Spawn.GameMode
		m.d.Dimension, m.d.DimensionName = ev.Spawn.DimensionType, ev.Spawn.DimensionName
	case Respawned:
		if m.d.Identity.Known && m.d.Identity.HashedSeed != ev.Spawn.HashedSeed {
			m.d.Epoch.Timeline++
			m.d.Identity.HashedSeed = ev.Spawn.HashedSeed
		}
		m.d.Epoch.World++
		m.forget()
		m.d.Self.GameMode = ev.Spawn.GameMode
		m.d.Dimension, m.d.DimensionName = ev.Spawn.DimensionType, ev.Spawn.DimensionName
	case ReconfigurationStarted:
		m.d.Epoch.World++
		m.forget()
		m.d.Self.Joined = false
		m.ppl, m.stat, m.d.StatReplies, m.reg2 = map[UUID]PlayerInfo{}, map[StatKey]int32{}, 0, map[string]bool{}
	case ChunkLoaded:
		m.cols[ev.Pos] = drawn
	case ChunkUnloaded:
		delete(m.cols, ev.Pos)
	case BlockChanged:
		m.set(ev)
	case SectionChanged:
		for _, b := range ev.Changes {
			m.set(b)
		}
	case BlockEntityChanged:
		if c := m.cols[ev.BlockEntity.Pos.Chunk()]; c != nil {
			c.entities[ev.BlockEntity.Pos] = ev.BlockEntity
		}
	case BlockAck:
		m.d.Ack = Ack{ev.Sequence, m.d.Sequence}
	case StatsAwarded:
		for _, s := range ev.Entries {
			m.stat[StatKey{s.Category, s.ID}] = s.Value
		}
		m.d.StatReplies++
	case Teleported:
		s := &m.d.Self
		s.Placed, s.Turned, s.Position, s.Rotation = ev.Relative&7 == 0, ev.Relative&24 == 0, geom.Vec3{}, geom.Rotation{}
		if s.Placed {
			s.Position = ev.Position
		}
		if s.Turned {
			s.Rotation = ev.Rotation
		}
		s.Teleports, s.LastTeleport, s.TeleportSeen = s.Teleports+1, ev.ID, m.d.Sequence
	case HealthChanged:
		s := &m.d.Self
		s.HealthKnown, s.Health, s.Food, s.Saturation, s.Dead = true, ev.Health, ev.Food, ev.Saturation, ev.Health <= 0
	case ContainerContent:
		inv := &m.d.Inventory
		if ev.Window == 0 {
			inv.Known, inv.StateID, inv.Carried, inv.Snapshot = true, ev.StateID, ev.Carried, m.d.Sequence
			for i := range inv.Slots {
				m.slot(i, Slot{})
				if i < len(ev.Slots) {
					m.slot(i, ev.Slots[i])
				}
			}
		} else if m.d.Window.Open && m.d.Window.ID == ev.Window {
			m.size = len(ev.Slots)
			inv.Carried = ev.Carried
			for i := range 36 {
				m.slot(9+i, ev.Slots[len(ev.Slots)-36+i])
			}
		}
	case ContainerSlot:
		switch {
		case ev.Window == 0:
			m.d.Inventory.StateID = ev.StateID
			m.slot(int(ev.Slot), ev.Content)
		case m.d.Window.Open && m.d.Window.ID == ev.Window && m.size == 0:
			m.d.Inventory.Known, m.d.Inventory.Slots = false, [InventorySlots]Slot{}
		case m.d.Window.Open && m.d.Window.ID == ev.Window:
			if i := int(ev.Slot) - m.size + 36; i >= 0 && i < 36 {
				m.slot(9+i, ev.Content)
			}
		}
	case WindowOpened:
		m.d.Window, m.size = OpenWindow{Open: true, ID: ev.Window, Title: ev.Title}, 0
	case WindowClosed:
		m.d.Window, m.size = OpenWindow{}, 0
	case HeldSlot:
		m.d.Inventory.Held, m.d.Inventory.HeldSeen = int8(ev.Slot), m.d.Sequence
	case EntityAdded:
		m.ents[ev.ID] = Entity{ID: ev.ID, Type: ev.Type, UUID: ev.UUID, Position: ev.Position, Seen: m.d.Sequence}
	case EntityMoved:
		if e, ok := m.ents[ev.ID]; ok {
			e.Position = e.Position.Add(ev.Delta)
			e.OnGround, e.Seen = ev.OnGround, m.d.Sequence
			m.ents[ev.ID] = e
		}
	case EntityEquipment:
		if e, ok := m.ents[ev.ID]; ok {
			for _, it := range ev.Items {
				e.Equipment[it.Slot] = it.Content
			}
			e.Seen = m.d.Sequence
			m.ents[ev.ID] = e
		}
	case EntitiesRemoved:
		for _, id := range ev.IDs {
			delete(m.ents, id)
		}
	case PlayersListed:
		for _, p := range ev.Players {
			m.ppl[p.UUID] = PlayerInfo{UUID: p.UUID, Name: p.Name}
		}
	case PlayersUnlisted:
		for _, id := range ev.Players {
			delete(m.ppl, id)
		}
	case ChatReceived:
		if !ev.Private {
			m.chat = append(m.chat, ChatLine{uint64(len(m.chat) + 1), m.d.Sequence, ev})
		}
	case TimeUpdated:
		m.d.Time = Time{true, ev.Age, ev.TimeOfDay, m.d.Sequence}
	case BorderSet:
		m.d.Border = Border{true, ev.CentreX, ev.CentreZ, ev.Diameter}
	case RegistryReceived:
		m.reg2[ev.Name] = true
	}
}

func (m *model) dump() Dump {
	d := m.d
	for pos, c := range m.cols {
		h := sha256.New()
		for _, s := range c.cells {
			h.Write(binary.LittleEndian.AppendUint16(nil, uint16(s)))
		}
		cd := ColumnDump{Pos: pos, MinY: c.minY, Height: int32(len(c.cells) / 256), States: hex.EncodeToString(h.Sum(nil))}
		for _, e := range c.entities {
			cd.BlockEntities = append(cd.BlockEntities, e)
		}
		slices.SortFunc(cd.BlockEntities, func(a, b BlockEntity) int {
			if a.Pos.Less(b.Pos) {
				return -1
			}
			return 1
		})
		d.Columns = append(d.Columns, cd)
	}
	slices.SortFunc(d.Columns, func(a, b ColumnDump) int { return compareChunks(a.Pos, b.Pos) })
	d.Entities, d.Players = []Entity{}, []PlayerInfo{}
	for id := range int32(10) {
		if e, ok := m.ents[id]; ok {
			d.Entities = append(d.Entities, e)
		}
	}
	for id := range byte(10) {
		if p, ok := m.ppl[UUID{id}]; ok {
			d.Players = append(d.Players, p)
		}
	}
	for k, v := range m.stat {
		d.Stats = append(d.Stats, Stat{k.Category, k.ID, v})
	}
	slices.SortFunc(d.Stats, compareStats)
	for name := range m.reg2 {
		d.Registries = append(d.Registries, name)
	}
	slices.Sort(d.Registries)
	d.Chat = ChatPage{Next: uint64(len(m.chat)), Lines: m.chat}
	if n := len(m.chat) - chatLines; n > 0 {
		d.Chat.Lines, d.Chat.Lost = m.chat[n:], uint64(n)
	}
	return d
}

// trace is one drawn fact; a bad one must be refused.
type fact struct {
	ev    Event
	drawn *modelColumn
	bad   bool
}

var testLayout = ColumnLayout{MinY: -16, Height: 48, BlockBits: 15, BiomeBits: 6, NoLongCounts: true}

// drawFact draws one fact from small sets, so that facts meet: few columns, few cells, few entities.
func drawFact(t *rapid.T, reg *registry.Registry) fact {
	small := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	state := func() registry.StateID {
		return registry.StateID([]int{0, 1, 9, 10, 2949, 2950, 86, reg.StateCount() - 1}[small("state", 8)])
	}
	chunk := func() geom.ChunkPos { return geom.ChunkPos{X: int32(small("cx", 3)) - 1, Z: int32(small("cz", 2)) - 1} }
	cell := func() geom.BlockPos {
		return geom.BlockPos{X: int32(small("x", 40)) - 20, Y: int32(small("y", 60)) - 20, Z: int32(small("z", 30)) - 20}
	}
	slot := func() Slot {
		if small("known", 4) == 0 {
			return Slot{}
		}
		return Slot{Known: true, Stack: ItemStack{Item: registry.ItemID(small("item", 9)), Count: int32(small("count", 65)), Plain: PlainYes}}
	}
	slots := func(n int) []Slot {
		out := make([]Slot, n)
		for i := range 5 {
			out[(n-1-i*7)%n] = slot()
		}
		return out
	}
	spawn := SpawnInfo{DimensionType: Dimension{"minecraft:overworld", -16, 48}, DimensionName: "minecraft:" + strconv.Itoa(small("dim", 2)),
		HashedSeed: int64(small("world", 10) / 9), GameMode: GameMode(small("mode", 4) + 1)}
	id := int32(small("id", 9))
	point := geom.Vec3{float64(small("px", 99)), 1.5, -float64(small("pz", 99))}
	nan := geom.Vec3{math.NaN(), 0, 0}
	switch small("kind", 32) {
	case 0:
		return fact{ev: Joined{EntityID: id, Dimensions: []string{"minecraft:overworld"}, Spawn: spawn}}
	case 1:
		return fact{ev: Respawned{Spawn: spawn}}
	case 2:
		return []fact{{ev: ReconfigurationStarted{}}, {ev: Identified{UUID: UUID{1}, Name: "bot"}}, {ev: RegistryReceived{Name: strconv.Itoa(int(id))}}}[small("which", 3)]
	case 3, 4, 5, 6:
		return drawChunk(t, chunk(), cell())
	case 7:
		return fact{ev: ChunkUnloaded{chunk()}}
	case 8, 9, 10:
		return fact{ev: BlockChanged{cell(), state()}}
	case 11, 12:
		var list []BlockChanged
		for range small("n", 40) {
			list = append(list, BlockChanged{cell(), state()})
		}
		return fact{ev: SectionChanged{list}}
	case 13:
		return fact{ev: BlockEntityChanged{BlockEntity{Pos: cell(), Type: 7, NBT: []byte{10, 0}}}}
	case 14:
		return fact{ev: BlockAck{id}}
	case 15:
		return fact{ev: StatsAwarded{[]Stat{{2, id, int32(small("value", 99))}, {8, 0, 3}}}}
	case 16:
		return fact{ev: Teleported{ID: id, Position: point, Relative: uint32(small("relative", 32))}}
	case 17:
		return fact{ev: HealthChanged{Health: float32(small("health", 21)), Food: 20}}
	case 18:
		return fact{ev: ContainerContent{Window: 0, StateID: id, Slots: slots(46 - small("short", 2)), Carried: slot()}}
	case 19:
		return fact{ev: ContainerContent{Window: 1, StateID: id, Slots: slots(63)}}
	case 20:
		return fact{ev: ContainerSlot{Window: id % 2, StateID: id, Slot: int16(small("slot", 46)), Content: slot()}}
	case 21:
		return []fact{{ev: WindowOpened{Window: 1, Title: "chest"}}, {ev: WindowClosed{1}}}[small("which", 2)]
	case 22:
		return fact{ev: HeldSlot{id}}
	case 23:
		return fact{ev: EntityAdded{ID: id, UUID: UUID{9, byte(id)}, Type: 3, Position: point}}
	case 24:
		return fact{ev: EntityMoved{ID: id, Delta: geom.Vec3{0.25, 0, -1}, Moved: true, OnGround: true}}
	case 25:
		return fact{ev: EntityEquipment{ID: id, Items: []EquipmentItem{{Slot: 0, Content: slot()}}}}
	case 26:
		return fact{ev: EntitiesRemoved{[]int32{id, id + 1}}}
	case 27:
		return []fact{{ev: PlayersListed{[]PlayerEntry{{UUID: UUID{byte(id)}, Name: "p", HasName: true}}}}, {ev: PlayersUnlisted{[]UUID{{byte(id)}}}}}[small("which", 2)]
	case 28:
		return fact{ev: ChatReceived{Trust: ChatTrust(small("trust", 4)), Text: "hi", Private: small("private", 3) == 0}}
	case 29:
		return []fact{{ev: TimeUpdated{Age: int64(id), TimeOfDay: 5}}, {ev: BorderSet{1, 2, float64(id)}}}[small("which", 2)]
	default:
		return []fact{
			{ev: BlockChanged{cell(), registry.StateID(reg.StateCount())}, bad: true},
			{ev: SectionChanged{[]BlockChanged{{cell(), 1}, {cell(), 65535}}}, bad: true},
			{ev: EntityAdded{ID: id, Position: nan}, bad: true}, {ev: EntityMoved{ID: id, Delta: nan, Moved: true}, bad: true},
			{ev: EntityPlaced{ID: id, Position: nan}, bad: true}, {ev: Teleported{Position: nan}, bad: true},
			{ev: HealthChanged{Health: float32(math.Inf(1))}, bad: true}, {ev: BorderSet{Diameter: math.NaN()}, bad: true},
			{ev: ChunkLoaded{Pos: chunk(), Data: []byte{1, 2, 3}, Layout: testLayout}, bad: true},
			{ev: Joined{Spawn: SpawnInfo{DimensionType: Dimension{Height: 17}}}, bad: true}, {ev: nil, bad: true},
		}[small("bad", 11)]
	}
}

func drawChunk(t *rapid.T, pos geom.ChunkPos, cell geom.BlockPos) fact {
	drawn := &modelColumn{minY: testLayout.MinY, entities: map[geom.BlockPos]BlockEntity{}}
	var sections []*cells
	for range testLayout.Height / 16 {
		s := drawCells(t)
		sections = append(sections, s)
		drawn.cells = append(drawn.cells, s[:]...)
	}
	ev := ChunkLoaded{Pos: pos, Layout: testLayout, Data: encodeColumn(sections, testLayout, 0, rapid.Bool().Draw(t, "direct"))}
	if cell.Chunk() == pos {
		e := BlockEntity{Pos: cell, Type: 1, NBT: []byte{0}}
		ev.BlockEntities, drawn.entities[cell] = []BlockEntity{e}, e
	}
	return fact{ev: ev, drawn: drawn}
}

func asJSON(t *rapid.T, d Dump) string {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func testRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	reg, err := registry.Load(registry.V1_21_7)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}
