package hosting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"blockworld/bot"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/sentinel/journal"
)

// Host runs actors for a daemon. Its methods may be called from any goroutine.
type Host struct {
	cfg     Config
	runners map[host.Name]*runner
	order   []*runner

	mu      sync.Mutex
	session host.Session                    // of the daemon; zero while not registered
	changed chan struct{}                   // closed when session changes
	failed  error                           // of the last attempt to have a session; nil: it has one, or none was made
	teams   map[effects.MissionID]*together // missions of several actors under way
	jobs    sync.WaitGroup
	ctx     context.Context // of Run
	running chan struct{}   // closed when ctx is there
}

// New opens the actors' journals and reads what they know. Close gives them up; Run does it when it ends.
func New(cfg Config) (*Host, error) {
	cfg.Actors = slices.Clone(cfg.Actors) // the caller may go on with its own
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, runners: map[host.Name]*runner{}, teams: map[effects.MissionID]*together{}, changed: make(chan struct{}), running: make(chan struct{})}
	for i := range cfg.Actors {
		r, err := newRunner(h, &cfg.Actors[i])
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("actor %s: %w", cfg.Actors[i].ID, err)
		}
		h.runners[r.cfg.ID] = r
		h.order = append(h.order, r)
	}
	m := h.manifest()
	if err := m.Validate(); err != nil {
		h.Close()
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return h, nil
}

// Close closes the journals.
func (h *Host) Close() error {
	var all error
	for _, r := range h.order {
		if r.desk == nil { // else it is the caller's
			all = errors.Join(all, r.journal.Close())
		}
	}
	return all
}

// Journal is the journal of an actor, for reading receipts; nil for an unknown actor.
func (h *Host) Journal(id host.Name) *journal.Journal {
	if r := h.runners[id]; r != nil {
		return r.journal
	}
	return nil
}

// Run registers and works until ctx ends, whatever becomes of the daemon and the servers; then it returns ctx's error,
// with every session closed and every journal too.
func (h *Host) Run(ctx context.Context) error {
	h.ctx = ctx
	var actors sync.WaitGroup
	close(h.running)
	for _, r := range h.order {
		loops := []func(context.Context){r.publishes, r.pump}
		if r.desk == nil {
			loops = append(loops, r.live)
		}
		for _, loop := range loops {
			actors.Add(1)
			go func() {
				defer actors.Done()
				loop(ctx)
			}()
		}
	}
	backoff := h.cfg.Reregister
	for ctx.Err() == nil {
		began := time.Now()
		err := h.serve(ctx)
		if ctx.Err() != nil {
			break
		}
		h.cfg.Log.Warn("the daemon is away", "error", err)
		h.missed(err)
		wait, _ := backoff.Next(time.Since(began), h.cfg.Unit())
		sleep(ctx, wait)
	}
	actors.Wait() // first: they begin jobs too
	h.jobs.Wait()
	h.leave()
	return errors.Join(ctx.Err(), h.Close())
}

// serve registers and polls until a call fails.
func (h *Host) serve(ctx context.Context) error {
	s, err := h.cfg.Daemon.Register(ctx, h.manifest())
	if err != nil {
		return err
	}
	h.registered(s)
	h.cfg.Log.Info("registered", "generation", s.Generation)
	for _, r := range h.order {
		r.again() // the daemon has forgotten what was published
	}
	wait := h.cfg.PollWait
	if ttl := time.Duration(s.TTLMS) * time.Millisecond; ttl > 0 { // a poll renews the session when it is made
		wait = min(wait, ttl/2)
	}
	for {
		b, err := h.cfg.Daemon.Poll(ctx, s, host.MaxBatch, wait)
		if err != nil {
			if ctx.Err() == nil { // else the session is good, and is ended in good order
				h.registered(host.Session{})
			}
			return err
		}
		h.dispatch(ctx, &b)
	}
}

// leave ends the session with the daemon in good order.
func (h *Host) leave() {
	if s, ok := h.now(); ok {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		h.cfg.Daemon.Unregister(ctx, s)
	}
}

