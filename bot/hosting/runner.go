package hosting

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"blockworld/bot"
	"blockworld/bot/actor"
	"blockworld/bot/scene"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
)

// ErrOtherServer says that a session ended because the server is not the one of the profile.
var ErrOtherServer = errors.New("this is not the server that the profile was made of: probe it again")

// runner is one actor: its journal, its one live session, and what is known of its operations.
type runner struct {
	h       *Host
	cfg     *ActorConfig
	desk    *desk // of a prepared build; nil: the actor plays by itself
	journal *journal.Journal
	record  journal.Mission // of single actions
	terms   actor.Terms
	settled chan struct{} // something new may be in the outbox
	told    chan struct{} // something is to be published
	asked   chan struct{} // a build waits for its turn
	telling sync.Mutex    // held while publishing
	pumping chan struct{} // holds one while draining

	mu       sync.Mutex
	playing  *session                      // nil between two
	end      func()                        // ends the live session
	prepared map[host.OpID]*actor.Prepared // bound and not delivered
	bindings []host.OpID                   // of prepared, oldest first
	jobs     map[host.OpID]*job            // delivered and not done with
	said     map[host.OpID]host.Outcome    // outcomes as they were told first
	saidIDs  []host.OpID                   // of said, oldest first
	builds   map[host.OpID]*build          // bound and not delivered
	macro    *macro                        // under way or waiting for its turn
	stopped  bool                          // emergency stop
	cancels  map[host.OpID]string          // asked for before their delivery came
	built    bool                          // a build has changed the world since the last single action
	newer    chan struct{}                 // see news
	epoch    host.Epoch                    // of the live session
	account  worldstate.UUID               // of the last session
	entry    uint64                        // number of the newest play entry, the host epoch
	pub      published                     // what was published last
	heard    place                         // where the daemon has heard us to be
	acked    map[uint64]bool               // told and still in the outbox; guarded by pumping
}

// session is a live session of an actor.
type session struct {
	bot   *bot.Bot
	actor *actor.Actor // for reads only while a macro works; nil in a prepared build
	entry uint64
	macro bool
}

func newRunner(h *Host, cfg *ActorConfig) (*runner, error) {
	r := &runner{
		h: h, cfg: cfg, settled: make(chan struct{}, 1), pumping: make(chan struct{}, 1), told: make(chan struct{}, 1),
		prepared: map[host.OpID]*actor.Prepared{}, jobs: map[host.OpID]*job{}, builds: map[host.OpID]*build{}, asked: make(chan struct{}, 1), said: map[host.OpID]host.Outcome{}, cancels: map[host.OpID]string{},
	}
	var err error
	if r.terms, err = actor.TermsOf(&cfg.Profile); err != nil {
		return nil, err
	}
	if cfg.Prepared != nil {
		r.prepare(cfg.Prepared)
		return r, nil
	}
	at := func(p journal.Point) {
		if p == journal.AfterReceipt {
			defer r.wake()
		}
		r.at(p)
	}
	r.journal, err = journal.Open(cfg.Dir, journal.Options{Now: h.cfg.Now, Outbox: true, At: at})
	if err != nil {
		return nil, err
	}
	r.record = r.single()
	return r, r.journal.PutMission(r.record)
}

func (r *runner) at(p journal.Point) {
	if r.cfg.At != nil {
		r.cfg.At(p)
	}
}

// single is the mission of single actions. Its id follows from what must never change in it.
func (r *runner) single() journal.Mission {
	p := &r.cfg.Plots[0]
	m := journal.Mission{
		Server: r.cfg.Profile.Server.Identity, Scope: r.scope(), Dimension: p.Dimension, Steps: 1, Plot: p.Boxes, Budgets: r.cfg.Budgets,
	}
	m.Plan = sha256.Sum256(fmt.Appendf(nil, "single actions\x00%s\x00%s\x00%s\x00%s\x00%+v\x00%+v", r.cfg.ID, m.Server, m.Scope, m.Dimension, m.Plot, m.Budgets))
	copy(m.ID[:], m.Plan[:])
	return m
}

// scope names the account on the server, for counting play entries.
func (r *runner) scope() string {
	return strings.ToLower(r.cfg.Options.Username) + "@" + strings.ToLower(r.cfg.Options.Address)
}

func (r *runner) wake() { poke(r.settled) }

// again publishes whether something has changed or not.
func (r *runner) again() {
	r.mu.Lock()
	r.pub.state = ""
	r.mu.Unlock()
	poke(r.told)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// live keeps the actor's session: one after another, with macros taking their turn with sessions of their own. When the
// journal could not be written the session ends, and the next one begins as after a restart: from what reached the disk,
// with everything that was left open judged first.
func (r *runner) live(ctx context.Context) {
	backoff := spaced(r.h.cfg.Rejoin)
	for ctx.Err() == nil {
		began := time.Now()
		err := r.journal.Reopen() // after a write that failed; else it is nothing
		if err == nil {
			if m := r.nextMacro(); m != nil {
				m.work(ctx)
				continue
			}
			err = errors.Join(r.play(ctx), r.journal.Err())
		}
		if ctx.Err() != nil || err == nil {
			continue
		}
		wait, _ := backoff.Next(time.Since(began), r.h.cfg.Unit())
		r.h.cfg.Log.Warn("the session ended", "actor", r.cfg.ID, "error", err, "rejoin", wait)
		r.pause(ctx, wait)
	}
}

// pause waits before the next join, unless a macro comes.
func (r *runner) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-r.macroAsked():
	}
}

