package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

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
}

func (k *ctl) build() *cobra.Command {
	f := &siteFlags{}
	cmd := k.asking(&cobra.Command{Use: "build FILE ACTOR --at X,Y,Z", Short: "build a schematic with a bot: stores it, submits build_structure, waits for the end",
		Long: "Stores the schematic and has the actor build it, block by block, each one an operation with its own decision and receipt.\n" +
			"Where one operation may do no more, another goes on with the mission. Interrupted, the build goes on at the daemon:\n" +
			"`ctl wait` waits for it, `ctl cancel` ends it. --mission goes on with one that has ended."}, cobra.ExactArgs(2),
		func(ctx context.Context, p *printer, c *client.Client, args []string) error {
			return f.build(ctx, p, c, args[0], args[1])
		})
	fl := cmd.Flags()
	fl.StringVar(&f.at, "at", "", "minimum corner of the building, X,Y,Z")
	fl.IntVar(&f.args.Rotate, "rotate", 0, "quarter turns clockwise seen from above, 0 to 3")
	fl.StringVar(&f.args.Mirror, "mirror", "", "mirror along x or z, before turning")
	fl.StringVar(&f.args.Plot, "plot", "", "plot of the actor; its first by default")
	fl.StringVar(&f.args.Mission, "mission", "", "go on with this mission")
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
	n, err := name("actor", actor)
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
	l, err := hold(ctx, c, n, f.lease)
	if err != nil {
		return err
	}
	v, end, err := f.operations(ctx, p, c, l, n)
	l.end(settledView(&v))
	switch {
	case wasInterrupted(ctx, err) && v.ID != (host.OpID{}):
		return goesOn(&v)
	case err != nil:
		return err
	}
	tellOperation(p, &v)
	if end.Steps > 0 {
		p.say("  mission   %s: %d of %d steps proven, %d present or accepted, %d unverified, %d refused, %d wrong, %d disturbed, %d still to do",
			end.Mission, end.Proven, end.Steps, end.Present+end.Accepted, end.Unverified, end.Refused, end.Wrong, end.Disturbed, end.Open)
	}
	if err := p.result(map[string]any{"operation": v, "build": end}); err != nil {
		return err
	}
	switch {
	case v.State == operation.Failed && end.Waiting == mission.WaitUnverified.String():
		return fail(exitUnverified, errors.New("the build waits: a step is unverified"))
	case v.State == operation.Failed && end.Waiting == "denied":
		return fail(exitDenied, errors.New("the build was denied: `blockworld ctl ops list --state rejected` shows why"))
	}
	return stands(&v)
}

// operations submits one operation after another until the mission needs no further one.
func (f *siteFlags) operations(ctx context.Context, p *printer, c *client.Client, l *grip, actor host.Name) (v operation.View, end built, err error) {
	bar := p.progress(100, "building")
	defer bar.Close()
	for {
		arguments, err := json.Marshal(f.args)
		if err != nil {
			return v, end, err
		}
		next, err := l.submit(ctx, controlplane.SubmitRequest{Actor: actor, Key: newKey(), Task: host.Name(f.task),
			Action: host.Action{Capability: hosting.BuildStructure, Arguments: arguments}})
		if err != nil {
			return v, end, err
		}
		v = next
		p.say("%s  task %s: %s", v.ID, f.task, plain(or(v.Summary, v.State.String())))
		told := ""
		v, err = waitFor(ctx, p, c, v, 0, func(v *operation.View) {
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
		if err != nil {
			return v, end, err
		}
		end = built{}
		if len(v.Output) > 0 && json.Unmarshal(v.Output, &end) != nil {
			return v, end, errors.New("what the bot says at the end of the build is not understood")
		}
		if v.State != operation.Succeeded || !end.Continue {
			return v, end, nil
		}
		f.args.Mission = end.Mission
	}
}
