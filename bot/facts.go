package bot

import (
	"fmt"
	"math"

	"blockworld/bot/egress"
	"blockworld/bot/login"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
)

// Fact is one fact of the server with its place in the order of observations.
type Fact struct {
	Event    worldstate.Event
	Epoch    worldstate.Epoch
	Sequence worldstate.Sequence
}

// Listener hears what happens on the loop, in order. Its methods run on the loop and must not block; a Tx is good until
// the method returns.
type Listener interface {
	// Fact comes after the mirror holds the fact and the session has answered it.
	Fact(tx *Tx, f Fact)
	// Tick comes once per tick, before the player moves. True asks for the next tick too; while every listener says
	// false and nothing moves, ticks rest.
	Tick(tx *Tx) (busy bool)
	// Ended comes once, when Run ends.
	Ended(err error)
}

// answer does what the session itself owes to a fact.
func (b *Bot) answer(ev worldstate.Event) error {
	var err error
	switch ev := ev.(type) {
	case worldstate.Joined:
		err = b.enterWorld(ev)
	case worldstate.Respawned:
		b.respawned(ev)
	case worldstate.ReconfigurationStarted:
		b.newEpoch(0)
		b.out.LeaveWorld()
		b.joined = false
		b.notify(NoticeReconfiguring, "the server took us back to configuration")
	case worldstate.Teleported:
		err = b.teleported(ev)
	case worldstate.Turned:
		err = b.turned(ev)
	case worldstate.EntityVelocity:
		b.pushed(ev)
	case worldstate.HealthChanged:
		err = b.health(ev)
	case worldstate.AbilitiesChanged:
		b.abilities(ev)
	case worldstate.ChunkLoaded:
		err = b.load()
	case worldstate.ChunkBatchFinished:
		err = b.out.Live(&wire.ChunkBatchReceived{ChunksPerTick: chunksPerTick})
	case worldstate.BlockChanged:
		b.nearChange(ev.Pos)
	case worldstate.SectionChanged:
		for _, c := range ev.Changes {
			b.nearChange(c.Pos)
		}
	case worldstate.HeldSlot:
		b.out.ServerHeld(ev.Slot)
	case worldstate.WindowOpened:
		if ev.Window == 0 {
			break // our own inventory: no window of the server's to be closed
		}
		b.out.WindowOpened(ev.Window)
		err = b.out.CloseWindow(ev.Window)
		b.notify(NoticeWindowClosed, "a window that the server opened was closed")
	case worldstate.ChatReceived:
		if len(ev.Signature) > 0 {
			err = b.out.ChatReceived()
		}
	case worldstate.PassengersSet:
		b.passengers(ev)
	case worldstate.TickRate:
		b.tickRate(ev)
	}
	if err != nil {
		return b.machine.Failure(err)
	}
	return nil
}

// chunksPerTick is how many columns a tick we ask for: the most that servers take. Decoding keeps up with any of them, and
// the connection's own back-pressure does the rest.
const chunksPerTick = 64

// enterWorld starts a world epoch at the play login and takes the lock of the server's identity.
func (b *Bot) enterWorld(ev worldstate.Joined) error {
	b.newEpoch(ev.EntityID)
	id := Identity{Address: b.target.Typed, HashedSeed: ev.Spawn.HashedSeed, Dimensions: ev.Dimensions}
	if err := b.lockIdentity(id); err != nil {
		return err
	}
	b.identity = id
	b.joined = true
	b.notify(NoticeJoined, "joined "+id.String())
	if b.opts.Entered != nil {
		return b.opts.Entered(id)
	}
	return nil
}

// lockIdentity takes the lock of the server's identity, unless it is the one that is held already.
func (b *Bot) lockIdentity(id Identity) error {
	b.lockMu.Lock()
	defer b.lockMu.Unlock()
	if err := b.Err(); err != nil { // nobody would let go of it
		return err
	}
	if b.locks[1] != nil && id.Equal(b.identity) {
		return nil
	}
	b.locks[1].release()
	_, name := b.machine.Identity()
	text := fmt.Sprintf("%s on the server at %s", name, b.target.Typed)
	var err error
	b.locks[1], err = takeLock(b.opts.lockFolders, text, "identity", id.world(), name)
	return err
}

// newEpoch ends what belonged to the world that is over.
func (b *Bot) newEpoch(entity int32) {
	b.out.NewEpoch(entity)
	if b.walk != nil {
		b.walk.finish(WalkEpochEnded, "the world changed under it")
	}
	b.body.reset()
	b.wakeTicks(1)
}

