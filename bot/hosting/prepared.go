package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/host"
)

// ErrStopped says that a prepared build ended because its actor's emergency stop was latched.
var ErrStopped = errors.New("the actor is stopped")

// Prepared is a build that its caller has planned: the site is open, its journal too, with its outbox, and sessions are the
// caller's to join and to space. The host puts itself before the site as its gate, answers for it, and tells its outcomes;
// see Host.Work.
type Prepared struct {
	Site *builder.Site // Gate and Report are taken over; Report is passed on
	Plan *blueprint.Plan

	// Submit brings an operation of this build to the control plane and returns when the operation was accepted. It is
	// called whenever the work wants to do something and no operation is there that may have a further child. An error
	// with one of the codes that pass by themselves has it called again, any other ends the work; see Config.CodeOf.
	Submit func(context.Context, Order) error
}

// Order is what an operation of a prepared build is to be submitted with.
type Order struct {
	Actor    host.Name
	Action   host.Action
	Epoch    host.Epoch
	Sequence uint64
}

// prepare makes the runner one of a prepared build.
func (r *runner) prepare(p *Prepared) {
	r.journal, r.record, r.acked = p.Site.Journal, p.Site.Record, map[uint64]bool{}
	r.desk = &desk{r: r, p: p, hears: p.Site.Report, begun: make(chan struct{}, 1)}
	r.wake() // an earlier process may have left something in the outbox
	p.Site.Gate, p.Site.Report = r.desk, r.desk.hear
}

// settleTime is how long the end of a prepared build waits until everything that has an outcome was told.
const settleTime = 5 * time.Second

// Work carries out an actor's prepared build as Site.Work does, with Run under way. It returns when everything that has an
// outcome was told, the operation's own last; what could not be told stays in the journal's outbox. The error is
// Site.Work's, or why no further operation may be had.
func (h *Host) Work(ctx context.Context, id host.Name, join builder.Joiner, retry builder.Retry) (builder.Result, error) {
	r := h.runners[id]
	if r == nil || r.desk == nil {
		return builder.Result{}, fmt.Errorf("%w: actor %s has no prepared build", ErrConfig, id)
	}
	select {
	case <-h.running:
	case <-ctx.Done():
		return builder.Result{}, ctx.Err()
	}
	d := r.desk
	if err := h.introduced(ctx); err != nil {
		return builder.Result{}, err
	}
	res, err := d.p.Site.Work(ctx, func(ctx context.Context) (*bot.Bot, error) {
		b, err := join(ctx)
		if err != nil {
			return nil, err
		}
		r.attend(b)
		return b, nil
	}, retry)
	if why := d.close(); why != nil && err == nil {
		err = why
	}
	within, cancel := context.WithTimeout(h.ctx, settleTime)
	defer cancel()
	d.conclude(within, res, err)
	return res, err
}

// introduced waits until the host has its first session with the daemon, or hears why it gets none.
func (h *Host) introduced(ctx context.Context) error {
	for {
		h.mu.Lock()
		s, changed, failed := h.session, h.changed, h.failed
		h.mu.Unlock()
		if s.Token != "" || failed != nil {
			return failed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attend takes part in a session of a prepared build.
func (r *runner) attend(b *bot.Bot) {
	r.begin(&session{bot: b, entry: r.desk.p.Site.Entry(), macro: true})
	b.Listen(&herald{r: r, end: r.over})
}

// conclude tells what there is to tell: the steps' outcomes, then those of the operations.
func (d *desk) conclude(ctx context.Context, res builder.Result, failed error) {
	settled := func() error {
		err := d.r.drain(ctx)
		for err != nil && !d.r.h.final(err) && d.r.h.code(err) != "disk_full" && ctx.Err() == nil {
			sleep(ctx, retryAfter)
			err = d.r.drain(ctx)
		}
		return err
	}
	d.mu.Lock()
	ordered := d.ordered
	d.mu.Unlock()
	if ordered != nil { // an operation that is on its way belongs to those that get an outcome
		select {
		case <-ordered:
		case <-ctx.Done():
		}
	}
	err := settled()
	d.mu.Lock()
	left := d.macros
	d.macros = nil
	d.mu.Unlock()
	for _, m := range left {
		m.mu.Lock()
		ended, why := m.ended, m.why
		m.mu.Unlock()
		cause := failed
		if ended == "" && errors.Is(cause, context.Canceled) {
			ended, why = string(host.Cancelled), "the program was stopped"
		}
		if ended == string(host.Cancelled) {
			cause = nil
		}
		d.finish(m, m.outcome(d.p.Site, res, cause, ended, why))
	}
	if len(left) > 0 {
		err = errors.Join(err, settled())
	}
	if d.r.pumps(ctx) {
		err = errors.Join(err, d.r.emptied())
		d.r.pumped()
	}
	if err != nil {
		d.r.h.cfg.Log.Warn("what could not be told is told when the mission goes on", "actor", d.r.cfg.ID, "error", err)
	}
}

// finish gives an operation its outcome and ends its reports.
func (d *desk) finish(m *macro, o host.Outcome) {
	m.quiet()
	d.r.finish(m.job, o)
}

// action is what an operation of the build is asked for with.
func (p *Prepared) action() host.Action {
	rec, opt := &p.Site.Record, &p.Site.Options
	a := arguments{
		Blueprint: rec.Plan, At: effects.Position(p.Plan.Bounds.Min), Mission: rec.ID, Pipeline: opt.Pipeline, Rate: &opt.Rate,
		MayReplace: opt.MayReplace,
	}
	if opt.ReconcileWorld {
		a.Reconcile = "world"
	}
	if len(a.MayReplace) > mostReplaced { // the mission's record has them all
		a.MayReplace = a.MayReplace[:mostReplaced]
	}
	text, _ := json.Marshal(a) // made of strings and numbers
	return host.Action{Capability: BuildStructure, Arguments: text}
}

// bindPrepared binds an operation of the prepared build.
func (r *runner) bindPrepared(ctx context.Context, g *host.Gateway) (*host.Bound, error) {
	args, err := parseArguments(g.Action.Arguments)
	if err != nil {
		return nil, err
	}
	p := r.cfg.Prepared
	if args.Mission != p.Site.Record.ID || args.Blueprint != p.Site.Record.Plan {
		return nil, refuse("not_found", "the actor does mission %s with plan %s, and nothing else", p.Site.Record.ID, p.Site.Record.Plan)
	}
	plot, err := r.plotOf(args.Plot)
	if err != nil {
		return nil, err
	}
	b := &build{op: g.Op, args: args, plot: plot, record: p.Site.Record, plan: p.Plan, stored: true}
	out, err := r.boundBuild(ctx, b)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	clear(r.builds) // one at a time is ordered
	r.builds[g.Op] = b
	r.mu.Unlock()
	return out, nil
}
