package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockworld/bot"
	"blockworld/bot/builder"
	"blockworld/bot/login"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/worldstate/registry"
)

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

	Denied       *denial `json:"denied,omitempty"`                // why nothing is sent for what is left
	Refusal      string  `json:"refusal,omitempty"`               // the server's newest one, when that is what is left
	Kick         string  `json:"kick_reason_untrusted,omitempty"` // of the newest kick, in full
	CaptureError string  `json:"capture_error,omitempty"`
}

// denial is a no of the guard or of the control plane.
type denial struct {
	Rule string `json:"rule"` // the guard's rule, or the control plane's code
	Why  string `json:"why"`
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
		if r.denied != nil {
			out.Denied = &denial{r.denied.Rule, builder.Words(*r.denied)}
		}
		out.Refusal = r.no
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
	case end.Done && end.Summary.Accepted > 0:
		return fail(exitUnverified, fmt.Errorf("%s without proof, which is not success; a later plain `blockworld repair` opens again what of it was disturbed or wrong", accepted(end.Summary.Accepted)))
	case end.Done:
		return nil
	case end.Waiting == mission.WaitDisturbed:
		return fail(exitFailed, fmt.Errorf("the mission waits: %s: what was proven was %s; see it with `blockworld inspect`, then `blockworld repair` goes on", end.Waiting, changedWords))
	case end.Waiting == mission.WaitUnverified:
		return fail(exitUnverified, fmt.Errorf("the mission waits: %s; see it with `blockworld inspect`, decide with `blockworld repair`", end.Waiting))
	case end.Stuck != "":
		return fail(exitFailed, fmt.Errorf("the bot cannot get to where it must look: %s", end.Stuck))
	case end.Waiting == mission.WaitRefused && r.denied == nil && r.no != "":
		return fail(exitFailed, fmt.Errorf("the mission waits: %s: %s; see what the server has against it there (a protected place, somebody in the way, an item it takes for another), then %s, which tries it once more; with --wait the bot stays and tries when something near it changes", end.Waiting, r.no, then))
	case end.Waiting == mission.WaitRefused && r.denied != nil:
		return fail(exitDenied, fmt.Errorf("the mission waits: %s: %s; when that is put right, %s", end.Waiting, builder.Words(*r.denied), then))
	}
	return fail(exitFailed, fmt.Errorf("the mission waits: %s; when that is put right, %s", end.Waiting, then))
}

// changedWords says how a proven block can be gone.
const changedWords = "changed by somebody, or the server came back from an older save"

// accepted counts steps that their owner has accepted.
func accepted(n int) string { return several(n, "step is accepted", "steps are accepted") }

// tellReport puts the end of a mission into words.
func tellReport(p *printer, r buildReport, end builder.Result) {
	p.say("mission %s: %d of %d steps proven, %d receipts (least grade %s), %.1f s", r.Mission, r.Placed, r.Steps, r.Receipts, r.MinGrade, r.Seconds)
	for _, line := range []struct {
		n    int
		what string
	}{
		{r.Present, "present: the cells show them, nobody can say who placed them; no receipt"},
		{r.Accepted, "accepted by their owner without proof"},
		{r.Unverified, "unverified: barred until somebody decides"},
		{r.Refused, "refused by the server on the way"},
		{r.Wrong, "came out in another state than planned"},
		{r.Disturbed, "were proven and then " + changedWords},
		{r.Open, "still to do"},
	} {
		if line.n > 0 {
			p.say("  %d %s", line.n, line.what)
		}
	}
	if r.Denied != nil {
		p.say("  nothing is sent: %s", r.Denied.Why)
	}
	if end.Done {
		p.say("inspection after a fresh join: %d of %d cells as planned", r.Matching, r.Cells)
	}
	for i, d := range end.Summary.Inspection.Differ {
		if i == mostLines {
			break
		}
		p.say("  differs at %v", d.Pos)
	}
}
