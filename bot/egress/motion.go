package egress

import (
	"blockworld/bot/wire"
	"blockworld/worldstate/geom"
)

// reminderTicks is how often a position is sent although nothing moved, as vanilla does.
const reminderTicks = 20

// smallestMove is the square of the distance in blocks below which vanilla sends no position.
const smallestMove = 2e-4 * 2e-4

// Confirm answers player_position: the confirmation, then the echo of the place the player was put to. The echo is
// this tick's movement packet; where that has gone out already, the next tick's packet carries the full position.
func (w *Writer) Confirm(teleport int32, to Motion) error {
	if !to.finite() {
		return ErrNotFinite
	}
	if err := w.write(Liveness, &wire.AcceptTeleportation{ID: teleport}); err != nil {
		return err
	}
	w.told = false
	to.OnGround, to.HorizontalCollision = false, false
	if w.moved {
		return nil
	}
	return w.motion(Liveness, to)
}

// Passive sends what physics reached without any input: falling, knockback, currents. It is nothing when there is
// nothing to tell.
func (w *Writer) Passive(m Motion) error { return w.tick(Liveness, m) }

// Skip counts ticks in which nothing was sent, so that the reminder comes when it is due.
func (w *Writer) Skip(ticks int) { w.quiet += ticks }

// EndTick closes the tick: the tick end goes out where the version has one, and a new movement packet may follow.
func (w *Writer) EndTick() error {
	w.moved = false
	if !wire.Has(w.protocol, wire.ClientTickEndExists) {
		return nil
	}
	return w.write(Liveness, &wire.ClientTickEnd{})
}

// CanMove says whether this tick's movement packet is still free.
func (w *Writer) CanMove() bool { return !w.moved }

// Told is the motion last sent, false if the server was told none in this epoch.
func (w *Writer) Told() (Motion, bool) { return w.last, w.told }

// tick sends the movement packet of a tick if there is anything to tell.
func (w *Writer) tick(k Kind, m Motion) error {
	if !m.finite() {
		return ErrNotFinite
	}
	if w.moved {
		return ErrTickSpent
	}
	w.quiet++
	return w.motion(k, m)
}

// motion sends the smallest packet that tells the change, as vanilla does.
func (w *Writer) motion(k Kind, m Motion) error {
	d := m.Position.Sub(w.last.Position)
	position := !w.told || d.Dot(d) > smallestMove || w.quiet >= reminderTicks
	rotation := !w.told || m.Rotation != w.last.Rotation
	ground := m.OnGround != w.last.OnGround || m.HorizontalCollision != w.last.HorizontalCollision
	var p wire.Packet
	flags := m.flags()
	switch {
	case position && rotation:
		p = &wire.MovePlayerPosRot{Position: m.Position, Rotation: m.Rotation, Flags: flags}
	case position:
		p = &wire.MovePlayerPos{Position: m.Position, Flags: flags}
	case rotation:
		p = &wire.MovePlayerRot{Rotation: m.Rotation, Flags: flags}
	case ground:
		p = &wire.MovePlayerStatusOnly{Flags: flags}
	default:
		return nil
	}
	if err := w.write(k, p); err != nil {
		return err
	}
	told := w.last.Position
	w.last = m
	if position {
		w.quiet = 0
	} else {
		w.last.Position = told
	}
	w.moved, w.told = true, true
	return nil
}

// turn sends a rotation alone; it is the tick's movement packet.
func (w *Writer) turn(k Kind, r geom.Rotation) error {
	if !w.told {
		return ErrEnded // the server has not placed us yet: there is nothing to turn
	}
	if r == w.last.Rotation {
		return nil
	}
	m := w.last
	m.Rotation = r
	if !m.finite() {
		return ErrNotFinite
	}
	if w.moved {
		return ErrTickSpent
	}
	return w.motion(k, m)
}
