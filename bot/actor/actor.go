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

	cursor effects.Cursor                       // as stored
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
	if r == nil {
		return nil, fmt.Errorf("%w: no request; the ten are %s", effects.ErrUnknownCapability, names())
	}
	if err := r.Validate(); err != nil {
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
	run := &run{request: r, done: make(chan struct{})}
	if err := a.bot.Do(ctx, func(tx *bot.Tx) { a.begin(tx, run) }); err != nil {
		return nil, err
	}
	select {
	case <-run.done:
	case <-ctx.Done():
		// Do fails only when the session is over, and then Ended has closed or will close the run.
		a.bot.Do(context.WithoutCancel(ctx), func(tx *bot.Tx) { a.abandon(tx, run) })
		<-run.done
		if run.err == nil {
			return run.effect, ctx.Err()
		}
	}
	if run.err != nil {
		return nil, run.err
	}
	return run.effect, nil
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
	request effects.Request
	deed    deed // nil until the session is ready
	waited  int  // ticks for that
	budget  int  // ticks left for the whole
	effect  Effect
	err     error
	over    bool
	done    chan struct{}
}

// deed is one effect being carried out. Its methods run on the loop.
type deed interface {
	begin(tx *bot.Tx) error // bind, admit, send; an error before the mark ends the run
	fact(tx *bot.Tx, f effects.Fact)
	tick(tx *bot.Tx)
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
	if r == nil || r.deed != nil || !a.ready(tx) {
		return
	}
	r.deed = a.deedOf(r.request)
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
	return !a.cfg.Terms.Fence || a.evidence.Counters().Known()
}

func (a *Actor) open(tx *bot.Tx, mode worldstate.GameMode) {
	t := &a.cfg.Terms
	a.table = path.NewTable(tx.Registry())
	a.evidence = effects.NewPlacements(effects.Options{
		Epoch: epoch(tx.View()), Fence: t.Fence, Pipeline: 1, Least: t.least(effects.PlaceBlock), Used: t.Used,
		States:   effects.RegistryStates{Registry: tx.Registry()},
		Survival: mode == worldstate.Survival || mode == worldstate.Adventure,
	})
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
	if _, ok := f.Event.(worldstate.StatsAwarded); ok && len(a.fences) > 0 {
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
	if a.evidence != nil {
		a.carry(tx, a.evidence.Tick(scene.Others(tx.View())))
	}
	if r := a.run; r != nil {
		a.tickRun(tx, r)
	}
	if a.evidence != nil && a.evidence.NeedFence() {
		a.fence(tx, nil)
	}
	return a.run != nil
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
func (a *Actor) deedOf(r effects.Request) deed {
	switch r := r.(type) {
	case effects.MoveToRequest:
		return &moving{gesture: gesture{a: a}, to: geom.BlockPos(r.Pos)}
	case effects.LookAtRequest:
		return &looking{gesture: gesture{a: a}, at: geom.Vec3(r.Point)}
	case effects.SayRequest:
		return &saying{a: a, text: r.Text}
	case effects.EquipRequest:
		return &equipping{gesture: gesture{a: a}, name: r.Item}
	case effects.PlaceBlockRequest:
		return &placing{a: a, pos: geom.BlockPos(r.Pos), state: r.State}
	}
	return &unknown{} // the set of requests is closed; a new one without code is refused here
}

// unknown is a request that this package has no code for.
type unknown struct{}

func (*unknown) begin(*bot.Tx) error        { return effects.ErrUnknownCapability }
func (*unknown) fact(*bot.Tx, effects.Fact) {}
func (*unknown) tick(*bot.Tx)               {}
func (*unknown) abandon(*bot.Tx)            {}

func epoch(v worldstate.View) effects.Epoch {
	e := v.Epoch()
	return effects.Epoch{Host: e.Host, World: e.World, Timeline: e.Timeline}
}