func (b *Bot) respawned(ev worldstate.Respawned) {
	wasDead := b.body.dead
	b.newEpoch(b.mirror.View().Self().EntityID)
	if wasDead {
		b.notify(NoticeRespawned, "back to life in "+ev.Spawn.DimensionName)
		return
	}
	b.notify(NoticeDimension, "now in "+ev.Spawn.DimensionName)
}

// teleported takes the server's word on where we are: apply, confirm once, echo.
func (b *Bot) teleported(ev worldstate.Teleported) error {
	m, ok := b.body.place(ev)
	if !ok {
		return fmt.Errorf("%w: the server puts us at %v", egress.ErrNotFinite, ev.Position)
	}
	if err := b.out.Confirm(ev.ID, m); err != nil {
		return err
	}
	b.body.setback++
	b.body.loaded = b.body.loaded && b.body.placed
	first := !b.body.placed
	b.body.placed = true
	if b.walk != nil {
		b.walk.corrected()
	}
	if !first {
		b.notify(NoticeCorrected, fmt.Sprintf("the server put us at %.2f %.2f %.2f", m.Position[0], m.Position[1], m.Position[2]))
	}
	b.wakeTicks(2)
	return b.load()
}

// turned takes the server's word on where we look, and tells it back as vanilla does.
func (b *Bot) turned(ev worldstate.Turned) error {
	r := ev.Rotation
	if ev.RelativeYaw {
		r.Yaw += b.body.yaw
	}
	if ev.RelativePitch {
		r.Pitch += b.body.pitch
	}
	if !r.Finite() {
		return fmt.Errorf("%w: the server turns us to %v", egress.ErrNotFinite, ev.Rotation)
	}
	b.body.yaw, b.body.pitch = r.Yaw, max(-90, min(90, r.Pitch))
	b.wakeTicks(1)
	return nil
}

// pushed takes knockback.
func (b *Bot) pushed(ev worldstate.EntityVelocity) {
	if ev.ID != b.mirror.View().Self().EntityID {
		return
	}
	p := b.body.player
	p.Vel = ev.Velocity
	if p.Valid() {
		b.body.player = p
		b.wakeTicks(2)
	}
}

// health notices death and, where that is allowed, asks once to come back.
func (b *Bot) health(ev worldstate.HealthChanged) error {
	if ev.Health > 0 {
		b.body.dead, b.body.asked = false, false
		return nil
	}
	if !b.body.dead {
		b.body.dead = true
		b.notify(NoticeDied, "the bot died")
		if b.walk != nil {
			b.walk.finish(WalkEpochEnded, "the bot died")
		}
	}
	if !b.opts.Respawn || b.body.asked {
		return nil
	}
	b.body.asked = true
	return b.out.Respawn()
}

func (b *Bot) abilities(ev worldstate.AbilitiesChanged) {
	b.body.attrs.MayFly = ev.MayFly
	if ev.FlyingSpeed >= 0 && ev.FlyingSpeed <= 10 {
		b.body.attrs.FlySpeed = float64(ev.FlyingSpeed)
	}
	b.body.player.Flying = ev.Flying && ev.MayFly
	b.wakeTicks(1)
}

// load tells the server that we have loaded the world, once the place we stand in is there.
func (b *Bot) load() error {
	if b.body.loaded || !b.body.placed || b.phase != login.PhasePlay || !b.mirror.View().Loaded(b.body.chunk()) {
		return nil
	}
	b.body.loaded = true
	b.wakeTicks(2)
	if !wire.Has(b.Protocol(), wire.PlayerLoadedExists) {
		return nil
	}
	return b.out.Live(&wire.PlayerLoaded{})
}

// nearChange wakes physics when a block near the body changed: support may have gone.
func (b *Bot) nearChange(pos geom.BlockPos) {
	d := pos.Corner().Add(geom.Vec3{0.5, 0.5, 0.5}).Sub(b.body.player.Pos)
	if math.Abs(d[0]) < 3 && math.Abs(d[1]) < 4 && math.Abs(d[2]) < 3 {
		b.wakeTicks(2)
	}
}

func (b *Bot) passengers(ev worldstate.PassengersSet) {
	self := b.mirror.View().Self().EntityID
	for _, id := range ev.Passengers {
		if id == self {
			b.body.riding = true
			return
		}
	}
	b.body.riding = false
}

// tickRate follows a server that ticks slower than the usual twenty a second, as vanilla clients do.
func (b *Bot) tickRate(ev worldstate.TickRate) {
	if ev.PerSecond >= 1 && ev.PerSecond < 20 {
		b.tickEvery = secondsToDuration(1 / float64(ev.PerSecond))
		return
	}
	b.tickEvery = b.opts.Tick
}
