package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"blockworld/bot/login"
	"blockworld/bot/wire"
	"blockworld/worldstate"
)

// burst is how many waiting packets are handled before what was written is flushed.
const burst = 64

// Run keeps the session until it ends and says why: ErrClosed after Close, ctx's error, a *login.SessionError (kicks
// match login.ErrKicked), or a *Transferred. It is called once.
func (b *Bot) Run(ctx context.Context) error {
	if err := b.Err(); err != nil {
		return err
	}
	err := b.loop(ctx, func() bool { return false })
	b.out.Close()
	if b.walk != nil {
		b.walk.finish(WalkEpochEnded, "the session is over")
	}
	b.end(err)
	err = b.over()
	for _, l := range b.listeners {
		l.Ended(err)
	}
	return err
}

// loop handles packets, wake-ups and functions until enough says so (nil) or the session is over.
func (b *Bot) loop(ctx context.Context, enough func() bool) error {
	defer b.stopTimer()
	if err := b.out.Flush(); err != nil {
		return b.lost(err)
	}
	for !enough() {
		b.arm()
		var err error
		select {
		case in := <-b.link.packets:
			err = b.receive(ctx, in)
			for n := 1; err == nil && n < burst && len(b.link.packets) > 0 && !enough(); n++ {
				err = b.receive(ctx, <-b.link.packets)
			}
		case now := <-b.timer.C():
			b.timer = nil
			err = b.wakeUp(now)
		case f := <-b.commands:
			f(&Tx{b})
		case <-ctx.Done():
			return ctx.Err()
		case <-b.ended:
			return b.over()
		}
		if err != nil {
			b.out.Flush() // what was already said goes out, the error is the one that counts
			return err
		}
		if err := b.out.Flush(); err != nil {
			return b.lost(err)
		}
	}
	return nil
}

// receive handles one packet of the server: the login machine's part, then the facts in it.
func (b *Bot) receive(ctx context.Context, in inbound) error {
	if in.data != nil {
		b.capture.note(wire.Clientbound, in.state, in.data)
	}
	switch {
	case in.err != nil:
		return b.lost(in.err)
	case in.undecoded != nil:
		if err := b.machine.Undecodable(in.undecoded); err != nil {
			return err
		}
		b.opts.Log.Warn("skipped an undecodable packet", "error", in.undecoded)
		b.notify(NoticeSkipped, in.undecoded.Error())
		return nil
	}
	if b.phase == login.PhasePlay {
		b.phaseFrom = b.opts.Clock.Now()
	}
	actions, _, err := b.machine.Receive(in.packet)
	if err != nil {
		return err
	}
	if err := b.carryOut(ctx, actions); err != nil {
		return err
	}
	if parks(in.packet) {
		b.link.unpark()
	}
	b.enterPhase()
	return b.facts(in.packet)
}

// facts applies what a packet says to the mirror, then answers it, then tells the listeners.
func (b *Bot) facts(p wire.Packet) error {
	b.scratch = wire.AppendEvents(b.scratch[:0], p, b.events)
	defer clear(b.scratch)
	for _, ev := range b.scratch {
		if err := b.mirror.Apply(ev); err != nil {
			if errors.Is(err, worldstate.ErrNotKept) {
				if b.mirror.View().Unkept() == 1 { // there may be thousands in this world
					b.opts.Log.Warn("the server sends columns that are not kept; no further one is told", "error", err)
					b.notify(NoticeSkipped, err.Error())
				}
				continue
			}
			if essential(ev) {
				return b.machine.Failure(err)
			}
			b.opts.Log.Warn("skipped a fact", "error", err)
			b.notify(NoticeSkipped, err.Error())
			continue
		}
		if err := b.answer(ev); err != nil {
			return err
		}
		fact := Fact{Event: ev, Epoch: b.mirror.View().Epoch(), Sequence: b.mirror.View().Sequence()}
		tx := &Tx{b}
		for _, l := range b.listeners {
			l.Fact(tx, fact)
		}
	}
	return nil
}

// essential says whether the session cannot go on when a fact is malformed: what the mirror holds would no longer be so.
func essential(ev worldstate.Event) bool {
	switch ev.(type) {
	case worldstate.Joined, worldstate.Respawned, worldstate.Teleported, worldstate.BlockChanged, worldstate.SectionChanged,
		worldstate.ChunkUnloaded, worldstate.StatsAwarded, worldstate.ReconfigurationStarted:
		return true
	}
	return false
}

