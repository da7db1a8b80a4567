package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blockworld/effects"
	"blockworld/sentinel/profile"
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
