package actor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"blockworld/bot"
	"blockworld/bot/rejoin"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/path"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// AdapterRevision names the code that turns bindings into packets. It changes when the packets of an effect do.
const AdapterRevision = "blockworld-actor/1"

// Config is what an actor rests on. Journal, Record and Terms are needed.
type Config struct {
	Journal *journal.Journal
	// Record is the mission that everything is done for, as stored in the journal: plot, server, account, budgets. Its
	// budget of uses counts every effect here, not only placements.
	Record     journal.Mission
	Terms      Terms
	Policy     sentinel.Capabilities // what may be asked for at all; zero: all ten
	MayReplace []string              // full names of replaceable blocks that may be built over
	Deadline   time.Time             // zero: none
	Witness    *Watcher              // a second connection that looks on; may be nil
	Ground     scene.Ground          // what previews say of the plot
	Reconcile  bool                  // judge open placements of earlier sessions before anything new is done
	At         func(journal.Point)   // called at crash points; may be nil
	Rand       io.Reader             // nil: crypto/rand
	Now        func() time.Time      // nil: time.Now
}

// Errors of Do beyond *Denied, effects.ErrBadRequest and what the session ends with.
var (
	ErrNotReady = errors.New("the session is not ready: the bot has not been placed in a loaded world with the facts that an effect needs")
	ErrNoWay    = errors.New("no way there")
	ErrNoClick  = errors.New("no click makes that block there")
	ErrNoItem   = errors.New("no such item")
)

// Actor does requests on one session. Its methods may be called from any goroutine.
type Actor struct {
	bot     *bot.Bot
	cfg     Config
	turn    chan struct{} // held by the effect under way
	stopped atomic.Bool

	// Everything below belongs to the session's loop.
	evidence *effects.Placements
	fences   []func(*bot.Tx, effects.FactRef)
	table    *path.Table
	scratch  path.Scratch
	run      *run // the effect under way, nil between two
	over     error
	next     chan struct{} // closed at the next tick
	opened   uint64        // tick at which the evidence of this session began
	full     *rejoin.Reply // the first reply of this session, with Config.Reconcile
	old      *rejoin.Open  // what earlier sessions left open
	judged   bool          // and that has its verdicts

	cursor effects.Cursor                       // as stored
	missed []effects.CellsBecome                // proven, and the stored cursor does not count them yet
	proven map[geom.BlockPos]registry.StateID   // cells of proven steps with the state that counts in the cursor
	barred map[geom.BlockPos]sentinel.StepState // cells whose newest action is unresolved
	steps  uint32                               // steps ever marked: the next one's index
	onCell map[geom.BlockPos]uint32             // of those, on one cell
}

// New makes the actor of a joined session; it must be called before the session's Run. It reads what the journal knows of
// the mission.
func New(b *bot.Bot, cfg Config) (*Actor, error) {
	a, err := prepare(b, cfg)
	if err != nil {
		return nil, err
	}
	b.Listen(a)
	return a, nil
}

// Attach is New for a session that runs already. Nobody may have sent a fence on it: the first reply after a join is the
// one that holds all counters.
func Attach(ctx context.Context, b *bot.Bot, cfg Config) (*Actor, error) {
	a, err := prepare(b, cfg)
	if err != nil {
		return nil, err
	}
	return a, b.Do(ctx, func(tx *bot.Tx) { tx.Attach(a) })
}

func prepare(b *bot.Bot, cfg Config) (*Actor, error) {
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Policy == 0 {
		cfg.Policy = sentinel.Reads | sentinel.Effects
	}
	a := &Actor{bot: b, cfg: cfg, turn: make(chan struct{}, 1)}
	return a, a.restore()
}

// Stop is the emergency stop: the guard denies every effect from here on.
func (a *Actor) Stop() { a.stopped.Store(true) }

// Do carries out one request. Reads answer at once. An effect waits for its turn, for the session to be ready, and then for
// its verdict; when ctx ends before, a walk is stopped where it is and everything else is given up as unverified, because
// what was sent cannot be taken back. The verdict is durable when Do returns it.
func (a *Actor) Do(ctx context.Context, r effects.Request) (Result, error) {
	if err := valid(r); err != nil {
		return nil, err
	}
	if !r.Capability().Effect() {
		return a.read(ctx, r)
	}
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-a.turn }()
	e, err := a.carryOut(ctx, &run{request: r, done: make(chan struct{})}, nil)
	if err != nil && e == (Effect{}) {
		return nil, err
	}
	return e, err
}

// carryOut does one effect, whose turn it is.
func (a *Actor) carryOut(ctx context.Context, run *run, cancel <-chan struct{}) (Effect, error) {
	if err := a.bot.Do(ctx, func(tx *bot.Tx) { a.begin(tx, run) }); err != nil {
		return Effect{}, err
	}
	for {
		select {
		case <-run.done:
			return run.effect, run.err
		case <-cancel:
			cancel = nil // what can be taken back is; the rest is waited for
			a.bot.Do(context.WithoutCancel(ctx), func(tx *bot.Tx) { a.takeBack(tx, run) })
		case <-ctx.Done():
			// Do fails only when the session is over, and then Ended has closed or will close the run.
			a.bot.Do(context.WithoutCancel(ctx), func(tx *bot.Tx) { a.abandon(tx, run) })
			<-run.done
			if run.err == nil {
				return run.effect, ctx.Err()
			}
			return Effect{}, run.err
		}
	}
}

