package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"blockworld/bot/hosting"
	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/controlplane/operation"
	"blockworld/effects"
	"blockworld/effects/host"
	"blockworld/effects/mission"
)

func (k *ctl) blueprint() *cobra.Command {
	cmd := group(&cobra.Command{Use: "blueprint", Short: "stored schematics: put, list"})
	var as string
	put := k.asking(&cobra.Command{Use: "put FILE", Short: "store a .schem, .litematic or .nbt file for build_structure"}, cobra.ExactArgs(1),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			b, err := putBlueprint(ctx, c, args[0], as)
			if err != nil {
				return err
			}
			p.say("%s: %d bytes, digest %s", b.Name, b.Size, b.Digest)
			return p.result(b)
		})
	put.Flags().StringVar(&as, "name", "", "its name; the file's by default")
	list := k.asking(&cobra.Command{Use: "list", Short: "the stored blueprints"}, cobra.NoArgs,
		func(ctx context.Context, p *printer, c *client.Client, _ []string) error {
			all, err := c.Blueprints(ctx)
			if err != nil {
				return err
			}
			for _, b := range all {
				p.say("%-24s %9d bytes  %s", b.Name, b.Size, b.Digest)
			}
			return p.result(map[string]any{"blueprints": all})
		})
	cmd.AddCommand(put, list)
	return cmd
}

// putBlueprint reads a file, makes sure that it is a schematic, and stores it.
func putBlueprint(ctx context.Context, c *client.Client, path, as string) (controlplane.BlueprintView, error) {
	if _, err := readBlueprint(path, 0, ""); err != nil {
		return controlplane.BlueprintView{}, err
	}
	data, err := readInput(path, controlplane.MaxBlueprint)
	if err != nil {
		return controlplane.BlueprintView{}, fail(exitUsage, err)
	}
	if as == "" {
		as = nameOfFile(path)
	}
	n, err := name("blueprint's name", as)
	if err != nil {
		return controlplane.BlueprintView{}, err
	}
	return c.PutBlueprint(ctx, n, data)
}

// nameOfFile makes a name of a file's.
func nameOfFile(path string) string {
	base := strings.ToLower(filepath.Base(path))
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, base)
	out = strings.TrimLeft(out, ".-_")
	return out[:min(len(out), host.MaxName)]
}

// buildArguments are those of build_structure.
type buildArguments struct {
	Blueprint  effects.Digest `json:"blueprint"`
	At         [3]int32       `json:"at"`
	Rotate     int            `json:"rotate,omitempty"`
	Mirror     string         `json:"mirror,omitempty"`
	Plot       string         `json:"plot,omitempty"`
	Mission    string         `json:"mission,omitempty"`
	Actors     []host.Name    `json:"actors,omitempty"`
	Pipeline   int            `json:"pipeline,omitempty"`
	Rate       *float64       `json:"rate,omitempty"`
	MayReplace []string       `json:"may_replace,omitempty"`
	Reconcile  string         `json:"reconcile,omitempty"`
	Unverified int            `json:"stop_at_unverified,omitempty"`
	Partial    bool           `json:"partial,omitempty"`
}

// built is what build_structure says at its end.
type built struct {
	Mission    string `json:"mission"`
	Done       bool   `json:"done"`
	Continue   bool   `json:"continue"` // one operation may do no more: another goes on
	Waiting    string `json:"waiting"`
	Steps      int    `json:"steps"`
	Proven     int    `json:"proven"`
	Present    int    `json:"present"`
	Accepted   int    `json:"accepted_unverified"`
	Unverified int    `json:"unverified"`
	Refused    int    `json:"refused"`
	Wrong      int    `json:"wrong_result"`
	Disturbed  int    `json:"disturbed"`
	Open       int    `json:"open"`
}

// siteFlags are the flags of ctl build.
type siteFlags struct {
	submitFlags
	args buildArguments
	at   string
	rate float64
	with []string
}

