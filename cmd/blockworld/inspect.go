package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"blockworld/bot/builder"
	"blockworld/effects"
	"blockworld/effects/mission"
	"blockworld/sentinel/journal"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

// inspectReport is the JSON of inspect.
type inspectReport struct {
	Mission  string         `json:"mission"`
	Cells    int            `json:"cells_total"`
	Matching int            `json:"cells_matching"`
	Unknown  int            `json:"cells_unknown"`
	Differ   []differs      `json:"differ"`
	Steps    map[string]int `json:"steps"` // by state

	CaptureError string `json:"capture_error,omitempty"`
}

type differs struct {
	Pos  geom.BlockPos `json:"pos"`
	Step int           `json:"step"`
	Want string        `json:"want"`
	Got  string        `json:"got"`
}

func newInspect(g *globals) *cobra.Command {
	f := &buildFlags{}
	cmd := &cobra.Command{
		Use: "inspect", Short: "compare a mission's plan with the world after a fresh join", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.captured(runInspect(cmd.Context(), g.printer(cmd), f))
		},
	}
	f.session.flags(cmd.Flags())
	cmd.Flags().StringVar(&f.mission, "mission", "", "which mission; the newest unfinished one by default")
	return cmd
}

func runInspect(ctx context.Context, p *printer, f *buildFlags) error {
	j, rec, file, err := f.stored()
	if err != nil {
		return err
	}
	defer j.Close()
	reg, err := registry.Load(file.Plan.Protocol)
	if err != nil {
		return fail(exitFailed, err)
	}
	site, err := newSite(j, rec, file, reg)
	if err == nil {
		err = site.Open()
	}
	if err != nil {
		return fail(exitFailed, err)
	}
	o, err := f.options(p)
	if err != nil {
		return err
	}
	o.Protocol = file.Plan.Protocol
	site.Hook(&o)
	seen, err := survey(ctx, o, rec.Plot)
	if err != nil {
		return joinFailed(err)
	}
	look := site.Mission().Inspect("inspector", seen)
	r := inspectReport{Mission: rec.ID.String(), Cells: look.Cells, Matching: look.Matching, Unknown: len(look.Unknown), Differ: []differs{}, Steps: map[string]int{}}
	for _, d := range look.Differ {
		r.Differ = append(r.Differ, differs{d.Pos, d.Step + 1, reg.FormatState(d.Want), reg.FormatState(d.Got)})
	}
	for _, s := range site.Mission().Statuses() {
		r.Steps[s.State.String()]++
	}
	p.say("mission %s: %d of %d cells as planned, %d not loaded", r.Mission, r.Matching, r.Cells, r.Unknown)
	for _, d := range r.Differ {
		p.say("  %v (step %d): %s, planned is %s", d.Pos, d.Step, d.Got, d.Want)
	}
	for _, state := range slices.Sorted(maps.Keys(r.Steps)) {
		p.say("  %d steps %s", r.Steps[state], state)
	}
	taken := r.Steps[mission.Accepted.String()]
	if taken > 0 {
		p.say("  %s by their owner without proof, whatever the world shows", accepted(taken))
	}
	r.CaptureError = f.captureError()
	if err := p.result(r); err != nil {
		return err
	}
	switch {
	case len(r.Differ) > 0:
		return fail(exitFailed, errors.New("the world is not as planned"))
	case !look.Complete():
		return fail(exitUnverified, fmt.Errorf("%s were not seen: nobody can tell whether they are as planned", cells(r.Unknown)))
	case taken > 0:
		return fail(exitUnverified, fmt.Errorf("%s without proof", accepted(taken)))
	}
	return nil
}

func newRepair(g *globals) *cobra.Command {
	f := &buildFlags{}
	var accept bool
	cmd := &cobra.Command{
		Use: "repair", Short: "your decision about disturbed, wrong and unverified steps; then the mission goes on", Args: cobra.NoArgs,
		Long: "Opens every disturbed step, every step that came out wrong, and every unverified one that the server had carried out and\n" +
			"whose block is gone, for a new generation: it is placed again once its cell is free. With --accept, unverified, wrong\n" +
			"and disturbed steps are closed as accepted_unverified instead, which is not success: exit code 4. Of wrong and\n" +
			"disturbed ones that holds for this run: inspect shows them as they are, and a later plain `repair` opens them again.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.rate = -1
			return f.captured(runRepair(cmd.Context(), g.printer(cmd), f, accept))
		},
	}
	f.session.flags(cmd.Flags())
	cmd.Flags().StringVar(&f.mission, "mission", "", "which mission; the newest unfinished one by default")
	cmd.Flags().StringVar(&f.reconcile, "reconcile", "", "\"world\": let the world decide about unverified steps after a full rejoin")
	cmd.Flags().IntVar(&f.tries, "tries", 10, "reconnects in a row before giving up, 0 for no end")
	f.stopFlag(cmd.Flags())
	cmd.Flags().BoolVar(&accept, "accept", false, "take them as they are: accepted_unverified, which is not success")
	return cmd
}

func runRepair(ctx context.Context, p *printer, f *buildFlags, accept bool) error {
	j, rec, file, err := f.stored()
	if err != nil {
		return err
	}
	defer j.Close()
	return f.decided(ctx, p, j, rec, file, func(s *builder.Site, seen effects.CellReader) error {
		return decide(p, s, seen, accept)
	})
}

// decide makes the owner's decisions about every step that waits for one.
func decide(p *printer, s *builder.Site, seen effects.CellReader, accept bool) error {
	m := s.Mission()
	m.Inspect("inspector", seen)
	n := 0
	for i, st := range m.Statuses() {
		var err error
		switch {
		case accept && (st.State == mission.Unverified || st.State == mission.Wrong || st.State == mission.Disturbed):
			err = s.Accept(i)
		case !accept && (st.State == mission.Disturbed || st.State == mission.Wrong || st.State == mission.Unverified && st.Ran && gone(s, i, seen)):
			err = s.Repair(i)
		default:
			continue
		}
		if err != nil {
			return fail(exitFailed, fmt.Errorf("step %d: %w", i+1, err))
		}
		n++
		p.say("step %d (%s): %s", i+1, st.State, map[bool]string{true: "accepted without proof", false: "open again"}[accept])
	}
	if n == 0 {
		p.say("nothing to decide")
	}
	return nil
}

// gone tells whether a step's cells are all loaded and do not show it.
func gone(s *builder.Site, step int, seen effects.CellReader) bool {
	differs := false
	for _, c := range s.Plan.Steps[step].Cells {
		got, ok := seen.Block(c.Pos)
		if !ok {
			return false
		}
		differs = differs || !s.States.Same(c.To, got, c.Masked)
	}
	return differs
}

// decided looks at the world once, makes the owner's decisions, and goes on with the mission.
func (f *buildFlags) decided(ctx context.Context, p *printer, j *journal.Journal, rec journal.Mission, file *missionFile, decide func(*builder.Site, effects.CellReader) error) error {
	o, err := f.options(p)
	if err != nil {
		return err
	}
	o.Protocol = file.Plan.Protocol
	counted(&o, j, rec.Scope)
	seen, err := survey(ctx, o, rec.Plot)
	if err != nil {
		return joinFailed(err)
	}
	if seen.identity != rec.Server {
		return fail(exitFailed, fmt.Errorf("%w: it was started on %s, this is %s", builder.ErrOtherServer, rec.Server, seen.identity))
	}
	return f.carry(ctx, p, j, rec, file, func(s *builder.Site) error { return decide(s, seen) })
}
