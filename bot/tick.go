package bot

import (
	"time"

	"blockworld/bot/physics"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// restTicks is how many ticks pass between two looks while everything rests: as often as vanilla repeats its position.
const restTicks = 20

// wakeTicks makes sure that at least n more ticks run.
func (b *Bot) wakeTicks(n int) {
	b.wake = max(b.wake, n)
}

// tickTime is when the next tick is due: one tick after the last while something moves, else at the reminder.
func (b *Bot) tickTime() time.Time {
	if b.wake > 0 || b.walk != nil {
		return b.lastTick.Add(b.tickEvery)
	}
	return b.lastTick.Add(restTicks * b.tickEvery)
}

// tick is one game tick: listeners, the walk's keys, physics, one movement packet, the end of the tick.
func (b *Bot) tick(now time.Time) error {
	b.advance(now)
	b.ticks++
	if b.wake > 0 {
		b.wake--
	}
	tx := &Tx{b}
	for _, l := range b.listeners {
		if l.Tick(tx) {
			b.wakeTicks(1)
		}
	}
	moved, err := b.move()
	if err != nil {
		return b.machine.Failure(err)
	}
	if moved {
		b.wakeTicks(1)
	}
	if err := b.out.EndTick(); err != nil {
		return b.machine.Failure(err)
	}
	return nil
}

// advance keeps the rhythm of ticks: the next one is due one tick after this one was, unless we are so late that the
// server would see a burst.
func (b *Bot) advance(now time.Time) {
	due := b.tickTime()
	b.out.Skip(int(due.Sub(b.lastTick)/b.tickEvery) - 1)
	if now.Sub(due) > b.tickEvery {
		due = now
	}
	b.lastTick = due
}

// move runs physics for one tick and tells the server. True means that something is still moving.
func (b *Bot) move() (moving bool, err error) {
	d := &b.body
	if !d.placed || d.dead || d.riding || !b.mirror.View().Loaded(d.chunk()) {
		return false, nil
	}
	if !b.out.CanMove() {
		return true, nil // this tick's packet has gone out: the body moves with the next one
	}
	in, keys := physics.Input{Yaw: d.yaw, Pitch: d.pitch}, wire.Keys(0)
	walk := b.walk
	if walk != nil {
		in, keys = walk.steer()
		d.yaw, d.pitch = in.Yaw, in.Pitch
	}
	in.Sneak = in.Sneak || b.out.Sneaking() && walk == nil
	before := d.player
	after := physics.Step(b.world(), before, in, d.attrs)
	if after.Unknown || !after.Valid() {
		after = before
		after.Vel, after.Unknown = before.Vel.Mul(0), true
	}
	d.player = after
	if walk != nil && b.walk == walk {
		err = walk.tell(keys, before.Flying != after.Flying)
	} else {
		err = b.out.Passive(d.motion())
	}
	if err != nil {
		return true, err
	}
	if walk != nil {
		walk.ticked()
	}
	return b.walk != nil || !resting(before, after), nil
}

// resting says whether another tick without input would find the player where it is.
func resting(before, after physics.Player) bool {
	still := after.Pos == before.Pos && after.Vel[0] == 0 && after.Vel[2] == 0
	return still && (after.OnGround || after.Flying && after.Vel[1] == 0 || after.Unknown)
}

// world is what physics walks through.
func (b *Bot) world() physics.World {
	view := b.mirror.View()
	return physics.World{Blocks: b.blocks, Cells: openSky{view}, FastLava: view.Dimension().Name == "minecraft:the_nether"}
}

// openSky is a view in which what lies above and below a loaded column is air, as it is for vanilla's physics.
type openSky struct{ worldstate.View }

// Block implements physics.Cells.
func (o openSky) Block(pos geom.BlockPos) (registry.StateID, bool) {
	s, ok := o.View.Block(pos)
	if ok {
		return s, true
	}
	d := o.View.Dimension()
	outside := d.Height > 0 && (pos.Y < d.MinY || pos.Y >= d.MinY+d.Height)
	return 0, outside && o.View.Loaded(pos.Chunk())
}
