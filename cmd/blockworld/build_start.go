package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/blueprint"
	"blockworld/sentinel"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate/geom"
)

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
		return none, nil, fail(exitUsage, errNothing)
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
