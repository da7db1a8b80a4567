package actor

import (
	"fmt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
)

// looking is a look_at: one rotation packet.
type looking struct {
	gesture
	at   geom.Vec3
	turn bool // the tick's movement packet was spent: turn at the next tick
}

func (l *looking) begin(tx *bot.Tx) error {
	if _, told := tx.Out().Told(); !told || !tx.Out().CanMove() {
		l.turn = true
		tx.Wake(1)
		return nil
	}
	l.turn = false
	eye := tx.Player().Pos.Add(geom.Vec3{0, geom.EyeStanding, 0})
	if tx.Out().Sneaking() {
		eye = tx.Player().Pos.Add(geom.Vec3{0, geom.EyeSneaking, 0})
	}
	look := geom.RotationTo(eye, l.at)
	err := l.open(tx, proposal{
		post: effects.LooksTowards{Look: look}, spend: effects.Budgets{Uses: 1},
		pre:      func(*bot.Tx) sentinel.Pin { return sentinel.PinOf("look", fmt.Sprint(look)) },
		complete: func(*bot.Tx, *sentinel.Facts) {},
	})
	if err != nil {
		return err
	}
	if err := tx.Look(l.adm.permit, look); err != nil {
		return l.a.failed(tx, l.adm, err)
	}
	l.sent(tx)
	return nil
}

func (l *looking) tick(tx *bot.Tx) {
	if !l.turn {
		l.gesture.tick(tx)
		return
	}
	if err := l.begin(tx); err != nil {
		l.a.end(Effect{}, err)
	}
}

// failed closes a marked action whose packets could not be written; whether any left is not known.
func (a *Actor) failed(tx *bot.Tx, m *admitted, err error) error {
	if _, serr := a.store(tx, m, effects.Settled{Code: effects.CodeCut}); serr != nil {
		return serr
	}
	return err
}
