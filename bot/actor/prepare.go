package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
)

// Errors of prepared effects.
var (
	ErrCancelled    = errors.New("cancelled before anything was sent")
	ErrOtherSession = errors.New("it was bound in a session that is over: bind it again")
)

// The points of this package; the journal calls its own.
const (
	AfterPacket   journal.Point = "after_packet"   // the use is on the wire, no evidence yet
	AfterEvidence journal.Point = "after_evidence" // the verdict is known, nothing stored
)

// Order says for whom an effect is bound. The zero Order is that of a program without a control plane: a fresh action id,
// the principal "local", the mission's own lease.
type Order struct {
	Op        effects.ActionID // becomes the id of the action
	Principal string
	Lease     string
}

func (o Order) principal() string {
	if o.Principal == "" {
		return local
	}
	return o.Principal
}

func (o Order) lease(m effects.MissionID) string {
	if o.Lease == "" {
		return "mission " + m.String()
	}
	return o.Lease
}

// Prepared is an effect bound to exact targets, for which nothing was sent and nothing stored. It is carried out as it is
// bound, by the session that bound it, or not at all.
type Prepared struct {
	Order    Order
	Request  effects.Request
	Binding  effects.Binding
	Previews []host.Preview
	Summary  string // what will happen, for people

	actor  *Actor
	deed   deed
	cancel chan struct{}
	once   sync.Once
}

// Precondition stands for the facts that the effect rests on.
func (p *Prepared) Precondition() effects.Digest { return p.Binding.Precondition }

// Cancel takes the effect back as far as it can be: before its mark nothing is sent, a walk stops where it is, and whatever
// else was sent is waited for.
func (p *Prepared) Cancel() { p.once.Do(func() { close(p.cancel) }) }

// common is what every effect has: the order it is done for, and what it was bound to.
type common struct {
	a     *Actor
	order Order
	was   *bound
}

// fixed binds the effect, once: nothing is bound anew.
func (c *common) fixed(tx *bot.Tx, propose func() (proposal, error)) (*bound, error) {
	if c.was != nil {
		return c.was, nil
	}
	p, err := propose()
	if err != nil {
		return nil, err
	}
	c.was, err = c.a.bind(tx, c.order, p)
	return c.was, err
}

// Prepare binds an effect on the session's loop and asks the guard, without sending or storing anything. It waits for the
// session to be ready, as Do does. The guard's no is a *Denied.
func (a *Actor) Prepare(ctx context.Context, o Order, r effects.Request) (*Prepared, error) {
	if err := valid(r); err != nil {
		return nil, err
	}
	if !r.Capability().Effect() {
		return nil, fmt.Errorf("%w: %s is a read, there is nothing to bind", effects.ErrBadRequest, r.Capability())
	}
	p := &Prepared{Order: o, Request: r, actor: a, deed: a.deedOf(o, r), cancel: make(chan struct{})}
	for {
		var err error
		ready, changed := false, make(<-chan struct{})
		over := a.bot.Do(ctx, func(tx *bot.Tx) {
			if a.over != nil {
				err = a.over
				return
			}
			if ready = a.ready(tx); ready {
				err = a.prepare(tx, p)
			} else {
				tx.Wake(1)
				changed = a.turned()
			}
		})
		switch {
		case over != nil:
			return nil, over
		case err != nil:
			return nil, err
		case ready:
			return p, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrNotReady, ctx.Err())
		}
	}
}

// turned is closed when a tick has passed or the session is over.
func (a *Actor) turned() <-chan struct{} {
	if a.next == nil {
		a.next = make(chan struct{})
	}
	return a.next
}

// tickPassed wakes who waits for a tick.
func (a *Actor) tickPassed() {
	if a.next != nil {
		close(a.next)
		a.next = nil
	}
}

func (a *Actor) prepare(tx *bot.Tx, p *Prepared) error {
	b, err := p.deed.bind(tx)
	if err != nil {
		return err
	}
	if err := b.binding.Issuable(); err != nil {
		return err
	}
	if err := a.consider(tx, b); err != nil {
		return err
	}
	p.Binding, p.Order.Op = b.binding, b.binding.Action
	view := scene.Preview(tx.Registry(), b.binding.Postcondition, a.cfg.Ground, int(b.prop.spend.Distance))
	p.Previews, p.Summary = []host.Preview{view}, summary(view, b.binding.Postcondition)
	return nil
}

