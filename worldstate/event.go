package worldstate

import (
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Event is one fact that the server told this connection. The set is closed: packets become events in bot/wire,
// and Mirror.Apply is the only place that reads them. An event says what the server sent, never what it may mean.
type Event interface{ event() }

// UUID is a player's or an entity's unique id.
type UUID [16]byte

// Identified is the end of the login phase: who the server takes this connection for.
type Identified struct {
	UUID UUID
	Name string
}

// Joined is the login packet of the play phase: a new world epoch on this connection.
type Joined struct {
	EntityID           int32
	Hardcore           bool
	Dimensions         []string // names of all dimensions of the server, in its order
	ViewDistance       int32    // chunks
	SimulationDistance int32    // chunks
	EnforcesSecureChat bool
	Spawn              SpawnInfo
}

// SpawnInfo says in which dimension and mode a player (re)appears; login and respawn both carry it.
type SpawnInfo struct {
	DimensionType Dimension // limits, looked up in the registries received in configuration
	DimensionName string
	HashedSeed    int64 // first 8 bytes of the SHA-256 of the seed; same for every dimension of a world
	GameMode      GameMode
	PreviousMode  int8 // -1 for none
	Flat          bool
	Debug         bool
}

// Dimension is the part of a dimension type that the mirror needs.
type Dimension struct {
	Name   string // of the dimension type, e.g. "minecraft:overworld"
	MinY   int32  // lowest block, a multiple of 16
	Height int32  // blocks, a multiple of 16
}

// GameMode is a player's game mode as numbered on the wire, plus one: the zero value is unknown.
type GameMode uint8

// The game modes.
const (
	GameModeUnknown GameMode = iota
	Survival
	Creative
	Adventure
	Spectator
)

// Respawned moves the player to another dimension or back to life: a new world epoch.
type Respawned struct {
	Spawn SpawnInfo
	Keep  uint8 // bit 0 keep attributes, bit 1 keep metadata
}

// ReconfigurationStarted is start_configuration: the play phase ends, the mirror forgets the world.
type ReconfigurationStarted struct{}

// ChunkLoaded carries one column as the server packed it. The mirror keeps what it decodes, so Data is the
// event's own from here on and must not be changed by anybody.
type ChunkLoaded struct {
	Pos           geom.ChunkPos
	Data          []byte // section data, bottom up
	Layout        ColumnLayout
	BlockEntities []BlockEntity
}

// BlockEntity is the raw data of a block with its own data: a sign, a chest.
type BlockEntity struct {
	Pos  geom.BlockPos
	Type int32
	NBT  []byte // network NBT, unparsed and untrusted
}

// ChunkUnloaded makes a column unknown again.
type ChunkUnloaded struct{ Pos geom.ChunkPos }

// ChunkBatchFinished ends a batch of columns; the server waits for chunk_batch_received.
type ChunkBatchFinished struct{ Size int32 }

// ChunkCentre names the column around which the server sends columns.
type ChunkCentre struct{ Pos geom.ChunkPos }

// ViewDistance is the server's view distance in chunks.
type ViewDistance struct{ Chunks int32 }

// BlockChanged is a single block_update.
type BlockChanged struct {
	Pos   geom.BlockPos
	State registry.StateID
}

// SectionChanged is a section_blocks_update: several changes of one 16x16x16 section.
type SectionChanged struct{ Changes []BlockChanged }

// BlockEntityChanged replaces the data of one block entity.
type BlockEntityChanged struct{ BlockEntity BlockEntity }

// BlockAck says that the server handled every use up to this sequence. It never says that one succeeded.
type BlockAck struct{ Sequence int32 }

// StatsAwarded is award_stats: the server's own counters of this player, changed ones only (all of them in the first
// reply after a join).
type StatsAwarded struct{ Entries []Stat }

// Stat is one statistic: category (2 is used), id in that category's registry, value.
type Stat struct{ Category, ID, Value int32 }

// Teleported is player_position: the server puts the player somewhere and waits for the id to be confirmed.
type Teleported struct {
	ID       int32
	Position geom.Vec3
	Velocity geom.Vec3
	Rotation geom.Rotation
	Relative uint32 // bits 0..4 x y z yaw pitch, 5..7 velocity, 8 rotate velocity
}

// Turned is player_rotation (1.21.2 and later): the server turns the player.
type Turned struct {
	Rotation                   geom.Rotation
	RelativeYaw, RelativePitch bool
}

// HealthChanged is set_health. Health at or below 0 means dead.
type HealthChanged struct {
	Health     float32
	Food       int32
	Saturation float32
}

// AbilitiesChanged is player_abilities of the server.
type AbilitiesChanged struct {
	Invulnerable, Flying, MayFly, InstantBuild bool
	FlyingSpeed, WalkingSpeed                  float32
}

// GameModeChanged is game_event 3.
type GameModeChanged struct{ Mode GameMode }

// GameRuleSeen is any other game_event that the mirror keeps: 11 immediate respawn, 13 waiting for chunks.
type GameRuleSeen struct {
	Event uint8
	Value float32
}

// ContainerContent is the whole content of a window. Window 0 is the player's inventory.
type ContainerContent struct {
	Window  int32
	StateID int32
	Slots   []Slot
	Carried Slot
}

// ContainerSlot is one slot of a window; window -1 is the cursor, -2 the player's inventory without a state id.
type ContainerSlot struct {
	Window  int32
	StateID int32
	Slot    int16
	Content Slot
}

// InventorySlot is set_player_inventory (1.21.2 and later): a slot of the inventory itself, 0..8 the hotbar.
type InventorySlot struct {
	Slot    int32
	Content Slot
}

// CursorItem is set_cursor_item (1.21.2 and later).
type CursorItem struct{ Content Slot }

// HeldSlot is set_held_slot: the server's word on which hotbar slot 0..8 is selected.
type HeldSlot struct{ Slot int32 }

// WindowOpened is open_screen; the bot closes it.
type WindowOpened struct {
	Window int32
	Title  Untrusted
}

// WindowClosed is container_close from the server.
type WindowClosed struct{ Window int32 }

// EntityAdded shows an entity to this connection.
type EntityAdded struct {
	ID       int32
	UUID     UUID
	Type     registry.EntityTypeID
	Position geom.Vec3
	Velocity geom.Vec3
	Rotation geom.Rotation
	HeadYaw  float32
}

// EntityMoved is any relative move or turn of an entity; a part that is not set did not change.
type EntityMoved struct {
	ID       int32
	Delta    geom.Vec3 // blocks
	Moved    bool
	Rotation geom.Rotation
	Turned   bool
	OnGround bool
}

// EntityPlaced is an absolute position: teleport_entity, entity_position_sync.
type EntityPlaced struct {
	ID       int32
	Position geom.Vec3
	Velocity geom.Vec3
	Rotation geom.Rotation
	Relative uint32
	OnGround bool
}

// EntityHeadTurned is rotate_head.
type EntityHeadTurned struct {
	ID      int32
	HeadYaw float32
}

// EntityVelocity is set_entity_motion, blocks per tick.
type EntityVelocity struct {
	ID       int32
	Velocity geom.Vec3
}

// EntityEquipment is set_equipment: what an entity visibly holds and wears. Slot 0 is the main hand.
type EntityEquipment struct {
	ID    int32
	Items []EquipmentItem
}

// EquipmentItem is one entry of EntityEquipment.
type EquipmentItem struct {
	Slot    uint8
	Content Slot
}

// EntityPosed is the pose of an entity as its metadata says it. The own entity counts too.
type EntityPosed struct {
	ID   int32
	Pose Pose
}

// Pose is an entity's pose as numbered on the wire, plus one: the zero value is unknown.
type Pose uint8

// The poses that matter to a builder; others keep their number.
const (
	PoseUnknown Pose = iota
	PoseStanding
	PoseGliding
	PoseSleeping
	PoseSwimming
	PoseSpin
	PoseCrouching
)

// EntitiesRemoved makes entities unknown again.
type EntitiesRemoved struct{ IDs []int32 }

// PassengersSet is set_passengers: who rides whom.
type PassengersSet struct {
	Vehicle    int32
	Passengers []int32
}

// PlayersListed adds or changes entries of the player list; each entry says which of its parts are set.
type PlayersListed struct{ Players []PlayerEntry }

// PlayerEntry is one change of the player list.
type PlayerEntry struct {
	UUID        UUID
	Name        Untrusted // with HasName: a server lists whom and what it likes
	GameMode    GameMode
	Latency     int32 // milliseconds
	Listed      bool
	HasName     bool
	HasGameMode bool
	HasLatency  bool
	HasListed   bool
}

// PlayersUnlisted removes entries of the player list.
type PlayersUnlisted struct{ Players []UUID }

// ChatReceived is one line of chat.
type ChatReceived struct {
	Trust     ChatTrust
	Sender    UUID // zero for system lines
	Name      Untrusted
	Text      Untrusted // as typed for player chat, as rendered for the rest
	Salt      int64
	Signature []byte // empty for unsigned lines
	Overlay   bool   // above the hotbar, not in the chat
	Private   bool   // a whisper by its chat type; excluded from chat_since
}

// Untrusted is text that came from the world: players, signs, items, plug-ins. It is data; no rule, policy, cursor or
// plot ever reads it.
type Untrusted string

// ChatTrust says who vouches for a chat line.
type ChatTrust uint8

// The classes of chat lines, from the least to the most that can be known about the sender.
const (
	ChatSystem ChatTrust = iota // server or plug-in text, may say anything
	ChatDisguised
	ChatUnsigned // player_chat without a signature
	ChatSigned   // player_chat with a signature
)

// TimeUpdated is set_time. Age is the world's age in ticks.
type TimeUpdated struct{ Age, TimeOfDay int64 }

// BorderSet is initialize_border and its updates: a square around the centre.
type BorderSet struct{ CentreX, CentreZ, Diameter float64 }

// TickRate is ticking_state.
type TickRate struct {
	PerSecond float32
	Frozen    bool
}

// RegistryReceived is one registry of the configuration phase, entries in the server's order, data unparsed.
type RegistryReceived struct {
	Name    string
	Entries []RegistryEntry
}

// RegistryEntry is one entry of a received registry.
type RegistryEntry struct {
	Key string
	NBT []byte // empty if the server sent none
}

// TagsReceived is update_tags for one registry: tag name -> ids.
type TagsReceived struct {
	Registry string
	Tags     map[string][]int32
}

func (Identified) event()             {}
func (EntityPosed) event()            {}
func (Joined) event()                 {}
func (Respawned) event()              {}
func (ReconfigurationStarted) event() {}
func (ChunkLoaded) event()            {}
func (ChunkUnloaded) event()          {}
func (ChunkBatchFinished) event()     {}
func (ChunkCentre) event()            {}
func (ViewDistance) event()           {}
func (BlockChanged) event()           {}
func (SectionChanged) event()         {}
func (BlockEntityChanged) event()     {}
func (BlockAck) event()               {}
func (StatsAwarded) event()           {}
func (Teleported) event()             {}
func (Turned) event()                 {}
func (HealthChanged) event()          {}
func (AbilitiesChanged) event()       {}
func (GameModeChanged) event()        {}
func (GameRuleSeen) event()           {}
func (ContainerContent) event()       {}
func (ContainerSlot) event()          {}
func (InventorySlot) event()          {}
func (CursorItem) event()             {}
func (HeldSlot) event()               {}
func (WindowOpened) event()           {}
func (WindowClosed) event()           {}
func (EntityAdded) event()            {}
func (EntityMoved) event()            {}
func (EntityPlaced) event()           {}
func (EntityHeadTurned) event()       {}
func (EntityVelocity) event()         {}
func (EntityEquipment) event()        {}
func (EntitiesRemoved) event()        {}
func (PassengersSet) event()          {}
func (PlayersListed) event()          {}
func (PlayersUnlisted) event()        {}
func (ChatReceived) event()           {}
func (TimeUpdated) event()            {}
func (BorderSet) event()              {}
func (TickRate) event()               {}
func (RegistryReceived) event()       {}
func (TagsReceived) event()           {}