// shift is one actor's part in a build.
type shift struct {
	actor host.Name
	args  buildArguments
	lease *grip
	view  operation.View // of its newest operation
	end   built
	no    *operation.Rejection // of its newest child that was denied
	err   error                // why it is not known how the operation goes on
	lost  bool                 // the answer to its newest request, behind which there may be an operation
}

// over tells that nothing is under way that needs the lease; a shift that never began has nothing.
func (s *shift) over() bool {
	return !s.lost && (s.view.ID == (host.OpID{}) || settledView(&s.view))
}

// shiftResult is a shift as JSON.
type shiftResult struct {
	Actor     host.Name            `json:"actor"`
	Operation operation.View       `json:"operation"`
	Build     built                `json:"build"`
	Denied    *operation.Rejection `json:"denied,omitempty"`
}

func (k *ctl) build() *cobra.Command {
	f := &siteFlags{}
	cmd := k.asking(&cobra.Command{Use: "build FILE ACTOR --at X,Y,Z", Short: "build a schematic with a bot: stores it, submits build_structure, waits for the end",
		Long: "Stores the schematic and has the actor build it, block by block, each one an operation with its own decision and receipt.\n" +
			"Where one operation may do no more, another goes on with the mission. Interrupted, the build goes on at the daemon\n" +
			"until the lease runs out, within two minutes: `ctl lease renew ACTOR` before that keeps it, and a lease of your own\n" +
			"(`ctl lease acquire`) is never given back by this command; `ctl wait` waits for the build, `ctl cancel` ends it. --mission goes on with one that has ended. With --with several actors of one\n" +
			"host share the steps, each with operations of its own. With --json each change of an operation is a line {\"operation\":...}, with\n" +
			"state and run.percent in it; the last line has the ends of the operations and of the build."}, cobra.ExactArgs(2),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			return f.build(ctx, p, c, args[0], args[1])
		})
	fl := cmd.Flags()
	fl.StringVar(&f.at, "at", "", "minimum corner of the building, X,Y,Z")
	fl.IntVar(&f.args.Rotate, "rotate", 0, "quarter turns clockwise seen from above, 0 to 3")
	fl.StringVar(&f.args.Mirror, "mirror", "", "mirror along x or z, before turning")
	fl.StringVar(&f.args.Plot, "plot", "", "plot of the actor; its first by default")
	fl.StringVar(&f.args.Mission, "mission", "", "go on with this mission")
	fl.StringSliceVar(&f.with, "with", nil, "other actors of the same host that build along")
	fl.IntVar(&f.args.Pipeline, "pipeline", 0, "most placements on their way at once; 1 by default")
	fl.Float64Var(&f.rate, "rate", -1, "uses per second, 0 for as fast as the server answers; the profile's by default")
	fl.StringSliceVar(&f.args.MayReplace, "may-replace", nil, "replaceable blocks that may be built over")
	fl.StringVar(&f.args.Reconcile, "reconcile", "", "\"world\": after a full rejoin the world decides about unverified steps")
	fl.IntVar(&f.args.Unverified, "stop-at-unverified", 0, "stop at the n-th step that cannot be verified; 1 by default")
	fl.BoolVar(&f.args.Partial, "partial", false, "build although parts cannot be placed")
	fl.StringVar(&f.task, "task", "", "name of the piece of work; a new one by default")
	fl.StringVar(&f.lease, "lease", "", "id of the lease; yours or a new one by default")
	return cmd
}