// play is one session for single actions. Without an error it was ended by us.
func (r *runner) play(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	r.mu.Lock()
	r.end = end
	waiting := r.macro != nil && r.macro.ready
	r.mu.Unlock()
	if waiting { // it came between two looks
		return nil
	}
	go func() { // without a journal nothing can be done, so nobody is to be told that the actor is ready
		select {
		case <-r.journal.Failed():
			end()
		case <-ctx.Done():
		}
	}()
	o := r.cfg.Options
	var entry uint64
	o.Entering = func() (err error) {
		entry, err = r.journal.BeginEntry(r.record.Scope)
		return err
	}
	o.Entered = func(id bot.Identity) error {
		if err := r.journal.ConfirmEntry(r.record.Scope, entry); err != nil {
			return err
		}
		if id.String() != r.record.Server {
			return fmt.Errorf("%w: the profile is of %s, this is %s", ErrOtherServer, r.record.Server, id)
		}
		return nil
	}
	b, err := bot.Join(ctx, o)
	if err != nil {
		return mine(ctx, err)
	}
	defer b.Close()
	a, err := actor.New(b, r.actorConfig(true))
	if err != nil {
		return err
	}
	r.begin(&session{bot: b, actor: a, entry: entry})
	defer r.over()
	b.Listen(&herald{r: r})
	return mine(ctx, b.Run(ctx))
}

// mine leaves out the end that we asked for.
func mine(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *runner) actorConfig(reconcile bool) actor.Config {
	terms := r.terms
	if r.used() {
		terms.Used = effects.UsedCounts
	}
	return actor.Config{
		Journal: r.journal, Record: r.record, Terms: terms, Policy: r.cfg.Policy, MayReplace: r.cfg.MayReplace,
		Ground: scene.Ground{Scope: r.cfg.Plots[0].ID, Ownership: r.cfg.Plots[0].Ownership}, Reconcile: reconcile,
		At: r.cfg.At, Now: r.h.cfg.Now, Rand: r.h.cfg.Rand,
	}
}

// used says whether the journal has seen that the server counts our uses.
func (r *runner) used() bool {
	if r.terms.Used != effects.UsedExpected {
		return false
	}
	counts := false
	r.journal.Receipts(effects.MissionID{}, func(_ uint64, rec effects.Receipt) bool {
		counts = rec.Outcome.Server == r.record.Server && rec.Outcome.Attribution == effects.AttributionCounter
		return !counts
	})
	return counts
}

// begin makes a session the live one.
func (r *runner) begin(s *session) {
	r.mu.Lock()
	r.playing, r.entry = s, s.entry
	stopped := r.stopped
	r.renewed()
	r.mu.Unlock()
	if stopped && s.actor != nil {
		s.actor.Stop()
	}
	poke(r.told)
}

// over forgets the live session and what was bound in it.
func (r *runner) over() {
	r.mu.Lock()
	r.playing, r.end, r.epoch = nil, nil, host.Epoch{}
	clear(r.prepared)
	r.bindings = nil
	r.mu.Unlock()
	if r.desk != nil {
		r.desk.dropped()
	}
	poke(r.told)
}

// parent is the macro of an operation, if it is under way here.
func (r *runner) parent(op host.OpID) *macro {
	if r.desk != nil {
		return r.desk.find(op)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.macro != nil && r.macro.op == op {
		return r.macro
	}
	return nil
}

// rejoin ends the live session, so that the next one sees the world afresh.
func (r *runner) rejoin() {
	r.mu.Lock()
	end := r.end
	r.mu.Unlock()
	if end != nil {
		end()
	}
}

// news is closed when the live session or its epoch has become another. The lock is held.
func (r *runner) news() <-chan struct{} {
	if r.newer == nil {
		r.newer = make(chan struct{})
	}
	return r.newer
}

// renewed wakes who waits for news. The lock is held.
func (r *runner) renewed() {
	if r.newer != nil {
		close(r.newer)
		r.newer = nil
	}
}

// sessionWait is how long a question waits for the actor to come back to its server.
const sessionWait = 10 * time.Second

// await waits for a live session of its own, not of a build, with a known epoch.
func (r *runner) await(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionWait)
	defer cancel()
	for {
		r.mu.Lock()
		s, m, ready, news := r.playing, r.macro, r.epoch.Valid(), r.news()
		r.mu.Unlock()
		switch {
		case m != nil:
			return nil, busy(m)
		case s != nil && ready:
			return s, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, refuse("not_ready", "the actor is not on its server just now: wait until it is published as ready")
		}
	}
}

func busy(m *macro) error {
	return refuse("busy", "the actor is building (operation %s): wait for it, or cancel it", m.op)
}

// present is the live session, nil between two.
func (r *runner) present() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.playing
}
