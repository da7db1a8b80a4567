package worldstate

import (
	"errors"
	"fmt"

	"blockworld/worldstate/registry"
)

// Sequence numbers the facts of a mirror as they arrive: each event applied raises it by one.
type Sequence uint64

// Epoch names a stretch of time in which facts may be compared. Host rises with each connection, World with login,
// respawn and reconfiguration, Timeline when the server turns out to be another one than before.
type Epoch struct{ Host, World, Timeline uint64 }

// Identity is what a server can be recognised by, beside its address.
type Identity struct {
	Known      bool
	HashedSeed int64
	Dimensions []string // in the server's order
}

// Same tells whether two identities are known and equal.
func (i Identity) Same(o Identity) bool {
	if !i.Known || !o.Known || i.HashedSeed != o.HashedSeed || len(i.Dimensions) != len(o.Dimensions) {
		return false
	}
	for n, d := range i.Dimensions {
		if o.Dimensions[n] != d {
			return false
		}
	}
	return true
}

// What a server may make one mirror keep. More is refused: columns with ErrNotKept, all else with ErrMalformed.
const (
	maxColumns       = 1 << 14   // view distance 32 needs 4,225
	maxBytes         = 256 << 20 // of all columns; view distance 32 needs about 150 MB of an ordinary world
	entitySize       = 64        // what a block entity takes beside its data
	maxBlockEntities = 1 << 12   // per column
	maxEntities      = 1 << 16
	maxPlayers       = 1 << 14
	maxStats         = 1 << 17
	maxRegistries    = 1 << 9
)

// Mirror is what one connection knows of its server. Only Apply changes it, only server facts go in: nothing that the
// bot predicts or wishes. It belongs to one goroutine.
type Mirror struct {
	reg      *registry.Registry
	store    *SectionStore
	room     int64 // bytes of columns
	states   int   // number of block states; larger ids are malformed
	epoch    Epoch
	seq      Sequence
	identity Identity

	world     world
	self      Self
	inventory Inventory
	window    OpenWindow
	entities  map[int32]*Entity
	roster    map[UUID]PlayerInfo
	chat      chatRing
	stats     Stats
	received  received
}

// Option changes how a mirror begins.
type Option func(*Mirror)

// Following makes the mirror continue after an earlier connection to what should be the same server: the host epoch
// rises, and the timeline too if the server proves to be another one. Nothing else is taken over.
func Following(prev View) Option {
	return func(m *Mirror) {
		if prev.m == nil {
			return
		}
		m.epoch = prev.m.epoch
		m.epoch.Host++
		m.identity = prev.m.identity
	}
}

// NewMirror returns a mirror that knows nothing. Mirrors with the same store share equal sections; nil means a store of
// its own. Without a registry (nil) block ids are not checked.
func NewMirror(reg *registry.Registry, sections *SectionStore, opts ...Option) *Mirror {
	if sections == nil {
		sections = NewSectionStore()
	}
	m := &Mirror{reg: reg, store: sections, room: maxBytes, states: 1 << 16}
	if reg != nil {
		m.states = reg.StateCount()
	}
	m.forgetWorld()
	m.roster = map[UUID]PlayerInfo{}
	m.received = newReceived()
	for _, o := range opts {
		o(m)
	}
	return m
}

// View returns a read handle. It always shows the mirror as it is now and is for the mirror's own goroutine.
func (m *Mirror) View() View { return View{m} }

// Apply takes one server fact in. An error wraps ErrMalformed and leaves the mirror as it was, except that a column or
// a list of which one part is malformed is not taken at all. Facts about what is not known (an entity never added, a
// cell of a column never loaded) change nothing and are no error, as the game's own client ignores them. An error that wraps
// ErrNotKept is of a fact that was taken: the column that it names is unknown from here on.
func (m *Mirror) Apply(ev Event) error {
	if err := m.apply(ev); err != nil {
		if errors.Is(err, ErrNotKept) {
			m.seq++
		}
		return fmt.Errorf("%T: %w", ev, err)
	}
	m.seq++
	return nil
}

// apply sends an event to the part of the mirror that it belongs to. m.seq+1 is the sequence of this fact.
func (m *Mirror) apply(ev Event) error {
	switch ev := ev.(type) {
	case Identified:
		m.self.UUID, m.self.Name = ev.UUID, ev.Name
		m.self.Identified = true
	case Joined:
		return m.joined(ev)
	case Respawned:
		return m.respawned(ev)
	case ReconfigurationStarted:
		m.reconfigure()
	case RegistryReceived:
		return m.received.registry(ev)
	case TagsReceived:
		return m.received.tag(ev)
	case nil:
		return fmt.Errorf("%w: no event", ErrMalformed)
	default:
		return m.applyPlay(ev)
	}
	return nil
}