// valid checks a request's contents.
func valid(r effects.Request) error {
	if r == nil {
		return fmt.Errorf("%w: no request; the ten are %s", effects.ErrUnknownCapability, names())
	}
	return r.Validate()
}

// Call is Do for a request written as a capability's name and its JSON arguments.
func (a *Actor) Call(ctx context.Context, capability string, arguments []byte) (Result, error) {
	r, err := Parse(capability, arguments)
	if err != nil {
		return nil, err
	}
	return a.Do(ctx, r)
}

// Parse reads a request. A capability that does not exist is an error that lists the ten.
func Parse(capability string, arguments []byte) (effects.Request, error) {
	r, err := effects.ParseRequest(capability, arguments)
	if errors.Is(err, effects.ErrUnknownCapability) {
		return nil, fmt.Errorf("%w %q; the ten are %s", effects.ErrUnknownCapability, capability, names())
	}
	return r, err
}

// run is one effect on its way through the loop.
type run struct {
	request  effects.Request
	prepared deed // bound already; nil: bound when it begins
	deed     deed // nil until the session is ready
	waited   int  // ticks for that
	budget   int  // ticks left for the whole
	effect   Effect
	err      error
	over     bool
	done     chan struct{}
}

// deed is one effect being carried out. Its methods run on the loop.
type deed interface {
	bind(tx *bot.Tx) (*bound, error) // fix the targets, once; sends and stores nothing
	begin(tx *bot.Tx) error          // bind, admit, send; an error before the mark ends the run
	fact(tx *bot.Tx, f effects.Fact)
	tick(tx *bot.Tx)
	cancel(tx *bot.Tx)  // somebody wants it undone as far as it is not sent
	abandon(tx *bot.Tx) // nobody waits any more
}

// patience is how many ticks an effect waits for the session to be ready.
const patience = 400

// begin takes up an effect.
func (a *Actor) begin(tx *bot.Tx, r *run) {
	if a.over != nil {
		r.finish(Effect{}, a.over)
		return
	}
	a.run = r
	r.budget = int(r.request.Capability().TimeBudget() / (50 * time.Millisecond))
	tx.Wake(2)
	a.advance(tx)
}

// advance starts the deed as soon as the session is ready.
func (a *Actor) advance(tx *bot.Tx) {
	r := a.run
	switch {
	case r == nil && a.cfg.Reconcile && !a.judged && a.over == nil:
		a.ready(tx)
		return
	case r == nil || r.deed != nil || !a.ready(tx):
		return
	}
	if r.deed = r.prepared; r.deed == nil {
		r.deed = a.deedOf(Order{}, r.request)
	}
	if err := r.deed.begin(tx); err != nil {
		a.end(Effect{}, err)
	}
}

// ready says whether facts are there that every effect needs; the first call that finds the bot placed starts the evidence
// of this session.
func (a *Actor) ready(tx *bot.Tx) bool {
	v := tx.View()
	if a.evidence == nil {
		if mode := v.Self().GameMode; tx.Ready() && mode != worldstate.GameModeUnknown {
			a.open(tx, mode)
		}
	}
	if a.evidence == nil {
		return false
	}
	if a.cfg.Terms.Fence && !a.evidence.Counters().Known() {
		return false
	}
	return !a.cfg.Reconcile || a.judged || a.judge(tx)
}

func (a *Actor) open(tx *bot.Tx, mode worldstate.GameMode) {
	t := &a.cfg.Terms
	table, err := path.Load(tx.Registry().Protocol())
	if err != nil {
		a.end(Effect{}, err)
		return
	}
	a.table = table
	a.evidence = effects.NewPlacements(effects.Options{
		Epoch: epoch(tx.View()), Fence: t.Fence, Pipeline: 1, Least: t.least(effects.PlaceBlock), Used: t.Used,
		States:   effects.RegistryStates{Registry: tx.Registry()},
		Survival: mode == worldstate.Survival || mode == worldstate.Adventure,
	})
	a.opened = tx.Ticks()
	a.fence(tx, nil)
}

// fence sends request-stats and says what to do with the reply.
func (a *Actor) fence(tx *bot.Tx, then func(*bot.Tx, effects.FactRef)) {
	if !a.cfg.Terms.Fence {
		return
	}
	if err := tx.Out().RequestStats(); err != nil {
		a.end(Effect{}, err)
		return
	}
	a.evidence.FenceSent()
	a.fences = append(a.fences, then)
	tx.Wake(2)
}