// carryOut does what the login machine asks for, in order.
func (b *Bot) carryOut(ctx context.Context, actions []login.Action) error {
	for i, a := range actions {
		var err error
		switch a := a.(type) {
		case login.Send:
			err = b.out.Live(a.Packet)
		case login.SwitchWrite:
			b.link.conn.SetWriteState(a.State)
		case login.SwitchRead:
			b.link.conn.SetReadState(a.State)
		case login.Compress:
			b.link.conn.SetCompression(a.Threshold)
		case login.Encrypt:
			if err = b.out.Flush(); err == nil {
				err = b.link.conn.SetEncryption(a.Key[:])
			}
		case login.LoggedIn:
			err = b.mirror.Apply(worldstate.Identified{UUID: a.UUID, Name: a.Name})
		case login.Entering:
			if b.opts.Entering != nil {
				err = b.opts.Entering()
			}
		case login.Transfer:
			err = &Transferred{Host: a.Host, Port: a.Port, Cookies: b.machine.Cookies()}
		case login.AskSession:
			return b.askSession(ctx, a.Request, actions[i+1:])
		}
		if err != nil {
			return b.machine.Failure(err)
		}
	}
	return nil
}

// askSession waits for the session server, then goes on with the machine's next actions.
func (b *Bot) askSession(ctx context.Context, r login.SessionRequest, rest []login.Action) error {
	ctx, cancel := context.WithTimeout(ctx, b.opts.Timeouts.Login)
	defer cancel()
	actions, err := b.machine.SessionAnswered(b.opts.Session(ctx, r))
	if err != nil {
		return err
	}
	return b.carryOut(ctx, append(rest, actions...))
}

// enterPhase restarts the phase's deadline when the machine has moved on.
func (b *Bot) enterPhase() {
	if p := b.machine.Phase(); p != b.phase {
		b.phase, b.phaseFrom = p, b.opts.Clock.Now()
	}
}

// deadline is when the current phase has taken too long.
func (b *Bot) deadline() time.Time {
	t := b.opts.Timeouts
	limit := t.Login
	switch b.phase {
	case login.PhaseConfiguration:
		limit = t.Configuration
	case login.PhaseJoining:
		limit = t.Joining
	case login.PhasePlay:
		limit = t.Silence
	}
	return b.phaseFrom.Add(limit)
}

// arm sets the one timer to whatever comes first: the phase's deadline or the next tick.
func (b *Bot) arm() {
	if !b.out.CanMove() {
		b.wakeTicks(1) // a movement packet went out: its tick has to end
	}
	at := b.deadline()
	if b.phase == login.PhasePlay {
		if next := b.tickTime(); next.Before(at) {
			at = next
		}
	}
	if b.timer != nil && b.timerAt.Equal(at) {
		return
	}
	b.stopTimer()
	now := b.opts.Clock.Now()
	b.timer, b.timerAt, b.timerDue = b.opts.Clock.Timer(at.Sub(now)), at, at
	if at.Before(now) { // ticks rested
		b.timerDue = now
	}
}

func (b *Bot) stopTimer() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// wakeUp handles the timer: a deadline that has passed, or a tick.
func (b *Bot) wakeUp(now time.Time) error {
	if !now.Before(b.deadline()) {
		return b.machine.Failure(fmt.Errorf("%w: nothing for %s", login.ErrTimeout, now.Sub(b.phaseFrom).Round(time.Millisecond)))
	}
	if b.phase == login.PhasePlay && !now.Before(b.tickTime()) {
		if b.opts.Clock.Now().Sub(b.timerDue) > b.tickEvery {
			b.late++
		}
		return b.tick(now)
	}
	return nil
}

// lost puts the end of the stream into words.
func (b *Bot) lost(err error) error {
	select {
	case <-b.ended:
		return b.over()
	default:
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: the server closed it without a reason", ErrConnection)
	case errors.Is(err, wire.ErrFrame) && b.machine.Last() == "":
		err = fmt.Errorf("%w: %w", login.ErrNotMinecraft, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w: it takes nothing any more: %w", login.ErrTimeout, err)
	default:
		err = fmt.Errorf("%w: %w", ErrConnection, err)
	}
	return b.machine.Failure(err)
}

func (b *Bot) notify(k NoticeKind, text string) {
	b.opts.Notify(Notice{Kind: k, Text: text, Position: b.body.player.Pos})
}