// build carries a structure through, operation after operation.
func (f *siteFlags) build(ctx context.Context, p *printer, c *client.Client, file, actor string) error {
	if f.at == "" {
		return fail(exitUsage, errors.New("where? give --at X,Y,Z, the minimum corner"))
	}
	at, err := parsePos(f.at)
	if err != nil {
		return err
	}
	crew, err := f.crew(actor)
	if err != nil {
		return err
	}
	bp, err := putBlueprint(ctx, c, file, "")
	if err != nil {
		return err
	}
	f.args.Blueprint, f.args.At = bp.Digest, [3]int32{at.X, at.Y, at.Z}
	if f.rate >= 0 {
		f.args.Rate = &f.rate
	}
	if f.task == "" {
		f.task = newKey()
	}
	for i := range crew {
		lease := f.lease
		if i > 0 {
			lease = ""
		}
		if crew[i].lease, err = hold(ctx, c, crew[i].actor, lease); err != nil {
			for _, s := range crew[:i] {
				s.lease.end(true)
			}
			return err
		}
		crew[i].args = f.args
	}
	f.together(ctx, p, c, crew)
	for i := range crew {
		crew[i].denied(ctx, c)
	}
	return f.report(ctx, p, crew)
}

// crew is who builds: the actor, and those of --with.
func (f *siteFlags) crew(actor string) (crew []shift, err error) {
	for _, a := range append([]string{actor}, f.with...) {
		n, err := name("actor", a)
		if err != nil {
			return nil, err
		}
		crew = append(crew, shift{actor: n})
	}
	if len(crew) > 1 && f.args.Mission == "" {
		for _, s := range crew {
			f.args.Actors = append(f.args.Actors, s.actor)
		}
	}
	return crew, nil
}

// together carries all shifts through. The first begins the mission, which the others can only join when its host has it.
func (f *siteFlags) together(ctx context.Context, p *printer, c *client.Client, crew []shift) {
	bar := p.progress(100, "building")
	defer bar.Close()
	mission := make(chan string, 1) // closed without one: it was not begun
	var once sync.Once
	begun := func(id string) {
		once.Do(func() {
			if id != "" {
				mission <- id
			}
			close(mission)
		})
	}
	if f.args.Mission != "" {
		begun(f.args.Mission)
	}
	var others sync.WaitGroup
	others.Go(func() {
		id, ok := <-mission
		for i := 1; ok && i < len(crew); i++ {
			crew[i].args.Mission, crew[i].args.Actors = id, nil
			others.Go(func() { f.operations(ctx, p, c, bar, &crew[i], func(*operation.View) {}) })
		}
	})
	f.operations(ctx, p, c, bar, &crew[0], func(v *operation.View) {
		if v.State == operation.Accepted || v.State == operation.Running {
			begun(v.ID.String())
		}
	})
	begun("")
	others.Wait()
	for i := range crew {
		crew[i].lease.end(crew[i].over())
	}
}

// report tells how a build has ended.
func (f *siteFlags) report(ctx context.Context, p *printer, crew []shift) error {
	var wrong error
	done := false
	result := map[string]any{}
	with := []shiftResult{}
	for i := range crew {
		s := &crew[i]
		switch v := &s.view; {
		case wasInterrupted(ctx, s.err) && v.ID != (host.OpID{}):
			return goesOn(v)
		case s.err != nil:
			return s.err
		case v.ID == (host.OpID{}):
			continue // there was no mission to join
		}
		tellOperation(p, &s.view)
		if end := &s.end; end.Steps > 0 {
			p.say("  mission   %s: %d of %d steps proven, %d present or accepted, %d unverified, %d refused, %d wrong, %d disturbed, %d still to do",
				end.Mission, end.Proven, end.Steps, end.Present+end.Accepted, end.Unverified, end.Refused, end.Wrong, end.Disturbed, end.Open)
		}
		if s.no != nil {
			p.say("  denied    %s", noWords(s.no))
		}
		if err := s.stands(); wrong == nil {
			wrong = err
		}
		done = done || s.view.State == operation.Succeeded && s.end.Done
		if i == 0 {
			result["operation"], result["build"] = s.view, s.end
			if s.no != nil {
				result["denied"] = s.no
			}
		} else {
			with = append(with, shiftResult{s.actor, s.view, s.end, s.no})
		}
	}
	if len(crew) > 1 {
		result["with"] = with
	}
	if err := p.result(result); err != nil {
		return err
	}
	if done && len(crew) > 1 {
		return nil // whatever became of one of them, another has brought it to its end
	}
	return wrong
}

