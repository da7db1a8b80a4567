package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/effects/mission"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// buildFlags are the flags of build.
type buildFlags struct {
	session
	place
	profile   string
	rate      float64
	pipeline  int
	resume    bool
	abandon   bool
	mission   string
	reconcile string
	partial   bool
	stay      bool
	replace   []string
	deadline  time.Duration
	tries     int
	clearStop bool
}

// place holds the flags that say where a blueprint goes.
type place struct {
	at     string
	rotate int
	mirror string
	plot   string
	walk   string
}

func newBuild(g *globals) *cobra.Command {
	f := &buildFlags{}
	cmd := &cobra.Command{
		Use:   "build FILE --server HOST --at X,Y,Z",
		Short: "build a schematic on a server, every block proven",
		Long: "Joins a server and builds a Sponge .schem, Litematica .litematic or structure .nbt file there, block by block. The server\n" +
			"profile that `blockworld probe` wrote says what the server can prove. Interrupted in any way, the mission goes on\n" +
			"with --resume from the same data folder; no step is ever executed twice.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.rateSet(cmd)
			return f.captured(runBuild(cmd.Context(), g.printer(cmd), f, args))
		},
	}
	fl := cmd.Flags()
	f.session.flags(fl)
	f.place.flags(cmd)
	fl.StringVar(&f.profile, "profile", "", "server profile; DATA/profiles/SERVER.yaml by default")
	fl.Float64Var(&f.rate, "rate", -1, "uses per second, 0 for as fast as the server answers; the profile's by default")
	fl.IntVar(&f.pipeline, "pipeline", 1, "most placements on their way at once; a cut in the middle can leave as many unverified")
	fl.BoolVar(&f.resume, "resume", false, "go on with the mission of this data folder")
	fl.BoolVar(&f.abandon, "abandon", false, "give up the mission of this data folder; nothing is undone")
	fl.StringVar(&f.mission, "mission", "", "with --resume: which mission, if there are several")
	fl.StringVar(&f.reconcile, "reconcile", "", "\"world\": after a full rejoin let the world decide about unverified steps")
	fl.BoolVar(&f.partial, "partial", false, "build although parts of the file cannot be placed")
	fl.BoolVar(&f.stay, "wait", false, "stay on the server in waiting states instead of ending")
	fl.StringSliceVar(&f.replace, "may-replace", nil, "replaceable blocks that may be built over, such as short_grass,snow")
	fl.DurationVar(&f.deadline, "deadline", 0, "stop sending after this time")
	fl.IntVar(&f.tries, "tries", 10, "reconnects in a row before giving up, 0 for no end")
	f.stopFlag(fl)
	return cmd
}

// stopFlag is the flag of every command that goes on with a mission: only the owner's word lifts an emergency stop.
func (f *buildFlags) stopFlag(fl *pflag.FlagSet) {
	fl.BoolVar(&f.clearStop, "clear-stop", false, "lift the emergency stop that is latched for this account in the data folder")
}

func (p *place) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&p.at, "at", "", "minimum corner of the building, X,Y,Z")
	fl.IntVar(&p.rotate, "rotate", 0, "quarter turns clockwise seen from above")
	fl.StringVar(&p.mirror, "mirror", "", "mirror along x or z, before turning")
	fl.StringVar(&p.plot, "plot", "", "build box X1,Y1,Z1:X2,Y2,Z2; the blueprint's bounds by default")
	fl.StringVar(&p.walk, "walk-box", "", "cells the bot may walk in; the build box and 6 around it by default")
}

func (f *buildFlags) rateSet(cmd *cobra.Command) {
	if !cmd.Flags().Changed("rate") {
		f.rate = -1
	}
}

// buildReport is the JSON of build.
type buildReport struct {
	Mission    string  `json:"mission"`
	Done       bool    `json:"done"`
	Waiting    string  `json:"waiting,omitempty"`
	Steps      int     `json:"steps"`
	Placed     int     `json:"placed"`
	Receipts   int     `json:"receipts"`
	Present    int     `json:"present"`
	Accepted   int     `json:"accepted_unverified"`
	Unverified int     `json:"unverified"`
	Refused    int     `json:"refused"` // attempts the server refused, over all runs of this command
	Wrong      int     `json:"wrong_result"`
	Disturbed  int     `json:"disturbed"`
	Open       int     `json:"open"`
	Cells      int     `json:"cells_total"`
	Matching   int     `json:"cells_matching"`
	States     int     `json:"states_total"`
	MinGrade   string  `json:"min_grade"`
	Seconds    float64 `json:"elapsed_s"`

	Kick         string `json:"kick_reason_untrusted,omitempty"` // of the newest kick, in full
	CaptureError string `json:"capture_error,omitempty"`
}

