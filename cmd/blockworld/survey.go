package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockworld/bot"
	"blockworld/sentinel"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// land is a copy of the world around a plot, as one session saw it.
type land struct {
	reg           *registry.Registry
	identity      string
	who           bot.Identity
	account       worldstate.UUID
	dimension     worldstate.Dimension
	dimensionName string
	feet          geom.BlockPos
	mayFly        bool
	box           geom.BlockBox
	cells         []registry.StateID // of box, X fastest, then Z, then Y
}

// notSeen stands in land.cells for a cell that was not loaded; no version has that many states.
const notSeen = registry.StateID(0xffff)

// Block implements placement.Cells; what was not seen is not known.
func (l *land) Block(p geom.BlockPos) (registry.StateID, bool) {
	if !l.box.Contains(p) {
		return 0, false
	}
	d, size := p.Sub(l.box.Min), l.box.Size()
	s := l.cells[(int(d.Y)*int(size.Z)+int(d.Z))*int(size.X)+int(d.X)]
	return s, s != notSeen
}

// maxLand bounds the cells of a survey.
const maxLand = 1 << 24

// surveyPatience is how long a survey waits for the plot's columns.
const surveyPatience = 20 * time.Second

// survey joins, waits until the plot is loaded, and copies what is there.
func survey(ctx context.Context, o bot.Options, plot sentinel.Plot) (*land, error) {
	if err := surveyable(plot); err != nil {
		return nil, err
	}
	box := surveyed(plot)
	b, err := bot.Join(ctx, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	s := &surveyor{box: box, began: time.Now(), seen: make(chan *land, 1)}
	b.Listen(s)
	ran := make(chan error, 1)
	go func() { ran <- b.Run(ctx) }()
	select {
	case l := <-s.seen:
		return l, b.Close()
	case err := <-ran:
		if err == nil {
			err = errors.New("the session ended before the plot was seen")
		}
		return nil, err
	}
}

// surveyed is what a survey looks at: the plot and what may bear on it.
func surveyed(plot sentinel.Plot) geom.BlockBox { return plot.Walk.Union(plot.Click).Grow(2) }

// surveyable refuses a plot that is too large.
func surveyable(plot sentinel.Plot) error {
	if n := surveyed(plot).Volume(); n > maxLand {
		return fail(exitUsage, fmt.Errorf("the plot with its surroundings has %d cells, at most %d can be planned at once: give a smaller --plot or --walk-box", n, maxLand))
	}
	return nil
}

// surveyor waits for the columns of a box and copies it.
type surveyor struct {
	box   geom.BlockBox
	began time.Time
	seen  chan *land
	done  bool
}

// Fact implements bot.Listener.
func (s *surveyor) Fact(tx *bot.Tx, _ bot.Fact) { tx.Wake(1) }

// Ended implements bot.Listener.
func (s *surveyor) Ended(error) {}

// Tick implements bot.Listener.
func (s *surveyor) Tick(tx *bot.Tx) bool {
	if s.done {
		return false
	}
	v := tx.View()
	if !tx.Ready() || v.Self().GameMode == worldstate.GameModeUnknown || !s.loaded(v) && time.Since(s.began) < surveyPatience {
		return true
	}
	s.done = true
	s.seen <- s.copy(tx)
	return false
}

func (s *surveyor) loaded(v worldstate.View) bool {
	lo, hi := s.box.Min.Chunk(), s.box.Max.Chunk()
	for x := lo.X; x <= hi.X; x++ {
		for z := lo.Z; z <= hi.Z; z++ {
			if !v.Loaded(geom.ChunkPos{X: x, Z: z}) {
				return false
			}
		}
	}
	return true
}

func (s *surveyor) copy(tx *bot.Tx) *land {
	v := tx.View()
	account, _ := tx.Account()
	l := &land{
		reg: tx.Registry(), identity: tx.Identity().String(), who: tx.Identity(), account: account, dimension: v.Dimension(), dimensionName: v.DimensionName(),
		feet: geom.BlockAt(tx.Player().Pos), mayFly: tx.MayFly(), box: s.box, cells: make([]registry.StateID, 0, s.box.Volume()),
	}
	for y := s.box.Min.Y; y <= s.box.Max.Y; y++ {
		for z := s.box.Min.Z; z <= s.box.Max.Z; z++ {
			for x := s.box.Min.X; x <= s.box.Max.X; x++ {
				state, ok := v.Block(geom.BlockPos{X: x, Y: y, Z: z})
				if !ok {
					state = notSeen
				}
				l.cells = append(l.cells, state)
			}
		}
	}
	return l
}
