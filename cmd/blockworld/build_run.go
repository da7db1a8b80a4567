package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/sentinel/journal"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// work carries a mission out and tells how it ended.
func (f *buildFlags) work(ctx context.Context, p *printer, j *journal.Journal, rec journal.Mission, file *missionFile) error {
	return f.carry(ctx, p, j, rec, file, nil)
}

// carry is work with the owner's decisions made first.
func (f *buildFlags) carry(ctx context.Context, p *printer, j *journal.Journal, rec journal.Mission, file *missionFile, decide func(*builder.Site) error) error {
	began := time.Now()
	run, err := f.run(ctx, p, j, rec, file, decide)
	if run == nil {
		return err
	}
	report, failed := run.report(began)
	if failed != nil {
		return fail(exitFailed, failed)
	}
	report.CaptureError = f.captureError()
	tellReport(p, report, run.result)
	if jerr := p.result(report); jerr != nil {
		return jerr
	}
	return run.ended(err, fmt.Sprintf("go on with `blockworld build --resume --data %s`", f.data))
}

// missionRun is one carrying-out of a mission by this process.
type missionRun struct {
	site    *builder.Site
	file    *missionFile
	result  builder.Result
	refused int
	no      string          // the server's newest refusal, while it is the newest answer to an effect
	commits uint64          // of the control plane's store
	denied  *builder.Denied // the guard's or the gate's no, while it is the newest answer to an effect
	kick    string          // the server's own words at the newest kick
}

// heard notes what the end of a session said.
func (r *missionRun) heard(err error) {
	if reason := kickReason(err); reason != "" {
		r.kick = reason
	}
}

// run opens the site and works it. Decide, if given, makes the owner's decisions before the work begins.
func (f *buildFlags) run(ctx context.Context, p *printer, j *journal.Journal, rec journal.Mission, file *missionFile, decide func(*builder.Site) error) (_ *missionRun, failed error) {
	reg, err := registry.Load(file.Plan.Protocol)
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	site, err := newSite(j, rec, file, reg)
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	if f.rate >= 0 {
		site.Options.Rate = f.rate
	}
	site.Options.ReconcileWorld = f.reconcile == "world"
	site.Options.Stay = f.stay
	if f.deadline > 0 {
		site.Options.Deadline = time.Now().Add(f.deadline)
	}
	site.At = crashPoint(os.Getenv)
	run := &missionRun{site: site, file: file}
	bar := p.progress(len(file.Plan.Steps), "placing")
	defer bar.Close()
	tell := newTeller(func(format string, args ...any) {
		bar.Clear()
		p.say(format, args...)
	}, reg)
	defer tell.end()
	site.Report = func(e builder.Event) {
		switch e := e.(type) {
		case builder.Settled:
			run.denied, run.no = nil, ""
			if e.Verdict == effects.Refused {
				run.refused++
				run.no = builder.Words(e)
			}
			bar.Set(int(site.Mission().Cursor().Count))
		case builder.Denied:
			run.denied = &e
		}
		tell.hear(e)
	}
	if err := site.Open(); err != nil {
		return nil, fail(exitFailed, err)
	}
	bar.Set(int(site.Mission().Cursor().Count))
	if decide != nil {
		if err := decide(site); err != nil {
			return nil, err
		}
	}
	o, err := f.options(p)
	if err != nil {
		return nil, err
	}
	o.Protocol = file.Plan.Protocol
	o.Sections = worldstate.NewSectionStore()
	site.Hook(&o)
	control, err := openLone(ctx, p, f.data, o, site, file, f.clearStop)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := control.close(); failed == nil { // else it has the same cause, and was told
			failed = fail(exitFailed, closed)
		}
	}()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	join := func(ctx context.Context) (*bot.Bot, error) {
		b, err := bot.Join(ctx, o)
		if err != nil {
			run.heard(err)
			return nil, err
		}
		b.Listen(&gatekeeper{run: run, stay: f.stay, stop: stop, say: p.say})
		return b, nil
	}
	run.result, err = control.work(ctx, join, retry(f.tries))
	run.commits = control.store.Stats().Commits
	if cause := context.Cause(ctx); errors.As(cause, new(*exitError)) {
		err = cause
	}
	return run, err
}

// outsideWords says that the bot is where it may not walk.
func outsideWords(feet geom.BlockPos, walk geom.BlockBox) string {
	return fmt.Sprintf("the bot stands at %v, outside its walk box %v, and never leaves that box", feet, walk)
}

// gatekeeper ends a mission's session in which the bot comes into the world outside of its walk box: it could not take a
// step, and would only be told so walk by walk.
type gatekeeper struct {
	run  *missionRun
	stay bool // only say so: somebody may bring the bot to its place
	stop context.CancelCauseFunc
	say  func(format string, args ...any)
	done bool
}

// Fact implements bot.Listener.
func (g *gatekeeper) Fact(tx *bot.Tx, _ bot.Fact) {
	if !g.done {
		tx.Wake(1)
	}
}

// Ended implements bot.Listener.
func (g *gatekeeper) Ended(err error) { g.run.heard(err) }

// Tick implements bot.Listener.
func (g *gatekeeper) Tick(tx *bot.Tx) bool {
	v, rec := tx.View(), &g.run.site.Record
	if g.done || !tx.Ready() || v.Self().GameMode == worldstate.GameModeUnknown {
		return !g.done
	}
	g.done = true
	feet := geom.BlockAt(tx.Player().Pos)
	if v.DimensionName() != rec.Dimension || rec.Plot.Walk.Contains(feet) {
		return false
	}
	words := outsideWords(feet, rec.Plot.Walk) + ": bring it nearer (a stored mission keeps its boxes)"
	if g.stay {
		g.say("%s", words)
		return false
	}
	g.stop(fail(exitFailed, errors.New(words+", then go on with --resume")))
	return false
}