func runBuild(ctx context.Context, p *printer, f *buildFlags, args []string) error {
	if f.reconcile != "" && f.reconcile != "world" {
		return fail(exitUsage, fmt.Errorf("--reconcile %q: only \"world\" is known", f.reconcile))
	}
	if err := checkPace(f.rate, f.pipeline); err != nil {
		return err
	}
	if f.deadline < 0 || f.tries < 0 || f.timeout <= 0 {
		return fail(exitUsage, errors.New("--deadline, --tries and --connect-timeout cannot be negative"))
	}
	if f.resume || f.abandon {
		return f.goOn(ctx, p, args)
	}
	if len(args) != 1 {
		return fail(exitUsage, errors.New("give one schematic file, or --resume"))
	}
	bp, err := readBlueprint(args[0], f.rotate, f.mirror)
	if err != nil {
		return err
	}
	if f.at == "" {
		return fail(exitUsage, errors.New("where? give --at X,Y,Z, the minimum corner"))
	}
	if err := f.check(); err != nil {
		return err
	}
	if _, _, err := f.where(bp); err != nil {
		return err
	}
	prof, err := f.loadProfile()
	if err != nil {
		return err
	}
	j, err := f.openJournal(false)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := f.nothingOpen(j); err != nil {
		return err
	}
	rec, file, err := f.start(ctx, p, j, bp, prof)
	switch {
	case wasInterrupted(ctx, err):
		return fail(exitFailed, &interrupted{"nothing was begun: give the same command again"})
	case err != nil:
		return err
	}
	return f.work(ctx, p, j, rec, file)
}

// checkPace holds --rate and --pipeline to their ranges; the rate -1 is none given.
func checkPace(rate float64, pipeline int) error {
	if pipeline < 1 || pipeline > 64 {
		return fail(exitUsage, fmt.Errorf("--pipeline %d: 1 to 64 placements can be on their way", pipeline))
	}
	if math.IsNaN(rate) || rate > profile.MaxRate || rate < 0 && rate != -1 || rate > 0 && rate < 0.001 {
		return fail(exitUsage, fmt.Errorf("--rate %v: uses per second, 0.001 to %v, or 0 for as fast as the server answers", rate, profile.MaxRate))
	}
	return nil
}

// loadProfile reads the server's profile; without one nothing is offered.
func (f *buildFlags) loadProfile() (*profile.Profile, error) {
	path := f.profile
	if path == "" {
		path = profile.Path(f.data, f.server)
	}
	prof, err := profile.Load(path)
	switch {
	case errors.Is(err, profile.ErrMissing):
		return nil, fail(exitDenied, fmt.Errorf("%w: run `blockworld probe %s --data %s` first", err, f.server, f.data))
	case err != nil:
		return nil, fail(exitUsage, err)
	}
	if prof.Mode != effects.Attached.String() {
		return nil, fail(exitDenied, fmt.Errorf("the profile %s is for the mode %s; build joins servers as %s: run `blockworld probe %s --data %s`",
			path, prof.Mode, effects.Attached, f.server, f.data))
	}
	if _, ok := prof.Offer(effects.PlaceBlock); !ok {
		return nil, fail(exitDenied, fmt.Errorf("the profile %s does not offer place_block: see what it found, and `accept: observed`", path))
	}
	return &prof, nil
}

// nothingOpen refuses a second mission beside an unfinished one: it would be forgotten.
func (f *buildFlags) nothingOpen(j *journal.Journal) error {
	open, err := openMissions(j)
	if err != nil {
		return fail(exitFailed, err)
	}
	if len(open) > 0 {
		return fail(exitUsage, fmt.Errorf("mission %s in %s is not finished: go on with --resume, give it up with --abandon, or use another --data", open[0].ID, f.data))
	}
	return nil
}

func openMissions(j *journal.Journal) ([]journal.Mission, error) {
	all, err := j.Missions()
	var open []journal.Mission
	for _, m := range all {
		if m.State == journal.MissionOpen {
			open = append(open, m)
		}
	}
	return open, err
}