// Fact implements bot.Listener.
func (a *Actor) Fact(tx *bot.Tx, f bot.Fact) {
	fact := effects.Fact{Sequence: uint64(f.Sequence), Event: f.Event}
	switch f.Event.(type) {
	case worldstate.Respawned:
		a.epochChanged(tx, false)
		return
	case worldstate.ReconfigurationStarted, worldstate.Joined:
		a.epochChanged(tx, true)
		return
	}
	if a.evidence != nil {
		a.carry(tx, a.evidence.Observe(fact))
	}
	if r := a.run; r != nil && r.deed != nil {
		r.deed.fact(tx, fact)
	}
	if stats, ok := f.Event.(worldstate.StatsAwarded); ok && len(a.fences) > 0 {
		if a.full == nil {
			a.full = &rejoin.Reply{Stats: stats, Sequence: fact.Sequence}
		}
		then := a.fences[0]
		a.fences = a.fences[1:]
		if then != nil {
			then(tx, effects.FactRef{Kind: effects.FactClosingReply, Sequence: fact.Sequence})
		}
	}
	a.advance(tx)
}

// Tick implements bot.Listener.
func (a *Actor) Tick(tx *bot.Tx) bool {
	a.tickPassed()
	if a.evidence != nil {
		a.carry(tx, a.evidence.Tick(scene.Others(tx.View())))
	}
	if r := a.run; r != nil {
		a.tickRun(tx, r)
	}
	if a.evidence != nil && a.evidence.NeedFence() {
		a.fence(tx, nil)
	}
	unjudged := a.cfg.Reconcile && !a.judged && a.evidence != nil
	if unjudged && a.run == nil {
		a.ready(tx)
	}
	return a.run != nil || unjudged
}

func (a *Actor) tickRun(tx *bot.Tx, r *run) {
	if r.deed == nil {
		if r.waited++; r.waited > patience {
			a.end(Effect{}, ErrNotReady)
			return
		}
		a.advance(tx)
		return
	}
	if r.budget--; r.budget < 0 {
		r.deed.abandon(tx)
		return
	}
	r.deed.tick(tx)
}

// Ended implements bot.Listener.
func (a *Actor) Ended(err error) {
	a.over = err
	a.tickPassed()
	if a.evidence != nil {
		a.evidence.Cut()
	}
	a.end(Effect{}, fmt.Errorf("the session ended before the verdict; nothing is sent again: %w", err))
}

// epochChanged ends what was under way: its bracket or its fence reaches into another world. After a respawn the fences on
// their way are still answered; after a new configuration they are not.
func (a *Actor) epochChanged(tx *bot.Tx, joins bool) {
	if a.evidence == nil {
		return
	}
	cut := len(a.evidence.NextEpoch(epoch(tx.View()))) > 0
	if joins {
		a.evidence.Cut()
		a.evidence, a.fences = nil, nil
	}
	r := a.run
	if r == nil || r.deed == nil {
		return
	}
	if p, ok := r.deed.(*placing); ok && (cut || p.sent) {
		p.cut(tx)
		return
	}
	r.deed.abandon(tx)
}

// abandon ends a run that nobody waits for any more.
func (a *Actor) abandon(tx *bot.Tx, r *run) {
	switch {
	case r.over:
	case r.deed == nil:
		a.end(Effect{}, context.Canceled)
	default:
		r.deed.abandon(tx)
	}
}

// end ends the effect under way.
func (a *Actor) end(e Effect, err error) {
	if r := a.run; r != nil {
		a.run = nil
		r.finish(e, err)
	}
}

func (r *run) finish(e Effect, err error) {
	if !r.over {
		r.over, r.effect, r.err = true, e, err
		close(r.done)
	}
}

// deedOf is the code of an effect.
func (a *Actor) deedOf(o Order, r effects.Request) deed {
	c := common{a: a, order: o}
	switch r := r.(type) {
	case effects.MoveToRequest:
		return &moving{gesture: gesture{common: c}, to: geom.BlockPos(r.Pos)}
	case effects.LookAtRequest:
		return &looking{gesture: gesture{common: c}, at: geom.Vec3(r.Point)}
	case effects.SayRequest:
		return &saying{common: c, text: r.Text}
	case effects.EquipRequest:
		return &equipping{gesture: gesture{common: c}, name: r.Item}
	case effects.PlaceBlockRequest:
		return &placing{common: c, pos: geom.BlockPos(r.Pos), state: r.State}
	}
	return &unknown{} // the set of requests is closed; a new one without code is refused here
}

// unknown is a request that this package has no code for.
type unknown struct{}

func (*unknown) bind(*bot.Tx) (*bound, error) { return nil, effects.ErrUnknownCapability }
func (*unknown) begin(*bot.Tx) error          { return effects.ErrUnknownCapability }
func (*unknown) fact(*bot.Tx, effects.Fact)   {}
func (*unknown) tick(*bot.Tx)                 {}
func (*unknown) cancel(*bot.Tx)               {}
func (*unknown) abandon(*bot.Tx)              {}

func epoch(v worldstate.View) effects.Epoch {
	e := v.Epoch()
	return effects.Epoch{Host: e.Host, World: e.World, Timeline: e.Timeline}
}
