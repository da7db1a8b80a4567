package wire

import (
	"math"

	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Events returns the facts in a packet from the server. Most packets have none or one.
func Events(p Packet, ctx *EventContext) []worldstate.Event { return AppendEvents(nil, p, ctx) }

// AppendEvents appends the facts in a packet from the server to dst. Facts may keep parts of the packet, which is not to be
// changed afterwards. ctx learns from the packets of configuration, login and respawn.
func AppendEvents(dst []worldstate.Event, p Packet, ctx *EventContext) []worldstate.Event {
	if e := blockEvent(p, ctx); e != nil {
		return append(dst, e)
	}
	if e := entityEvent(p); e != nil {
		return append(dst, e)
	}
	if e := selfEvent(p, ctx); e != nil {
		return append(dst, e)
	}
	if e := worldEvent(p, ctx); e != nil {
		return append(dst, e)
	}
	return listEvents(dst, p, ctx)
}

// blockEvent turns packets about blocks into facts.
func blockEvent(p Packet, ctx *EventContext) worldstate.Event {
	switch p := p.(type) {
	case *LevelChunkWithLight:
		return ctx.chunk(p)
	case *ForgetLevelChunk:
		return worldstate.ChunkUnloaded{Pos: p.Pos}
	case *BlockUpdate:
		return worldstate.BlockChanged{Pos: p.Pos, State: stateID(int64(p.State))}
	case *SectionBlocksUpdate:
		changes := make([]worldstate.BlockChanged, len(p.Changes))
		for i, c := range p.Changes {
			changes[i] = worldstate.BlockChanged{Pos: p.Pos(c), State: stateID(int64(c >> 12))}
		}
		return worldstate.SectionChanged{Changes: changes}
	case *BlockEntityData:
		return worldstate.BlockEntityChanged{BlockEntity: worldstate.BlockEntity{Pos: p.Pos, Type: p.Type, NBT: p.Data}}
	case *BlockChangedAck:
		return worldstate.BlockAck{Sequence: p.Sequence}
	case *ChunkBatchFinished:
		return worldstate.ChunkBatchFinished{Size: p.Size}
	case *SetChunkCacheCenter:
		return worldstate.ChunkCentre{Pos: p.Pos}
	case *SetChunkCacheRadius:
		return worldstate.ViewDistance{Chunks: p.Chunks}
	}
	return nil
}

func (c *EventContext) chunk(p *LevelChunkWithLight) worldstate.Event {
	e := worldstate.ChunkLoaded{Pos: p.Pos, Data: p.Data, Layout: c.Layout()}
	if len(p.BlockEntities) > 0 {
		e.BlockEntities = make([]worldstate.BlockEntity, len(p.BlockEntities))
		for i := range p.BlockEntities {
			b := &p.BlockEntities[i]
			e.BlockEntities[i] = worldstate.BlockEntity{Pos: b.Pos(p.Pos), Type: b.Type, NBT: b.Data}
		}
	}
	return e
}

// stateID narrows a state; what does not fit becomes the largest id, which no version has.
func stateID(n int64) registry.StateID {
	if n < 0 || n > 0xFFFF {
		return 0xFFFF
	}
	return registry.StateID(n)
}

// selfEvent turns packets about the player itself into facts.
func selfEvent(p Packet, ctx *EventContext) worldstate.Event {
	switch p := p.(type) {
	case *LoginPlay:
		return worldstate.Joined{
			EntityID: p.EntityID, Hardcore: p.Hardcore, Dimensions: p.Dimensions, ViewDistance: p.ViewDistance,
			SimulationDistance: p.SimulationDistance, EnforcesSecureChat: p.EnforcesSecureChat, Spawn: ctx.spawn(p.Spawn),
		}
	case *Respawn:
		return worldstate.Respawned{Spawn: ctx.spawn(p.Spawn), Keep: p.Keep}
	case *StartConfiguration:
		return worldstate.ReconfigurationStarted{}
	case *PlayerPosition:
		return teleported(p, ctx)
	case *PlayerRotation:
		return worldstate.Turned{Rotation: p.Rotation, RelativeYaw: p.RelativeYaw, RelativePitch: p.RelativePitch}
	case *SetHealth:
		return worldstate.HealthChanged{Health: p.Health, Food: p.Food, Saturation: saturation(p.Saturation)}
	case *PlayerAbilitiesClientbound:
		return worldstate.AbilitiesChanged{
			Invulnerable: p.Flags&AbilityInvulnerable != 0, Flying: p.Flags&AbilityFlying != 0,
			MayFly: p.Flags&AbilityMayFly != 0, InstantBuild: p.Flags&AbilityInstantBuild != 0,
			FlyingSpeed: p.FlyingSpeed, WalkingSpeed: p.WalkingSpeed,
		}
	case *AwardStats:
		return worldstate.StatsAwarded{Entries: p.Stats}
	}
	return inventoryEvent(p)
}

// teleported tells a position. Before feature PositionVelocity an axis that is absolute also stops its velocity; a relative
// one keeps it.
func teleported(p *PlayerPosition, ctx *EventContext) worldstate.Event {
	e := worldstate.Teleported{ID: p.ID, Position: p.Position, Velocity: speed(p.Velocity), Rotation: p.Rotation, Relative: p.Relative}
	if !Has(ctx.Protocol, PositionVelocity) {
		const axes = worldstate.RelativeX | worldstate.RelativeY | worldstate.RelativeZ
		e.Relative |= e.Relative & axes * worldstate.RelativeVelocityX
	}
	return e
}

// speed is a velocity that came with a place. flying-squid writes NaN there; the place is known all the same, so what is no
// number counts as standing still.
func speed(v geom.Vec3) geom.Vec3 {
	if !geom.Finite(v) {
		return geom.Vec3{}
	}
	return v
}

// saturation, too, may be no number beside a health that is: flying-squid leaves it out. Nothing rests on it.
func saturation(f float32) float32 {
	if f >= 0 && f <= math.MaxFloat32 {
		return f
	}
	return 0
}

func inventoryEvent(p Packet) worldstate.Event {
	switch p := p.(type) {
	case *ContainerSetContent:
		e := worldstate.ContainerContent{Window: p.Window, StateID: p.StateID, Carried: slot(&p.Carried)}
		e.Slots = make([]worldstate.Slot, len(p.Items))
		for i := range p.Items {
			e.Slots[i] = slot(&p.Items[i])
		}
		return e
	case *ContainerSetSlot:
		return worldstate.ContainerSlot{Window: p.Window, StateID: p.StateID, Slot: p.Slot, Content: slot(&p.Item)}
	case *SetPlayerInventory:
		return worldstate.InventorySlot{Slot: p.Slot, Content: slot(&p.Item)}
	case *SetCursorItem:
		return worldstate.CursorItem{Content: slot(&p.Item)}
	case *SetHeldSlot:
		return worldstate.HeldSlot{Slot: p.Slot}
	case *OpenScreen:
		return worldstate.WindowOpened{Window: p.Window, Title: worldstate.Untrusted(p.Title.Plain())}
	case *ContainerClose:
		return worldstate.WindowClosed{Window: p.Window}
	}
	return nil
}

// slot tells what is known of a stack: one with an unknown component is known but for its plainness, one behind such a
// stack is unknown.
func slot(s *ItemStack) worldstate.Slot {
	if s.Form == StackLost {
		return worldstate.Slot{}
	}
	out := worldstate.Slot{Known: true, Stack: worldstate.ItemStack{Item: s.Item, Count: s.Count}}
	switch {
	case s.Form == StackHead:
		out.Stack.Plain = worldstate.PlainUnknown
	case s.Plain():
		out.Stack.Plain = worldstate.PlainYes
	default:
		out.Stack.Plain = worldstate.PlainNo
	}
	return out
}

// worldEvent turns packets about the world as a whole into facts.
func worldEvent(p Packet, ctx *EventContext) worldstate.Event {
	switch p := p.(type) {
	case *GameEvent:
		switch p.Event {
		case EventChangeGameMode:
			return worldstate.GameModeChanged{Mode: gameMode(int32(p.Value))}
		case EventImmediateRespawn, EventLevelChunksLoadStart:
			return worldstate.GameRuleSeen{Event: p.Event, Value: p.Value}
		}
	case *SetTime:
		e := worldstate.TimeUpdated{Age: p.Age, TimeOfDay: p.TimeOfDay}
		if len(p.Clocks) > 0 {
			e.TimeOfDay = p.Clocks[0].Ticks
		}
		return e
	case *TickingState:
		return worldstate.TickRate{PerSecond: p.PerSecond, Frozen: p.Frozen}
	case *PlayerChat:
		return ctx.playerChat(p)
	case *DisguisedChat:
		return worldstate.ChatReceived{
			Trust: worldstate.ChatDisguised, Name: worldstate.Untrusted(p.Name.Plain()),
			Text: worldstate.Untrusted(p.Message.Plain()), Private: ctx.private(p.Type),
		}
	case *SystemChat:
		return worldstate.ChatReceived{Trust: worldstate.ChatSystem, Text: worldstate.Untrusted(p.Content.Plain()), Overlay: p.Overlay}
	}
	return ctx.borderEvent(p)
}

func (c *EventContext) playerChat(p *PlayerChat) worldstate.Event {
	e := worldstate.ChatReceived{
		Trust: worldstate.ChatUnsigned, Sender: p.Sender, Name: worldstate.Untrusted(p.Name.Plain()),
		Text: worldstate.Untrusted(p.Message), Salt: p.Salt, Private: c.private(p.Type),
	}
	if p.Signed {
		e.Trust, e.Signature = worldstate.ChatSigned, p.Signature[:]
	}
	return e
}

// borderEvent keeps the border whole: while it moves, the smaller of its sizes counts.
func (c *EventContext) borderEvent(p Packet) worldstate.Event {
	switch p := p.(type) {
	case *InitializeBorder:
		c.border = worldstate.BorderSet{CentreX: p.CentreX, CentreZ: p.CentreZ, Diameter: min(p.OldDiameter, p.NewDiameter)}
	case *SetBorderCenter:
		c.border.CentreX, c.border.CentreZ = p.X, p.Z
	case *SetBorderSize:
		c.border.Diameter = p.Diameter
	case *SetBorderLerpSize:
		c.border.Diameter = min(p.OldDiameter, p.NewDiameter)
	default:
		return nil
	}
	return c.border
}

// delta turns 1/4096 blocks into blocks.
func delta(x, y, z int16) geom.Vec3 {
	return geom.Vec3{float64(x) / 4096, float64(y) / 4096, float64(z) / 4096}
}