// start plans a new mission in the world as a first session sees it, and stores it.
func (f *buildFlags) start(ctx context.Context, p *printer, j *journal.Journal, bp *blueprint.Blueprint, prof *profile.Profile) (journal.Mission, *missionFile, error) {
	none := journal.Mission{}
	corner, plot, err := f.where(bp)
	if err != nil {
		return none, nil, err
	}
	o, err := f.options(p)
	if err != nil {
		return none, nil, err
	}
	counted(&o, j, f.scope())
	seen, err := survey(ctx, o, plot)
	if err != nil {
		return none, nil, joinFailed(err)
	}
	if why := suits(prof, seen); why != "" {
		return none, nil, fail(exitDenied, fmt.Errorf("the profile %s: run `blockworld probe %s --username %s --data %s` first", why, f.server, f.username, f.data))
	}
	own, another := forAccount(prof, seen)
	if another {
		p.say("the profile was found with another account, %s: that the server counts uses is not yet known for %s", prof.Account, f.username)
	}
	if !plot.Walk.Contains(seen.feet) {
		wider := plot.Walk.Union(geom.BlockBox{Min: seen.feet, Max: seen.feet}.Grow(2))
		return none, nil, fail(exitUsage, fmt.Errorf("%s: bring it nearer, or allow more room with --walk-box %v", outsideWords(seen.feet, plot.Walk), wider))
	}
	plan, err := makePlan(ctx, p, seen.reg, bp, corner, blueprint.Options{
		World: seen, Build: plot.Build, Click: plot.Click, Walk: plot.Walk, MayReplace: f.replace, CanFly: seen.mayFly,
		Start: &seen.feet, MinY: seen.dimension.MinY, MaxY: seen.dimension.MinY + seen.dimension.Height - 1,
	})
	if err != nil {
		return none, nil, err
	}
	tellPlan(p, plan, false)
	if n := len(plan.Rejected) + len(plan.Unreachable); n > 0 && !f.partial {
		return none, nil, fail(exitUsage, fmt.Errorf("%d cells of the file cannot be placed (listed above): build the rest with --partial", n))
	}
	if len(plan.Final) == 0 {
		return none, nil, fail(exitUsage, errors.New("there is nothing to build: no cell of the file can be placed here"))
	}
	id, err := effects.NewMissionID(rand.Reader)
	if err != nil {
		return none, nil, err
	}
	file := &missionFile{Server: f.server, Username: f.username, Pipeline: f.pipeline, Rate: f.rate, MayReplace: plan2names(f.replace), Profile: own, Plan: plan}
	if f.rate < 0 {
		file.Rate = prof.UsesPerSecond()
	}
	blob, err := file.encode()
	if err != nil {
		return none, nil, err
	}
	rec := journal.Mission{
		ID: id, Server: seen.identity, Scope: f.scope(), Dimension: seen.dimensionName, Plan: effects.Digest(plan.Digest()),
		Steps: uint32(len(plan.Steps)), Plot: plot, Budgets: builder.BudgetsOf(len(plan.Steps)), Options: blob,
	}
	if err := j.PutMission(rec); err != nil {
		return none, nil, fail(exitFailed, err)
	}
	return rec, file, nil
}

// plan2names gives block names their namespace.
func plan2names(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, fullName(n))
	}
	return out
}

// where reads the flags that say where the blueprint goes.
func (f *place) where(bp *blueprint.Blueprint) (geom.BlockPos, sentinel.Plot, error) {
	corner, err := parsePos(f.at)
	if err != nil {
		return corner, sentinel.Plot{}, err
	}
	plot := sentinel.PlotOf(bp.Bounds(corner))
	if f.plot != "" {
		box, err := parseBox(f.plot)
		if err != nil {
			return corner, plot, err
		}
		plot = sentinel.PlotOf(box)
	}
	if f.walk != "" {
		if plot.Walk, err = parseBox(f.walk); err != nil {
			return corner, plot, err
		}
	}
	if err := plot.Validate(); err != nil {
		return corner, plot, fail(exitUsage, err)
	}
	return corner, plot, surveyable(plot)
}

// goOn resumes a stored mission.
func (f *buildFlags) goOn(ctx context.Context, p *printer, args []string) error {
	if len(args) != 0 {
		return fail(exitUsage, errors.New("--resume takes no file: the mission is stored in the data folder"))
	}
	j, err := f.openJournal(true)
	if err != nil {
		return err
	}
	defer j.Close()
	rec, file, err := storedMission(j, f.mission, f.data)
	if err != nil {
		return err
	}
	if f.abandon {
		rec.State = journal.MissionStopped
		if err := j.PutMission(rec); err != nil {
			return fail(exitFailed, err)
		}
		p.say("mission %s is given up; its receipts and what was left unverified stay in %s", rec.ID, f.data)
		return p.result(map[string]any{"mission": rec.ID.String(), "abandoned": true})
	}
	if f.place != (place{}) {
		return fail(exitUsage, errors.New("a mission keeps its place and its boxes: --at, --rotate, --mirror, --plot and --walk-box do not go with --resume"))
	}
	if f.server == "" {
		f.server = file.Server
	}
	f.username = file.Username
	return f.work(ctx, p, j, rec, file)
}

