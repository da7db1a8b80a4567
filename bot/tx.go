package bot

import (
	"time"

	"blockworld/bot/egress"
	"blockworld/bot/physics"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// Tx is the key to a session's state: whoever holds one runs on the loop. It is good until the function it was given to
// returns.
type Tx struct{ b *Bot }

// View reads the mirror.
func (tx *Tx) View() worldstate.View { return tx.b.mirror.View() }

// Registry is the tables of the session's version.
func (tx *Tx) Registry() *registry.Registry { return tx.b.reg }

// Out writes to the connection: effects with a permit, and the fence. What was written leaves when the current step of the
// loop is done, in one piece.
func (tx *Tx) Out() *egress.Writer { return tx.b.out }

// Now is the session's clock.
func (tx *Tx) Now() time.Time { return tx.b.opts.Clock.Now() }

// Ticks counts the ticks that ran since the session began. Ticks rest while nothing moves and nobody is busy.
func (tx *Tx) Ticks() uint64 { return tx.b.ticks }

// Traffic is what went over the session's connection since it was made.
func (tx *Tx) Traffic() Traffic {
	c := tx.b.link.conn.Counters()
	return Traffic{PacketsIn: c.FramesIn, PacketsOut: c.FramesOut, BytesIn: c.BytesIn, BytesOut: c.BytesOut, TicksLate: tx.b.late}
}

// Traffic counts packets and bytes, login included, as they went over the connection: compressed, with their framing.
type Traffic struct {
	PacketsIn, PacketsOut uint64
	BytesIn, BytesOut     uint64
	TicksLate             uint64 // ticks that ran more than a tick's time after they were due
}

// Wake keeps ticks running for at least n more.
func (tx *Tx) Wake(n int) { tx.b.wakeTicks(n) }

// Attach adds a listener; it hears what comes from now on.
func (tx *Tx) Attach(l Listener) { tx.b.listeners = append(tx.b.listeners, l) }

// Detach removes a listener.
func (tx *Tx) Detach(l Listener) {
	for i, have := range tx.b.listeners {
		if have == l {
			kept := append([]Listener(nil), tx.b.listeners[:i]...)
			tx.b.listeners = append(kept, tx.b.listeners[i+1:]...)
			return
		}
	}
}

// Identity is which server this is.
func (tx *Tx) Identity() Identity { return tx.b.identity }

// Account is who we are on this server, as it said at login.
func (tx *Tx) Account() (worldstate.UUID, string) { return tx.b.machine.Identity() }

// Brand is what the server calls its software. Untrusted.
func (tx *Tx) Brand() worldstate.Untrusted { return tx.b.machine.Brand() }

// Player is the predicted state of our own movement; it is never evidence.
func (tx *Tx) Player() physics.Player { return tx.b.body.player }

// Rotation is where we look.
func (tx *Tx) Rotation() geom.Rotation { return tx.b.body.rotation() }

// turned changes where we look in later movement packets, after an opened effect has sent that rotation.
func (tx *Tx) turned(r geom.Rotation) { tx.b.body.yaw, tx.b.body.pitch = r.Yaw, r.Pitch }

// Ready says whether the server has placed us, our chunk is loaded, and we are alive and on our own feet.
func (tx *Tx) Ready() bool {
	d := &tx.b.body
	return d.placed && d.loaded && !d.dead && !d.riding
}

// Dead says whether the server told us that we died.
func (tx *Tx) Dead() bool { return tx.b.body.dead }

// Riding says whether we sit on something.
func (tx *Tx) Riding() bool { return tx.b.body.riding }

// Corrections counts how often the server has put us somewhere since the session began.
func (tx *Tx) Corrections() uint64 { return tx.b.body.setback }

// MayFly says whether the server's abilities allow creative flight.
func (tx *Tx) MayFly() bool { return tx.b.body.attrs.MayFly }

// Look opens a look_at and turns. Errors leave the permit unopened when this tick's movement packet is already gone.
func (tx *Tx) Look(p egress.Permit, r geom.Rotation) error {
	if !tx.b.out.CanMove() {
		return egress.ErrTickSpent
	}
	t, err := tx.b.out.OpenLook(p)
	if err != nil {
		return err
	}
	defer t.Done()
	if err := t.Turn(r); err != nil {
		return err
	}
	tx.turned(r)
	return nil
}

// LookFor sends the rotation that an opened placement needs and keeps looking that way.
func (tx *Tx) LookFor(p *egress.Placing, r geom.Rotation) error {
	if err := p.Look(r); err != nil {
		return err
	}
	tx.turned(r)
	return nil
}
