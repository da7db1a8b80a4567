package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blockworld/bot"
	"blockworld/effects/blueprint/picture"
	"blockworld/fixtures/blueprints"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
	"blockworld/sentinel/profile"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	out, version, listen string
	capture              string
	hold, expose         bool
	rate                 float64
	pipeline             int
	tick                 time.Duration
}

func newDemo(g *globals) *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use: "demo", Short: "an embedded server, a bot, a small house: every block with a receipt", Args: cobra.NoArgs,
		Long: "Starts an embedded Minecraft server on loopback, joins it with a bot, builds a small house there, looks at it again after\n" +
			"a fresh join, and writes the receipts and a picture. With --hold the server stays up; join it with a Minecraft client\n" +
			"of the same version and watch.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := runDemo(cmd.Context(), g.printer(cmd), f)
			if wasInterrupted(cmd.Context(), err) {
				return fail(exitFailed, &interrupted{demoAgain})
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "blockworld-demo", "folder for receipts, picture and the run's data")
	fl.StringVar(&f.version, "version", "1.21.8", "game version of the server")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "address of the server; port 0 takes a free one")
	fl.BoolVar(&f.hold, "hold", false, "keep the server up afterwards, until interrupted")
	fl.BoolVar(&f.expose, "expose", false, "allow a --listen that other machines can reach")
	fl.Float64Var(&f.rate, "rate", 0, "uses per second, 0 for as fast as the server answers")
	fl.IntVar(&f.pipeline, "pipeline", 1, "most placements on their way at once")
	fl.DurationVar(&f.tick, "tick", 50*time.Millisecond, "length of a server tick")
	fl.StringVar(&f.capture, "capture", "", "file that gets every packet of the sessions, without secrets, for blockworld replay")
	return cmd
}

// demoReport is the JSON of demo.
type demoReport struct {
	buildReport
	Picture  string `json:"picture"`
	Receipts string `json:"receipts_file"`
	Key      string `json:"key"`
	Server   string `json:"server"`
	Version  string `json:"version"`
}

func runDemo(ctx context.Context, p *printer, f *demoFlags) error {
	began := time.Now()
	proto, ok := registry.ByVersionName(f.version)
	if !ok {
		return fail(exitUsage, fmt.Errorf("version %q is not one of %s", f.version, versionNames()))
	}
	if err := checkPace(f.rate, f.pipeline); err != nil {
		return err
	}
	if f.rate < 0 || f.tick <= 0 {
		return fail(exitUsage, fmt.Errorf("--rate %v --tick %s: neither can be negative, and a tick takes some time", f.rate, f.tick))
	}
	if err := makeFolder(f.out); err != nil {
		return fmt.Errorf("%w (--out)", err)
	}
	s, err := server.Start(server.Config{
		Protocol: proto, Listen: f.listen, Expose: f.expose, GameMode: worldstate.Creative, Tick: f.tick,
		MOTD: "Blockworld demo", AllowFlight: true,
	})
	if err != nil {
		return startFailed(err)
	}
	defer s.Close()
	p.say("embedded %s server on %s: join it with a Minecraft client to watch", f.version, s.Addr())
	b := &buildFlags{rate: f.rate, pipeline: f.pipeline, tries: 3}
	b.server, b.username, b.version, b.timeout = s.Addr(), "Blockworld", f.version, 10*time.Second
	b.data = filepath.Join(f.out, "data-"+began.UTC().Format("20060102-150405.000"))
	b.at, b.capture = "4,-60,4", f.capture
	r, err := f.demo(ctx, p, b, began)
	if err = b.captured(err); err != nil {
		return err
	}
	r.Server, r.Version = s.Addr(), f.version
	p.say("picture   %s", r.Picture)
	p.say("receipts  %s", r.Receipts)
	p.say("verify    %s receipts verify %s --key %s", program(), r.Receipts, r.Key)
	if f.hold {
		p.say("the server stays up on %s; stop it with Ctrl-C", s.Addr())
		<-ctx.Done()
	}
	return p.result(r)
}

// demoAgain is how to go on after a demo that was not finished: its server is gone, and its world with it.
const demoAgain = "the demo's server and world are gone with it: start the demo again"

// program is how this program was started, for people to repeat.
func program() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/blockworld"
	}
	return os.Args[0]
}

// demo probes, builds, exports and draws.
func (f *demoFlags) demo(ctx context.Context, p *printer, b *buildFlags, began time.Time) (*demoReport, error) {
	o, err := b.options(p)
	if err != nil {
		return nil, err
	}
	found, err := bot.Probe(ctx, o)
	if err != nil {
		return nil, joinFailed(err)
	}
	prof := found.Profile(time.Now(), profile.AcceptAttributed)
	if err := prof.Save(profile.Path(b.data, b.server)); err != nil {
		return nil, fail(exitFailed, err)
	}
	bp, err := blueprints.Load("house.schem", blueprints.House())
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	j, err := b.openJournal(false)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	rec, file, err := b.start(ctx, p, j, bp, &prof)
	if err != nil {
		return nil, err
	}
	run, err := b.run(ctx, p, j, rec, file, nil)
	if run == nil {
		return nil, err
	}
	report, failed := run.report(began)
	if failed != nil {
		return nil, fail(exitFailed, failed)
	}
	report.CaptureError = b.captureError()
	tellReport(p, report, run.result)
	r := &demoReport{buildReport: report, Key: j.Fingerprint().String()}
	if err := run.ended(err, demoAgain); err != nil {
		p.result(r)
		return nil, err
	}
	r.Receipts = filepath.Join(f.out, "receipts.jsonl")
	if _, err := exportTo(j, r.Receipts); err != nil {
		return nil, fail(exitFailed, err)
	}
	r.Picture = filepath.Join(f.out, "house.png")
	return r, f.photograph(ctx, p, b, j, rec, file, r.Picture)
}

// photograph draws what a fresh join shows of the plot.
func (f *demoFlags) photograph(ctx context.Context, p *printer, b *buildFlags, j *journal.Journal, rec journal.Mission, file *missionFile, path string) error {
	o, err := b.options(p)
	if err != nil {
		return err
	}
	counted(&o, j, rec.Scope)
	seen, err := survey(ctx, o, rec.Plot)
	if err != nil {
		return joinFailed(err)
	}
	var cells []picture.Cell
	for _, c := range file.Plan.Final {
		if s, ok := seen.Block(c.Pos); ok && !seen.reg.IsAir(s) {
			cells = append(cells, picture.Cell{Pos: c.Pos, State: s})
		}
	}
	return fail(exitFailed, draw(seen.reg, cells, path))
}
