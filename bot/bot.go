package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"blockworld/bot/egress"
	"blockworld/bot/login"
	"blockworld/bot/physics"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// Bot is one session on one server. Join makes it, Run keeps it, Close ends it.
type Bot struct {
	opts     Options
	target   login.Target
	reg      *registry.Registry
	link     *link
	commands chan func(*Tx)
	ended    chan struct{} // closed when the session is over; err is set before
	endOnce  sync.Once
	err      error

	lockMu sync.Mutex // the session may be closed while the loop takes a lock
	locks  [2]*lock   // address and account; server identity and account

	// Everything below belongs to the loop.
	machine   *login.Machine
	out       *egress.Writer
	mirror    *worldstate.Mirror
	blocks    *physics.Blocks
	events    *wire.EventContext
	scratch   []worldstate.Event
	capture   *recording
	listeners []Listener
	identity  Identity
	joined    bool
	body      body
	walk      *Walk
	timer     Timer
	timerAt   time.Time
	timerDue  time.Time // timerAt, or when the timer was set if that was past already
	phaseFrom time.Time // when the current phase began, or in play when the last packet came
	phase     login.Phase
	tickEvery time.Duration
	lastTick  time.Time // when the last tick was due
	ticks     uint64
	late      uint64 // ticks that ran more than one tick's time after their timer was due
	wake      int    // ticks that somebody still wants
}

// Protocol is the version this session speaks.
func (b *Bot) Protocol() registry.Protocol { return b.reg.Protocol() }

// Registry is that version's tables.
func (b *Bot) Registry() *registry.Registry { return b.reg }

// Target is where the session goes.
func (b *Bot) Target() login.Target { return b.target }

// Do runs f on the loop and returns when it has run. It fails when ctx ends first or the session is over. F must not keep
// the Tx, and must not call Do.
func (b *Bot) Do(ctx context.Context, f func(*Tx)) error {
	done := make(chan struct{})
	run := func(tx *Tx) {
		defer close(done)
		f(tx)
	}
	select {
	case b.commands <- run:
	case <-b.ended:
		return b.over()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-b.ended:
		select {
		case <-done:
			return nil
		default:
			return b.over()
		}
	}
}

// over is why the session ended.
func (b *Bot) over() error {
	if b.err != nil {
		return b.err
	}
	return ErrClosed
}

// Err is why the session ended, nil while it lasts.
func (b *Bot) Err() error {
	select {
	case <-b.ended:
		return b.over()
	default:
		return nil
	}
}

// Close ends the session, releases the locks and waits for the session's goroutines. It may be called at any time and more
// than once; Run then returns ErrClosed.
func (b *Bot) Close() error {
	b.end(ErrClosed)
	return nil
}

// end records why the session is over, once, and takes the connection down.
func (b *Bot) end(err error) {
	b.endOnce.Do(func() {
		b.err = err
		close(b.ended)
		b.link.close()
		b.lockMu.Lock()
		defer b.lockMu.Unlock()
		for _, l := range b.locks {
			l.release()
		}
	})
}

// Transferred is how a session ends when the server sends it elsewhere and transfers are accepted. Options gives what the
// next Join needs.
type Transferred struct {
	Host    string
	Port    uint16
	Cookies map[string][]byte
}

// Error names the address to join instead.
func (t *Transferred) Error() string {
	return fmt.Sprintf("the server transferred the bot to %s", t.address())
}

func (t *Transferred) address() string {
	return login.Target{Host: t.Host, Port: t.Port}.Address()
}

// Options is o, changed so that Join follows the transfer: the new address, the transfer intent, the cookies.
func (t *Transferred) Options(o Options) Options {
	o.Address, o.Intent, o.Cookies = t.address(), wire.IntentTransfer, t.Cookies
	return o
}

// AsTransfer finds the transfer in an error of Run.
func AsTransfer(err error) (*Transferred, bool) {
	var t *Transferred
	ok := errors.As(err, &t)
	return t, ok
}

// body is the player's own state between ticks: predicted, never evidence.
type body struct {
	player  physics.Player
	yaw     float32
	pitch   float32
	attrs   physics.Attributes
	placed  bool // the server has put us somewhere in this epoch
	loaded  bool // and the chunk there is in; player_loaded was sent where the version has it
	dead    bool
	asked   bool // for a respawn
	riding  bool
	setback uint64 // corrections since the session began
}

// Listen adds a listener before Run is called: it hears everything from the play login's next packet on. Afterwards use
// Tx.Attach.
func (b *Bot) Listen(l Listener) { b.listeners = append(b.listeners, l) }