// storedMission finds the mission to go on with.
func storedMission(j *journal.Journal, id, data string) (journal.Mission, *missionFile, error) {
	none := journal.Mission{}
	var rec journal.Mission
	if id != "" {
		m, err := effects.ParseMissionID(id)
		if err != nil {
			return none, nil, fail(exitUsage, err)
		}
		if rec, err = j.Mission(m); err != nil {
			return none, nil, fail(exitUsage, err)
		}
	} else {
		all, err := j.Missions()
		if err != nil {
			return none, nil, fail(exitFailed, err)
		}
		for _, m := range all { // the newest unfinished one, else the newest
			if len(m.Options) == 0 {
				continue // not a building: a try of probe's
			}
			open, had := m.State != journal.MissionComplete, rec.ID != effects.MissionID{} && rec.State != journal.MissionComplete
			if open && !had || open == had && m.UnixMilli >= rec.UnixMilli {
				rec = m
			}
		}
		if rec.ID == (effects.MissionID{}) {
			return none, nil, fail(exitUsage, fmt.Errorf("no mission in %s: start one with `blockworld build FILE`", data))
		}
	}
	file, err := decodeMissionFile(rec.Options)
	if err != nil {
		return none, nil, fail(exitFailed, err)
	}
	if effects.Digest(file.Plan.Digest()) != rec.Plan {
		return none, nil, fail(exitFailed, fmt.Errorf("%w: the stored plan does not have the digest it was stored with", builder.ErrPlanChanged))
	}
	return rec, file, nil
}

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

// ended turns the end of a mission into an exit code. Then is how to go on after an interruption.
func (r *missionRun) ended(err error, then string) error {
	end := r.result
	var coded *exitError
	switch {
	case err != nil && errors.As(err, &coded):
		return err
	case err != nil && errors.Is(err, context.Canceled):
		return fail(exitFailed, &interrupted{then})
	case errors.Is(err, login.ErrKicked), errors.Is(err, bot.ErrConnection):
		return joinFailed(fmt.Errorf("%w; %s", err, then))
	case err != nil:
		return joinFailed(err)
	case end.Done:
		return nil
	case end.Waiting == mission.WaitUnverified:
		return fail(exitUnverified, fmt.Errorf("the mission waits: %s", end.Waiting))
	case end.Stuck != "":
		return fail(exitFailed, fmt.Errorf("the bot cannot get to where it must look: %s", end.Stuck))
	case end.Waiting == mission.WaitRefused && r.denied:
		return fail(exitDenied, fmt.Errorf("the mission waits: %s; the guard denied it, see above", end.Waiting))
	}
	return fail(exitFailed, fmt.Errorf("the mission waits: %s", end.Waiting))
}

// missionRun is one carrying-out of a mission by this process.
type missionRun struct {
	site    *builder.Site
	file    *missionFile
	result  builder.Result
	refused int
	commits uint64 // of the control plane's store
	denied  bool   // the guard's no is the newest answer to an effect
	kick    string // the server's own words at the newest kick
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
			run.denied = false
			if e.Verdict == effects.Refused {
				run.refused++
			}
			bar.Set(int(site.Mission().Cursor().Count))
		case builder.Denied:
			run.denied = true
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
	defer func() { failed = errors.Join(failed, fail(exitFailed, control.close())) }()
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

// report gathers the figures of a run.
func (r *missionRun) report(began time.Time) (buildReport, error) {
	s := r.site.Mission().Summary()
	out := buildReport{
		Mission: r.site.Record.ID.String(), Done: r.result.Done, Steps: s.Steps, Placed: s.Proven, Present: s.Present,
		Accepted: s.Accepted, Unverified: s.Unverified, Refused: r.refused, Wrong: s.Wrong, Disturbed: s.Disturbed,
		Open: s.Open + s.Refused, Cells: len(r.file.Plan.Final), Matching: s.Inspection.Matching, Seconds: time.Since(began).Seconds(), Kick: r.kick,
	}
	if !r.result.Done {
		out.Waiting = r.result.Waiting.String()
	}
	states := map[registry.StateID]bool{}
	for _, c := range r.file.Plan.Final {
		states[c.State] = true
	}
	out.States = len(states)
	least := effects.GradeNone
	err := r.site.Journal.Receipts(r.site.Record.ID, func(_ uint64, rec effects.Receipt) bool {
		if out.Receipts++; out.Receipts == 1 || rec.Outcome.Grade < least {
			least = rec.Outcome.Grade
		}
		return true
	})
	out.MinGrade = least.String()
	return out, err
}