// summary says what will happen.
func summary(v host.Preview, p effects.Postcondition) string {
	switch p := p.(type) {
	case effects.CellsBecome:
		return fmt.Sprintf("place %s at %v with %d %s", v.Block, p.Cells[0].Pos, v.Quantity, v.Item)
	case effects.StandsIn:
		return fmt.Sprintf("walk %d cells to %v", v.Quantity, p.Pos)
	case effects.LooksTowards:
		return fmt.Sprintf("look towards yaw %.1f pitch %.1f", p.Look.Yaw, p.Look.Pitch)
	case effects.HoldsItem:
		return fmt.Sprintf("hold %s in hotbar slot %d", v.Item, p.Slot)
	case effects.LineHeard:
		return fmt.Sprintf("say a line of %d characters", v.Quantity)
	}
	return ""
}

// Execute rechecks a prepared effect and carries out exactly its binding. It waits for its turn and for the verdict as Do
// does. An action that is marked in the journal already is not sent again: what the journal knows of it is the answer.
func (a *Actor) Execute(ctx context.Context, p *Prepared) (Effect, error) {
	if p.actor != a {
		return Effect{}, ErrOtherSession
	}
	if e, known, err := Known(a.cfg.Journal, p.Binding.Action); known || err != nil {
		return e, err
	}
	select {
	case a.turn <- struct{}{}:
	case <-p.cancel:
		return Effect{}, ErrCancelled
	case <-ctx.Done():
		return Effect{}, ctx.Err()
	}
	defer func() { <-a.turn }()
	if e, known, err := Known(a.cfg.Journal, p.Binding.Action); known || err != nil {
		return e, err
	}
	return a.carryOut(ctx, &run{request: p.Request, prepared: p.deed, done: make(chan struct{})}, p.cancel)
}

// Known tells what a journal knows of an action: its verdict, or that it is unverified as long as there is none. False says
// that it was never marked, so nothing of it was ever sent.
func Known(j *journal.Journal, id effects.ActionID) (e Effect, known bool, err error) {
	act, err := j.Action(id)
	if errors.Is(err, journal.ErrUnknownAction) {
		return Effect{}, false, nil
	}
	if err != nil {
		return Effect{}, false, err
	}
	o, settled, err := rejoin.LastOutcome(j, id)
	if err != nil {
		return Effect{}, true, err
	}
	e = Effect{Action: id, Verdict: o.Verdict, Grade: o.Grade, Code: o.Code, Why: o.Code.Words(),
		Receipt: o.Verdict == effects.Proven && o.Grade > effects.Processed}
	if !settled {
		e.Why = "it is under way, or was cut and is judged after the next join"
	}
	switch {
	case o.Postcondition != nil:
		e.Capability = o.Postcondition.Capability()
	case act.Places:
		e.Capability = effects.PlaceBlock
	}
	return e, true, nil
}

// Resume lifts the emergency stop.
func (a *Actor) Resume() { a.stopped.Store(false) }

// Halt is the emergency stop with an end to what is under way: nothing more is sent, a walk stops where it is.
func (a *Actor) Halt(ctx context.Context) error {
	a.Stop()
	return a.bot.Do(ctx, func(tx *bot.Tx) {
		if r := a.run; r != nil {
			a.takeBack(tx, r)
		}
	})
}

// takeBack cancels a run as far as it can be.
func (a *Actor) takeBack(tx *bot.Tx, r *run) {
	switch {
	case r.over:
	case r.deed == nil:
		a.end(Effect{}, ErrCancelled)
	default:
		r.deed.cancel(tx)
	}
}

func (a *Actor) at(p journal.Point) {
	if a.cfg.At != nil {
		a.cfg.At(p)
	}
}

// onWire sends what was written when somebody wants to stop right behind it.
func (a *Actor) onWire(tx *bot.Tx) error {
	if a.cfg.At == nil {
		return nil
	}
	err := tx.Out().Flush()
	a.at(AfterPacket)
	return err
}
