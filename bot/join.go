package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"blockworld/bot/egress"
	"blockworld/bot/login"
	"blockworld/bot/physics"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// maxTransfers is how many servers in a row may send a login elsewhere.
const maxTransfers = 5

// Join connects to a server and returns when the play phase has begun. The session does not go on until Run is called.
// Errors are those of package login, ErrInUse, ErrConnection, and what Options' functions returned.
func Join(ctx context.Context, opts Options) (*Bot, error) {
	for range maxTransfers {
		b, err := joinOnce(ctx, opts)
		t, transferred := AsTransfer(err)
		if !transferred {
			return b, err
		}
		opts = t.Options(opts)
	}
	return nil, fmt.Errorf("%w: more than %d", ErrTransfers, maxTransfers)
}

func joinOnce(ctx context.Context, opts Options) (*Bot, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	target, err := login.Resolve(ctx, opts.Address, opts.Resolver)
	if err != nil {
		return nil, err
	}
	if opts.Protocol == 0 {
		if opts.Protocol, err = detect(ctx, opts, target); err != nil {
			return nil, err
		}
	}
	blocks, err := physics.Load(opts.Protocol)
	if err != nil {
		return nil, login.UnknownProtocol(int32(opts.Protocol), "")
	}
	reg := blocks.Registry()
	machine, err := newMachine(opts, target)
	if err != nil {
		return nil, err
	}
	b := &Bot{
		opts: opts, target: target, reg: reg, machine: machine,
		commands: make(chan func(*Tx)), ended: make(chan struct{}),
		mirror: worldstate.NewMirror(reg, opts.Sections, worldstate.Following(opts.After)), tickEvery: opts.Tick,
		blocks: blocks, events: wire.NewEventContext(reg),
	}
	b.body.attrs = physics.DefaultAttributes()
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	if err := b.logIn(ctx); err != nil {
		b.end(err)
		return nil, err
	}
	return b, nil
}

// detect asks the server for its version.
func detect(ctx context.Context, opts Options, target login.Target) (registry.Protocol, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeouts.Connect)
	defer cancel()
	status, err := login.PingTarget(ctx, target, login.PingOptions{Dial: opts.Dial, Now: opts.Clock.Now})
	if err != nil {
		return 0, fmt.Errorf("asking %s for its version: %w", target.Address(), err)
	}
	p := registry.Protocol(status.Protocol)
	if !p.Known() {
		return 0, login.UnknownProtocol(status.Protocol, status.Version)
	}
	return p, nil
}

func newMachine(opts Options, target login.Target) (*login.Machine, error) {
	o := login.Options{
		Protocol: opts.Protocol, Target: target, Intent: opts.Intent, Username: opts.Username, Random: opts.Rand,
		Online: opts.Session != nil, Brand: opts.Brand, ViewDistance: opts.ViewDistance,
		ResourcePacks: opts.ResourcePacks, CodeOfConduct: opts.CodeOfConduct, Transfers: opts.Transfers,
		Cookies: opts.Cookies, Query: opts.Query,
	}
	if _, err := io.ReadFull(opts.Rand, o.Secret[:]); err != nil {
		return nil, fmt.Errorf("drawing a session secret: %w", err)
	}
	return login.New(o)
}

// connect dials, takes the lock of address and account, and starts the reader.
func (b *Bot) connect(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, b.opts.Timeouts.Connect)
	defer cancel()
	raw, err := b.opts.Dial(dial, "tcp", b.target.Address())
	if err != nil {
		if ctx.Err() == nil && errors.Is(dial.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w: no connection within %s", login.ErrTimeout, b.opts.Timeouts.Connect)
		}
		return &login.SessionError{Phase: login.PhaseConnect, Err: fmt.Errorf("%w: %s: %w", ErrConnection, b.target.Address(), err)}
	}
	account := strings.ToLower(b.opts.Username)
	text := fmt.Sprintf("%s on %s", b.opts.Username, b.target.Address())
	if b.locks[0], err = takeLock(b.opts.lockFolders, text, "address", raw.RemoteAddr().String(), account); err != nil {
		raw.Close()
		return err
	}
	raw = timed{raw, b.opts.Timeouts.Write}
	conn := wire.NewConn(raw, wire.Clientbound)
	conn.SetProtocol(b.opts.Protocol)
	var sink egress.Sink = conn
	if b.opts.Capture != nil {
		b.capture = &recording{to: b.opts.Capture, clock: b.opts.Clock, from: b.opts.Clock.Now(), log: func(err error) {
			b.opts.Log.Error("the capture ends here", "error", err)
		}}
		sink = recordedSink{Sink: conn, conn: conn, rec: b.capture}
	}
	b.link = newLink(raw, conn, b.capture != nil)
	b.out = egress.New(sink, b.opts.Protocol, b.opts.Respawn)
	return nil
}

// logIn runs the loop until the play login.
func (b *Bot) logIn(ctx context.Context) error {
	b.phaseFrom = b.opts.Clock.Now()
	if err := b.carryOut(ctx, b.machine.Begin()); err != nil {
		return err
	}
	return b.loop(ctx, func() bool { return b.joined })
}
