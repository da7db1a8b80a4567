package main

import (
	"context"
	"errors"
	"fmt"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/sentinel/journal"
)

// goOn resumes a stored mission.
func (f *buildFlags) goOn(ctx context.Context, p *printer, args []string) error {
	if len(args) != 0 {
		return fail(exitUsage, errors.New("--resume takes no file: the mission is stored in the data folder"))
	}
	j, rec, file, err := f.stored()
	if err != nil {
		return err
	}
	defer j.Close()
	if f.abandon && rec.State != journal.MissionOpen {
		p.say("mission %s is %s: there is nothing to give up, and nothing was changed", rec.ID, map[bool]string{true: "finished", false: "given up already"}[rec.State == journal.MissionComplete])
		return p.result(map[string]any{"mission": rec.ID.String(), "abandoned": rec.State == journal.MissionStopped})
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
	return f.work(ctx, p, j, rec, file)
}

// stored opens the data folder's journal at the mission to go on with, and takes server and account from that. The journal
// is the caller's to close.
func (f *buildFlags) stored() (*journal.Journal, journal.Mission, *missionFile, error) {
	j, err := f.openJournal(true)
	if err != nil {
		return nil, journal.Mission{}, nil, err
	}
	rec, file, err := storedMission(j, f.mission, f.data)
	if err != nil {
		return nil, rec, nil, errors.Join(err, j.Close())
	}
	if f.server == "" {
		f.server = file.Server
	}
	f.username = file.Username
	return j, rec, file, nil
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