func (h *Host) registered(s host.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session, h.failed = s, nil
	close(h.changed)
	h.changed = make(chan struct{})
}

// missed notes why there is no session.
func (h *Host) missed(err error) {
	h.mu.Lock()
	h.failed = err
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	for _, r := range h.order {
		r.broken(err)
	}
}

func (h *Host) now() (host.Session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session, h.session.Token != ""
}

// with makes a call in the present session, as soon as there is one, and again in the next one when that has changed
// meanwhile. Errors are the call's, or ctx's.
func (h *Host) with(ctx context.Context, call func(host.Session) error) error {
	for {
		h.mu.Lock()
		s, changed := h.session, h.changed
		h.mu.Unlock()
		if s.Token != "" {
			err := call(s)
			if err == nil || h.final(err) || ctx.Err() != nil {
				return err
			}
			if now, _ := h.now(); now.Token == s.Token && h.code(err) != "unavailable" && h.code(err) != "forbidden" {
				return err // it may pass; the caller decides how often
			}
		}
		again := time.NewTimer(recall)
		select {
		case <-changed:
		case <-again.C: // the session may be good, and only the actor not published again yet
		case <-ctx.Done():
		}
		again.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// recall is how long a call waits that the daemon cannot take just now.
const recall = 200 * time.Millisecond

// dispatch hands out what a poll has brought. Nothing here waits for a game.
func (h *Host) dispatch(ctx context.Context, b *host.Batch) {
	for _, c := range b.Cancellations {
		if r := h.runners[c.Actor]; r != nil {
			h.spawn(func() { r.cancelled(ctx, c) })
		}
	}
	for _, g := range b.Gateways {
		h.spawn(func() { h.answer(ctx, g) })
	}
	for _, d := range b.Deliveries {
		if r := h.runners[d.Actor]; r != nil {
			h.spawn(func() { r.deliver(ctx, d) })
		} else {
			h.spawn(func() { h.refuse(ctx, d.Op, host.CodeUnbound, "this host has no such actor") })
		}
	}
}

func (h *Host) spawn(f func()) {
	h.jobs.Add(1)
	go func() {
		defer h.jobs.Done()
		f()
	}()
}

// answer answers a question of the gateway.
func (h *Host) answer(ctx context.Context, g host.Gateway) {
	a := host.Answer{Gateway: g.ID, Code: "not_found", Message: "this host has no actor " + string(g.Actor)}
	if r := h.runners[g.Actor]; r != nil {
		within, cancel := context.WithTimeout(ctx, answerTime)
		a = r.answer(within, &g)
		cancel()
		a.Gateway = g.ID
	}
	a.Message = clip(a.Message)
	if err := a.Validate(); err != nil {
		h.cfg.Log.Error("an answer is not fit to be sent", "error", err)
		a = host.Answer{Gateway: g.ID, Code: "internal", Message: "the host could not put its answer into a valid form"}
	}
	if s, ok := h.now(); ok {
		if err := h.cfg.Daemon.Answer(ctx, s, a); err != nil {
			h.cfg.Log.Debug("the gateway does not take the answer", "gateway", g.ID, "error", err)
		}
	}
}

// answerTime is how long an answer may take: the gateway waits 25 s.
const answerTime = 20 * time.Second

// refuse says no to a delivery.
func (h *Host) refuse(ctx context.Context, op host.OpID, code, message string) error {
	return h.with(ctx, func(s host.Session) error {
		return h.cfg.Daemon.Ack(ctx, s, host.Ack{Op: op, Code: code, Message: clip(message)})
	})
}

// clip keeps a text within what the protocol takes.
func clip(s string) string {
	const more = " ..."
	s = host.Line(s) // an error may quote what a server sent
	if len(s) <= host.MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:host.MaxText-len(more)], "") + more
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// spaced is a backoff that starts at its least.
func spaced(b bot.Backoff) bot.Backoff { return bot.Backoff{Min: b.Min, Max: b.Max, Stable: b.Stable} }
