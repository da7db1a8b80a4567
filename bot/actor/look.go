package actor

import (
	"fmt"
	"math"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
)

// looking is a look_at: one rotation packet.
type looking struct {
	gesture
	at   geom.Vec3
	look geom.Rotation
	turn bool // the tick's movement packet was spent: turn at the next tick
}

// bind implements deed.
func (l *looking) bind(tx *bot.Tx) (*bound, error) {
	return l.fixed(tx, func() (proposal, error) {
		l.look = geom.RotationTo(eye(tx), l.at)
		return proposal{
			post: effects.LooksTowards{Look: l.look}, spend: effects.Budgets{Uses: 1},
			pre:      l.aims,
			complete: func(*bot.Tx, *sentinel.Facts) {},
		}, nil
	})
}

// mostAside is how far the bound look may miss its target by, in degrees, because the bot stands a little elsewhere by now: a
// walk that has just ended still settles.
const mostAside = 1.0

// aims stands for what a look rests on: that from where the bot is, it goes to its target.
func (l *looking) aims(tx *bot.Tx) sentinel.Pin {
	from := eye(tx)
	to := geom.RotationTo(from, l.at).Vector()
	if l.look.Vector().Dot(to) >= math.Cos(mostAside*math.Pi/180) {
		return sentinel.PinOf("look", fmt.Sprint(l.look))
	}
	return sentinel.PinOf("look", fmt.Sprint(l.look), "from elsewhere", fmt.Sprint(from))
}

// eye is where the bot's eyes are.
func eye(tx *bot.Tx) geom.Vec3 {
	height := geom.EyeStanding
	if tx.Out().Sneaking() {
		height = geom.EyeSneaking
	}
	return tx.Player().Pos.Add(geom.Vec3{0, height, 0})
}

func (l *looking) begin(tx *bot.Tx) error {
	if _, told := tx.Out().Told(); !told || !tx.Out().CanMove() {
		l.turn = true
		tx.Wake(1)
		return nil
	}
	l.turn = false
	b, err := l.bind(tx)
	if err != nil {
		return err
	}
	if err := l.open(tx, b); err != nil {
		return err
	}
	if err := tx.Look(l.adm.permit, l.look); err != nil {
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
