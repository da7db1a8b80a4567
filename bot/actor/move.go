package actor

import (
	"fmt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/sentinel"
	"blockworld/worldstate/geom"
)

// moving is a move_to: a path within the walk box, walked node by node. The distance statistics are asked for before it and
// after it.
type moving struct {
	gesture
	to      geom.BlockPos
	walk    *bot.Walk
	started uint64 // tick
	before  int64  // distance statistics, centimetres
	known   bool
}

// setbacks is how many corrections a walk survives.
const setbacks = 3

func (m *moving) begin(tx *bot.Tx) error {
	if !m.a.cfg.Terms.Fence {
		return m.start(tx)
	}
	m.a.fence(tx, func(tx *bot.Tx, _ effects.FactRef) {
		if m.a.run == nil || m.a.run.deed != deed(m) {
			return
		}
		m.before, m.known = custom(tx.View())
		if err := m.start(tx); err != nil {
			m.a.end(Effect{}, err)
		}
	})
	return nil
}

// start finds the way, admits it and walks.
func (m *moving) start(tx *bot.Tx) error {
	nodes, err := m.route(tx)
	if err != nil {
		return err
	}
	bounds := geom.BlockBox{Min: nodes[0].Pos, Max: nodes[0].Pos}
	pre := []string{"walk"}
	for _, n := range nodes {
		bounds = bounds.Union(geom.BlockBox{Min: n.Pos, Max: n.Pos})
		pre = append(pre, n.Pos.String())
	}
	err = m.open(tx, proposal{
		post: effects.StandsIn{Pos: m.to}, spend: effects.Budgets{Uses: 1, Distance: int32(len(nodes))},
		pre:      func(*bot.Tx) sentinel.Pin { return sentinel.PinOf(pre...) },
		complete: func(_ *bot.Tx, f *sentinel.Facts) { f.PathNodes, f.PathBounds = uint32(len(nodes)), bounds },
	})
	if err != nil {
		return err
	}
	m.started = tx.Ticks()
	m.walk, err = tx.Walk(m.adm.permit, nodes, bot.WalkOptions{Sprint: true, Setbacks: setbacks, Done: m.arrived})
	if err != nil {
		return m.a.failed(tx, m.adm, err)
	}
	return nil
}

// route is the way to go. One that leaves the walk box by its very goal is made up of that goal, for the guard to refuse.
func (m *moving) route(tx *bot.Tx) ([]path.Node, error) {
	feet, walk := geom.BlockAt(tx.Player().Pos), m.a.cfg.Record.Plot.Walk
	if !walk.Contains(m.to) {
		return []path.Node{{Pos: m.to}}, nil
	}
	world := path.World{Table: m.a.table, Cells: tx.View()}
	opt := path.Options{WalkBox: walk, Swim: true}
	r := path.Find(world, feet, m.to, opt, &m.a.scratch)
	if r.Status != path.Reached && tx.MayFly() {
		opt.CanFly = true
		r = path.Find(world, feet, m.to, opt, &m.a.scratch)
	}
	if r.Status != path.Reached {
		return nil, fmt.Errorf("%w: from %v to %v: %s: %s", ErrNoWay, feet, m.to, r.Status, r.Why)
	}
	return r.Nodes, nil
}

// arrived is the end of the walk.
func (m *moving) arrived(tx *bot.Tx, w *bot.Walk) {
	if m.a.run == nil || m.a.run.deed != deed(m) {
		return
	}
	switch status, _ := w.Status(); {
	case status == bot.WalkSetBack:
		m.a.settle(tx, m.adm, effects.Settled{Verdict: effects.Refused, Code: effects.CodeCorrected})
		return
	case status == bot.WalkEpochEnded:
		m.a.settle(tx, m.adm, effects.Settled{Code: effects.CodeCut})
		return
	case status != bot.WalkReached:
		m.a.settle(tx, m.adm, effects.Settled{Verdict: effects.Refused, Code: effects.CodeNotArrived})
		return
	}
	// A correction that the walk survived is behind us: from here on the server must leave us alone.
	m.corrections = tx.Corrections()
	ticks := int64(tx.Ticks() - m.started)
	m.more = func(tx *bot.Tx, f *effects.GestureFacts) {
		after, known := custom(tx.View())
		if m.known && known && m.reply != nil && w.Setbacks() == 0 {
			// The server rounds each movement to whole centimetres.
			f.Walked, f.Counted = int64(w.Distance()*100)-ticks, after-m.before
		}
	}
	m.sent(tx)
}

// abandon stops the walk where it is; the bot has really moved.
func (m *moving) abandon(tx *bot.Tx) {
	if m.walk != nil && !m.waiting {
		m.walk.Stop()
		return
	}
	m.gesture.abandon(tx)
}
