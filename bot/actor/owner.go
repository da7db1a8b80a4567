package actor

import (
	"context"

	"blockworld/bot"
	"blockworld/sentinel/journal"

	"blockworld/effects"
)

// TakeWorldAsItIs is the owner's decision to go on although somebody changed a proven cell: the cursor is taken from the
// world as it is. No receipt changes.
func (a *Actor) TakeWorldAsItIs(ctx context.Context) error {
	var err error
	over := a.bot.Do(ctx, func(tx *bot.Tx) {
		a.look(tx.View())
		err = a.storeCursor()
	})
	if over != nil {
		return over
	}
	return err
}

// Accept is the owner's decision to close an unverified placement without proof; it is not success, and its cell is free
// for another action.
func (a *Actor) Accept(ctx context.Context, id effects.ActionID) error {
	act, err := a.cfg.Journal.Action(id)
	if err != nil {
		return err
	}
	if err := a.cfg.Journal.Decide(id, journal.Accept); err != nil {
		return err
	}
	return a.bot.Do(ctx, func(*bot.Tx) { delete(a.barred, act.Step.Pos) })
}
