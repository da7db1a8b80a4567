package actor

import (
	"context"
	"fmt"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/effects/placement"
	"blockworld/worldstate/geom"
)

// mostStands is how many places to stand are looked at for one click.
const mostStands = 32

// StandFor says where the bot could stand to place a block: where it stands now if that will do, else the nearest cell of
// the walk box that it can get to. It reads and sends nothing. Errors wrap ErrNoClick or ErrNoWay.
func (a *Actor) StandFor(ctx context.Context, r effects.PlaceBlockRequest) (pos geom.BlockPos, here bool, err error) {
	if err := r.Validate(); err != nil {
		return pos, false, err
	}
	over := a.bot.Do(ctx, func(tx *bot.Tx) { pos, here, err = a.standFor(tx, r) })
	if over != nil {
		return pos, false, over
	}
	return pos, here, err
}

func (a *Actor) standFor(tx *bot.Tx, r effects.PlaceBlockRequest) (pos geom.BlockPos, here bool, err error) {
	reg, v, feet := tx.Registry(), tx.View(), tx.Player().Pos
	at, walk := geom.BlockAt(feet), a.cfg.Record.Plot.Walk
	want, err := reg.ParseState(r.State)
	if err != nil {
		return pos, false, fmt.Errorf("%w: %w", effects.ErrBadRequest, err)
	}
	uses, rejected := placement.Solve(reg, v, geom.BlockPos(r.Pos), want)
	if rejected != nil {
		return pos, false, fmt.Errorf("%w: %s at %v: %w", ErrNoClick, r.State, geom.BlockPos(r.Pos), rejected)
	}
	var goals []geom.BlockPos
	for _, u := range uses {
		if hidden, ok := placement.FromFeet(reg, u, feet); ok && !hidden && walk.Contains(at) {
			return at, true, nil
		}
		for _, s := range placement.Stand(reg, v, u, placement.StandOptions{Walk: walk, From: at, Most: mostStands}) {
			goals = append(goals, s.Cell)
		}
	}
	table, err := path.Load(reg.Protocol())
	if err != nil {
		return pos, false, err
	}
	var scratch path.Scratch
	world := path.World{Table: table, Cells: v}
	found := path.FindFrom(world, feet, goals, path.Options{WalkBox: walk, Swim: true}, &scratch)
	switch {
	case len(goals) == 0:
		return pos, false, fmt.Errorf("%w: there is no place to stand within reach of %v in the walk box", ErrNoWay, geom.BlockPos(r.Pos))
	case found.Status != path.Reached:
		return pos, false, fmt.Errorf("%w: no place to stand within reach of %v can be walked to from %v: %s", ErrNoWay, geom.BlockPos(r.Pos), at, found.Words(world, geom.BlockPos(r.Pos)))
	}
	return found.Nodes[len(found.Nodes)-1].Pos, false, nil
}
