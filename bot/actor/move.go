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
	nodes   []path.Node
	walk    *bot.Walk
	started uint64 // tick
	before  int64  // distance statistics, centimetres
	known   bool
}

// setbacks is how many corrections a walk survives.
const setbacks = 3

// bind implements deed: it finds the way.
func (m *moving) bind(tx *bot.Tx) (*bound, error) {
	return m.fixed(tx, func() (proposal, error) { return m.propose(tx) })
}

func (m *moving) propose(tx *bot.Tx) (proposal, error) {
	nodes, err := m.route(tx)
	if err != nil {
		return proposal{}, err
	}
	m.nodes = nodes
	bounds := geom.BlockBox{Min: nodes[0].Pos, Max: nodes[0].Pos}
	for _, n := range nodes {
		bounds = bounds.Union(geom.BlockBox{Min: n.Pos, Max: n.Pos})
	}
	return proposal{
		post: effects.StandsIn{Pos: m.to}, spend: effects.Budgets{Uses: 1, Distance: int32(len(nodes))}, pre: m.way,
		complete: func(_ *bot.Tx, f *sentinel.Facts) { f.PathNodes, f.PathBounds = uint32(len(nodes)), bounds },
	}, nil
}

// way is what a walk rests on: where it begins, its nodes, and what stands there and below.
func (m *moving) way(tx *bot.Tx) sentinel.Pin {
	v := tx.View()
	pre := make([]string, 0, 2+len(m.nodes))
	pre = append(pre, "walk", geom.BlockAt(tx.Player().Pos).String())
	for _, n := range m.nodes {
		text := n.Pos.String()
		for dy := int32(-1); dy <= 1; dy++ {
			s, known := v.Block(n.Pos.Add(geom.BlockPos{Y: dy}))
			text += fmt.Sprint(" ", s, known)
		}
		pre = append(pre, text)
	}
	return sentinel.PinOf(pre...)
}

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

// start admits the way and walks.
func (m *moving) start(tx *bot.Tx) error {
	b, err := m.bind(tx)
	if err != nil {
		return err
	}
	if err := m.open(tx, b); err != nil {
		return err
	}
	m.started = tx.Ticks()
	m.walk, err = tx.Walk(m.adm.permit, m.nodes, bot.WalkOptions{Sprint: true, Setbacks: setbacks, Done: m.arrived})
	if err != nil {
		return m.a.failed(tx, m.adm, err)
	}
	return nil
}

// route is the way to go. One that leaves the walk box by its very goal is made up of that goal, for the guard to refuse.
func (m *moving) route(tx *bot.Tx) ([]path.Node, error) {
	feet, walk := tx.Player().Pos, m.a.cfg.Record.Plot.Walk
	if !walk.Contains(m.to) {
		return []path.Node{{Pos: m.to}}, nil
	}
	world := path.World{Table: m.a.table, Cells: tx.View()}
	opt := path.Options{WalkBox: walk, Swim: true}
	goal := []geom.BlockPos{m.to}
	r := path.FindFrom(world, feet, goal, opt, &m.a.scratch)
	if r.Status != path.Reached && tx.MayFly() {
		opt.CanFly = true
		r = path.FindFrom(world, feet, goal, opt, &m.a.scratch)
	}
	if r.Status != path.Reached {
		return nil, fmt.Errorf("%w: from %v to %v: %s", ErrNoWay, geom.BlockAt(feet), m.to, r.Words(world, m.to))
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

// cancel stops the walk where it is; the bot has really moved.
func (m *moving) cancel(tx *bot.Tx) {
	if m.walk != nil && !m.waiting {
		m.walk.Stop()
		return
	}
	m.gesture.cancel(tx)
}

// abandon stops the walk where it is; the bot has really moved.
func (m *moving) abandon(tx *bot.Tx) {
	if m.walk != nil && !m.waiting {
		m.walk.Stop()
		return
	}
	m.gesture.abandon(tx)
}
