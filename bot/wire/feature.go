package wire

import "blockworld/worldstate/registry"

// Feature is one thing that differs between protocol versions. Code asks Has; version numbers appear only in this file.
type Feature uint8

// The features. The comment says what is so where the feature is present.
const (
	TextNBT                  Feature = iota // text components are NBT; before, JSON
	ResourcePackUUID                        // resource packs have ids and can be several; before, one without
	TickingStateExists                      // the server tells its tick rate
	RegistryPerPacket                       // one registry_data packet per registry; before, one NBT with all
	KnownPacks                              // select_known_packs is exchanged in configuration
	Cookies                                 // cookie_request, cookie_response, store_cookie, transfer
	ItemComponents                          // item stacks carry components; before, NBT
	DimensionByIndex                        // login and respawn name the dimension type by its index; before, by name
	ShouldAuthenticate                      // the encryption request says whether to ask the session server
	StrictErrorHandling                     // login_finished ends with a flag
	SecureChatInLogin                       // login says whether secure chat is enforced; before, server_data
	ChatCommandUnsigned                     // chat_command carries text alone; chat_command_signed the rest
	ChatTypeHolder                          // a chat type is index+1, or 0 and written out; before, an index
	UseItemRotation                         // use_item carries yaw and pitch
	UseItemOnBorderHit                      // use_item_on says whether the world border was hit
	ClientTickEndExists                     // the client ends each tick with a packet
	MovementFlags                           // movement says also whether we touch a wall
	PlayerInputExists                       // player_input tells the keys pressed; before, steer_vehicle
	ParticleStatus                          // client_information ends with it
	ContainerIDVarInt                       // window ids are VarInt; before, one byte
	PositionVelocity                        // player_position and teleport_entity carry velocity, flags in 32 bits
	EntityPositionSyncExists                // entity_position_sync exists
	SeaLevel                                // login and respawn end with the sea level
	TickDayTime                             // set_time says whether the day goes on
	SetPlayerInventoryExists                // set_player_inventory and set_cursor_item exist
	PlayerLoadedExists                      // the client says when it has loaded the world
	HeldSlotVarInt                          // set_held_slot is a VarInt; before, one byte
	PickItemFrom                            // pick_item_from_block and _entity; before, pick_item
	HashedSlots                             // container_click carries hashes of stacks; before, the stacks
	UntrustedSlots                          // components in set_creative_mode_slot have lengths
	HeightmapList                           // heightmaps are a list of arrays; before, NBT
	NoLongCounts                            // packed arrays in chunk data carry no length
	ChatChecksum                            // chat and signed commands end with a checksum
	ChatGlobalIndex                         // player_chat starts with a running number
	PlayerInputSneak                        // sneaking goes by player_input alone; before, by player_command
	CodeOfConductExists                     // the server may ask for consent in configuration
	PackedVelocity                          // velocities are packed vectors; before, three 16-bit numbers
	RelativeRotation                        // player_rotation says what is relative
	SpawnWithDimension                      // set_default_spawn_position names the dimension
	AckEndsTick                             // block acks and changes leave at the end of the tick that handled the use (1.21.9)
	AttackIsOwnPacket                       // attack; interact has one form
	FluidCounts                             // chunk sections have a fluid count
	WorldClocks                             // set_time carries clocks; before, one time of day
	featureCount             = iota
)

// span is the range of protocols that have a feature; until 0 means to this day.
type span struct{ since, until registry.Protocol }

var features = [featureCount]span{
	TextNBT:                  {since: registry.V1_20_3},
	ResourcePackUUID:         {since: registry.V1_20_3},
	TickingStateExists:       {since: registry.V1_20_3},
	RegistryPerPacket:        {since: registry.V1_20_5},
	KnownPacks:               {since: registry.V1_20_5},
	Cookies:                  {since: registry.V1_20_5},
	ItemComponents:           {since: registry.V1_20_5},
	DimensionByIndex:         {since: registry.V1_20_5},
	ShouldAuthenticate:       {since: registry.V1_20_5},
	StrictErrorHandling:      {since: registry.V1_20_5, until: registry.V1_21},
	SecureChatInLogin:        {since: registry.V1_20_5},
	ChatCommandUnsigned:      {since: registry.V1_20_5},
	ChatTypeHolder:           {since: registry.V1_21},
	UseItemRotation:          {since: registry.V1_21},
	UseItemOnBorderHit:       {since: registry.V1_21_2},
	ClientTickEndExists:      {since: registry.V1_21_2},
	MovementFlags:            {since: registry.V1_21_2},
	PlayerInputExists:        {since: registry.V1_21_2},
	ParticleStatus:           {since: registry.V1_21_2},
	ContainerIDVarInt:        {since: registry.V1_21_2},
	PositionVelocity:         {since: registry.V1_21_2},
	EntityPositionSyncExists: {since: registry.V1_21_2},
	SeaLevel:                 {since: registry.V1_21_2},
	TickDayTime:              {since: registry.V1_21_2, until: registry.V1_21_11},
	SetPlayerInventoryExists: {since: registry.V1_21_2},
	PlayerLoadedExists:       {since: registry.V1_21_4},
	HeldSlotVarInt:           {since: registry.V1_21_4},
	PickItemFrom:             {since: registry.V1_21_4},
	HashedSlots:              {since: registry.V1_21_5},
	UntrustedSlots:           {since: registry.V1_21_5},
	HeightmapList:            {since: registry.V1_21_5},
	NoLongCounts:             {since: registry.V1_21_5},
	ChatChecksum:             {since: registry.V1_21_5},
	ChatGlobalIndex:          {since: registry.V1_21_5},
	PlayerInputSneak:         {since: registry.V1_21_6},
	CodeOfConductExists:      {since: registry.V1_21_9},
	PackedVelocity:           {since: registry.V1_21_9},
	RelativeRotation:         {since: registry.V1_21_9},
	SpawnWithDimension:       {since: registry.V1_21_9},
	AckEndsTick:              {since: registry.V1_21_9},
	AttackIsOwnPacket:        {since: registry.V26_1},
	FluidCounts:              {since: registry.V26_1},
	WorldClocks:              {since: registry.V26_1},
}

// Has tells whether a protocol version has a feature; false for unknown ones.
func Has(p registry.Protocol, f Feature) bool {
	if f >= featureCount || !p.Known() {
		return false
	}
	s := features[f]
	return p >= s.since && (s.until == 0 || p <= s.until)
}