// denied finds out who said no to a build that was denied. Nothing hangs on it but the words.
func (s *shift) denied(ctx context.Context, c *client.Client) {
	switch s.end.Waiting {
	case endDenied, string(controlplane.CodeBudgetExceeded):
	default:
		return
	}
	page, err := c.Operations(ctx, controlplane.Filter{Parent: s.view.ID, State: operation.Rejected, Limit: 1})
	if err == nil && len(page.Operations) > 0 {
		s.no = page.Operations[0].Rejection
	}
}

// endDenied is how a build says that it ended because policy denied what was left.
const endDenied = "denied"

// noWords puts a refusal and the rules behind it into words.
func noWords(r *operation.Rejection) string {
	return plain(r.Code) + ": " + plain(r.Message) + ruleWords(r.Rules)
}

// stands says what is wrong with the end of a shift.
func (s *shift) stands() error {
	switch {
	case s.view.State == operation.Failed && s.end.Waiting == mission.WaitUnverified.String():
		return fail(exitUnverified, errors.New("the build waits: a step is unverified"))
	case s.view.State == operation.Failed && s.end.Waiting == endDenied:
		if s.no != nil {
			return fail(exitDenied, fmt.Errorf("the build was denied: %s; `blockworld ctl ops list --parent %s --state rejected` lists each block", noWords(s.no), s.view.ID))
		}
		return fail(exitDenied, fmt.Errorf("the build was denied: %s", plain(s.view.Outcome.Message)))
	}
	return stands(&s.view)
}

// changes tells machines of an operation whenever it has come further, or waits for something else.
func changes(p *printer) func(*operation.View) {
	type step struct {
		state   operation.State
		percent int
		note    string
		cancel  string
	}
	var last step
	return func(v *operation.View) {
		now := step{state: v.State, cancel: v.CancelRequested}
		if v.Run != nil {
			now.percent, now.note = v.Run.Percent, v.Run.Note
		}
		if now != last {
			last = now
			p.change(map[string]any{"operation": v})
		}
	}
}

// operations submits one operation after another for an actor until the mission needs no further one of it.
func (f *siteFlags) operations(ctx context.Context, p *printer, c *client.Client, bar *progressbar.ProgressBar, s *shift, show func(*operation.View)) {
	for {
		arguments, err := json.Marshal(s.args)
		if err != nil {
			s.err = err
			return
		}
		next, err := s.lease.submit(ctx, controlplane.SubmitRequest{Actor: s.actor, Key: newKey(), Task: host.Name(f.task),
			Action: host.Action{Capability: hosting.BuildStructure, Arguments: arguments}})
		if err != nil {
			s.err, s.lost = err, !nothingStored(err)
			return
		}
		s.view = next
		p.say("%s  task %s: %s", s.view.ID, f.task, plain(or(s.view.Summary, s.view.State.String())))
		told, changed := "", changes(p)
		changed(&s.view)
		s.view, s.err = waitFor(ctx, p, c, s.view, 0, func(v *operation.View) {
			show(v)
			changed(v)
			if v.Run == nil {
				return
			}
			bar.Describe(plain(v.Run.Note))
			bar.Set(v.Run.Percent)
			if waits := strings.HasPrefix(v.Run.Note, "waiting"); waits && v.Run.Note != told {
				told = v.Run.Note // it may last until somebody does something
				p.say("  %s", plain(told))
			}
		})
		if s.err != nil {
			return
		}
		s.end = built{}
		if len(s.view.Output) > 0 && json.Unmarshal(s.view.Output, &s.end) != nil {
			s.err = errors.New("what the bot says at the end of the build is not understood")
			return
		}
		if s.view.State != operation.Succeeded || !s.end.Continue {
			return
		}
		s.args.Mission, s.args.Actors = s.end.Mission, nil
	}
}