func (m *Mirror) applyPlay(ev Event) error {
	switch ev := ev.(type) {
	case ChunkLoaded, ChunkUnloaded, ChunkBatchFinished, ChunkCentre, ViewDistance, BlockChanged, SectionChanged,
		BlockEntityChanged, BlockAck, TimeUpdated, BorderSet, TickRate, GameRuleSeen:
		return m.applyWorld(ev)
	case Teleported, Turned, HealthChanged, AbilitiesChanged, GameModeChanged:
		return m.applySelf(ev)
	case ContainerContent, ContainerSlot, InventorySlot, CursorItem, HeldSlot, WindowOpened, WindowClosed:
		m.applyInventory(ev)
	case EntityAdded, EntityMoved, EntityPlaced, EntityHeadTurned, EntityVelocity, EntityEquipment, EntityPosed,
		EntitiesRemoved, PassengersSet:
		return m.applyEntity(ev)
	case PlayersListed:
		return m.playersListed(ev)
	case PlayersUnlisted:
		for _, id := range ev.Players {
			delete(m.roster, id)
		}
	case ChatReceived:
		m.chat.add(ev, m.seq+1)
	case StatsAwarded:
		return m.stats.award(ev, m.seq+1)
	default:
		return fmt.Errorf("%w: not an event of the closed set", ErrMalformed)
	}
	return nil
}

// joined begins a world on this connection. Statistics start anew: the server's first reply after a join is complete.
func (m *Mirror) joined(ev Joined) error {
	if err := ev.Spawn.check(); err != nil {
		return err
	}
	if len(ev.Dimensions) > maxRegistries {
		return fmt.Errorf("%w: %d dimensions", ErrMalformed, len(ev.Dimensions))
	}
	id := Identity{Known: true, HashedSeed: ev.Spawn.HashedSeed, Dimensions: append([]string(nil), ev.Dimensions...)}
	if m.identity.Known && !m.identity.Same(id) {
		m.epoch.Timeline++
	}
	m.identity = id
	m.epoch.World++
	m.forgetWorld()
	m.roster = map[UUID]PlayerInfo{}
	m.stats = Stats{}
	m.self.Joined, m.self.EntityID, m.self.Hardcore = true, ev.EntityID, ev.Hardcore
	m.world.viewDistance, m.world.simulationDistance = ev.ViewDistance, ev.SimulationDistance
	m.world.secureChat = ev.EnforcesSecureChat
	m.spawn(ev.Spawn)
	return nil
}

// respawned puts the player into another world, or the same one anew. The server sends everything again but the player
// list and the statistics, which it keeps.
func (m *Mirror) respawned(ev Respawned) error {
	if err := ev.Spawn.check(); err != nil {
		return err
	}
	if m.identity.Known && m.identity.HashedSeed != ev.Spawn.HashedSeed {
		m.epoch.Timeline++
		m.identity.HashedSeed = ev.Spawn.HashedSeed
	}
	m.epoch.World++
	old := m.world
	m.forgetWorld()
	m.world.viewDistance, m.world.simulationDistance, m.world.secureChat = old.viewDistance, old.simulationDistance, old.secureChat
	m.spawn(ev.Spawn)
	return nil
}

func (m *Mirror) spawn(s SpawnInfo) {
	m.world.dimension, m.world.dimensionName, m.world.dimensionKnown = s.DimensionType, s.DimensionName, true
	m.world.flat = s.Flat
	m.self.GameMode = s.GameMode
}

// check refuses limits that no dimension has. A height of 0 means that the type is not known.
func (s SpawnInfo) check() error {
	d := s.DimensionType
	if d.Height < 0 || d.Height > maxHeight || d.Height%16 != 0 || d.MinY%16 != 0 || d.MinY < -maxHeight || d.MinY > maxHeight {
		return fmt.Errorf("%w: dimension %.80q from y %d, %d high", ErrMalformed, d.Name, d.MinY, d.Height)
	}
	return nil
}

// reconfigure forgets the world and what the configuration phase is about to send again.
func (m *Mirror) reconfigure() {
	m.epoch.World++
	m.forgetWorld()
	m.self.Joined = false
	m.roster = map[UUID]PlayerInfo{}
	m.stats = Stats{}
	m.received = newReceived()
}

// forgetWorld makes everything unknown that belongs to one world; who we are stays.
func (m *Mirror) forgetWorld() {
	m.world = newWorld()
	m.self = Self{Joined: m.self.Joined, EntityID: m.self.EntityID, Hardcore: m.self.Hardcore,
		Identified: m.self.Identified, UUID: m.self.UUID, Name: m.self.Name}
	m.inventory = Inventory{Held: -1}
	m.window = OpenWindow{}
	m.entities = map[int32]*Entity{}
}
